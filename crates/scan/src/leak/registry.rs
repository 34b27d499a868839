//! What of a running system prompt is looked for in answers.

use std::fmt;
use std::ops::Range;

use sha2::{Digest as _, Sha256};

use super::grams::{GRAM_BYTES, Grams};
use super::identifiers::{self, Identifier};
use super::pairs::Pairs;
use super::patterns::Patterns;
use super::squeeze::Squeezed;
use super::structure::Skeleton;

/// The longest prompt that is read, in bytes. Of a longer one the beginning counts, and [`Registry::is_truncated`] says so.
pub const PROMPT_BYTES_MAX: usize = 256 * 1024;
/// Tokens that a caller may give.
pub const TOKENS_MAX: usize = 1024;

/// What is known of a prompt. All of it is optional.
#[derive(Clone, Copy, Default)]
pub struct Sources<'a> {
    /// The prompt itself.
    pub prompt: Option<&'a str>,
    /// Names that must not be said, where the prompt is not at hand or does not hold them.
    pub tokens: &'a [String],
    /// Texts that may be said even though they stand in the prompt: opening hours, a greeting.
    pub public: &'a [String],
}

/// A system prompt in the form in which answers are compared with it: hashes of its passages, and its names.
///
/// The prompt itself is not kept, and nothing of it is printed by `Debug`.
#[derive(Clone, Default)]
pub struct Registry {
    pub(super) hash: Option<String>,
    pub(super) truncated: bool,
    /// Letters and digits of the prompt.
    pub(super) letters: usize,
    /// Sentences that tell how things are and not what to do, in order, by places in the squeezed prompt.
    pub(super) facts: Vec<Range<usize>>,
    /// Names and numbers that a translation would keep, squeezed.
    pub(super) anchors: Vec<Vec<u8>>,
    /// The names that are looked for.
    pub(super) names: Vec<Identifier>,
    pub(super) patterns: Patterns,
    pub(super) grams: Grams,
    pub(super) pairs: Pairs,
    pub(super) skeleton: Skeleton,
}

impl Registry {
    /// Takes in what is known of a prompt.
    #[must_use]
    pub fn new(sources: &Sources<'_>) -> Self {
        let whole = sources.prompt.unwrap_or_default();
        let prompt = whole.get(..whole.floor_char_boundary(PROMPT_BYTES_MAX)).unwrap_or(whole);
        let mut names = identifiers::find(prompt);
        let given = sources.tokens.iter().take(TOKENS_MAX);
        names.extend(given.filter_map(|it| identifiers::given(it)));
        names.sort();
        names.dedup();
        let anchors = identifiers::anchors(prompt);
        let squeezed = Squeezed::new(prompt);
        Self {
            hash: sources.prompt.map(|it| hex(&Sha256::digest(it.as_bytes()))),
            truncated: prompt.len() < whole.len() || sources.tokens.len() > TOKENS_MAX,
            letters: squeezed.bytes().len(),
            facts: facts(prompt, &squeezed),
            patterns: Patterns::of_prompt(&names, &anchors),
            anchors,
            names,
            grams: passages(prompt, &squeezed, sources.public),
            pairs: Pairs::new(&squeezed),
            skeleton: Skeleton::new(prompt, &squeezed),
        }
    }

    /// Takes in a prompt.
    #[must_use]
    pub fn of_prompt(prompt: &str) -> Self {
        Self::new(&Sources { prompt: Some(prompt), ..Sources::default() })
    }

    /// Takes in names alone, where the prompt is not at hand.
    #[must_use]
    pub fn of_tokens(tokens: &[String]) -> Self {
        Self::new(&Sources { tokens, ..Sources::default() })
    }

    /// Returns the SHA-256 of the whole prompt in hexadecimal digits, for records.
    #[must_use]
    pub fn prompt_hash(&self) -> Option<&str> {
        self.hash.as_deref()
    }

    /// Returns how many names are looked for besides those that always are.
    #[must_use]
    pub fn token_count(&self) -> usize {
        self.names.len()
    }

    /// Returns whether the prompt or the list of tokens was too long to be taken in whole.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("prompt_hash", &self.hash)
            .field("tokens", &self.names.len())
            .finish_non_exhaustive()
    }
}

/// The passages of the prompt as they stand, turned by ROT13, and backwards.
fn passages(prompt: &str, squeezed: &Squeezed, public: &[String]) -> Grams {
    let letters = squeezed.bytes();
    let count = letters.len();
    let mut open = vec![false; count];
    for text in public {
        let text = Squeezed::new(text);
        let mut allowed = Grams::with_room_for(text.bytes().len());
        allowed.add(text.bytes(), |it| Some(it.start));
        allowed.find(letters, |hit| mark(&mut open, hit.at..hit.at + GRAM_BYTES));
    }
    for span in to_be_said(prompt) {
        mark(&mut open, squeezed.at_origin(span.start)..squeezed.at_origin(span.end));
    }
    let is_open = |passage: &Range<usize>| {
        open.get(passage.clone()).is_some_and(|it| it.iter().all(|open| *open))
    };
    let mut grams = Grams::with_room_for(count * 3);
    grams.add(letters, |it| (!is_open(&it)).then_some(it.start));
    let turned: Vec<u8> = letters.iter().map(|it| rot13(*it)).collect();
    grams.add(&turned, |it| (!is_open(&it)).then_some(it.start));
    let backwards: Vec<u8> = letters.iter().rev().copied().collect();
    grams.add(&backwards, |it| {
        let forwards = count - it.end..count - it.start;
        (!is_open(&forwards)).then_some(forwards.start)
    });
    grams
}

