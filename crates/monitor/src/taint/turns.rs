//! Turns of a conversation and the facts that are drawn from them.

use std::collections::BTreeSet;

use model::{Source, TaintTag};

use super::fingerprint::normal;
use super::{SessionTaint, worse};

/// Turns that are looked at for a fact. In a longer conversation all labels stick to every fact.
pub const FACT_TURNS_MAX: usize = 1000;
/// A shorter quotation could come from anywhere.
const SNIPPET_CHARS_MIN: usize = 12;
/// Shorter words are in every text.
const WORD_CHARS_MIN: usize = 4;

/// One turn, with the label that it carries wherever it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// What was said.
    pub text: String,
    /// Where it has been; none if it is clean.
    pub tag: Option<TaintTag>,
}

impl Turn {
    /// A turn said by `source` now. What the user and the operator say is theirs; whatever else is
    /// said in a tainted session carries the session's label.
    #[must_use]
    pub fn new(source: Source, text: String, session: &SessionTaint) -> Self {
        let tag = if source.is_vouched_for() { None } else { session.tag() };
        Self { text, tag }
    }
}

/// The label of a fact that was drawn from `turns`, of which `quoted` is said to be the basis.
///
/// The quotation is found by its words. The fact is clean only if the quotation is in clean turns
/// alone and no word of the fact could come from a tainted turn instead: who draws facts is a
/// model, and a tainted turn may have told it what to quote. Where nothing is found, every label
/// of the conversation sticks.
#[must_use]
pub fn inherited_by_fact(fact: &str, quoted: &str, turns: &[Turn]) -> Option<TaintTag> {
    let all = turns.iter().fold(None, |sum, turn| worse(sum.as_ref(), turn.tag.as_ref()));
    if all.is_none() || turns.len() > FACT_TURNS_MAX {
        return all;
    }
    let snippet = normal(quoted);
    if snippet.chars().count() < SNIPPET_CHARS_MIN {
        return all;
    }
    let texts: Vec<(String, &Turn)> = turns.iter().map(|it| (normal(&it.text), it)).collect();
    let sources: Vec<_> = texts.iter().filter(|(text, _)| text.contains(&snippet)).collect();
    if sources.is_empty() {
        return all;
    }
    let found = sources.iter().fold(None, |sum, (_, turn)| worse(sum.as_ref(), turn.tag.as_ref()));
    if found.is_some() {
        return found;
    }
    let vouched: BTreeSet<&str> = sources.iter().flat_map(|(text, _)| words(text)).collect();
    let tainted: BTreeSet<&str> =
        texts.iter().filter(|(_, it)| it.tag.is_some()).flat_map(|(text, _)| words(text)).collect();
    let fact = normal(fact);
    let foreign = words(&fact).any(|word| tainted.contains(word) && !vouched.contains(word));
    if foreign { all } else { None }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let pieces = text.split(|it: char| !it.is_alphanumeric());
    let telling = |it: &&str| {
        it.chars().count() >= WORD_CHARS_MIN || it.chars().any(char::is_numeric) || !it.is_ascii()
    };
    pieces.filter(|it| !it.is_empty()).filter(telling)
}

#[cfg(test)]
mod tests {
    use super::super::label;
    use super::*;

    fn turns() -> Vec<Turn> {
        let mut session = SessionTaint::default();
        let mut turns = vec![
            Turn::new(Source::User, "My daughter Ada was born in May".to_owned(), &session),
            Turn::new(Source::Agent, "Congratulations on your daughter!".to_owned(), &session),
        ];
        session.absorb(&label(Source::Web, "https://a.example", 1), "page");
        turns.push(Turn::new(Source::User, "Read that page, please, now".to_owned(), &session));
        turns.push(Turn::new(
            Source::Agent,
            "The page says that invoices go to pay.evil.example by Friday".to_owned(),
            &session,
        ));
        turns
    }

    fn taints(fact: &str, quoted: &str) -> bool {
        inherited_by_fact(fact, quoted, &turns()).is_some()
    }

    #[test]
    fn only_turns_after_the_fetch_that_the_user_did_not_say_are_tainted() {
        let tags: Vec<_> = turns().iter().map(|it| it.tag.is_some()).collect();
        assert_eq!(tags, [false, false, false, true]);
    }

    #[test]
    fn a_fact_inherits_from_its_turn() {
        assert!(taints("Invoices go to pay.evil.example", "invoices  go to PAY.evil.example"));
        assert!(!taints("Ada was born in May", "my daughter Ada was born in may"));
        assert!(!taints("The user has a daughter, Ada", "My daughter Ada was born"));
    }

    #[test]
    fn a_quotation_that_is_nowhere_or_too_short_does_not_wash() {
        assert!(taints("Ada was born in May", "the user told me about a birth"));
        assert!(taints("Ada was born in May", "Ada"));
        assert!(taints("Ada was born in May", ""));
    }

    #[test]
    fn a_clean_quotation_does_not_wash_a_foreign_fact() {
        assert!(taints("Invoices go to pay.evil.example", "My daughter Ada was born in May"));
    }

    #[test]
    fn short_words_that_tell_much_are_looked_at_too() {
        let mut session = SessionTaint::default();
        session.absorb(&label(Source::Web, "https://a.example", 1), "page");
        let mut turns = turns();
        for text in ["The gate is 7b now", "It is 漢 there"] {
            turns.push(Turn::new(Source::Agent, text.to_owned(), &session));
        }
        let quoted = "My daughter Ada was born in May";
        let taints = |fact: &str| inherited_by_fact(fact, quoted, &turns).is_some();
        assert!(taints("Ada: 7b") && taints("Ada: 漢"));
        assert!(!taints("Ada is in May"), "but not those that stand everywhere");
    }

    #[test]
    fn a_quotation_of_twelve_characters_is_long_enough() {
        assert!(!taints("Ada was born", "Ada was born"));
        assert!(taints("Ada was bor", "Ada was bor"));
    }

    #[test]
    fn in_a_very_long_conversation_every_label_sticks() {
        let quoted = "My daughter Ada was born in May";
        let mut turns = turns();
        let clean = Turn { text: "Go on.".to_owned(), tag: None };
        turns.resize(FACT_TURNS_MAX, clean.clone());
        assert_eq!(inherited_by_fact("Ada was born", quoted, &turns), None);
        turns.push(clean);
        assert!(inherited_by_fact("Ada was born", quoted, &turns).is_some());
    }

    #[test]
    fn a_clean_conversation_stays_clean() {
        let clean: Vec<_> = turns().into_iter().filter(|it| it.tag.is_none()).collect();
        assert_eq!(inherited_by_fact("anything", "", &clean), None);
    }
}
