//! Denials in each host's own form, for when the daemon cannot be asked.
//!
//! `denials.txt` has one line for every event of every host: host, event, exit status, whether the reason
//! goes to standard error (`note`), and what goes to standard output: nothing (`-`), or JSON with `$text` for the
//! reason. A test of crate `hooks` holds it against what that crate would say.

use crate::BLOCKED;
use crate::exchange::Answer;
use crate::failure::Failure;
use std::fmt::Write as _;

const TABLE: &str = include_str!("denials.txt");
const SILENCE: &str = "-";
const HOSTS: [&str; 6] = ["claude", "codex", "cursor", "gemini", "copilot", "opencode"];

/// Tells whether a host is known.
pub(crate) fn is_host(name: &str) -> bool {
    HOSTS.contains(&name)
}

/// Returns the denial of an event; one that is not in the table is blocked as all hosts understand.
pub(crate) fn denial(host: &str, event: &str, why: &Failure) -> Answer {
    let reason = format!(
        "Lazaret's daemon did not answer ({why}), so nothing is let through. Next step: \
         `lazaret daemon start` says why, or `lazaret uninstall` to remove the hook."
    );
    let found = TABLE.lines().find_map(|line| {
        let mut words = line.splitn(5, ' ');
        let same = words.next()? == host && words.next()? == event;
        let exit = same.then(|| words.next()?.parse().ok()).flatten()?;
        Some((exit, words.next()? == "note", words.next()?))
    });
    let (exit, noted, template) = found.unwrap_or((BLOCKED, true, SILENCE));
    let template = if template == SILENCE { "" } else { template };
    let stdout = template.replace("$text", &quoted(&reason)).into_bytes();
    let stderr = if noted { format!("{reason}\n").into_bytes() } else { Vec::new() };
    Answer { exit, stdout, stderr }
}

/// Writes a text as a JSON string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for it in text.chars() {
        match it {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // Writing to a text cannot fail.
            it if it < ' ' => drop(write!(quoted, "\\u{:04x}", u32::from(it))),
            it => quoted.push(it),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_quoted_as_json_wants_it() {
        assert_eq!(
            quoted("a\"b\\c\nd\r\te\u{1}f é\u{7f}"),
            "\"a\\\"b\\\\c\\nd\\r\\te\\u0001f é\u{7f}\""
        );
    }

    #[test]
    fn every_line_of_the_table_is_of_a_host_and_denies() {
        for line in TABLE.lines() {
            let words: Vec<&str> = line.splitn(5, ' ').collect();
            let [host, event, ..] = words[..] else { panic!("{line}") };
            assert!(is_host(host), "{line}");
            let answer = denial(host, event, &Failure::Cut);
            let said = [answer.stdout, answer.stderr].concat();
            let said = String::from_utf8(said).unwrap();
            assert!(said.contains("did not answer (the connection broke)"), "{line}: {said}");
            assert!(!said.contains("$text"), "{line}");
        }
    }

    #[test]
    fn an_event_that_is_not_in_the_table_is_blocked_by_exit_2() {
        let answer = denial("codex", "NoSuchEvent", &Failure::Deadline);
        assert_eq!(answer.exit, 2);
        assert!(answer.stdout.is_empty() && answer.stderr.starts_with(b"Lazaret's daemon"));
    }
}
