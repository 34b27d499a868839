//! The words of a line as a shell would cut it, for the few things that examples need. No shell is started.

/// One command of an example, and what it gets on stdin.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) words: Vec<String>,
    pub(crate) stdin: Option<String>,
}

/// Cuts a line; `pwd` stands for `$PWD`. None if it needs more of a shell than there is here: other variables,
/// substitutions, other redirections, pipes of anything but `echo` and `printf`.
pub(crate) fn command(line: &str, pwd: &str) -> Option<Command> {
    let parts = split(line, pwd)?;
    match parts.as_slice() {
        [words] if !words.is_empty() => Some(Command { words: words.clone(), stdin: None }),
        [from, words] if !words.is_empty() => {
            let [program, text] = from.as_slice() else { return None };
            let stdin = match program.as_str() {
                "echo" => format!("{text}\n"),
                "printf" if !text.contains(['%', '\\']) => text.clone(),
                _ => return None,
            };
            Some(Command { words: words.clone(), stdin: Some(stdin) })
        }
        _ => None,
    }
}

/// The words of each part of a pipe.
fn split(line: &str, pwd: &str) -> Option<Vec<Vec<String>>> {
    let mut parts = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '\'' => break,
                        inner => word.push(inner),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '"' => break,
                        '$' | '`' | '\\' => return None,
                        inner => word.push(inner),
                    }
                }
            }
            '$' => {
                let name: String =
                    std::iter::from_fn(|| letters.next_if(char::is_ascii_alphanumeric)).collect();
                if name != "PWD" {
                    return None;
                }
                word.get_or_insert_default().push_str(pwd);
            }
            '#' if word.is_none() => break,
            '|' => {
                parts.last_mut()?.extend(word.take());
                parts.push(Vec::new());
            }
            '>' if word.is_none() => parts.last_mut()?.push(">".to_owned()),
            '<' | '>' | ';' | '&' | '`' | '(' | ')' | '*' | '~' | '\\' => return None,
            blank if blank.is_whitespace() => parts.last_mut()?.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    parts.last_mut()?.extend(word);
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_as_a_shell_would_or_not_at_all() {
        let words = |line: &str| command(line, "/w").map(|it| it.words.join("|"));
        assert_eq!(words("a 'b c' \"d e\" f=$PWD/g  # h").as_deref(), Some("a|b c|d e|f=/w/g"));
        for line in
            ["a $HOME", "a 2> b", "a; b", "a `b`", "a $(b)", "a ~/b", "a 'b", "ls | a", "a *", ""]
        {
            assert_eq!(words(line), None, "{line}");
        }
        let piped = command("echo '{\"a\": 1}' | a --json", "/w").unwrap();
        assert_eq!((piped.words.len(), piped.stdin.as_deref()), (2, Some("{\"a\": 1}\n")));
    }
}
