//! What an output tells, drawn out of it once: names, listed and mentioned atoms, marked phrases.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use model::{Call, Shows, Source, Trust};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::acts::Act;
use super::asked::{Asked, singular};
use super::atoms::{self, is_ending};
use super::days::days;
use super::fields;
use super::given::{given, measures, strings, thousands};
use super::hash::Key;
use super::marked::mark;
use super::mentions::{Recent, capitals, ids, telling_words};
use super::norm::{fold, phrase, word_key, words};
use super::rivals::Rival;
use super::segments::{is_order, orders, segments};
use super::structure::{Body, Field, Row, Shape, read};
use super::user::is_telling;
use super::words::STOP;

/// Finds the places where a text speaks to the assistant, as byte ranges.
pub type Scan<'a> = &'a dyn Fn(&str) -> Vec<Range<usize>>;

/// Names and mentions that are kept of one row; the rest is unseen, and so held.
pub(super) const ROW_KEYS_MAX: usize = 65_536;
/// Marked phrases that are kept of one output.
pub(super) const MARKED_KEYS_MAX: usize = 65_536;
/// The longest argument that can name a place, in bytes.
const PLACE_BYTES_MAX: usize = 512;
/// How much of a name is shown to people, in characters.
const SHOWN_CHARS_MAX: usize = 60;

/// An output, as the session remembers it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Seen {
    /// The tool or page, for people.
    pub(super) from: String,
    pub(super) trust: Standing,
    /// What the call named: exactly, and word by word.
    pub(super) args: Vec<Key>,
    pub(super) arg_words: Vec<Key>,
    /// The words of the tool's name.
    #[serde(default)]
    pub(super) tool_words: Vec<Key>,
    /// What the tool shows, as its name says.
    #[serde(default)]
    pub(super) objects: u32,
    pub(super) rows: Vec<Facts>,
    /// Phrases of the parts that speak to the assistant, and what these parts ask for.
    pub(super) flagged: Vec<Key>,
    pub(super) demands: Asked,
    /// It was more than is kept.
    pub(super) cut: bool,
    /// Values of the call, if it was an act.
    #[serde(default)]
    pub(super) used: Vec<Key>,
}

/// How far an output is believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Standing {
    Trusted,
    Own,
    #[default]
    Untrusted,
}

impl From<Trust> for Standing {
    fn from(trust: Trust) -> Self {
        match trust {
            Trust::Trusted => Self::Trusted,
            Trust::Own => Self::Own,
            Trust::Untrusted => Self::Untrusted,
        }
    }
}

/// One row of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Facts {
    /// For people: what the row calls itself.
    pub(super) title: String,
    /// It stands in a listing without prose.
    pub(super) directory: bool,
    pub(super) names: Vec<Name>,
    pub(super) listed: Vec<Key>,
    pub(super) mentioned: Vec<Key>,
    /// Phrases of orders that are not addressed to the assistant.
    pub(super) ordered: Vec<Key>,
    pub(super) asked: Asked,
    /// Addresses and accounts that others could take the place of.
    #[serde(default)]
    pub(super) rivals: Vec<Rival>,
}

/// A field by which a row can be named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Name {
    pub(super) whole: Key,
    /// Its words, without little ones and the ending of a file.
    pub(super) words: Vec<Key>,
    /// Of an address: the words of who it is.
    pub(super) who: Vec<Key>,
    /// Only digits: an id, a date, an amount. It relates, it does not designate.
    pub(super) number: bool,
}

/// Draws the facts out of what a call gave back.
pub(super) fn of_output(
    call: &Call,
    act: &Act,
    trust: Trust,
    body: Body<'_>,
    scan: Scan<'_>,
    fields_from: &BTreeMap<String, Source>,
) -> Seen {
    let document = act.shows == Shows::Document;
    let mut rows = read(body, document);
    fields::relabel(&mut rows, body, fields_from);
    if act.shows == Shows::Names {
        fields::set_addresses_apart(&mut rows);
    }
    let mut seen = match body {
        Body::Text(text) if document => draw(&rows, &of_document(text, scan)),
        Body::Text(_) | Body::Json(_) => draw(&rows, scan),
    };
    seen.from = format!("{}{}", call.tool().as_str(), shown_args(call));
    seen.trust = trust.into();
    seen.objects = act.objects;
    if act.acts {
        let mut texts = Vec::new();
        call.args().values().for_each(|it| strings(it, &mut texts));
        seen.used = texts.iter().flat_map(|it| given(it)).map(|it| it.key).collect();
    }
    // The user may name the place by the tool's word for it: `at the doorbell`.
    let places = act.words.iter().filter(|it| it.len() > 3 && trust == Trust::Untrusted);
    seen.tool_words.extend(places.map(|it| word_key(singular(it))));
    // What the call named counts for the rows that it fetched.
    if !seen.rows.is_empty() {
        call.args().iter().for_each(|(name, value)| seen.note_arg(name, value, 0));
    }
    seen
}

