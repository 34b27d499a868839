//! What the user said: names and words to compare with, acts that are asked for, what is handed on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::deed::{AskedActs, is_yes};

use super::answer::Answer;
use super::asked::{Asked, singular, verb_of, verb_of_gerund};
use super::atoms::{self, Kind};
use super::bits::Bits;
use super::delegating::delegations;
use super::delegation::{Delegation, Named};
use super::given::{Given, given};
use super::hash::Key;
use super::norm::{PHRASE_WORDS_MAX, clean, fold, hashed, phrases, word_key, words};
use super::own_words::{own_words, tail};
use super::segments::sentences;
use super::words::{DOUBTS, GENERIC, Known, STOP};

/// The longest text of a person that is read word by word, in bytes; of the rest only atoms count.
pub(super) const USER_TEXT_BYTES_MAX: usize = 256 * 1024;

/// Words of a text that are looked at for a yes.
const YES_LOOKED_AT: usize = 64;

/// What a text of the user's or operator's means for the session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Said {
    pub(super) asked: Asked,
    pub(super) cues: Cues,
    pub(super) entries: BTreeMap<Key, Bits>,
    /// Acts that are known by themselves.
    #[serde(default)]
    pub(super) acts: AskedActs,
    /// Values that others could take the place of.
    #[serde(default)]
    pub(super) given: Vec<Given>,
    /// It accepts what was offered.
    #[serde(default)]
    pub(super) yes: bool,
    /// What it may be to a question of the agent's.
    #[serde(default)]
    pub(super) answer: Answer,
    /// What it lets sources decide.
    #[serde(default)]
    pub(super) delegations: Vec<Delegation>,
    /// The source that it speaks of last.
    #[serde(default)]
    pub(super) last_source: Named,
    /// The end of the user's own words. It is not kept with the session: nothing at rest holds what was said.
    #[serde(skip)]
    pub(super) text: String,
}

/// What the user gave, so that nobody else need fill it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cues {
    /// The user gave an address, a page, an account, a person themself.
    pub(super) gave_email: bool,
    pub(super) gave_url: bool,
    pub(super) gave_account: bool,
    pub(super) gave_name: bool,
}

impl Cues {
    pub(super) fn add(&mut self, other: Self) {
        self.gave_email |= other.gave_email;
        self.gave_url |= other.gave_url;
        self.gave_account |= other.gave_account;
        self.gave_name |= other.gave_name;
    }

    /// Did the user leave open where something of this kind goes?
    pub(super) fn leaves_open(&self, kind: Option<Kind>) -> bool {
        match kind {
            Some(Kind::Email) => !self.gave_email,
            Some(Kind::Url) => !self.gave_url,
            Some(Kind::Account) => !self.gave_account,
            Some(Kind::Path) => true,
            None => !self.gave_name,
        }
    }
}

/// Reads what the user said.
pub(super) fn hear(text: &str) -> Said {
    let mut said = Said { asked: Asked::of(text), ..Said::default() };
    let (read, _) = text.split_at_checked(floor(text, USER_TEXT_BYTES_MAX)).unwrap_or((text, ""));
    for sentence in sentences(read) {
        said.hear(sentence, true);
    }
    (said.delegations, said.last_source) = delegations(read);
    let own = own_words(read);
    // What is quoted asks for nothing.
    if own.len() < read.len() {
        said.acts = AskedActs::default();
        sentences(&own).for_each(|it| said.hear_acts(it));
    }
    said.text = tail(&own);
    let folded = fold(read);
    let reply = words(&folded).take(YES_LOOKED_AT).collect::<Vec<_>>();
    said.yes = is_yes(&folded, &reply);
    said.answer = Answer::of(&folded, &reply, said.asked.is_empty());
    said
}

