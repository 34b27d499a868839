//! Words of a shell: hosts take a hook as one line of text.

/// Writes a word so that a POSIX shell reads it back as it is.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "/._-+@%:,=".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The first word of a line as [`quoted`] wrote it, or up to the first blank.
pub(crate) fn first_word(line: &str) -> String {
    let Some(mut rest) = line.strip_prefix('\'') else {
        return line.split_whitespace().next().unwrap_or_default().to_owned();
    };
    let mut word = String::new();
    while let Some((part, after)) = rest.split_once('\'') {
        word.push_str(part);
        match after.strip_prefix(r"\''") {
            Some(after) => {
                word.push('\'');
                rest = after;
            }
            None => return word,
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_comes_back() {
        for word in ["/usr/bin/hook", "/a b/hook", "/it's/a'b", "", "/ü/$HOME"] {
            let line = format!("{} claude PreToolUse", quoted(word));
            assert_eq!(first_word(&line), word, "{line}");
        }
        assert_eq!(quoted("/usr/bin/hook"), "/usr/bin/hook");
    }
}
