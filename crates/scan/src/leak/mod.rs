//! Does an answer give away the system prompt that it was made with?
//!
//! Looked for are names that only the prompt has, whole passages of it, its skeleton of headings, and what is left of
//! it in other words or in another language. Case, spaces, look-alike letters, invisible characters, ROT13, reversal
//! and base64 hide nothing. All is a value: a [`Registry`] is made of a prompt, [`scan`] compares a text with it, and
//! [`Turns`] remembers what was given out before.

mod grams;
mod identifiers;
mod kept;
mod look;
mod pairs;
mod patterns;
mod registry;
mod rule;
mod squeeze;
mod structure;
mod turns;

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

pub use kept::{KEPT_BYTES_MAX, KeptError};
pub use registry::{PROMPT_BYTES_MAX, Registry, Sources, TOKENS_MAX};
pub use rule::Rule;
pub use turns::Turns;

use look::Look;

use crate::decode;
use crate::shown::Shown;

/// Leaks that are reported of one text: those that are certain, then the first ones.
const LEAKS_MAX: usize = 256;
/// How much of a text is looked at at once, in bytes.
const BLOCK_BYTES: usize = 64 << 10;
/// How much of a block is looked at again with the next one, in bytes: a leak may lie across.
const OVERLAP_BYTES: usize = 4 << 10;
/// Encodings within encodings that are followed.
const DEPTH_MAX: usize = 3;

/// What was given away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A constant of the prompt, such as `SILENT_REPLY_TOKEN`.
    InternalToken,
    /// The name of a function that makes the prompt.
    InternalFunction,
    /// A variable of the prompt's template.
    TemplateVariable,
    /// Its headings, or sentences of prompts that are known.
    PromptStructure,
    /// Its own words.
    PromptText,
    /// What it says, in other words.
    Paraphrase,
    /// What it says, in another language.
    Translation,
    /// Something that is encoded deeper than is followed.
    Unread,
}

/// A passage of a text that gives something away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leak {
    /// The rule that found it.
    pub rule: Rule,
    /// What was given away.
    pub kind: Kind,
    /// Is it beyond doubt? Otherwise a person should look.
    pub certain: bool,
    /// Was it encoded?
    pub encoded: bool,
    /// Where it begins in the text, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// Compares a text with a prompt. Linear in the length of the text, whatever is in it.
#[must_use]
pub fn scan(registry: &Registry, text: &str) -> Vec<Leak> {
    let mut leaks = Vec::new();
    scan_at(registry, text, DEPTH_MAX, &mut leaks);
    // Escapes of letters, and markup inside of words: whoever shows the answer shows it without them.
    for (from, shown) in Shown::of_values(text, OVERLAP_BYTES) {
        let mut inner = Vec::new();
        scan_at(registry, &shown.text, DEPTH_MAX, &mut inner);
        leaks.extend(inner.into_iter().map(|it| {
            let (start, end) = (from + shown.original(it.start), from + shown.original_end(it.end));
            let end = text.ceil_char_boundary(end.min(text.len()));
            Leak { start: text.floor_char_boundary(start), end, ..it }
        }));
    }
    merged(leaks)
}

/// Chooses what answers are compared with: the prompt that was registered, else what the caller has configured, else
/// the names and sentences that are looked for in any case.
#[must_use]
pub fn in_use<'a>(
    registered: Option<&'a Registry>,
    configured: Option<&'a Registry>,
) -> &'a Registry {
    static FIXED: LazyLock<Registry> = LazyLock::new(Registry::default);
    registered.or(configured).unwrap_or_else(|| &FIXED)
}

fn scan_at(registry: &Registry, text: &str, depth: usize, leaks: &mut Vec<Leak>) {
    let mut from = 0;
    loop {
        let to = text.floor_char_boundary(from + BLOCK_BYTES);
        let block = text.get(from..to).unwrap_or_default();
        Look::new(registry, block).find(|leak| {
            leaks.push(Leak { start: leak.start + from, end: leak.end + from, ..leak });
        });
        if leaks.len() >= LEAKS_MAX {
            *leaks = merged(std::mem::take(leaks));
        }
        // However many doubts there are, something certain may come.
        let is_enough = leaks.len() >= LEAKS_MAX && leaks.iter().any(|it| it.certain);
        if to >= text.len() || is_enough {
            break;
        }
        from = text.floor_char_boundary(to - OVERLAP_BYTES);
    }
    for run in decode::all(text) {
        let (start, end) = (run.start, run.end);
        let Some(depth) = depth.checked_sub(1) else {
            // INVARIANT (FailClosed): what is not read may be the prompt.
            let kind = Kind::Unread;
            leaks.push(Leak {
                rule: Rule::of(kind),
                kind,
                certain: false,
                encoded: true,
                start,
                end,
            });
            return;
        };
        let mut inner = Vec::new();
        scan_at(registry, &run.text, depth, &mut inner);
        leaks.extend(inner.into_iter().map(|it| Leak { encoded: true, start, end, ..it }));
    }
}

/// In order, each passage once for each rule, and not too many.
fn merged(mut leaks: Vec<Leak>) -> Vec<Leak> {
    leaks.sort_by_key(|it| (it.rule, it.encoded, it.start, it.end));
    leaks.dedup_by(|next, kept| {
        let same = (next.rule, next.encoded) == (kept.rule, kept.encoded) && next.start < kept.end;
        if same {
            kept.end = kept.end.max(next.end);
            kept.certain |= next.certain;
        }
        same
    });
    leaks.sort_by_key(|it| (!it.certain, it.start, it.end));
    leaks.truncate(LEAKS_MAX);
    leaks.sort_by_key(|it| (it.start, it.end));
    leaks
}

impl Kind {
    /// Returns the name in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InternalToken => "internal_token",
            Self::InternalFunction => "internal_function",
            Self::TemplateVariable => "template_variable",
            Self::PromptStructure => "prompt_structure",
            Self::PromptText => "prompt_text",
            Self::Paraphrase => "paraphrase",
            Self::Translation => "translation",
            Self::Unread => "unread",
        }
    }
}
