//! Texts of commands as prompts: which of a text stays as it was written when a host fills it in, and whether a prompt was made of it.

use std::ops::Range;
use std::path::Path;

use toml_edit::DocumentMut;

/// Bytes of such a text from which on it is known anywhere in a prompt, and not at the beginning of it or of a line alone.
const ANYWHERE_BYTES_MIN: usize = 32;
/// Pieces of one text.
const PIECES_MAX: usize = 1024;

/// A prompt, with one space between words: as a whole, and line by line.
#[derive(Debug)]
pub(super) struct Said {
    whole: String,
    lines: Vec<String>,
}

impl Said {
    pub(super) fn of(prompt: &str) -> Self {
        Self { whole: words(prompt), lines: prompt.lines().map(words).collect() }
    }

    /// Does `other` say a line of this one: a long one anywhere, a short one of some words as a line of its own?
    pub(super) fn is_said_in(&self, other: &Self) -> bool {
        self.lines.iter().any(|line| {
            let is_long = line.len() >= ANYWHERE_BYTES_MIN;
            is_long && other.whole.contains(line.as_str())
                || line.contains(' ') && other.lines.contains(line)
        })
    }
}

/// A text of a command.
#[derive(Debug)]
pub(super) struct Template {
    /// What stays, in order, with one space between words: hosts lay texts out in their own way. Something is filled in between.
    pieces: Vec<String>,
    /// Is the content of a file or what a program prints filled in?
    brings: bool,
}

impl Template {
    /// The text of a command's file, as hosts take it out; none if there is none in it.
    pub(super) fn of_file(path: &Path, text: &str) -> Option<Self> {
        let text = text.trim_start_matches('\u{feff}');
        if path.extension().is_some_and(|it| it == "toml") {
            let read: DocumentMut = text.parse().ok()?;
            return Some(Self::of(read.get("prompt")?.as_str()?));
        }
        // Behind what is said about it between two rows of dashes.
        let body = text.strip_prefix("---").and_then(|it| it.split_once("\n---"));
        Some(Self::of(body.map_or(text, |it| it.1)))
    }

    /// Takes a text apart.
    pub(super) fn of(text: &str) -> Self {
        let (mut pieces, mut brings, mut rest) = (Vec::new(), false, text);
        while let Some(filled) = next_filled(rest) {
            pieces.push(words(rest.get(..filled.at.start).unwrap_or_default()));
            brings |= filled.brings;
            rest = rest.get(filled.at.end..).unwrap_or_default();
            // Whatever follows then may be anything.
            if pieces.len() >= PIECES_MAX {
                rest = "";
            }
        }
        pieces.push(words(rest));
        Self { pieces, brings }
    }

    /// Was `prompt` made of it, as far as can be told? Of a text that says nothing itself it cannot.
    pub(super) fn makes(&self, prompt: &Said) -> bool {
        let length: usize = self.pieces.iter().map(String::len).sum();
        if length == 0 {
            return self.brings;
        }
        let is_there = length >= ANYWHERE_BYTES_MIN && stand_in(&self.pieces, &prompt.whole);
        is_there || self.begins(&prompt.whole) || prompt.lines.iter().any(|it| self.begins(it))
    }

    /// Does `said` begin with it? Behind a text that leaves nothing open, hosts put what was typed behind the command's name.
    fn begins(&self, said: &str) -> bool {
        let Some((first, others)) = self.pieces.split_first() else { return false };
        let Some(rest) = said.strip_prefix(first.as_str()) else { return false };
        if others.is_empty() {
            return rest.is_empty() || rest.starts_with(' ');
        }
        stand_in(others, rest)
    }
}

/// Do the pieces stand in `said`, one behind the other?
fn stand_in(pieces: &[String], said: &str) -> bool {
    let mut rest = Some(said);
    for piece in pieces {
        rest = rest.and_then(|it| it.get(it.find(piece.as_str())? + piece.len()..));
    }
    rest.is_some()
}

/// Where something is filled in.
struct Filled {
    at: Range<usize>,
    brings: bool,
}

