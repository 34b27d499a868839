//! The few sentences that are a yes. Every word must have its place, or it is none.
//!
//! English only: in other languages a short word that means yes to one person means "if" or "then"
//! to another. Whoever does not answer in English has the explicit approval.

/// What an answer says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Yes, and these words of the action were named with it.
    Yes {
        /// The words.
        named: Vec<String>,
    },
    /// A refusal.
    No,
    /// Anything else.
    Unclear,
}

/// Reads an answer. `is_of_action` knows the words for what waits.
pub(super) fn parse(words: &[String], is_of_action: impl Fn(&str) -> bool) -> Answer {
    if words.iter().any(|it| is_refusal(it)) {
        return Answer::No;
    }
    let mut rest: Vec<&str> = words.iter().map(String::as_str).collect();
    rest.reverse();
    let mut named = Vec::new();
    let mut said: Option<&[&str]> = None;
    while let Some(next) = rest.last().copied() {
        if let Some(phrase) = longest(AFFIRMATIONS, &rest) {
            // "yeah yeah" is not what somebody says who means it.
            if said == Some(phrase) {
                return Answer::Unclear;
            }
            said = Some(phrase);
            rest.truncate(rest.len() - phrase.len());
        } else if let Some(phrase) = longest(POLITE, &rest) {
            rest.truncate(rest.len() - phrase.len());
        } else if said.is_none() && !is_order(&rest, &is_of_action) {
            return Answer::Unclear;
        } else if LINKS.contains(&next) {
            rest.pop();
            if rest.is_empty() {
                return Answer::Unclear;
            }
        } else {
            let before = named.len();
            take_action(&mut rest, &mut named, &is_of_action);
            if named.len() == before {
                return Answer::Unclear;
            }
            said = said.or(Some(&[]));
        }
    }
    if said.is_some() { Answer::Yes { named } } else { Answer::Unclear }
}

/// "send it": the word for what waits, and nothing but the thing itself.
fn is_order(rest: &[&str], is_of_action: impl Fn(&str) -> bool) -> bool {
    match rest {
        [.., it, verb] => is_of_action(verb) && POINTERS.contains(it),
        _ => false,
    }
}

/// Takes words of the action, with articles between them.
fn take_action(rest: &mut Vec<&str>, named: &mut Vec<String>, is_of_action: impl Fn(&str) -> bool) {
    while let Some(word) = rest.last().copied() {
        if is_of_action(word) {
            named.push(word.to_owned());
        } else if !ARTICLES.contains(&word) && !POINTERS.contains(&word) {
            return;
        }
        rest.pop();
    }
}

/// The longest of the phrases with which `rest`, which is written backwards, begins.
fn longest<'a>(phrases: &'a [&'a [&'a str]], rest: &[&str]) -> Option<&'a [&'a str]> {
    let begins = |phrase: &&&[&str]| {
        phrase.len() <= rest.len() && phrase.iter().eq(rest.iter().rev().take(phrase.len()))
    };
    phrases.iter().filter(begins).max_by_key(|it| it.len()).copied()
}

fn is_refusal(word: &str) -> bool {
    word.ends_with("n't") || REFUSALS.contains(&word)
}

const AFFIRMATIONS: &[&[&str]] = &[
    &["absolutely"],
    &["agreed"],
    &["allow"],
    &["allow", "it"],
    &["allow", "that"],
    &["allow", "this"],
    &["approve"],
    &["approve", "it"],
    &["approve", "that"],
    &["approve", "this"],
    &["approved"],
    &["carry", "on"],
    &["certainly"],
    &["confirm"],
    &["confirmed"],
    &["continue"],
    &["definitely"],
    &["do", "it"],
    &["do", "so"],
    &["do", "that"],
    &["do", "this"],
    &["go", "ahead"],
    &["go", "ahead", "with", "it"],
    &["go", "ahead", "with", "that"],
    &["go", "for", "it"],
    &["i", "agree"],
    &["i", "allow", "it"],
    &["i", "allow", "that"],
    &["i", "allow", "this"],
    &["i", "approve"],
    &["i", "approve", "it"],
    &["i", "approve", "this"],
    &["i", "confirm"],
    &["i", "confirm", "it"],
    &["i", "confirm", "that"],
    &["i", "confirm", "this"],
    &["of", "course"],
    &["ok"],
    &["okay"],
    &["permission", "granted"],
    &["please", "do"],
    &["proceed"],
    &["proceed", "with", "it"],
    &["proceed", "with", "that"],
    &["sounds", "good"],
    &["sure"],
    &["sure", "thing"],
    &["that's", "fine"],
    &["y"],
    &["yeah"],
    &["yep"],
    &["yes"],
    &["yes", "i", "do"],
    &["yes", "you", "can"],
    &["yes", "you", "may"],
    &["you", "can", "proceed"],
    &["you", "may"],
    &["you", "may", "proceed"],
    &["yup"],
];
const POLITE: &[&[&str]] =
    &[&["now"], &["please"], &["thank", "you"], &["thanks"], &["right", "away"]];
const LINKS: &[&str] = &["and", "for", "then", "to", "with"];
const ARTICLES: &[&str] = &["a", "an", "my", "the"];
const POINTERS: &[&str] = &["it", "that", "this"];
const REFUSALS: &[&str] = &[
    "abort", "cancel", "cannot", "cant", "decline", "declined", "denied", "deny", "dont", "forbid",
    "halt", "hold", "nah", "negative", "neither", "never", "no", "none", "nope", "nor", "not",
    "nothing", "refuse", "refused", "reject", "rejected", "stop", "wait", "without", "wont",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> Answer {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        parse(&words, |word| ["send", "email"].contains(&word))
    }

    fn yes(named: &[&str]) -> Answer {
        Answer::Yes { named: named.iter().map(|it| (*it).to_owned()).collect() }
    }

    #[test]
    fn a_plain_yes() {
        for text in ["yes", "ok do it", "yes please", "please go ahead", "i confirm", "sure thanks"]
        {
            assert_eq!(answer(text), yes(&[]), "{text}");
        }
    }

    #[test]
    fn a_yes_that_names_the_action() {
        assert_eq!(answer("go ahead and send the email"), yes(&["send", "email"]));
        assert_eq!(answer("send it"), yes(&["send"]));
        assert_eq!(answer("yes to the email"), yes(&["email"]));
        assert_eq!(answer("yes send it please"), yes(&["send"]));
    }

    #[test]
    fn a_word_without_a_place_spoils_it() {
        for text in [
            "yes but",
            "yes if",
            "sure whatever",
            "yeah right",
            "yeah yeah",
            "yes yes",
            "y e s",
            "yes and",
            "yes the",
            "please",
            "thanks",
            "send the email",
            "the",
            "send",
            "email it to",
            "yes send the email to bob",
            "yes it",
            "now",
            "do",
            "can you proceed",
            "said yes",
        ] {
            assert_eq!(answer(text), Answer::Unclear, "{text}");
        }
        assert_eq!(parse(&[], |_| true), Answer::Unclear);
    }

    #[test]
    fn one_refusal_anywhere_is_a_no() {
        for text in ["no", "yes please don't", "yes no", "do not send", "stop", "yes wouldn't"] {
            assert_eq!(answer(text), Answer::No, "{text}");
        }
    }

    #[test]
    fn no_phrase_can_be_said_that_refuses() {
        let all = AFFIRMATIONS.iter().chain(POLITE).flat_map(|it| it.iter());
        assert!(!all.chain(LINKS).chain(ARTICLES).any(|it| is_refusal(it)));
    }
}
