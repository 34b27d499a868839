//! A text of the user's, taken apart: its sentences, their parts between signs and joints, and by what each names a source.

use std::borrow::Cow;
use std::ops::Range;

use super::asked::{object_of, singular, verb_of};
use super::delegation::Named;
use super::norm::{clean, fold, hashed, phrase, phrases, word_key, words};
use super::pointing::is_slot_word;
use super::segments::sentences;
use super::user::{is_doubt, is_telling};
use super::words::{FOLLOWING, GUIDES, JOINTS, List, SAYING, SETS, STOP, TASKS};

/// Words by which something is handed on name no source.
static CUES: &[&List] = &[&SETS, &GUIDES, &TASKS, &FOLLOWING, &SAYING];
/// Words of one phrase by which a source may be named.
const NAME_WORDS_MAX: usize = 6;
/// Words of one part of a sentence: nobody speaks of one source in more.
const PART_WORDS_MAX: usize = 48;
/// Signs that end a part of a sentence where a blank follows them.
const ENDING: &[char] = &[',', ':', ';', '.', '!', '?'];
/// Signs that end a part of a sentence wherever they stand.
const PARTING: &[char] = &['(', ')', '–', '—', '，', '。', '、', '：', '；'];
/// Marks around a name.
const QUOTES: &[char] = &['\'', '"', '“', '”', '„', '`', '‘', '’', '«', '»'];

/// A text, taken apart.
#[derive(Default)]
pub(super) struct Read {
    pub(super) words: Vec<String>,
    /// What is marked as a name among them.
    marks: Vec<Mark>,
    pub(super) parts: Vec<Part>,
    pub(super) sentences: Vec<Spoken>,
    /// A bracket was opened.
    is_aside: bool,
}

/// A sentence: its words, its text in lower case, and whether it only asks about something or forbids it.
pub(super) struct Spoken {
    pub(super) range: Range<usize>,
    pub(super) folded: String,
    pub(super) is_doubted: bool,
}

/// What lies between two signs or joints of a sentence.
pub(super) struct Part {
    pub(super) range: Range<usize>,
    pub(super) sentence: usize,
    pub(super) named: Named,
    /// It stands in brackets, and tells more of what stands before it.
    pub(super) is_aside: bool,
}

/// How a word is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Plain,
    /// With a capital.
    Capital,
    /// In quotes.
    Quoted,
    /// In a piece with the form of a file or a page.
    Thing,
    /// In an address: that is where something goes.
    Address,
}

impl Read {
    /// Takes `text` apart.
    pub(super) fn of(text: &str) -> Self {
        let mut read = Self::default();
        for sentence in sentences(text) {
            let start = read.words.len();
            let mut is_open = false;
            let mut part = start;
            let text = clean(sentence);
            let mut pieces = text.split_whitespace().peekable();
            while let Some(piece) = pieces.next() {
                // Every sentence begins with a capital; who says something is somebody.
                let says = |it: &&str| SAYING.has(&fold(it));
                let is_first = read.words.len() == start && !pieces.peek().is_some_and(says);
                part = read.hear(piece, part, is_first, &mut is_open);
            }
            read.end_part(part);
            let range = start..read.words.len();
            let own = read.words.get(range.clone()).unwrap_or_default();
            let is_doubted = is_doubt(sentence, own);
            read.sentences.push(Spoken { range, folded: fold(sentence).into_owned(), is_doubted });
        }
        read
    }

    /// Takes in what stands between two blanks. Returns where the part begins that it belongs to.
    fn hear(
        &mut self,
        piece: &str,
        mut part: usize,
        is_first: bool,
        is_quoted: &mut bool,
    ) -> usize {
        let opens = piece.starts_with(QUOTES);
        *is_quoted |= opens;
        let bare = piece.trim_matches(|it: char| !it.is_alphanumeric());
        let mark = match () {
            () if bare.contains('@') => Mark::Address,
            () if is_thing(bare) => Mark::Thing,
            () if *is_quoted => Mark::Quoted,
            () if !is_first && bare.starts_with(char::is_uppercase) => Mark::Capital,
            () => Mark::Plain,
        };
        if piece.starts_with(PARTING) || bare.is_empty() {
            part = self.end_part(part);
            self.is_aside = piece.starts_with('(');
        }
        for word in words(&fold(piece)).map(Cow::into_owned) {
            let is_full = self.words.len().saturating_sub(part) >= PART_WORDS_MAX;
            part = if is_full || JOINTS.has(&word) { self.end_part(part) } else { part };
            self.words.push(word);
            self.marks.push(mark);
        }
        if piece.trim_end_matches(ENDING).trim_end_matches(PARTING).ends_with(QUOTES) {
            *is_quoted = false;
        }
        if piece.ends_with(ENDING) || piece.ends_with(PARTING) {
            part = self.end_part(part);
        }
        part
    }