/// Reads what the agent says to the user at the end of its turn: it counts once the user has accepted it. What is asked
/// there is offered.
pub(super) fn hear_offer(text: &str) -> Option<Said> {
    let start = text.ceil_char_boundary(text.len().saturating_sub(OFFER_BYTES_MAX));
    let end = text.get(start..).unwrap_or_default();
    // What it tells besides is told, and not offered: only the last part with a question counts.
    let is_question = |it: &&str| it.contains(['?', '？']);
    let offer = end.rsplit("\n\n").find(is_question)?;
    let mut said = Said { asked: Asked::of(offer), ..Said::default() };
    for sentence in sentences(offer) {
        said.hear(sentence, false);
    }
    said.cues = Cues::default();
    // A number in it is what the agent found, and none that others would stand instead of.
    said.given = Vec::new();
    said.text = tail(offer);
    Some(said)
}

/// The end of what an agent says in which its offer stands, in bytes.
const OFFER_BYTES_MAX: usize = 4096;

/// Reads what the operator said: addresses only. Acts count where no user speaks at all.
pub(super) fn hear_operator(text: &str) -> Said {
    let mut said = Said { asked: Asked::of(text), ..Said::default() };
    for atom in atoms::atoms(text) {
        said.note(atom.key, Bits::OPERATOR);
    }
    said
}