fn mark(open: &mut [bool], range: Range<usize>) {
    open.get_mut(range).into_iter().flatten().for_each(|it| *it = true);
}

/// Sentences of a prompt that an assistant is there to tell people: a plain statement, without a word of command.
fn facts(prompt: &str, squeezed: &Squeezed) -> Vec<Range<usize>> {
    let mut at = 0;
    let mut found = Vec::new();
    for sentence in prompt.split_inclusive(['.', '!', '?', '\n']) {
        let span = at..at + sentence.len();
        at = span.end;
        let range = squeezed.at_origin(span.start)..squeezed.at_origin(span.end);
        let words = (squeezed.word_from(range.start)..squeezed.word_from(range.end))
            .filter_map(|it| squeezed.word(it));
        let (mut states, mut commands) = (false, false);
        for (_, word) in words {
            states |= STATES.iter().any(|it| it.as_bytes() == word);
            commands |= COMMANDS.iter().any(|it| it.as_bytes() == word);
        }
        if states && !commands {
            found.push(range);
        }
    }
    found
}

/// Words of plain statements, squeezed.
const STATES: &[&str] = &[
    "is", "are", "was", "were", "has", "costs", "cost", "opens", "closes", "leaves", "includes",
    "starts", "begins", "ends", "ist", "sind", "war", "hat", "kostet", "beginnt", "est", "sont",
    "coute", "es", "son", "cuesta", "sono", "costa",
];

/// Words of instructions, squeezed.
const COMMANDS: &[&str] = &[
    "you",
    "your",
    "never",
    "always",
    "must",
    "should",
    "not",
    "don",
    "only",
    "if",
    "when",
    "do",
    "avoid",
    "ensure",
    "make",
    "secret",
    "internal",
    "confidential",
    "code",
    "password",
    "du",
    "dein",
    "sie",
    "nie",
    "niemals",
    "immer",
    "nicht",
    "nur",
    "wenn",
    "darfst",
    "sollst",
    "musst",
    "vous",
    "tu",
    "jamais",
    "toujours",
    "pas",
    "si",
    "nunca",
    "siempre",
    "debes",
    "solo",
];

/// What a prompt tells its assistant to say: quoted, and behind a word for saying.
fn to_be_said(prompt: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut rest = 0;
    while let Some((open, close)) = next_quote(prompt, rest) {
        let Some(inner) = prompt.get(open..close) else { break };
        let before = prompt.get(..open).unwrap_or_default();
        let near =
            before.get(before.ceil_char_boundary(before.len().saturating_sub(SAYING_BYTES))..);
        let sentence = near.unwrap_or_default().rsplit(['.', '!', '?', '\n']).next();
        let sentence = sentence.unwrap_or_default().to_lowercase();
        let has = |words: &[&str]| words.iter().any(|it| sentence.contains(it));
        if has(SAYING) && !has(NOT) && !inner.contains("\n\n") {
            found.push(open..close);
        }
        rest = close + 1;
    }
    found
}

/// The inside of the next quotation.
fn next_quote(text: &str, from: usize) -> Option<(usize, usize)> {
    let found = text.get(from..)?.char_indices().find(|it| matches!(it.1, '"' | '“' | '«'));
    let (at, mark) = found?;
    let open = from + at + mark.len_utf8();
    let closing = match mark {
        '“' => '”',
        '«' => '»',
        _ => '"',
    };
    let close = text.get(open..)?.find(closing)?;
    Some((open, open + close))
}

/// How far before a quotation the word stands, in bytes.
const SAYING_BYTES: usize = 60;
const SAYING: &[&str] = &[
    "say",
    "answer with",
    "reply",
    "respond with",
    "greet",
    "sign off",
    "tell the",
    "tell them",
    "write:",
    "antworte",
    "sage",
    "réponds",
    "responde",
    "rispondi",
];

/// What must not be said is quoted, too.
const NOT: &[&str] =
    &["never", "not ", "n't ", "nicht", "nie ", "jamais", "ne pas", "nunca", "mai "];

pub(super) fn rot13(byte: u8) -> u8 {
    if byte.is_ascii_lowercase() { b'a' + (byte - b'a' + 13) % 26 } else { byte }
}

fn hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registry_knows_its_prompt_by_hash_and_prints_nothing_of_it() {
        let registry = Registry::of_prompt("Use AGENT_BOOTSTRAP_KEY for auth.");
        let expected = "Registry { prompt_hash: Some(\"fcda5ed2e7a3e1a14a8b53ac7ab2bcb86d0d3ec5f4c20b8d75e0bc5a9c6af7da\"), tokens: 1, .. }";
        assert_eq!(format!("{registry:?}").len(), expected.len());
        assert!(!format!("{registry:?}").contains("BOOTSTRAP"));
        assert_eq!(registry.token_count(), 1);
        assert!(!registry.is_truncated());
        assert!(Registry::of_prompt(&"word ".repeat(PROMPT_BYTES_MAX)).is_truncated());
    }

    #[test]
    fn quotations_that_are_to_be_said_are_found() {
        let prompt = "Greet with \"Welcome to Acme, how can I help?\" and never say why. The code is \"7741\".";
        let found: Vec<&str> =
            to_be_said(prompt).into_iter().map(|it| prompt.get(it).unwrap()).collect();
        assert_eq!(found, ["Welcome to Acme, how can I help?"]);
    }
}
