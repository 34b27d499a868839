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
    "zonder", "nie", "bez", "не", "без", "avoid", "nope", "nah", "nay", "nö", "nee", "hayır",
    "cant", "wont", "shouldnt", "doesnt", "isnt", "nothing", "nichts", "rien", "nada", "niente",
    "niets", "nic",
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
    match kind {
        Kind::Command(act) => 1 << act as u32,
        Kind::Send => 1 << 16,
        Kind::Obeyed(obeyed) => 1 << (17 + obeyed as u32),
        // To remove and to switch off are words for it.
        Kind::Removal => bit(Kind::Command(Act::Weaken)) | bit(Kind::Command(Act::Erase)),
    }
}

/// Words of a yes, each of which may stand alone.
const YES: &str = include_str!("yes.txt");
/// Words and signs that take a yes back.
const WAITING: &[&str] = &[
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
    "warte",
    "stopp",
    "attends",
    "espera",
    "aspetta",
    "espere",
    "wacht",
    "czekaj",
    "bekle",
    "нет",
    "подожди",
    "nein",
    "odd",
    "wrong",
    "forget",
    "mind",
    "skip",
    "later",
    "ignore",
    "myself",
    "rather",
    "selbst",
    "später",
];
const UNSURE: &[&str] =
    &["不", "没", "別", "やめ", "ない", "ません", "待", "いいえ", "結構", "취소", "아니"];
/// Words that change what was offered.
const CHANGING: &[&str] = &["but", "aber", "mais", "pero", "ma", "mas", "maar", "ale", "ama", "но"];
/// Words that choose one of several things, or all of them.
const CHOOSING: &[&str] = &[
    "first",
    "second",
    "third",
    "last",
    "both",
    "either",
    "latter",
    "former",
    "all",
    "erste",
    "ersten",
    "zweite",
    "zweiten",
    "dritte",
    "letzte",
    "letzten",
    "beide",
    "premier",
    "première",
    "deuxième",
    "dernier",
    "dernière",
    "primero",
    "primera",
    "segundo",
    "segunda",
    "último",
    "última",
    "ambos",
    "ambas",
    "primo",
    "prima",
    "secondo",
    "seconda",
    "ultimo",
    "ultima",
    "entrambi",
    "primeiro",
    "primeira",
    "eerste",
    "tweede",
    "laatste",
    "pierwszy",
    "pierwszą",
    "drugi",
    "drugą",
    "ostatni",
    "oba",
    "ilk",
    "birinci",
    "ikinci",
    "son",
    "ikisi",
];
const CHOOSING_UNSPACED: &[&str] = &["番目", "両方", "の方", "第一", "第二", "两个", "都要"];
/// Ends of a talk.
const ENDS: &[&str] = &[
    "thats all",
    "that is all",
    "that was all",
    "das war alles",
    "cest tout",
    "c est tout",
    "eso es todo",
    "è tutto",
    "é tudo",
    "dat was alles",
    "to wszystko",
    "hepsi bu",
];
/// The longest text that is only a yes, in words.
const YES_WORDS_MAX: usize = 14;

/// Does the user accept what was offered to them, and say little else?
pub(crate) fn is_yes<S: AsRef<str>>(folded: &str, words: &[S]) -> bool {
    // A yes with more than a yes in it may be anything: `ok, but to the old account`.
    let changes = words.iter().any(|it| CHANGING.contains(&it.as_ref()));
    words.len() <= YES_WORDS_MAX && !changes && is_plain(folded, words) && opens(folded, words)
}

/// Does it begin with a word of a yes?
pub(crate) fn opens<S: AsRef<str>>(folded: &str, words: &[S]) -> bool {
    YES.split_whitespace().any(|entry| {
        if is_spaced(entry) {
            let all: Vec<&str> = entry.split('_').collect();
            words.len() >= all.len()
                && words.iter().zip(&all).all(|(word, it)| word.as_ref() == *it)
        } else {
            folded.trim_start().starts_with(entry)
        }
    })
}

/// Words of thanks, which answer nothing.
const THANKS: &[&str] = &[
    "thanks",
    "thank",
    "thx",
    "cheers",
    "danke",
    "merci",
    "gracias",
    "grazie",
    "obrigado",
    "obrigada",
    "bedankt",
    "dank",
    "dzięki",
    "dziękuję",
    "teşekkürler",
    "teşekkür",
    "sağol",
    "спасибо",
    "ありがとう",
    "谢谢",
    "고마워",
];

/// May it be the answer to a question of the agent's: short, no question itself, no refusal, no thanks?
pub(crate) fn is_answer<S: AsRef<str>>(folded: &str, words: &[S]) -> bool {
    let thanks = words.iter().any(|it| THANKS.contains(&it.as_ref()));
    !words.is_empty() && words.len() <= YES_WORDS_MAX && is_plain(folded, words) && !thanks
}

/// Does an answer accept or choose something by itself, whatever the question was?
pub(crate) fn chooses<S: AsRef<str>>(folded: &str, words: &[S]) -> bool {
    let is_choice = |it: &str| CHOOSING.contains(&it) || it.bytes().all(|it| it.is_ascii_digit());
    opens(folded, words)
        || words.iter().any(|it| is_choice(it.as_ref()))
        || CHOOSING_UNSPACED.iter().any(|it| folded.contains(it))
}

/// Words that put something before what was offered, at the end of a sentence: *show me first*.
const BEFORE: &[&str] =
    &["first", "erst", "zuerst", "abord", "eerst", "najpierw", "önce", "сначала"];

/// Is there no question, no refusal and nothing to wait for in it?
fn is_plain<S: AsRef<str>>(folded: &str, words: &[S]) -> bool {
    let waits = words.last().is_some_and(|it| BEFORE.contains(&it.as_ref()));
    let plain = folded.replace(['\'', '’'], "");
    !waits
        && !ENDS.iter().any(|it| plain.contains(it))
        && !folded.contains(['?', '？', '¿'])
        && !UNSURE.iter().any(|it| folded.contains(it))
        && !words.iter().any(|it| DENYING.contains(&it.as_ref()) || WAITING.contains(&it.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let text = text.replace('\'', "");
        let all = text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
        all.map(str::to_owned).collect()
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
    fn an_answer_is_short_and_neither_a_question_nor_a_refusal_nor_thanks() {
        let answers = |text: &str| is_answer(text, &words(text)) && chooses(text, &words(text));
        for text in ["the first one", "do both", "yes but on tuesday", "den zweiten", "2番目だけ"]
        {
            assert!(answers(text), "{text}");
        }
        for text in [
            "thanks",
            "danke, das war alles",
            "ok thanks, that was all",
            "which one is cheaper?",
            "no, leave it",
            "nope",
            "skip the first one",
            "i will do that myself",
            "wait with that",
            "yes but show me the list first",
            "now summarise the mail",
            "",
        ] {
            assert!(!answers(text), "{text}");
        }
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
