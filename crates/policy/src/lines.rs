//! What can be told of the policies of a text before Cedar reads it: where each begins, and whether
//! it is too deep to be read safely.

use std::iter::Peekable;
use std::str::Chars;

/// How deep brackets may be nested in a rule. Cedar's parser recurses.
pub const NESTING_MAX: usize = 32;
/// How many operators a rule may have: each can make its expression one level deeper.
pub const OPERATORS_MAX: usize = 300;

/// A policy, as far as it was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    /// The line of its first token, from 1.
    pub(crate) line: usize,
    nesting: usize,
    operators: usize,
}

impl Outline {
    /// Is it too deep to be read?
    pub(crate) fn excess(&self) -> Option<String> {
        if self.nesting > NESTING_MAX {
            return Some(format!(
                "brackets are nested {} deep, at most {NESTING_MAX}",
                self.nesting
            ));
        }
        let many = self.operators > OPERATORS_MAX;
        many.then(|| format!("{} operators, at most {OPERATORS_MAX} are read", self.operators))
    }
}

/// The policies of a text, in order: what stands between `;` outside of strings and comments. Any
/// text is outlined; whether it is Cedar is for Cedar to say.
pub(crate) fn outline(text: &str) -> Vec<Outline> {
    let mut found = Vec::new();
    let mut open: Option<Outline> = None;
    let mut line = 1;
    let mut depth = 0_usize;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\n' => line += 1,
            '/' if chars.peek() == Some(&'/') => while chars.next_if(|it| *it != '\n').is_some() {},
            ';' => {
                found.extend(open.take());
                depth = 0;
            }
            it if it.is_whitespace() => {}
            it => {
                let rule = open.get_or_insert(Outline { line, ..Outline::default() });
                match it {
                    '"' => line += skip_string(&mut chars),
                    '(' | '[' | '{' => depth += 1,
                    ')' | ']' | '}' => depth = depth.saturating_sub(1),
                    it if is_operator(it) => {
                        while chars.next_if(|it| is_operator(*it)).is_some() {}
                        rule.operators += 1;
                    }
                    it if is_word(it) => rule.operators += usize::from(is_keyword(it, &mut chars)),
                    _ => {}
                }
                rule.nesting = rule.nesting.max(depth);
            }
        }
    }
    found.extend(open);
    found
}

fn is_operator(it: char) -> bool {
    "&|.+-*<>=!".contains(it)
}

fn is_word(it: char) -> bool {
    it.is_alphanumeric() || it == '_'
}

/// Reads a word to its end. Is it one that joins or wraps expressions?
fn is_keyword(first: char, chars: &mut Peekable<Chars<'_>>) -> bool {
    let mut word = String::from(first);
    while let Some(next) = chars.next_if(|it| is_word(*it)) {
        word.push(next);
    }
    matches!(word.as_str(), "if" | "in" | "like" | "has" | "is" | "when" | "unless")
}

/// Skips to the end of a string; returns how many lines it spans beyond the first.
fn skip_string(chars: &mut Peekable<Chars<'_>>) -> usize {
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

    fn starts(text: &str) -> Vec<usize> {
        outline(text).iter().map(|it| it.line).collect()
    }

    #[test]
    fn comments_and_strings_hide_what_is_in_them() {
        let text = "// a; b\n\n@id(\"x;\\\"\n;\") permit (a);\npermit (b); permit (c);\n// end;\n";
        assert_eq!(starts(text), [3, 5, 5]);
        assert_eq!(starts("// nothing"), [0; 0]);
        assert_eq!(starts("permit (\"no end;"), [1]);
    }

    #[test]
    fn depth_is_measured_per_policy() {
        let deep = format!("a {} b; c (d);", "(".repeat(40));
        let [first, second] = outline(&deep)[..] else { panic!("{deep}") };
        assert!(first.excess().is_some() && second.excess().is_none());
        let long = format!("a {};", "b && ".repeat(OPERATORS_MAX + 1));
        assert!(outline(&long)[0].excess().is_some());
        let words = format!("a {};", "if b then c else ".repeat(OPERATORS_MAX + 1));
        assert!(outline(&words)[0].excess().is_some());
    }
}
