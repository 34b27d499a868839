//! What a person asked to have done, or what a text asks for: clause by clause.

use serde::{Deserialize, Serialize};

use super::acts::{object, verb as kind};
use super::norm::{fold, words};
use super::segments::sentences;
use crate::deed::is_denied;

use super::words::{
    AGAIN, ANSWERING, JOINTS, LEADS, PASSIVE, STOP, Verb, objects, stem_acts, verb,
};

/// The clause has a word that may be somebody's name.
pub(super) const MAYBE_SOMEBODY: u32 = 1 << 31;
/// Every kind of thing.
const ANYTHING: u32 = (1 << 13) - 1;
/// Little words by two of which a text is known to be English.
const ENGLISH: &[&str] = &[
    "the", "and", "my", "is", "please", "you", "what", "this", "that", "with", "for", "to", "of",
    "it", "his", "her", "from", "all", "their", "them", "was", "are",
];
/// Little words of other languages that are written with plain letters.
const FOREIGN: &[&str] = &[
    "al", "alla", "ao", "até", "au", "auch", "aux", "bij", "bir", "bitte", "bu", "ce", "che",
    "com", "con", "czy", "da", "dann", "dans", "das", "de", "dei", "del", "della", "delle", "dem",
    "den", "der", "des", "di", "dla", "doch", "du", "een", "ein", "eine", "einem", "einen",
    "einer", "eines", "el", "em", "en", "er", "est", "et", "even", "für", "gli", "het", "ho",
    "ich", "il", "ile", "im", "ist", "için", "jak", "je", "jest", "já", "kadar", "kun", "la",
    "las", "le", "les", "lo", "los", "met", "mi", "mijn", "mir", "mit", "mu", "muy", "más", "na",
    "naar", "nein", "nel", "nella", "nicht", "nie", "noch", "nog", "não", "od", "ook", "os", "ou",
    "para", "più", "por", "pour", "przez", "que", "sind", "się", "sono", "su", "sul", "sur", "te",
    "um", "uma", "un", "una", "und", "une", "uno", "van", "ve", "vom", "voor", "w", "wil", "z",
    "za", "zu", "zum", "zur", "şu",
];
/// How many clauses of one text are kept; a longer one is read as if it ended there.
const CLAUSES_MAX: usize = 64;

/// What a person asked to have done, or what a text asks for, clause by clause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Asked {
    clauses: Vec<Clause>,
}

/// One clause: its verbs, what it names, and what its verbs imply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Clause {
    pub(super) verbs: u32,
    pub(super) objects: u32,
    pub(super) implied: u32,
    /// Verbs of other languages, whose objects are not looked at.
    #[serde(default)]
    pub(super) foreign: u32,
    /// Verbs that are forbidden.
    #[serde(default)]
    pub(super) denied: u32,
}

impl Asked {
    pub(super) fn clauses(&self) -> &[Clause] {
        &self.clauses
    }

    pub(super) fn add(&mut self, other: &Self) {
        for clause in &other.clauses {
            if self.clauses.len() < CLAUSES_MAX && !self.clauses.contains(clause) {
                self.clauses.push(*clause);
            }
        }
    }

    /// Acts that are forbidden and not asked for afterwards.
    pub(super) fn denied(&self) -> u32 {
        self.clauses.iter().fold(0, |all, it| (all & !(it.verbs | it.foreign)) | it.denied)
    }

    /// The same without what is lost for good, and without credentials and rights.
    pub(super) fn without_loss(&self) -> Self {
        let delicate = object::CREDENTIAL | object::ACCESS;
        let is_safe =
            |it: &&Clause| !it.asks(kind::DELETE) && (it.objects | it.implied) & delicate == 0;
        Self { clauses: self.clauses.iter().filter(is_safe).copied().collect() }
    }

    /// Does it ask for anything to be done?
    pub(super) fn is_empty(&self) -> bool {
        self.clauses.iter().all(|it| it.verbs | it.foreign == 0)
    }

    /// The acts that `text` asks for in its own words.
    pub(super) fn of(text: &str) -> Self {
        let mut asked = Self::default();
        let folded = fold(text);
        let mut before = Clause::default();
        let is_english = is_english(&folded);
        for sentence in sentences(&folded) {
            for piece in sentence.split([':', ',', '(', ')', '"', '–', '—']) {
                let all: Vec<_> = words(piece).collect();
                for part in all.split(|it| JOINTS.has(it.as_ref())) {
                    let mut clause = Clause::of(part, is_english);
                    // `… the file. Then delete it`: what was named before is meant again.
                    if part.iter().any(|it| AGAIN.has(it.as_ref())) || clause.objects == 0 {
                        clause.objects |= before.objects;
                    }
                    // `cancel it then`: whatever was spoken of before.
                    if clause.objects == 0 && part.iter().any(|it| AGAIN.has(it.as_ref())) {
                        clause.implied |= ANYTHING;
                    }
                    if clause != Clause::default() && asked.clauses.len() < CLAUSES_MAX {
                        asked.clauses.push(clause);
                        before = clause;
                    }
                }
            }
        }
        asked
    }
}

/// Does a text in lower case have two of the little words of English?
pub(super) fn is_english(folded: &str) -> bool {
    words(folded).filter(|it| ENGLISH.contains(&it.as_ref())).nth(1).is_some()
}