/// Finds the same places in a document as it reads as in the document as it came. Where nothing speaks to the
/// assistant as it came, nothing does.
fn of_document<'a>(came: &str, scan: Scan<'a>) -> impl Fn(&str) -> Vec<Range<usize>> + 'a {
    let found = scan(came);
    let length = came.len();
    move |text: &str| {
        if found.is_empty() || text.len() == length {
            return found.clone();
        }
        let again = scan(text);
        // What is not found again is somewhere.
        if again.is_empty() { std::iter::once(0..text.len()).collect() } else { again }
    }
}

/// The same for content that came in without a call: all of it is prose.
pub(super) fn of_content(origin: &str, text: &str, scan: Scan<'_>) -> Seen {
    let mut seen = draw(&read(Body::Text(text), true), scan);
    seen.from = shorten(origin);
    seen.args.extend(phrase(origin));
    seen.args.extend(atoms::atoms(origin).into_iter().map(|it| it.key));
    seen
}

impl Seen {
    fn note_arg(&mut self, name: &str, value: &Value, depth: usize) {
        match value {
            Value::String(text) => {
                let asks =
                    super::acts::name_words(name).iter().any(|it| SEARCHES.contains(&it.as_str()));
                // A longer text is what is written or sent: it names no place. Its addresses count, for
                // they may have lured the call.
                if text.len() > PLACE_BYTES_MAX {
                    self.note_atoms(text);
                    return;
                }
                if !asks {
                    self.args.extend(phrase(text));
                    // `README` is `README.md`.
                    let stem = text.rsplit(['/', '\\']).next().and_then(|it| it.rsplit_once('.'));
                    self.args.extend(
                        stem.filter(|(_, end)| is_ending(&fold(end)))
                            .and_then(|(stem, _)| phrase(stem)),
                    );
                    self.note_atoms(text);
                }
                let folded = fold(text);
                let telling = words(&folded).filter(|it| is_telling(it)).map(|it| word_key(&it));
                self.arg_words.extend(telling);
            }
            Value::Array(items) if depth < 4 => {
                items
                    .iter()
                    .take(64)
                    .for_each(|it| self.note_arg(name, it, depth.saturating_add(1)));
            }
            Value::Number(number) => self.args.extend(phrase(&number.to_string())),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {}
        }
        self.args.truncate(ROW_KEYS_MAX);
        self.arg_words.truncate(ROW_KEYS_MAX);
    }

    fn note_atoms(&mut self, text: &str) {
        for atom in atoms::atoms(text) {
            self.args.push(atom.key);
            self.args.extend(atom.host);
        }
        self.args.truncate(ROW_KEYS_MAX);
    }
}

const SEARCHES: &[&str] = &["query", "search", "q", "keyword", "keywords", "term", "terms", "text"];

fn draw(rows: &[Row], scan: Scan<'_>) -> Seen {
    let mut seen = Seen::default();
    let bare = rows.iter().filter(|it| !it.has_prose()).count();
    let listing = bare.saturating_mul(2) >= rows.len();
    for row in rows {
        let mut facts = Facts { directory: listing && is_bare(row), ..Facts::default() };
        for field in &row.fields {
            match field.shape {
                // A short order is an order.
                Shape::Identifier | Shape::Title if is_short_order(&field.text) => {
                    facts.name(field);
                    facts.tell(field, scan, &mut seen);
                }
                Shape::Identifier | Shape::Title => facts.name(field),
                Shape::Text | Shape::Misplaced => facts.tell(field, scan, &mut seen),
            }
        }
        seen.cut |= facts.bound();
        seen.rows.push(facts);
    }
    seen.flagged.sort_unstable();
    seen.flagged.dedup();
    seen.flagged.truncate(MARKED_KEYS_MAX);
    seen
}

/// A field of fewer words without digits is one value, and nothing is spoken of in it.
const SPOKEN_WORDS_MIN: usize = 2;

fn is_short_order(text: &str) -> bool {
    text.split_whitespace().count() >= 3 && is_order(text)
}

fn is_bare(row: &Row) -> bool {
    row.fields.iter().all(|it| it.shape == Shape::Identifier)
}

