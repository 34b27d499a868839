//! Does a text give orders to the assistant that reads it?
//!
//! For tool outputs, documents, pages and mail: text that should be read *about*, not obeyed. An order
//! to a human reader is ordinary ("please pay the amount to the following account"); an order to the
//! machine that reads on the human's behalf is not. A first, simple detector of generic signs: words
//! in order and close together, marks of roles, hidden text. It misses what says nothing but a plain
//! request: where such a request came from is the business of provenance.

mod encoded;
mod engine;
mod hidden;
mod languages;
mod lexicon;
mod rules;
mod vocabulary;

use crate::fold::Folded;

/// What kind of sign a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Earlier instructions are to be forgotten.
    Override,
    /// The assistant is spoken to.
    Address,
    /// The reader's task is spoken of, or replaced.
    Task,
    /// Something is to be kept from the user.
    Secrecy,
    /// A mark of a role or of a conversation's format.
    Role,
    /// The form of a tool call, or an order to make one.
    ToolCall,
    /// Instructions or secrets are to be given away.
    Leak,
    /// An order to carry something away.
    Errand,
    /// Text that people do not see.
    Hidden,
    /// Encoded text that gives orders.
    Encoded,
}

/// A sign that a text gives orders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    /// The rule that found it: stable, in records.
    pub rule: &'static str,
    /// What kind of sign.
    pub category: Category,
    /// Where it begins in the text, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// How much it says by itself, 0 to 1.
    pub weight: f64,
}

/// What the signs of a text say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Nothing of note.
    Clean,
    /// It may give orders.
    Suspicious,
    /// It gives orders.
    Injection,
}

/// The score from which on a text is suspicious.
const SUSPICIOUS_FROM: f64 = 0.5;
/// The score from which on it gives orders.
const INJECTION_FROM: f64 = 0.8;
/// Findings that are reported: the strongest ones.
const FINDINGS_MAX: usize = 256;
/// Signs that lie closer together than this are added up. A long document has weak signs here and
/// there; they mean nothing.
const TOGETHER_BYTES: usize = 2_000;

/// Looks for signs that `text` gives orders to an assistant. Linear in the length of the text.
#[must_use]
pub fn instructions(text: &str) -> Vec<Finding> {
    let mut findings = visible(text);
    findings.extend(encoded::find(text));
    hidden::find(text, &mut findings);
    findings.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    findings.truncate(FINDINGS_MAX);
    findings.sort_by_key(|it| (it.start, it.end));
    for finding in &mut findings {
        finding.start = text.floor_char_boundary(finding.start);
        finding.end = text.ceil_char_boundary(finding.end.min(text.len()));
    }
    findings
}

/// The signs in the words alone.
fn visible(text: &str) -> Vec<Finding> {
    let folded = Folded::new(text);
    engine::find(&folded)
}

/// What the findings say together, 0 to 1: those of the worst passage. A rule counts once in a
/// passage, however often it was seen.
#[must_use]
pub fn score(findings: &[Finding]) -> f64 {
    let passage = |first: &Finding| {
        let near = first.start..first.start.saturating_add(TOGETHER_BYTES);
        passage_score(findings.iter().filter(|it| near.contains(&it.start)))
    };
    findings.iter().map(passage).fold(0.0, f64::max)
}

fn passage_score<'a>(findings: impl Iterator<Item = &'a Finding>) -> f64 {
    let mut strongest: Vec<&Finding> = Vec::new();
    for finding in findings {
        match strongest.iter_mut().find(|it| it.rule == finding.rule) {
            Some(known) if known.weight >= finding.weight => {}
            Some(known) => *known = finding,
            None => strongest.push(finding),
        }
    }
    1.0 - strongest.iter().map(|it| 1.0 - it.weight.clamp(0.0, 1.0)).product::<f64>()
}

/// What the findings say together, in a word.
#[must_use]
pub fn verdict(findings: &[Finding]) -> Verdict {
    let score = score(findings);
    if score >= INJECTION_FROM {
        Verdict::Injection
    } else if score >= SUSPICIOUS_FROM {
        Verdict::Suspicious
    } else {
        Verdict::Clean
    }
}

impl Category {
    /// The name in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Override => "override",
            Self::Address => "address",
            Self::Task => "task",
            Self::Secrecy => "secrecy",
            Self::Role => "role",
            Self::ToolCall => "tool_call",
            Self::Leak => "leak",
            Self::Errand => "errand",
            Self::Hidden => "hidden",
            Self::Encoded => "encoded",
        }
    }
}

impl Verdict {
    /// The name in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Suspicious => "suspicious",
            Self::Injection => "injection",
        }
    }
}
