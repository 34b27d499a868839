//! Which kinds of acts the user's own words ask for. Read once, when they are said.

use serde::{Deserialize, Serialize};
use shell::Act;

use super::{Kind, Obeyed};

/// Words and beginnings of words by which people ask for a kind of act, in several languages. What ends in `*` is the
/// beginning of a word; what is not written in an alphabet with spaces is looked for anywhere.
const TABLE: &str = include_str!("asked.txt");

/// A set of kinds of acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AskedActs(u32);

impl AskedActs {
    /// What a sentence in lower case asks for, made of these words.
    pub(crate) fn of<S: AsRef<str>>(folded: &str, words: &[S]) -> Self {
        let mut found = Self::default();
        for (kind, entries) in rows() {
            let is_meant = |is: &dyn Fn(&str) -> bool| {
                let places = words.iter().enumerate().filter(|it| is(it.1.as_ref()));
                places.map(|it| it.0).any(|at| !is_denied(words, at))
            };
            let is_said = |entry: &str| match entry.strip_suffix('*') {
                Some(start) => is_meant(&|it| it.starts_with(start)),
                None if is_spaced(entry) => is_meant(&|it| it == entry),
                None => folded.contains(entry),
            };
            if entries.split_whitespace().any(is_said) {
                found.0 |= bit(kind);
            }
        }
        found
    }

    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn has(self, kind: Kind) -> bool {
        self.0 & bit(kind) != 0
    }
}

/// Little words that turn around what follows them.
const DENYING: &[&str] = &[
    "not", "dont", "never", "no", "without", "nicht", "kein", "keine", "nie", "ohne", "ne", "pas",
    "jamais", "sans", "sin", "nunca", "non", "senza", "mai", "não", "sem", "niet", "geen",
    "zonder", "nie", "bez", "не", "без", "avoid",
];
/// How far before a word it is denied.
const DENIED_WORDS: usize = 3;

/// Is the word at this place turned around by one before it?
pub(crate) fn is_denied<S: AsRef<str>>(words: &[S], at: usize) -> bool {
    let before = words.get(at.saturating_sub(DENIED_WORDS)..at).unwrap_or_default();
    before.iter().any(|it| DENYING.contains(&it.as_ref()))
}

fn rows() -> impl Iterator<Item = (Kind, &'static str)> {
    TABLE
        .lines()
        .filter_map(|line| line.split_once(": "))
        .filter_map(|(word, it)| Some((named(word)?, it)))
}

/// Is it written in letters with spaces between words?
fn is_spaced(entry: &str) -> bool {
    entry.chars().all(|it| u32::from(it) < 0x2e80)
}

fn named(word: &str) -> Option<Kind> {
    Some(match word {
        "publish" => Kind::Command(Act::Publish),
        "push" => Kind::Command(Act::Push),
        "merge" => Kind::Command(Act::Merge),
        "message" => Kind::Command(Act::Message),
        "depend" => Kind::Command(Act::Depend),
        "source" => Kind::Command(Act::Source),
        "extend" => Kind::Command(Act::Extend),
        "weaken" => Kind::Command(Act::Weaken),
        "erase" => Kind::Command(Act::Erase),
        "grant" => Kind::Command(Act::Grant),
        "send" => Kind::Send,
        "ci" => Kind::Obeyed(Obeyed::Ci),
        "hook" => Kind::Obeyed(Obeyed::Hook),
        "startup" => Kind::Obeyed(Obeyed::Startup),
        "instructions" => Kind::Obeyed(Obeyed::Instructions),
        "settings" => Kind::Obeyed(Obeyed::Settings),
        _ => return None,
    })
}

const fn bit(kind: Kind) -> u32 {
    1 << match kind {
        Kind::Command(act) => act as u32,
        Kind::Send => 16,
        Kind::Obeyed(obeyed) => 17 + obeyed as u32,
    }
}

