//! Rules by the name of a command and by what it is given: data, in `rules.txt`.
//!
//! `= DECISION RULE CLASS … | REASON` begins the rows of a rule, `? NAME` those of a question that code asks
//! ([`holds`]), `@GROUP = COMMAND …` names several, as does the name of a table of words (`@names.MAKES`). A row is `COMMAND COMMAND …: TEST TEST …`; all of its tests must hold. A test is
//!
//! - `SUBJECT=A|B`: one of these, where `*` stands for any letters. Subjects: `1`, `2` … (that word, in lower case; nothing
//!   where there is none), `w` (any word), `l` (the last), `p` (the last but one), `o` (any operand as it is written), `o1` (the first), `a` (any
//!   argument), `a1` (the first), `z` (the last), `b` (any but the last), `all` (all arguments), `only` (all options);
//! - `-xy|--long`: one of these options, also cut short where it need not be absent; `args>N`, `words>N`: more of them than that; `stdin`;
//! - any of them with `!` before it: it must not hold.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use super::{abbreviated, option};
use crate::{Call, Class, Decision, Engine, Rule, tables};

/// What follows where a row holds.
enum Meaning {
    Finding { decision: Decision, rule: Rule, classes: Vec<Class>, reason: &'static str },
    Answer(&'static str),
}

struct Table {
    meanings: Vec<Meaning>,
    /// Rows by command: which meaning, and the tests.
    rows: HashMap<&'static str, Vec<(usize, Vec<&'static str>)>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table { meanings: Vec::new(), rows: HashMap::new() };
    let mut groups = HashMap::new();
    for line in include_str!("rules.txt").lines().filter(|it| !it.is_empty()) {
        if let Some(header) = line.strip_prefix("= ") {
            table.meanings.extend(meaning(header));
        } else if let Some(name) = line.strip_prefix("? ") {
            table.meanings.push(Meaning::Answer(name));
        } else if let Some((group, names)) = line.split_once(" = ") {
            groups.insert(group, names);
        } else if !line.starts_with('#') {
            let (names, tests) = line.split_once(": ").unwrap_or((line, ""));
            let at = table.meanings.len().saturating_sub(1);
            // A group of its own, or a table of words.
            let listed = names.strip_prefix('@').into_iter().flat_map(tables::lines);
            let named = groups.get(names).copied().or((!names.starts_with('@')).then_some(names));
            for name in named.into_iter().chain(listed).flat_map(|it| it.split(' ')) {
                let row = (at, tests.split(' ').filter(|it| !it.is_empty()).collect());
                table.rows.entry(name).or_default().push(row);
            }
        }
    }
    table
});

fn meaning(header: &'static str) -> Option<Meaning> {
    let (words, reason) = header.split_once(" | ")?;
    let mut words = words.split(' ');
    let decision = match words.next()? {
        "deny" => Decision::Deny,
        "ask" => Decision::StepUp,
        _ => return None,
    };
    let rule = words.next()?;
    let rule = Rule::ALL.iter().copied().find(|it| it.as_str() == rule)?;
    let classes = words.map(Class::named).collect::<Option<_>>()?;
    Some(Meaning::Finding { decision, rule, classes, reason })
}

/// Those of the wanted meanings of which a row holds for a command.
fn found<'a>(
    call: &'a Call<'_>,
    wanted: impl Fn(&Meaning) -> bool + 'a,
) -> impl Iterator<Item = &'static Meaning> + 'a {
    let name = call.name.as_str();
    let kind = name.split_once('.').and_then(|it| TABLE.rows.get(format!("{}.*", it.0).as_str()));
    let rows = TABLE.rows.get(name).into_iter().chain(kind).flatten();
    let rows = rows.filter_map(|it| TABLE.meanings.get(it.0).zip(Some(&it.1)));
    let rows = rows.filter(move |it| wanted(it.0));
    rows.filter(|it| it.1.iter().all(|test| is_true(test, call))).map(|it| it.0)
}

/// Is the answer to a question of the table yes?
pub(super) fn holds(question: &str, call: &Call<'_>) -> bool {
    let is_asked = |it: &Meaning| matches!(it, Meaning::Answer(name) if *name == question);
    found(call, is_asked).next().is_some()
}

impl Engine {
    /// What the table says of a command, as far as it decides so.
    pub(super) fn judge_table(&mut self, call: &Call<'_>, wanted: Decision) {
        let decides = move |it: &Meaning| matches!(it, Meaning::Finding { decision, .. } if *decision == wanted);
        for it in found(call, decides) {
            if let Meaning::Finding { rule, classes, reason, .. } = it {
                self.classes.extend(classes);
                self.find(wanted, *rule, reason.replace("{}", &call.name));
            }
        }
    }
}

impl Engine {
    /// What the table says of a variable with this value.
    pub(crate) fn judge_named(&mut self, name: &str, value: &str) {
        if TABLE.rows.contains_key(name) {
            let args = [value.to_owned()];
            let mut call = Call::new(String::new(), &args, None);
            name.clone_into(&mut call.name);
            self.judge_table(&call, Decision::StepUp);
        }
    }
}

