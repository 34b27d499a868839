//! On which line each policy of a text begins. Cedar does not tell.

/// The line, from 1, of the first token of each policy, in order. The text must be one that Cedar
/// reads: policies end with `;`, strings are in double quotes, comments begin with `//`.
pub(crate) fn starts(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut line = 1;
    let mut inside = false;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\n' => line += 1,
            '/' if chars.peek() == Some(&'/') => while chars.next_if(|it| *it != '\n').is_some() {},
            ';' => inside = false,
            it if it.is_whitespace() => {}
            it => {
                if !inside {
                    found.push(line);
                    inside = true;
                }
                if it == '"' {
                    line += skip_string(&mut chars);
                }
            }
        }
    }
    found
}

/// Skips to the end of a string; returns how many lines it spans beyond the first.
fn skip_string(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> usize {
    let mut lines = 0;
    while let Some(char) = chars.next() {
        match char {
            '"' => break,
            '\\' => {
                lines += usize::from(chars.next() == Some('\n'));
            }
            '\n' => lines += 1,
            _ => {}
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_hide_what_is_in_them() {
        let text = "// a; b\n\n@id(\"x;\\\"\n;\") permit (a);\npermit (b); permit (c);\n// end;\n";
        assert_eq!(starts(text), [3, 5, 5]);
        assert_eq!(starts("// nothing"), [0; 0]);
    }
}
