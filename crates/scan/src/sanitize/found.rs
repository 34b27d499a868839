//! What was found in a text, and what is done with it.

use std::borrow::Cow;

use super::plan::{Category, Plan, Treatment};
use super::tripwire::{Risk, Tripwire};
use crate::exfiltration::{self, Finding as Address};
use crate::pii::{self, Personal};
use crate::secret::{self, Confidence, Secret};
use crate::text::{self, Author, Coding, Finding, Reading, Severity, Verdict};

/// Rules that facts list.
const RULES_MAX: usize = 16;
/// Text that people do not see counts from this weight on: single joiners are in many texts.
const HIDDEN_FROM: f64 = 0.3;
/// The rule of the operator's own phrases.
const PHRASE_RULE: &str = "operator_phrase";
/// How much such a phrase says by itself.
const PHRASE_WEIGHT: f64 = 0.9;

/// What was found in a text.
#[derive(Clone, Debug)]
pub struct Found {
    reading: Reading,
    secrets: Vec<Secret>,
    personal: Vec<Personal>,
    addresses: Vec<Address>,
    bytes: usize,
    cut_at: Option<usize>,
}

/// What was found, for records: rules and numbers, no values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Rules of orders that spoke, each once.
    pub orders: Vec<&'static str>,
    /// What they come to.
    pub verdict: Option<&'static str>,
    /// Rules of secrets, each once.
    pub secrets: Vec<&'static str>,
    /// Kinds of personal data, each once.
    pub personal: Vec<&'static str>,
    /// Hosts to which something would leave, each once; only where such addresses are taken out.
    pub addresses: Vec<String>,
    /// Whether there is text that people do not see.
    pub hidden: bool,
    /// Whether it was cut.
    pub truncated: bool,
}

impl Found {
    /// Looks at `text`, as far as `plan` shows it.
    #[must_use]
    pub fn new(text: &str, plan: &Plan) -> Self {
        Self::with(text::read(text, Author::Outsider), text, plan)
    }

    /// Looks at `text`, which was read for orders already.
    #[must_use]
    pub fn with(reading: Reading, text: &str, plan: &Plan) -> Self {
        let bytes_max = plan.bytes_max.unwrap_or(usize::MAX);
        let cut_at = (text.len() > bytes_max).then(|| text.floor_char_boundary(bytes_max));
        let reading = phrased(reading, text, plan);
        let secrets = secret::find_from(text, Confidence::Likely, &plan.allowed);
        let personal = pii::find_except(text, &plan.allowed);
        let addresses = match plan.addresses {
            Treatment::Label | Treatment::Wrap => Vec::new(),
            Treatment::Clean | Treatment::Withhold => exfiltration::leaving(text),
        };
        Self { reading, secrets, personal, addresses, bytes: text.len(), cut_at }
    }

    /// Looks at the text of one field.
    pub(super) fn in_field(text: &str, plan: &Plan) -> Self {
        Self { cut_at: None, ..Self::new(text, plan) }
    }