pub(crate) fn is_true(test: &str, call: &Call<'_>) -> bool {
    match test.strip_prefix('!') {
        Some(rest) if rest.starts_with('-') => return !has_option(rest, call, option),
        Some(rest) => return !is_true(rest, call),
        None if test.starts_with('-') => return has_option(test, call, abbreviated),
        None => {}
    }
    let (plain, words, operands) = (call.plain(), call.words(), call.operands());
    if let Some((what, count)) = test.split_once('>') {
        let size = if what == "args" { plain.len() } else { words.len() };
        return count.parse().is_ok_and(|it: usize| size > it);
    }
    let Some((subject, values)) = test.split_once('=') else {
        return test == "stdin" && call.stdin.is_some();
    };
    let is = |text: &str| values.split('|').any(|it| fits(it, text));
    let is_one = |it: Option<&String>| is(it.map(String::as_str).unwrap_or_default());
    let any = |all: &[String]| all.iter().any(|it| is(it));
    match subject {
        "w" => any(words),
        "l" => is_one(words.last()),
        "p" => is_one(words.iter().rev().nth(1)),
        "o" => any(operands),
        "o1" => is_one(operands.first()),
        "a" => any(plain),
        "a1" => is_one(plain.first()),
        "z" => is_one(plain.last()),
        "b" => any(plain.split_last().map(|it| it.1).unwrap_or_default()),
        "all" => plain.iter().all(|it| is(it)),
        "only" => plain.iter().filter(|it| it.starts_with('-')).all(|it| is(it)),
        at => is_one(at.parse::<usize>().ok().and_then(|it| words.get(it.checked_sub(1)?))),
    }
}

/// Is one of `-xy|--long` given?
fn has_option(
    test: &str,
    call: &Call<'_>,
    is_given: fn(&Call<'_>, Option<char>, &str) -> bool,
) -> bool {
    test.split('|').any(|it| match it.strip_prefix("--") {
        Some(long) => is_given(call, None, long),
        None => it.chars().skip(1).any(|it| call.short(it)),
    })
}

/// Is it this text? `*` stands for any letters, `\s` for a space, `\p` for `|`, `\a` for `*`.
fn fits(pattern: &str, text: &str) -> bool {
    if !pattern.contains(['*', '\\']) {
        return pattern == text;
    }
    let is_escaped = pattern.contains('\\');
    let plain = |it: &'_ str| it.replace("\\s", " ").replace("\\p", "|").replace("\\a", "*");
    let parts = pattern.split('*');
    let parts = parts.map(|it| if is_escaped { Cow::Owned(plain(it)) } else { it.into() });
    let mut parts = parts.peekable();
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(&*first) else { return false };
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(&*part);
        }
        let Some((_, behind)) = rest.split_once(&*part) else { return false };
        rest = behind;
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_meaning_and_every_test_a_subject() {
        let lines = include_str!("rules.txt").lines();
        let headers = lines.filter(|it| it.starts_with("= ") || it.starts_with("? ")).count();
        assert_eq!(TABLE.meanings.len(), headers);
        let known = ["w", "l", "p", "o", "o1", "a", "a1", "z", "b", "all", "only", "1", "2", "3"];
        for test in TABLE.rows.values().flatten().flat_map(|it| &it.1) {
            let test = test.trim_start_matches('!');
            let is_counted = test.starts_with("args>") || test.starts_with("words>");
            let has_subject = test.split_once('=').is_some_and(|it| known.contains(&it.0));
            assert!(
                is_counted || has_subject || test.starts_with('-') || test == "stdin",
                "{test}"
            );
        }
    }

    #[test]
    fn every_line_is_a_header_a_group_or_a_row() {
        let mut groups = Vec::new();
        for line in include_str!("rules.txt").lines().filter(|it| !it.is_empty()) {
            if let Some(header) = line.strip_prefix("= ") {
                assert!(meaning(header).is_some(), "{line}");
            } else if line.starts_with('@') && line.contains(" = ") {
                groups.extend(line.split(' ').next());
            } else if !line.starts_with("# ") && !line.starts_with("? ") {
                let (names, tests) = line.split_once(": ").unwrap_or((line, ""));
                assert!(!names.is_empty() && !names.contains([':', '=', '|']), "{line}");
                let table = names.strip_prefix('@').unwrap_or_default();
                let is_known = groups.contains(&names) || tables::lines(table).next().is_some();
                assert!(!names.starts_with('@') || is_known, "{line}");
                assert!(!line.contains(": ") || !tests.trim().is_empty(), "{line}");
            }
        }
    }

    #[test]
    fn stars_stand_for_any_letters() {
        for (pattern, text, fit) in [
            ("a", "a", true),
            ("a*", "ab", true),
            ("*.dns", "ipv4.dns", true),
            ("--script=*/*", "--script=a/b", true),
            ("--script=*/*", "--script=ab", false),
            ("a*b", "ab", true),
            ("ab*ba", "aba", false),
            ("cat\\s*", "cat x", true),
            ("", "", true),
        ] {
            assert_eq!(fits(pattern, text), fit, "{pattern} {text}");
        }
    }
}
