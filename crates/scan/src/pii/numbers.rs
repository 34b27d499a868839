//! Numbers of people and firms, by the rule file.

use std::sync::LazyLock;

use super::Personal;
use super::checks::passes;
use super::span::{Candidate, Span};

struct Rule {
    id: &'static str,
    form: &'static [u8],
    check: &'static str,
    words: Vec<&'static str>,
    /// Are the separators part of the form?
    separated: bool,
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let lines = include_str!("../../rules/pii/numbers.rules").lines().map(str::trim);
    let lines = lines.filter(|it| !it.is_empty() && !it.starts_with('#'));
    lines.filter_map(rule).collect()
});

fn rule(line: &'static str) -> Option<Rule> {
    let mut fields = line.split(" |").map(str::trim);
    let (id, _, form) = (fields.next()?, fields.next()?, fields.next()?);
    let (check, words) = (fields.next()?, fields.next()?);
    let words = words.split(", ").filter(|it| !it.is_empty()).collect();
    let separated = form.bytes().any(|it| !it.is_ascii_alphanumeric());
    Some(Rule { id, form: form.as_bytes(), check, words, separated })
}

/// Adds the numbers of a run.
pub(super) fn find(span: &Span<'_>, all: &mut Vec<Personal>) {
    for candidate in span.candidates() {
        let found = RULES.iter().find(|it| it.fits(&candidate));
        if let Some(rule) = found {
            all.push(Personal {
                rule: rule.id,
                kind: kind(rule.id),
                start: candidate.start,
                end: candidate.end,
            });
        }
    }
}

impl Rule {
    fn fits(&self, candidate: &Candidate<'_>) -> bool {
        if candidate.written().iter().any(|it| matches!(it, b':' | b'_')) {
            return false;
        }
        let value = if self.separated { candidate.written() } else { candidate.compact.as_slice() };
        if value.len() != self.form.len()
            || !value.iter().zip(self.form).all(|(byte, class)| is_in(*class, *byte))
        {
            return false;
        }
        let alone = || self.check != "-" && candidate.is_alone();
        let whole = || !self.words.is_empty() || !candidate.is_in_number();
        let near = || alone() || (candidate.is_near(&self.words) && whole());
        passes(self.check, &candidate.compact) && !candidate.is_part_of_more() && near()
    }
}

fn is_in(class: u8, byte: u8) -> bool {
    match class {
        b'd' => byte.is_ascii_digit(),
        b'L' => byte.is_ascii_alphabetic(),
        b'c' => byte.is_ascii_alphanumeric(),
        b'X' => byte.is_ascii_digit() || byte.eq_ignore_ascii_case(&b'X'),
        _ => byte.eq_ignore_ascii_case(&class),
    }
}

/// What is shown in the place of a number.
fn kind(id: &'static str) -> &'static str {
    if id.starts_with("ssn") {
        "ssn"
    } else if id.starts_with("passport") {
        "passport"
    } else if id.starts_with("mobile") {
        "phone"
    } else {
        "national_id"
    }
}

/// The lines of a passport that machines read.
pub(super) fn passport_line(text: &str, all: &mut Vec<Personal>) {
    for (start, _) in text.match_indices("P<") {
        let rest = text.get(start..).unwrap_or_default();
        let length = rest
            .bytes()
            .take(44)
            .take_while(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || *it == b'<')
            .count();
        let line = rest.get(..length).unwrap_or_default();
        if length >= 16 && line.contains("<<") {
            all.push(Personal {
                rule: "passport-line",
                kind: "passport",
                start,
                end: start + length,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_rule_with_a_check_that_exists() {
        let lines = include_str!("../../rules/pii/numbers.rules").lines();
        let wanted = lines.filter(|it| !it.trim().is_empty() && !it.starts_with('#')).count();
        assert_eq!(RULES.len(), wanted);
        let source = include_str!("checks.rs");
        for rule in RULES.iter() {
            assert!(source.contains(&format!("\"{}\"", rule.check)), "{}: {}", rule.id, rule.check);
        }
    }
}
