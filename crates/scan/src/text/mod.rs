//! Does a text give orders to the assistant that reads it?
//!
//! For tool outputs, documents, pages and mail: text that should be read *about*, not obeyed. An order to a human reader is
//! ordinary ("please pay the amount to the following account"); an order to the machine that reads on the human's behalf is
//! not. The text is normalised once, words of the rules are found in one pass, and rules are sequences of words: who is
//! addressed, what is to be forgotten, who is posed as, what is to be carried where. What is encoded is decoded and read
//! again. Rules are data (`rules/text`), with texts that each must and must not find.
//!
//! A text that says nothing but a plain request is missed: where such a request came from is the business of provenance.

mod canary;
mod encoded;
mod engine;
mod escape;
mod finding;
mod hidden;
mod lexicon;
mod markup;
mod normal;
mod rules;
mod score;
mod spaced;

use std::sync::LazyLock;

use encoded::{Layer, Turned};
use engine::Engine;
pub(crate) use escape::{reference, resolve};
pub use finding::{Category, Coding, Finding, Severity, Verdict};
pub(crate) use normal::Normal;
pub use rules::RuleError;
use rules::Rules;
use score::keep_strongest;
pub use score::{score, verdict};

/// Whoever wrote a text, as far as the scan is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// The user or the operator: they give orders because they may.
    Principal,
    /// Anybody else: a tool, a page, a mail, a channel.
    Outsider,
}

/// A second opinion on a text, for models that were trained.
///
/// It is asked for what rules did not decide, and its score can add to what they say, never take away.
pub trait Classifier: Send + Sync {
    /// Returns how sure it is that `text` gives orders, 0 to 1.
    fn score(&self, text: &str) -> f64;
}

/// What a scan of a text found.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The signs, in the order of the text.
    pub findings: Vec<Finding>,
    /// What they come to, 0 to 1.
    pub score: f64,
    author: Author,
}

impl Reading {
    /// Returns what is to be done with the text: what a principal wrote is not hostile, whatever it says.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self.author {
            Author::Principal => Verdict::Clean,
            Author::Outsider => self.signs(),
        }
    }

    /// Asks a classifier, too: the text is as bad as the worse of both opinions says.
    #[must_use]
    pub fn asked(self, text: &str, classifier: &dyn Classifier) -> Self {
        let opinion = classifier.score(text).clamp(0.0, 1.0);
        Self { score: self.score.max(opinion), ..self }
    }

    /// Returns whether it dictates a canary, whoever wrote it. `text` is what was read.
    #[must_use]
    pub fn forces_canary(&self, text: &str) -> bool {
        canary::is_forced(text, &self.findings)
    }

    /// Returns whether it dictates words of an answer at all, canary or not.
    #[must_use]
    pub fn forces_phrase(&self) -> bool {
        canary::dictates(&self.findings)
    }

    /// Returns whether it asks for what the assistant was told, beyond doubt.
    #[must_use]
    pub fn asks_for_instructions(&self) -> bool {
        let asks = |it: &Finding| {
            it.category == Category::ExtractionAttempt && it.severity >= Severity::High
        };
        self.findings.iter().any(asks)
    }

    /// Returns what the signs say, whoever wrote it.
    #[must_use]
    pub fn signs(&self) -> Verdict {
        verdict(self.score)
    }
}

/// Reads `text` with the rules of this crate.
#[must_use]
pub fn read(text: &str, author: Author) -> Reading {
    match BUILTIN.as_ref() {
        Ok(scanner) => scanner.read(text, author),
        // INVARIANT (FailClosed): a detector that does not work clears nothing.
        Err(_) => Reading { findings: Vec::new(), score: 1.0, author },
    }
}

/// Returns every rule of this crate with its examples; none if they cannot be read.
pub fn builtin_examples() -> impl Iterator<Item = Examples> {
    BUILTIN.as_ref().ok().into_iter().flat_map(Scanner::examples)
}

static BUILTIN: LazyLock<Result<Scanner, RuleError>> = LazyLock::new(|| Scanner::new(RULE_FILES));

/// The rule files of this crate.
const RULE_FILES: &[&str] = &[
    include_str!("../../rules/text/words-en.rules"),
    include_str!("../../rules/text/words-other.rules"),
    include_str!("../../rules/text/override.rules"),
    include_str!("../../rules/text/address.rules"),
    include_str!("../../rules/text/roles.rules"),
    include_str!("../../rules/text/errand.rules"),
    include_str!("../../rules/text/extraction.rules"),
    include_str!("../../rules/text/jailbreak.rules"),
    include_str!("../../rules/text/format.rules"),
    include_str!("../../rules/text/coding.rules"),
];