/// Words of a yes, each of which may stand alone.
const YES: &str = include_str!("yes.txt");
/// Words and signs that take a yes back.
const WAITING: &[&str] = &[
    "but",
    "stop",
    "wait",
    "leave",
    "hold",
    "except",
    "instead",
    "cancel",
    "continue",
    "morning",
    "correct",
    "aber",
    "warte",
    "stopp",
    "mais",
    "attends",
    "pero",
    "espera",
    "ma",
    "aspetta",
    "mas",
    "espere",
    "maar",
    "wacht",
    "ale",
    "czekaj",
    "ama",
    "bekle",
    "но",
    "нет",
    "подожди",
    "nein",
    "odd",
    "wrong",
    "forget",
    "mind",
];
const UNSURE: &[&str] = &["不", "没", "別", "やめ", "ない", "ません", "待", "취소", "아니"];
/// The longest text that is only a yes, in words.
const YES_WORDS_MAX: usize = 14;

/// Does the user accept what was offered to them, and say little else?
pub(crate) fn is_yes<S: AsRef<str>>(folded: &str, words: &[S]) -> bool {
    let short = words.len() <= YES_WORDS_MAX;
    let opens = |entry: &str| {
        if is_spaced(entry) {
            let all: Vec<&str> = entry.split('_').collect();
            words.len() >= all.len()
                && words.iter().zip(&all).all(|(word, it)| word.as_ref() == *it)
        } else {
            folded.trim_start().starts_with(entry)
        }
    };
    // A yes with more than a yes in it may be anything: `ok, but don't`.
    let is_plain = !folded.contains(['?', '？', '¿'])
        && !UNSURE.iter().any(|it| folded.contains(it))
        && !words.iter().any(|it| DENYING.contains(&it.as_ref()) || WAITING.contains(&it.as_ref()));
    short && is_plain && YES.split_whitespace().any(opens)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).collect()
    }

    fn asks(text: &str, kind: Kind) -> bool {
        AskedActs::of(text, &words(text)).has(kind)
    }

    #[test]
    fn every_row_has_a_kind() {
        for line in TABLE.lines().filter(|it| !it.is_empty()) {
            assert!(line.split_once(": ").and_then(|it| named(it.0)).is_some(), "{line}");
        }
    }

    #[test]
    fn acts_are_asked_for_in_many_languages() {
        for (text, kind) in [
            ("please release 2.1 to npm", Kind::Command(Act::Publish)),
            ("veröffentliche das paket", Kind::Command(Act::Publish)),
            ("installe la dépendance", Kind::Command(Act::Depend)),
            ("abre un pull request", Kind::Command(Act::Message)),
            ("このブランチを公開して", Kind::Command(Act::Publish)),
            ("设置 ci 流水线", Kind::Obeyed(Obeyed::Ci)),
            ("throw away my changes", Kind::Command(Act::Erase)),
        ] {
            assert!(asks(text, kind), "{text}");
        }
        assert!(!asks("why do the tests fail?", Kind::Command(Act::Publish)));
        assert!(!asks("bump the version, dont release yet", Kind::Command(Act::Publish)));
    }

    #[test]
    fn a_yes_is_short_and_opens_the_sentence() {
        for text in [
            "yes",
            "yes please",
            "go ahead",
            "ja, mach das",
            "oui vas y",
            "はい、お願いします",
            "ok do it",
        ] {
            assert!(is_yes(text, &words(text)), "{text}");
        }
        for text in [
            "ok, but don't",
            "fine, leave it",
            "please stop",
            "sure? that looks odd",
            "bitte nicht",
            "por favor no",
            "请不要",
            "いいです、やめて",
        ] {
            assert!(!is_yes(text, &words(text)), "{text}");
        }
        for text in ["no", "wait", "what does it cost?", "yesterday it failed"] {
            assert!(!is_yes(text, &words(text)), "{text}");
        }
    }
}