/// The same for a short text: one of them and a verb, or a verb at its start, will do.
pub(super) fn reads_as_english(folded: &str) -> bool {
    let has_verb = || words(folded).any(|it| verb_of(&it).is_some());
    let has_little = || words(folded).any(|it| ENGLISH.contains(&it.as_ref()));
    let begins = || words(folded).next().is_some_and(|it| verb_of(&it).is_some());
    // Signs that are no letters belong to no language.
    let plain = !folded.chars().any(|it| it.is_alphabetic() && !it.is_ascii());
    is_english(folded) || (plain && (begins() || (has_little() && has_verb())))
}

/// One word of so many with letters that English has not may be a name.
const FOREIGN_SHARE: usize = 5;

/// Is it in another language: does it have one of its little words, or many words with letters that English has not?
pub(super) fn reads_as_foreign(folded: &str) -> bool {
    let is_other = |it: &str| it.chars().any(|it| it.is_alphabetic() && !it.is_ascii());
    let (count, others) = words(folded).fold((0_usize, 0_usize), |(count, others), it| {
        (count.saturating_add(1), others.saturating_add(usize::from(is_other(&it))))
    });
    words(folded).any(|it| FOREIGN.contains(&it.as_ref()))
        || others.saturating_mul(FOREIGN_SHARE) > count
}

impl Clause {
    /// Does it ask for one of these acts?
    pub(super) fn asks(&self, acts: u32) -> bool {
        (self.verbs | self.foreign) & acts != 0
    }

    /// Does it ask to show something to everybody? To share something is to show it to somebody.
    pub(super) fn proclaims(&self) -> bool {
        let shares = self.foreign & kind::SHARE != 0;
        self.verbs & kind::PROCLAIM != 0 || (self.foreign & kind::PUBLISH != 0 && !shares)
    }

    fn of<S: AsRef<str>>(all: &[S], is_english: bool) -> Self {
        let mut clause = Self::default();
        let at = |place: usize| all.get(place).map(AsRef::as_ref);
        for (place, word) in all.iter().enumerate() {
            let before = place.checked_sub(1).and_then(at);
            clause.hear(word.as_ref(), before, at(place.saturating_add(1)));
            // Beginnings of words of another language are those of English words, too.
            if !is_english && verb_of(word.as_ref()).is_none() {
                match is_denied(all, place) {
                    true => clause.denied |= stem_acts(word.as_ref()),
                    false => clause.foreign |= stem_acts(word.as_ref()),
                }
            }
        }
        // `let her know`, but not `let me know`.
        let told = all
            .windows(2)
            .any(|it| matches!(it, [a, b] if a.as_ref() == "let" && b.as_ref() != "me"));
        // A word that no table knows may be somebody's name.
        let known = |it: &str| verb_of(it).is_some() || object_of(it) != 0 || STOP.has(it);
        if clause.verbs != 0 && all.iter().any(|it| !known(it.as_ref()) && it.as_ref().len() > 2) {
            clause.implied |= MAYBE_SOMEBODY;
        }
        if told && all.iter().any(|it| it.as_ref() == "know") {
            clause.verbs |= kind::SEND | kind::PUBLISH;
            clause.implied |= object::MESSAGE | object::CHANNEL | object::PAGE;
        }
        clause
    }

    fn hear(&mut self, word: &str, before: Option<&str>, after: Option<&str>) {
        self.objects |= object_of(word);
        let passive = before.is_some_and(|it| PASSIVE.has(it));
        let Some(found) = verb_of(word).or_else(|| passive.then(|| participle(word)).flatten())
        else {
            return;
        };
        let can_be_verb = passive || before.is_none_or(|it| LEADS.has(it));
        let to_me = after.is_some_and(|it| it == "me" || it == "us") && ANSWERING.has(word);
        let refused = before.is_some_and(|it| it == "dont" || it == "never");
        if refused {
            self.denied |= found.acts;
        }
        if to_me || refused || (found.ambiguous && !can_be_verb) {
            return;
        }
        self.verbs |= found.acts;
        self.implied |= found.implies;
    }
}

/// The verb of a participle: `added`, `booked`, `removed`, `sent`.
fn participle(word: &str) -> Option<&'static Verb> {
    let exact = verb;
    if word == "sent" {
        return exact("send");
    }
    if word == "paid" {
        return exact("pay");
    }
    let stem = word.strip_suffix("ed")?;
    exact(stem).or_else(|| exact(&format!("{stem}e"))).or_else(|| {
        let mut chars = stem.chars();
        let last = chars.next_back()?;
        chars.as_str().ends_with(last).then(|| exact(chars.as_str()))?
    })
}

/// The verb of `word`, in its base form or as `-ing`.
pub(super) fn verb_of(word: &str) -> Option<&'static Verb> {
    verb(word).or_else(|| verb_of_gerund(word))
}

/// The verb of a form in `-ing`.
pub(super) fn verb_of_gerund(word: &str) -> Option<&'static Verb> {
    let stem = word.strip_suffix("ing")?;
    verb(stem).or_else(|| verb(&format!("{stem}e"))).or_else(|| {
        // `running`, `cancelling`: the last letter stands twice.
        let mut chars = stem.chars();
        let last = chars.next_back()?;
        chars.as_str().ends_with(last).then(|| verb(chars.as_str()))?
    })
}

pub(super) fn object_of(word: &str) -> u32 {
    objects(word).or_else(|| objects(singular(word))).unwrap_or_default()
}

/// Is it a word for a kind of thing?
pub(super) fn is_thing(word: &str) -> bool {
    object_of(word) != 0
}

/// `files` → `file`, `activities` stays: good enough to compare nouns by.
pub(super) fn singular(word: &str) -> &str {
    match word.as_bytes() {
        [_, _, .., last, b's'] if *last != b's' => word.strip_suffix('s').unwrap_or(word),
        _ => word,
    }
}
