//! A rule: a Cedar policy whose annotations say what it is for.

use std::collections::BTreeMap;
use std::sync::Arc;

use cedar_policy::{ActionConstraint, Effect, Policy as CedarPolicy};
use model::{Decision, EffectKind, Group, Objection, Taint};

use crate::attribute::Uses;
use crate::facts::FactSheet;

/// The longest id.
pub const RULE_ID_BYTES_MAX: usize = 64;

/// A rule, as loaded.
#[derive(Clone, Debug)]
pub struct Rule {
    pub(crate) id: Arc<str>,
    pub(crate) pack: Arc<str>,
    pub(crate) line: usize,
    pub(crate) reason: String,
    pub(crate) outcome: Outcome,
    pub(crate) kinds: Vec<EffectKind>,
    pub(crate) all_kinds: bool,
    /// What it asks for: nothing else can matter to it.
    pub(crate) uses: Uses,
    pub(crate) matches: Vec<FactSheet>,
    pub(crate) skips: Vec<FactSheet>,
}

/// What a rule does when it matches.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Permit { taint: Taint },
    Forbid { decision: Decision, code: String, remedy: Option<String> },
}

impl Rule {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The pack that it stands in.
    #[must_use]
    pub fn pack(&self) -> &str {
        &self.pack
    }

    /// The line on which it begins, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// Why it is there.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// What it says when it matches: [`Decision::Allow`] for a permit.
    #[must_use]
    pub fn decision(&self) -> Decision {
        match &self.outcome {
            Outcome::Permit { .. } => Decision::Allow,
            Outcome::Forbid { decision, .. } => *decision,
        }
    }

    /// The effects that it can match.
    #[must_use]
    pub fn kinds(&self) -> &[EffectKind] {
        &self.kinds
    }

    /// How many examples it has, of matching and of not matching.
    #[must_use]
    pub fn examples(&self) -> (usize, usize) {
        (self.matches.len(), self.skips.len())
    }

    /// What it has against a call; nothing if it is a permit.
    pub(crate) fn objection(&self) -> Option<Objection> {
        match &self.outcome {
            Outcome::Permit { .. } => None,
            Outcome::Forbid { decision, code, remedy } => {
                let new =
                    Objection::new(self.id.to_string(), *decision, code.clone(), &*self.reason);
                Some(Objection { remedy: remedy.clone(), ..new })
            }
        }
    }

    /// Reads the annotations and the scope; gathers what is wrong.
    pub(crate) fn read(pack: &Arc<str>, line: usize, policy: &CedarPolicy) -> Result<Self, Flawed> {
        // Cedar parses the name of an annotation each time that one is asked for by name.
        let annotations = &Annotations(policy.annotations().collect());
        let id = annotations.get("id").unwrap_or_default();
        let mut flaws = Vec::new();
        if !is_id(id) {
            flaws.push(format!(
                "a rule needs `@id(\"...\")` of lowercase letters, digits and `-`, at most {RULE_ID_BYTES_MAX}"
            ));
        }
        let known = match policy.effect() {
            Effect::Permit => PERMIT_KEYS,
            Effect::Forbid => FORBID_KEYS,
        };
        for key in annotations.0.keys().filter(|key| !known.contains(key)) {
            flaws.push(format!("`@{key}` means nothing here; there are {}", known.join(", ")));
        }
        let reason = annotations.get("reason").unwrap_or_default().trim().to_owned();
        if reason.is_empty() {
            flaws.push(
                "a rule needs `@reason(\"...\")`: one sentence for whoever meets it".to_owned(),
            );
        }
        let outcome = outcome(policy.effect(), annotations, id, &mut flaws);
        let examples = |key: &str, flaws: &mut Vec<String>| examples(annotations, key, flaws);
        let matches = examples("match", &mut flaws);
        let skips = examples("skip", &mut flaws);
        let (kinds, all_kinds) = kinds(&policy.action_constraint());
        match outcome {
            Some(outcome) if flaws.is_empty() => Ok(Self {
                id: id.into(),
                pack: Arc::clone(pack),
                line,
                reason,
                outcome,
                kinds,
                all_kinds,
                uses: Uses::of(policy),
                matches,
                skips,
            }),
            _ => Err(Flawed { id: id.to_owned(), line, flaws }),
        }
    }
}

/// What is wrong with a rule.
#[derive(Debug)]
pub(crate) struct Flawed {
    pub(crate) id: String,
    pub(crate) line: usize,
    pub(crate) flaws: Vec<String>,
}

const PERMIT_KEYS: &[&str] = &["id", "reason", "taint", "match", "skip"];
const FORBID_KEYS: &[&str] = &["id", "reason", "decision", "code", "remedy", "match", "skip"];

fn is_id(id: &str) -> bool {
    let legal = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
    (1..=RULE_ID_BYTES_MAX).contains(&id.len()) && id.bytes().all(legal)
}

/// What stands before a rule, by its name.
struct Annotations<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Annotations<'a> {
    fn get(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).copied()
    }
}

fn outcome(
    effect: Effect,
    annotations: &Annotations<'_>,
    id: &str,
    flaws: &mut Vec<String>,
) -> Option<Outcome> {
    match effect {
        Effect::Permit => {
            let mut taint = Taint::NONE;
            for name in annotations.get("taint").unwrap_or_default().split_whitespace() {
                match Taint::parse(name) {
                    Ok(flag) => taint = taint.union(flag),
                    Err(why) => flaws.push(format!("`@taint`: {why}")),
                }
            }
            Some(Outcome::Permit { taint })
        }
        Effect::Forbid => {
            let decision = match annotations.get("decision") {
                Some("deny") => Decision::Deny,
                Some("step_up") => Decision::StepUp,
                Some("defer") => Decision::Defer,
                Some(_) | None => {
                    flaws.push("a forbid needs `@decision` of deny, step_up or defer".to_owned());
                    return None;
                }
            };
            let code = annotations.get("code").map_or_else(|| id.replace('-', "_"), str::to_owned);
            let remedy = annotations.get("remedy").map(str::to_owned);
            Some(Outcome::Forbid { decision, code, remedy })
        }
    }
}

/// Examples are facts in words, one per line.
fn examples(annotations: &Annotations<'_>, key: &str, flaws: &mut Vec<String>) -> Vec<FactSheet> {
    let mut found = Vec::new();
    for line in annotations.get(key).unwrap_or_default().lines().filter(|it| !it.trim().is_empty())
    {
        match FactSheet::from_words(line) {
            Ok(sheet) => found.push(sheet),
            Err(why) => flaws.push(format!("`@{key}`: {why}")),
        }
    }
    found
}

/// The effects that the scope lets through, and whether it lets all through.
fn kinds(constraint: &ActionConstraint) -> (Vec<EffectKind>, bool) {
    let named = match constraint {
        ActionConstraint::Any => return (EffectKind::ALL.to_vec(), true),
        ActionConstraint::Eq(uid) => std::slice::from_ref(uid),
        ActionConstraint::In(uids) => uids,
    };
    let names = |kind: EffectKind| {
        named.iter().map(|uid| uid.id()).any(|id| {
            let id: &str = id.as_ref();
            id == kind.as_str() || Group::of(kind).any(|group| group.as_str() == id)
        })
    };
    (EffectKind::ALL.iter().copied().filter(|it| names(*it)).collect(), false)
}