/// Findings that are reported: those of the worst passage, then the strongest ones.
const FINDINGS_MAX: usize = 256;
/// How deep texts inside of texts are followed.
const DEPTH_MAX: usize = 3;
/// How much is decoded from a text altogether: so many times its length, and so many bytes. What is decoded is shorter than what it was decoded from,
/// so nothing but a text that was made for it comes so far.
const DECODED_FACTOR: usize = 8;
const DECODED_BYTES: usize = 256 * 1024;
/// The id of the rule for a text that is encoded deeper than is followed, or holds more encoded texts than are read.
const UNREAD_RULE: &str = "encoded_unread";
/// What that says by itself: it is no order yet, and nobody encodes so deep for no reason.
const UNREAD_WEIGHT: f64 = 0.5;
/// The score from which on a decoded text counts as orders.
const ENCODED_FROM: f64 = 0.5;

/// Rules, ready to be used.
pub struct Scanner {
    engine: Engine,
}

impl std::fmt::Debug for Scanner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scanner").field("rules", &self.engine.rules().len()).finish()
    }
}

impl Scanner {
    /// Makes a scanner of rule files; see `crates/scan/rules/text` for what one looks like.
    ///
    /// # Errors
    ///
    /// Names the first line that is not understood.
    pub fn new(files: &[&'static str]) -> Result<Self, RuleError> {
        Ok(Self { engine: Engine::new(Rules::parse(files)?) })
    }

    /// Reads `text`. Linear in its length.
    #[must_use]
    pub fn read(&self, text: &str, author: Author) -> Reading {
        let mut left = text.len().saturating_mul(DECODED_FACTOR).saturating_add(DECODED_BYTES);
        let mut findings = self.find(text, DEPTH_MAX, Turned::default(), &mut left);
        findings.sort_by_key(|it| (it.start, it.end));
        for finding in &mut findings {
            finding.start = text.floor_char_boundary(finding.start);
            finding.end = text.ceil_char_boundary(finding.end.min(text.len()));
        }
        let score = score(&findings);
        Reading { findings, score, author }
    }

    fn find(&self, text: &str, depth: usize, turned: Turned, left: &mut usize) -> Vec<Finding> {
        let mut findings = self.engine.find(&Normal::new(text), text);
        let layers = match depth {
            0 => encoded::told(text),
            _ => encoded::layers(text, &findings, turned),
        };
        for layer in layers {
            let is_read = depth > 0 && layer.text.len() <= *left;
            if is_read {
                *left -= layer.text.len();
                let inner = self.find(&layer.text, depth - 1, turned.and(layer.coding), left);
                findings.extend(lifted(&inner, &layer));
            } else {
                // INVARIANT (FailClosed): what is not read is no order that was not there.
                findings.push(unread(&layer));
                break;
            }
        }
        hidden::find(text, &mut findings);
        keep_strongest(&mut findings, FINDINGS_MAX);
        findings
    }

    /// Returns every rule with the texts that it must find and those that it must not.
    pub fn examples(&self) -> impl Iterator<Item = Examples> {
        self.engine.rules().iter().map(|it| Examples {
            rule: it.id,
            category: it.category,
            severity: it.severity,
            matches: it.matches.clone(),
            passes: it.passes.clone(),
        })
    }
}

/// A rule and its examples.
#[derive(Clone, Debug)]
pub struct Examples {
    /// The id of the rule.
    pub rule: &'static str,
    /// Its category.
    pub category: Category,
    /// Its severity.
    pub severity: Severity,
    /// Texts that it must find.
    pub matches: Vec<&'static str>,
    /// Texts that it must not find.
    pub passes: Vec<&'static str>,
}

/// There is a text inside that was not read.
const fn unread(layer: &Layer) -> Finding {
    Finding {
        rule: UNREAD_RULE,
        category: Category::EncodedPayload,
        severity: Severity::Medium,
        coding: layer.coding,
        start: layer.start,
        end: layer.end,
        weight: UNREAD_WEIGHT,
    }
}

/// The findings of a text inside, as findings of the text outside; and that there was one to be decoded.
fn lifted(inner: &[Finding], layer: &Layer) -> Vec<Finding> {
    let weight = score(inner);
    if weight < ENCODED_FROM {
        return Vec::new();
    }
    let (category, severity) = (Category::EncodedPayload, Severity::High);
    let (rule, coding) = ("encoded_orders", layer.coding);
    let (start, end) = (layer.start, layer.end);
    let mut all = vec![Finding { rule, category, severity, coding, start, end, weight }];
    all.extend(inner.iter().map(|it| {
        let (start, end) = layer.outer(it.start, it.end);
        let coding = if it.coding == Coding::Plain { layer.coding } else { it.coding };
        Finding { start, end, coding, ..*it }
    }));
    all
}