    /// Returns what the orders come to.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.reading.verdict()
    }

    /// Returns how grave they are.
    #[must_use]
    pub fn risk(&self) -> Risk {
        Risk::of(&self.reading)
    }

    /// Tells whether a secret is in it.
    #[must_use]
    pub fn has_secret(&self) -> bool {
        !self.secrets.is_empty()
    }

    /// Tells whether nothing is found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.is_classified()
            && self.signs().is_empty()
            && self.addresses.is_empty()
            && self.secrets.is_empty()
            && self.personal.is_empty()
            && !self.is_hidden()
            && self.cut_at.is_none()
    }

    /// Tells whether a classifier says what no sign shows.
    fn is_classified(&self) -> bool {
        self.verdict() > text::verdict(text::score(&self.reading.findings))
    }

    /// Returns it for records.
    #[must_use]
    pub fn facts(&self) -> Facts {
        let verdict = self.verdict();
        Facts {
            orders: match verdict {
                Verdict::Clean => Vec::new(),
                Verdict::Suspicious | Verdict::Injection => {
                    each_once(self.signs().iter().map(|it| it.rule))
                }
            },
            verdict: (verdict != Verdict::Clean).then(|| verdict.as_str()),
            secrets: each_once(self.secrets.iter().map(|it| it.rule)),
            personal: each_once(self.personal.iter().map(|it| it.kind)),
            addresses: hosts(&self.addresses),
            hidden: self.is_hidden(),
            truncated: self.cut_at.is_some(),
        }
    }

    /// Returns what is done with each category that was found.
    #[must_use]
    pub fn treatments(&self, plan: &Plan) -> Vec<(Category, Treatment)> {
        let mut all = Vec::new();
        match self.verdict() {
            Verdict::Clean => {}
            Verdict::Suspicious => all.push((Category::Suspected, self.treatment_of_orders(plan))),
            Verdict::Injection => all.push((Category::Orders, self.treatment_of_orders(plan))),
        }
        let others = [
            (Category::Hidden, self.is_hidden()),
            (Category::Secrets, !self.secrets.is_empty()),
            (Category::Personal, !self.personal.is_empty()),
            (Category::Addresses, !self.addresses.is_empty()),
        ];
        let others = others.into_iter().filter(|it| it.1);
        all.extend(others.map(|(category, _)| (category, plan.treatment(category))));
        all
    }

    /// Returns what is done with the orders, the wire before the sanitizer counted in.
    #[must_use]
    pub fn treatment_of_orders(&self, plan: &Plan) -> Treatment {
        let planned = match self.verdict() {
            Verdict::Clean => return Treatment::Label,
            Verdict::Suspicious => plan.suspected,
            Verdict::Injection => plan.orders,
        };
        match plan.tripwire {
            Tripwire::Block if self.risk() == Risk::High && planned > Treatment::Label => {
                Treatment::Withhold
            }
            Tripwire::Block | Tripwire::Sanitize => planned,
        }
    }

    /// The signs of orders that say something by themselves.
    pub(super) fn signs(&self) -> Vec<&Finding> {
        self.reading.findings.iter().filter(|it| it.weight >= HIDDEN_FROM).collect()
    }

    pub(super) fn secrets(&self) -> &[Secret] {
        &self.secrets
    }

    pub(super) fn personal(&self) -> &[Personal] {
        &self.personal
    }

    pub(super) fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    pub(super) fn is_hidden(&self) -> bool {
        let hides = |it: &Finding| match it.coding {
            Coding::Tags | Coding::Selectors => true,
            Coding::Plain => it.category == text::Category::HiddenText && it.weight >= HIDDEN_FROM,
            Coding::Base64
            | Coding::Base32
            | Coding::Hex
            | Coding::Rot13
            | Coding::Reversed
            | Coding::Spaced
            | Coding::Markup
            | Coding::Codes => false,
        };
        self.reading.findings.iter().any(hides)
    }

    /// The part of `text` that is shown.
    pub(super) fn cut<'a>(&self, text: &'a str) -> &'a str {
        text.get(..self.cut_at.unwrap_or(self.bytes)).unwrap_or(text)
    }
}

/// Adds what the operator's own phrases say.
fn phrased(mut reading: Reading, text: &str, plan: &Plan) -> Reading {
    let places = plan.phrases.find(text);
    if places.is_empty() {
        return reading;
    }
    reading.findings.extend(places.into_iter().map(|(start, end)| Finding {
        rule: PHRASE_RULE,
        category: text::Category::IndirectInjection,
        severity: Severity::High,
        coding: Coding::Plain,
        start,
        end,
        weight: PHRASE_WEIGHT,
    }));
    reading.findings.sort_by_key(|it| (it.start, it.end));
    // One phrase says as much as many.
    reading.score = 1.0 - (1.0 - reading.score) * (1.0 - PHRASE_WEIGHT);
    reading
}

/// Hosts of addresses, each once.
fn hosts(addresses: &[Address]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for host in addresses.iter().filter_map(Address::host) {
        if !all.contains(&host) && all.len() < RULES_MAX {
            all.push(host);
        }
    }
    all
}

fn each_once(rules: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut all: Vec<&'static str> = Vec::new();
    for it in rules {
        if !all.contains(&it) && all.len() < RULES_MAX {
            all.push(it);
        }
    }
    all
}

/// A place in a text, and what stands there instead.
pub(super) type Replacement = (usize, usize, Cow<'static, str>);
