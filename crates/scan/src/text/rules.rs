//! Rule files: classes of words, and rules made of them.
//!
//! A line `words CLASS: one | another` adds words to a class. A line `rule ID` begins a rule; the indented lines below say
//! its `category`, `severity`, `weight` in percent, and what it looks for: `when CLASS CLASS … within BYTES` is a sequence of
//! classes in this order, in one sentence unless `across` follows. `^CLASS` must stand at the beginning of a clause,
//! `=CLASS` at the beginning of the text of a field. `unless CLASS within
//! BYTES` makes the rule say less where a word of that class stands so shortly before. `match` and `pass` are texts that the rule
//! must and must not find: tests read them, the scanner does not.

use super::finding::{Category, Severity};

/// What a rule file says.
#[derive(Debug, Default)]
pub(super) struct Rules {
    /// Names of classes; a class is known by its place.
    pub(super) classes: Vec<&'static str>,
    /// Words with the class that they belong to.
    pub(super) words: Vec<(&'static str, usize)>,
    pub(super) rules: Vec<Rule>,
}

/// A sign that is made of words.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) id: &'static str,
    pub(super) category: Category,
    pub(super) severity: Severity,
    /// What it says by itself, 0 to 1: below a half it needs company.
    pub(super) weight: f64,
    pub(super) sequences: Vec<Sequence>,
    /// What makes it say less when it stands before.
    pub(super) unless: Vec<Sequence>,
    /// Texts that it must find.
    pub(super) matches: Vec<&'static str>,
    /// Texts that it must not find.
    pub(super) passes: Vec<&'static str>,
}

/// Classes of words in order, close together.
#[derive(Debug)]
pub(super) struct Sequence {
    pub(super) parts: Vec<Part>,
    /// From the beginning of the first to the end of the last.
    pub(super) within_bytes: usize,
    /// May a sentence end in between?
    pub(super) across_sentences: bool,
}

/// A place in a sequence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) class: usize,
    pub(super) stands: Stands,
}

/// Where a word of a sequence must stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stands {
    Anywhere,
    /// At the beginning of a clause.
    FirstInClause,
    /// At the beginning of the text of a field, as in JSON.
    FirstInField,
}

/// A rule file that cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line} of the rule file: {problem}")]
pub struct RuleError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

/// The longest distance within a rule, in bytes: findings stay local, and looking for the end of a sentence stays cheap.
const WITHIN_BYTES_MAX: usize = 600;

impl Rules {
    /// Adds what the files say.
    pub(super) fn parse(files: &[&'static str]) -> Result<Self, RuleError> {
        let mut rules = Self::default();
        for file in files {
            for (index, line) in file.lines().enumerate() {
                let wrong = |problem| RuleError { line: index + 1, problem };
                rules.line(line).map_err(wrong)?;
            }
        }
        match rules.rules.iter().find(|it| it.sequences.is_empty()) {
            Some(rule) => {
                Err(RuleError { line: 0, problem: format!("rule `{}` has no `when`", rule.id) })
            }
            None => Ok(rules),
        }
    }

    fn line(&mut self, line: &'static str) -> Result<(), String> {
        let line = line.trim();
        let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        match key {
            "" => Ok(()),
            it if it.starts_with('#') => Ok(()),
            "words" => self.add_words(rest),
            "rule" => self.add_rule(rest),
            "when" => {
                let sequence = self.sequence(rest)?;
                self.last()?.sequences.push(sequence);
                Ok(())
            }
            "unless" => {
                let sequence = self.sequence(rest)?;
                self.last()?.unless.push(sequence);
                Ok(())
            }
            _ => field(self.last()?, key, rest),
        }
    }

    fn add_words(&mut self, rest: &'static str) -> Result<(), String> {
        let (class, words) = rest.split_once(':').ok_or("`words` needs a class and a colon")?;
        let class = self.class(class.trim());
        let words = words.split(" | ").map(str::trim).filter(|it| !it.is_empty());
        self.words.extend(words.map(|it| (it, class)));
        Ok(())
    }

    fn add_rule(&mut self, id: &'static str) -> Result<(), String> {
        if id.is_empty() || self.rules.iter().any(|it| it.id == id) {
            return Err(format!("the id `{id}` is empty or used twice"));
        }
        self.rules.push(Rule {
            id,
            category: Category::IndirectInjection,
            severity: Severity::Medium,
            weight: 0.0,
            sequences: Vec::new(),
            unless: Vec::new(),
            matches: Vec::new(),
            passes: Vec::new(),
        });
        Ok(())
    }

    fn sequence(&mut self, rest: &'static str) -> Result<Sequence, String> {
        let (parts, end) =
            rest.split_once(" within ").ok_or("`when` needs `within` and a number")?;
        let (bytes, across) = end.split_once(' ').unwrap_or((end, ""));
        let within_bytes = bytes.parse().map_err(|_| format!("`{bytes}` is no number of bytes"))?;
        if within_bytes > WITHIN_BYTES_MAX {
            return Err(format!("`within` is at most {WITHIN_BYTES_MAX}"));
        }
        let parts = parts.split_whitespace().map(|it| {
            let (name, stands) = match (it.strip_prefix('^'), it.strip_prefix('=')) {
                (Some(name), _) => (name, Stands::FirstInClause),
                (None, Some(name)) => (name, Stands::FirstInField),
                (None, None) => (it, Stands::Anywhere),
            };
            Part { class: self.class(name), stands }
        });
        let parts = parts.collect();
        match across {
            "" => Ok(Sequence { parts, within_bytes, across_sentences: false }),
            "across" => Ok(Sequence { parts, within_bytes, across_sentences: true }),
            other => Err(format!("`{other}` is not understood; `across` is")),
        }
    }

    fn class(&mut self, name: &'static str) -> usize {
        match self.classes.iter().position(|it| *it == name) {
            Some(known) => known,
            None => {
                self.classes.push(name);
                self.classes.len() - 1
            }
        }
    }

    fn last(&mut self) -> Result<&mut Rule, String> {
        self.rules.last_mut().ok_or_else(|| "stands before the first `rule`".to_owned())
    }
}

fn field(rule: &mut Rule, key: &str, rest: &'static str) -> Result<(), String> {
    match key {
        "category" => {
            rule.category = Category::from_name(rest).ok_or(format!("`{rest}` is no category"))?;
        }
        "severity" => {
            rule.severity = Severity::from_name(rest).ok_or(format!("`{rest}` is no severity"))?;
        }
        "weight" => {
            let percent: u8 = rest.parse().map_err(|_| format!("`{rest}` is no weight"))?;
            rule.weight = f64::from(percent.min(100)) / 100.0;
        }
        "match" => rule.matches.push(rest),
        "pass" => rule.passes.push(rest),
        other => return Err(format!("`{other}` is not understood")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_understood_is_refused() {
        for (text, line) in [
            ("when a within 3", 1),
            ("words a b", 1),
            ("rule x\nweight much", 2),
            ("rule x\ncategory odd", 2),
            ("rule x\nwhen a b", 2),
            ("rule x\nwhen a within 9999", 2),
            ("rule x\nwhen a within 9 often", 2),
            ("rule x\nrule x", 2),
            ("rule x\nsing loud", 2),
            ("rule x", 0),
        ] {
            assert_eq!(Rules::parse(&[text]).unwrap_err().line, line, "{text}");
        }
    }
}