impl Facts {
    /// A field that names the row.
    fn name(&mut self, field: &Field) {
        let Some(whole) = phrase(&field.text) else { return };
        let folded = fold(&field.text);
        let number = !folded.chars().any(char::is_alphabetic);
        let named = self::words(&folded).filter(|it| !STOP.has(it.as_ref()) && !is_ending(it));
        let words = named.map(|it| word_key(&it)).collect();
        let who = folded.split_once('@').map_or_else(Vec::new, |(who, host)| {
            // `hjem` is `service@hjem.example`; `kettle` is not `ads@kettle-shop.example`.
            let whole = host.split('.').filter(|it| !it.contains('-'));
            self::words(who).chain(whole.map(Cow::Borrowed)).collect()
        });
        let who = who.iter().filter(|it| it.len() > 1).map(|it| word_key(it)).collect();
        self.names.push(Name { whole, words, who, number });
        if self.title.len() < SHOWN_CHARS_MAX
            && !number
            && field.text != "false"
            && field.text != "true"
        {
            let gap = if self.title.is_empty() { "" } else { ", " };
            self.title = format!("{}{gap}{}", self.title, shorten(&field.text));
        }
        self.listed.push(whole);
        // `corrected to 400 pcs`: in several words a number is spoken of.
        let has_letters = |it: &&str| it.chars().all(char::is_alphabetic);
        if field.text.split_whitespace().filter(has_letters).count() >= SPOKEN_WORDS_MIN {
            self.mentioned.extend(measures(&field.text));
        }
        let atoms = atoms::atoms(&field.text);
        let quoted = field.shape == Shape::Title;
        for atom in atoms {
            self.rivals.extend(Rival::of(&atom));
            let list = if quoted { &mut self.mentioned } else { &mut self.listed };
            list.push(atom.key);
        }
    }

    /// A field that tells something.
    fn tell(&mut self, field: &Field, scan: Scan<'_>, seen: &mut Seen) {
        let flags = scan(&field.text);
        let misplaced = field.shape == Shape::Misplaced;
        // Plain text has its parts at the same places when it is folded.
        let plain = field.text.is_ascii();
        let whole = if plain { fold(&field.text) } else { Cow::default() };
        let mut recent = Recent::of(whole.len());
        for part in segments(&field.text, &flags) {
            if part.flagged || misplaced {
                mark(part.text, &mut seen.flagged);
                seen.demands.add(&Asked::of(part.text));
                continue;
            }
            for atom in atoms::atoms(part.text) {
                self.rivals.extend(Rival::of(&atom));
                self.mentioned.push(atom.key);
                // A page that is mentioned makes its host known, not trusted.
                self.mentioned.extend(atom.host);
            }
            capitals(part.text, &mut self.mentioned);
            let own;
            let end = part.at.saturating_add(part.text.len());
            let (folded, asks) = match whole.get(part.at..end).filter(|_| plain) {
                Some(folded) => (folded, telling_words(folded, &mut recent, &mut self.mentioned)),
                None => {
                    own = fold(part.text);
                    let mut recent = Recent::of(own.len());
                    (&*own, telling_words(&own, &mut recent, &mut self.mentioned))
                }
            };
            ids(folded, &mut self.mentioned);
            days(folded, |day, _| self.mentioned.push(day));
            self.mentioned.extend(thousands(folded));
            for sentence in orders(part.text, folded, asks) {
                mark(sentence, &mut self.ordered);
                self.asked.add(&Asked::of(sentence));
            }
        }
    }

    /// Keeps what may be kept; says whether something was left out.
    fn bound(&mut self) -> bool {
        let mut cut = false;
        for list in [&mut self.listed, &mut self.mentioned, &mut self.ordered] {
            list.sort_unstable();
            list.dedup();
            cut |= list.len() > ROW_KEYS_MAX;
            list.truncate(ROW_KEYS_MAX);
        }
        self.names.truncate(ROW_KEYS_MAX);
        self.rivals.sort_unstable();
        self.rivals.dedup();
        self.rivals.truncate(ROW_KEYS_MAX);
        cut
    }
}

fn shown_args(call: &Call) -> String {
    let first = call.args().values().find_map(Value::as_str);
    first.map(|it| format!("({})", shorten(it))).unwrap_or_default()
}

/// A text for people: one line, not too long.
pub(super) fn shorten(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        // No more is needed to see that it is too long.
        if line.len() > SHOWN_CHARS_MAX && line.chars().nth(SHOWN_CHARS_MAX).is_some() {
            let mut short: String = line.chars().take(SHOWN_CHARS_MAX - 1).collect();
            short.push('…');
            return short;
        }
    }
    line
}