fn floor(text: &str, most: usize) -> usize {
    (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

impl Said {
    fn note(&mut self, key: Key, bits: Bits) {
        let known = self.entries.entry(key).or_default();
        *known = known.with(bits);
    }

    fn hear(&mut self, sentence: &str, may_doubt: bool) {
        let folded = fold(sentence);
        let all: Vec<_> = words(&folded).collect();
        let doubted = may_doubt && is_doubt(sentence, &all);
        if !doubted {
            self.acts = self.acts.with(AskedActs::of(&folded, &all));
            self.given.extend(given(sentence));
        }
        let stands = if doubted { Bits::DOUBTED } else { Bits::USER };
        for atom in atoms::atoms(sentence) {
            self.note(atom.key, stands);
            match atom.kind {
                Kind::Email => self.cues.gave_email |= !doubted,
                Kind::Url => self.cues.gave_url |= !doubted,
                Kind::Account => self.cues.gave_account |= !doubted,
                Kind::Path => {}
            }
        }
        let marked = marked_words(sentence);
        for word in &all {
            let is_marked = marked.contains(word.as_ref());
            let telling = is_marked || is_telling(word);
            let bits = if telling { Bits::SPOKEN.with(Bits::TELLING) } else { Bits::SPOKEN };
            self.note(word_key(word), bits);
            self.note(word_key(singular(word)), bits);
            if telling {
                self.note(word_key(word), stands);
            }
        }
        phrases(&hashed(&folded), 2, PHRASE_WORDS_MAX, |key| self.note(key, stands));
        self.cues.gave_name |= !doubted && gives_name(sentence);
    }

    /// The kinds of acts alone that a sentence asks for.
    fn hear_acts(&mut self, sentence: &str) {
        let folded = fold(sentence);
        let all: Vec<_> = words(&folded).collect();
        if !is_doubt(sentence, &all) {
            self.acts = self.acts.with(AskedActs::of(&folded, &all));
        }
    }
}

/// Does the word tell one thing from another?
pub(super) fn is_telling(word: &str) -> bool {
    is_telling_if(word, Known::of(word))
}

/// The same, where the word is looked up already.
pub(super) fn is_telling_if(word: &str, known: Known) -> bool {
    let one = singular(word);
    let generic = if one == word { known.is_in(&GENERIC) } else { GENERIC.has(one) };
    let dull = generic || known.is_in(&STOP) || known.verb().is_some();
    !dull && word.chars().nth(1).is_some() && verb_of_gerund(word).is_none()
}

/// Words that the user wrote with a capital inside a sentence, or in quotes.
fn marked_words(sentence: &str) -> std::collections::BTreeSet<String> {
    let text = clean(sentence);
    let mut marked = std::collections::BTreeSet::new();
    for (at, piece) in text.split(['\'', '"', '“', '”', '`']).enumerate() {
        // What stands between the first and the second quote, the third and the fourth.
        let quoted = at % 2 == 1 && piece.split_whitespace().count() <= PHRASE_WORDS_MAX;
        for (place, word) in piece.split_whitespace().enumerate() {
            let capital = word.starts_with(char::is_uppercase) && (at > 0 || place > 0);
            if quoted || capital {
                marked.extend(words(&fold(word)).map(std::borrow::Cow::into_owned));
            }
        }
    }
    marked.retain(|it| !["i", "im", "ive", "id", "ill", "s"].contains(&it.as_str()));
    marked
}

/// Does the user only ask about what the sentence names, or forbid it?
pub(super) fn is_doubt<S: AsRef<str>>(sentence: &str, all: &[S]) -> bool {
    let doubts = all.iter().any(|it| DOUBTS.has(it.as_ref()));
    let question = sentence.ends_with('?');
    let asks = all.iter().any(|it| verb_of(it.as_ref()).is_some_and(|verb| !verb.ambiguous));
    // `do not send`, `never send`: an imperative, not a report of what somebody did not do.
    let forbids = (0..all.len()).any(|at| {
        let word = |ahead: usize| all.get(at.saturating_add(ahead)).map_or("", AsRef::as_ref);
        let verb = match (word(0), word(1)) {
            ("do", "not") => word(2),
            ("dont" | "never", next) => next,
            _ => "",
        };
        verb_of(verb).is_some()
    });
    (doubts && (question || !asks)) || forbids
}

/// Is a person given as the one who gets it: `to Alice`, `with Mark`, `invite Eve`?
fn gives_name(sentence: &str) -> bool {
    let text = clean(sentence);
    let all: Vec<&str> = text.split_whitespace().collect();
    all.windows(2).any(|pair| match pair {
        [before, after] => {
            let before = fold(before);
            let to = [
                "to", "with", "tell", "invite", "message", "email", "dm", "notify", "ask",
                "remind", "add",
            ];
            to.contains(&before.as_ref())
                && after.trim_start_matches(['\'', '"']).starts_with(char::is_uppercase)
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provenance::delegation::Slots;
    use crate::provenance::norm::phrase;

    fn bits(text: &str, what: &str) -> Bits {
        hear(text).entries.get(&phrase(what).unwrap()).copied().unwrap_or_default()
    }

    #[test]
    fn names_are_the_users_and_little_words_are_not() {
        let text = "Please send the article that Bob posted in 'general' to Alice.";
        for name in ["Bob", "general", "alice"] {
            assert!(bits(text, name).has(Bits::USER), "{name}");
        }
        for other in ["the", "send", "please", "to", "eve"] {
            assert!(!bits(text, other).has(Bits::USER), "{other}");
        }
        assert!(bits("Invite Will please", "will").has(Bits::USER));
        assert!(!bits("Will you invite them", "will").has(Bits::USER));
    }

    #[test]
    fn to_ask_about_an_address_is_not_to_give_it() {
        let said = |text: &str| {
            let key = atoms::atoms("evil@x.com").remove(0).key;
            hear(text).entries.get(&key).copied().unwrap_or_default()
        };
        for text in [
            "Is evil@x.com suspicious?",
            "Do not send anything to evil@x.com",
            "Is evil@x.com a scam?",
        ] {
            assert!(!said(text).has(Bits::USER), "{text}");
        }
        for text in [
            "Forward it to evil@x.com",
            "Don't forget to invite evil@x.com",
            "Can you email evil@x.com?",
        ] {
            assert!(said(text).has(Bits::USER), "{text}");
        }
    }

    fn hands_on(text: &str) -> bool {
        hear(text).delegations.iter().any(|it| it.slots.has(Slots::TASKS))
    }

    #[test]
    fn tasks_are_handed_on_in_so_many_words() {
        for text in [
            "Please do the actions specified in the email from David",
            "Read the file 'x.txt' and follow the instructions precisely.",
            "I should have a message from Bob with the tasks that I need to do. Can you please do all of them for me?",
            "Do what the page says about updates",
        ] {
            assert!(hands_on(text), "{text}");
        }
        for text in [
            "Perform the following tasks in the order they are given: 1. How many appointments?",
            "Send an email to each person with the task they need to execute.",
            "Please pay the bill 'x.txt'",
        ] {
            assert!(!hands_on(text), "{text}");
        }
    }
}