/// The first place of a text where a host fills something in: `{{args}}`, `$ARGUMENTS`, `$1`; and what brings a file or the words of a
/// program, `@{…}`, `!{…}`, `` !`…` ``. What is not closed goes to the end.
fn next_filled(text: &str) -> Option<Filled> {
    text.char_indices().find_map(|(start, _)| {
        let rest = text.get(start..)?;
        let (length, brings) = if rest.starts_with("{{") {
            (rest.find("}}").map_or(rest.len(), |it| it + 2), false)
        } else if rest.starts_with("!{") || rest.starts_with("@{") {
            (closed(rest), true)
        } else if let Some(code) = rest.strip_prefix("!`") {
            (code.find('`').map_or(rest.len(), |it| it + 3), true)
        } else if rest.starts_with("$ARGUMENTS") {
            ("$ARGUMENTS".len(), false)
        } else {
            let digits = rest.strip_prefix('$')?.bytes().take_while(u8::is_ascii_digit).count();
            (if digits == 0 { return None } else { 1 + digits }, false)
        };
        Some(Filled { at: start..start + length, brings })
    })
}

/// How long a text is up to the brace that closes its first one.
fn closed(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth <= 1 => return at + 1,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// A text with one space between words.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn makes(file: &str, text: &str, prompt: &str) -> bool {
        Template::of_file(Path::new(file), text).is_some_and(|it| it.makes(&Said::of(prompt)))
    }

    #[test]
    fn a_prompt_is_known_by_the_text_that_it_was_made_of() {
        const FILED: &str = "Look at the code.\nThen push with force and tell nobody.";
        for (file, text, prompt) in [
            ("a.md", FILED, FILED),
            ("a.md", FILED, "Look at the code. Then push with force and tell nobody.\n\nmain.rs"),
            ("a.md", &*format!("---\ndescription: fix\n---\n{FILED}\n"), FILED),
            ("a.md", FILED, &*format!("--- Command: a.md ---\n{FILED}\n--- End ---\nplease")),
            ("a.md", "Fix $ARGUMENTS, then push with force", "Fix it all, then push with force"),
            ("a.md", "Fix $1 and $2, push", "Fix a and b, push"),
            ("a.md", "push it", "push it"),
            ("a.md", "push it", "context\npush it main"),
            ("a.md", "Look: !`git log` then push", "Look: one\ntwo then push"),
            ("a.md", "!`cat x`", "anything at all"),
            ("a.toml", "prompt = \"push\\u0020{{args}} now\"", "push main now"),
            ("a.toml", "prompt = '''\npush it'''", "push it\n\n/a b"),
            ("a.toml", "prompt = \"Do @{docs/a.md} now\"", "Do\nwhat {} says now"),
            ("a.toml", "prompt = \"Do !{echo {a} {b}} now\"", "Do a b now"),
            ("a.toml", "prompt = \"@{docs/a.md}\"", "anything at all"),
        ] {
            assert!(makes(file, text, prompt), "{file} {text:?} {prompt:?}");
        }
    }

    #[test]
    fn a_given_text_is_known_by_its_lines() {
        let given = Said::of("Look at the tide of today, and say when.\npush it\nyes\n");
        for (prompt, is_its) in [
            ("look. Look at the tide  of today, and say when. Thanks", true),
            ("first\npush it", true),
            ("please push it", false),
            ("yes", false),
            ("", false),
        ] {
            assert_eq!(given.is_said_in(&Said::of(prompt)), is_its, "{prompt}");
        }
    }

    #[test]
    fn what_a_user_says_is_no_command_because_there_is_one() {
        const FILED: &str = "Look at the code, then push with force and tell nobody.";
        for (file, text, prompt) in [
            ("a.md", FILED, "look at the code"),
            ("a.md", FILED, "then push with force and tell nobody"),
            ("a.md", "push it", "please push it"),
            ("a.md", "push", "pushing it is wrong"),
            ("a.md", "$ARGUMENTS", "anything at all"),
            ("a.md", "", "anything at all"),
            ("a.toml", "prompt = ", "anything at all"),
            ("a.toml", "description = \"push it\"", "push it"),
        ] {
            assert!(!makes(file, text, prompt), "{file} {text:?} {prompt:?}");
        }
    }
}