    fn end_part(&mut self, start: usize) -> usize {
        let end = self.words.len();
        if start < end {
            let named = self.named(start..end);
            let sentence = self.sentences.len();
            let is_aside = std::mem::take(&mut self.is_aside);
            self.parts.push(Part { range: start..end, sentence, named, is_aside });
        }
        end
    }

    /// By what these words name a source.
    pub(super) fn named(&self, range: Range<usize>) -> Named {
        let mut named = Named::default();
        let (mut run, mut is_of_thing) = (Vec::new(), false);
        for at in range {
            let (word, mark) = (self.word(at), self.mark(at));
            if (mark == Mark::Thing) != is_of_thing {
                end_run(&mut run, &mut named, is_of_thing);
                is_of_thing = mark == Mark::Thing;
            }
            if mark != Mark::Address {
                run.push(word);
            }
            if mark == Mark::Address {
                continue;
            }
            if mark == Mark::Thing {
                (named.is_marked, named.is_thing) = (true, true);
                continue;
            }
            let is_short = word.len() < 3 || word.bytes().any(|it| it.is_ascii_digit());
            named.objects |= object_of(word);
            let is_act = verb_of(word).is_some() && object_of(word) == 0;
            let is_cue = CUES.iter().any(|it| it.has(word) || it.has(singular(word)));
            let says_nothing = (is_short && mark == Mark::Plain) || STOP.has(word);
            if says_nothing || is_act || is_slot_word(word) || (is_cue && mark != Mark::Quoted) {
                continue;
            }
            let is_name = mark == Mark::Quoted || is_telling(word);
            let keys = [word_key(word), word_key(singular(word))];
            if is_name { &mut named.names } else { &mut named.kinds }.extend(keys);
            named.is_named |= is_name;
            named.is_marked |= is_name && mark != Mark::Plain;
            named.is_thing |= mark == Mark::Quoted;
        }
        end_run(&mut run, &mut named, is_of_thing);
        named
    }

    pub(super) fn part_at(&self, at: usize) -> usize {
        let found = self.parts.iter().position(|it| it.range.contains(&at));
        found.unwrap_or(self.parts.len())
    }

    pub(super) fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", String::as_str)
    }

    fn mark(&self, at: usize) -> Mark {
        self.marks.get(at).copied().unwrap_or(Mark::Plain)
    }
}

/// Notes what a run of words is called as a whole.
fn end_run(run: &mut Vec<&str>, named: &mut Named, is_of_thing: bool) {
    let text = run.join(" ");
    match is_of_thing {
        // `README` is `README.md`.
        true => {
            named.names.extend(phrase(&text));
            let stem = run.split_last().map(|(_, it)| it.join(" "));
            named.names.extend(stem.and_then(|it| phrase(&it)));
        }
        false if named.is_empty() => {}
        false => phrases(&hashed(&text), 2, NAME_WORDS_MAX, |key| named.names.push(key)),
    }
    run.clear();
}

/// Has it the form of a file, a page, an id: a sign between letters, or a number behind them? `and/or` has none.
fn is_thing(bare: &str) -> bool {
    let mut pieces = bare.split(['.', '_', '\\', '#']).filter(|it| !it.is_empty());
    let is_joined =
        pieces.next().is_some() && pieces.next().is_some_and(|it| it.contains(char::is_alphabetic));
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    let is_id = bare.starts_with(char::is_uppercase)
        && bare.rsplit_once('-').is_some_and(|(_, end)| is_number(end));
    is_joined || is_id || bare.matches('/').nth(1).is_some()
}
