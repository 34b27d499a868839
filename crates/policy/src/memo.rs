//! Verdicts that were reached before. The same facts, as far as any rule asks for them, give the
//! same verdict, so Cedar is asked once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use aegx::Principal;
use model::{EffectKind, Profile};

use crate::attribute::{Attribute, Uses};
use crate::facts::{Confirmed, Facts, Named, RISK_MAX, Sinks, Targets};
use crate::policy::Hits;

/// How many verdicts are kept. When there are more, all are forgotten.
const VERDICTS_MAX: usize = 4096;

/// Permits and forbids that matched.
pub(crate) type Matched = Arc<(Hits, Hits)>;

#[derive(Debug, Default)]
pub(crate) struct Memo(Mutex<HashMap<Key, Matched>>);

/// The facts that rules ask for. Small ones are always here; texts and shares only if asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    effect: EffectKind,
    principal: Principal,
    profile: Profile,
    taint: u32,
    over_budget: bool,
    asked_for: bool,
    risk: u8,
    sinks: Sinks,
    targets: Targets,
    confirmed: Confirmed,
    permille: Option<(u16, u16)>,
    user: Option<Box<str>>,
    agent: Option<Box<str>>,
    tool: Option<Box<str>>,
    door: Option<Box<str>>,
}

impl Key {
    /// None if a rule asks for what the call names: then few calls are alike.
    pub(crate) fn new(uses: &Uses, facts: &Facts<'_>) -> Option<Self> {
        if uses.names() && facts.named != Named::nothing() {
            return None;
        }
        let text = |used: bool, text: &str| used.then(|| text.into());
        let shares = uses.has(Attribute::TaintPermille) || uses.has(Attribute::TaintPermilleMax);
        Some(Self {
            effect: facts.effect,
            principal: facts.principal,
            profile: facts.profile,
            taint: facts.taint.bits(),
            over_budget: facts.over_budget,
            asked_for: facts.asked_for,
            risk: facts.risk.min(RISK_MAX),
            sinks: facts.sinks,
            targets: facts.targets,
            confirmed: facts.confirmed,
            permille: shares.then_some((facts.taint_permille, facts.taint_permille_max)),
            user: text(uses.user, facts.user.as_str()),
            agent: text(uses.has(Attribute::Agent), facts.agent.as_str()),
            tool: text(uses.tool, facts.tool),
            door: text(uses.has(Attribute::Door), facts.door),
        })
    }
}

impl Memo {
    pub(crate) fn get(&self, key: &Key) -> Option<Matched> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    pub(crate) fn put(&self, key: Key, matched: &Matched) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= VERDICTS_MAX {
            kept.clear();
        }
        kept.insert(key, Arc::clone(matched));
    }
}
