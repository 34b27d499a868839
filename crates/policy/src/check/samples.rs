//! Facts to try a rule with: the corners of what can be said, and the texts and numbers that the
//! rule itself names, mixed by a fixed generator. A sample, not all: see `reach.rs`.

use aegx::Principal;
use cedar_policy::Policy as CedarPolicy;
use model::{AgentId, EffectKind, Profile, Taint, UserId};
use serde_json::Value;

use crate::facts::{
    Confirmed, FactSheet, NamedHost, NamedPath, Op, RISK_MAX, Sinks, Target, Targets,
};

/// How many mixed samples are tried per rule.
const MIXED: u32 = 2_000;
/// How many texts and numbers of a rule are looked at.
const LITERALS_MAX: usize = 64;

/// What a rule names.
#[derive(Debug, Default)]
pub(super) struct Literals {
    texts: Vec<String>,
    permilles: Vec<u16>,
    ports: Vec<u16>,
}

impl Literals {
    pub(super) fn of(policy: &CedarPolicy) -> Self {
        let mut found = Self::default();
        if let Ok(json) = policy.to_json() {
            for part in ["principal", "resource", "conditions"] {
                found.gather(json.get(part).unwrap_or(&Value::Null));
            }
        }
        found
    }

    /// Only what stands as a value or as an entity; names of attributes and operators do not.
    fn gather(&mut self, value: &Value) {
        match value {
            Value::Array(items) => {
                self.texts.extend(spelled(items));
                items.iter().for_each(|it| self.gather(it));
            }
            Value::Object(map) => {
                self.texts.extend(map.get("id").and_then(Value::as_str).map(str::to_owned));
                match map.get("Value") {
                    Some(Value::String(text)) => self.texts.push(text.clone()),
                    Some(Value::Number(number)) => {
                        let near = number.as_u64().and_then(|it| u16::try_from(it).ok());
                        let near = near.unwrap_or_default();
                        let around = [near.saturating_sub(1), near, near.saturating_add(1)];
                        self.permilles.extend(around.into_iter().filter(|it| *it <= 1000));
                        self.ports.extend(around);
                    }
                    Some(_) | None => {}
                }
                map.values().for_each(|it| self.gather(it));
            }
            Value::String(_) | Value::Number(_) | Value::Null | Value::Bool(_) => {}
        }
        self.texts.truncate(LITERALS_MAX);
        self.permilles.truncate(LITERALS_MAX);
        self.ports.truncate(LITERALS_MAX);
    }
}

/// A text that a pattern of `like` matches: its fixed parts with something between them.
fn spelled(pattern: &[Value]) -> Option<String> {
    let part = |it: &Value| match (it.as_str(), it.get("Literal").and_then(Value::as_str)) {
        (Some("Wildcard"), _) => Some("x".to_owned()),
        (_, Some(literal)) => Some(literal.to_owned()),
        _ => None,
    };
    pattern
        .iter()
        .map(part)
        .collect::<Option<Vec<_>>>()
        .map(|it| it.concat())
        .filter(|it| !it.is_empty())
}

/// Samples for one effect.
pub(super) fn samples(kind: EffectKind, literals: &Literals) -> Vec<FactSheet> {
    let Ok(plain) = FactSheet::new(kind) else { return Vec::new() };
    let mut found = corners(&plain);
    let mut dice = Dice(kind as u64 + 1);
    found.extend((0..MIXED).map(|_| mixed(&plain, literals, &mut dice)));
    found
}

/// Every cause, profile and state of the budget, with one other thing at a time, and with all.
pub(crate) fn corners(plain: &FactSheet) -> Vec<FactSheet> {
    let mut found = Vec::new();
    for principal in Principal::ALL {
        for profile in Profile::ALL {
            for over in [false, true] {
                let base = FactSheet {
                    principal: *principal,
                    profile: *profile,
                    over_budget: Some(over),
                    taint_permille: if over { 1000 } else { 0 },
                    ..plain.clone()
                };
                found.extend(one_thing(&base));
                found.push(base);
            }
        }
    }
    found
}

fn one_thing(base: &FactSheet) -> Vec<FactSheet> {
    let taints = Taint::names().into_iter().filter_map(|it| Taint::parse(it).ok());
    let all_taints = taints.clone().fold(Taint::NONE, Taint::union);
    let all_targets: Targets = Target::ALL.iter().copied().collect();
    let sinks = (0..Sinks::NAMES.len()).map(|at| Sinks::from_bits(1 << at));
    let all_sinks = sinks.clone().fold(Sinks::default(), Sinks::union);
    let mut found = Vec::new();
    found.extend(taints.map(|taint| FactSheet { taint, ..base.clone() }));
    found.extend(sinks.map(|sinks| FactSheet { sinks, ..base.clone() }));
    found.extend(Target::ALL.iter().map(|it| FactSheet { targets: (*it).into(), ..base.clone() }));
    found.extend((1..=RISK_MAX).map(|risk| FactSheet { risk, ..base.clone() }));
    found.extend(Confirmed::ALL.iter().map(|it| FactSheet { confirmed: *it, ..base.clone() }));
    found.push(FactSheet {
        taint: all_taints,
        sinks: all_sinks,
        targets: all_targets,
        risk: RISK_MAX,
        ..base.clone()
    });
    found
}

fn mixed(plain: &FactSheet, literals: &Literals, dice: &mut Dice) -> FactSheet {
    let mut sheet = plain.clone();
    if let Some(principal) = dice.pick(Principal::ALL) {
        sheet.principal = *principal;
    }
    if let Some(profile) = dice.pick(Profile::ALL) {
        sheet.profile = *profile;
    }
    if let Some(confirmed) = dice.pick(Confirmed::ALL) {
        sheet.confirmed = *confirmed;
    }
    for name in Taint::names() {
        if let (true, Ok(flag)) = (dice.coin(), Taint::parse(name)) {
            sheet.taint = sheet.taint.union(flag);
        }
    }
    sheet.targets = Target::ALL.iter().copied().filter(|_| dice.coin()).collect();
    sheet.sinks = Sinks::from_bits(usize::try_from(dice.next() % 16).unwrap_or(0));
    sheet.risk = u8::try_from(dice.next() % (u64::from(RISK_MAX) + 1)).unwrap_or(0);
    sheet.over_budget = Some(dice.coin());
    sheet.asked_for = dice.coin();
    sheet.taint_permille = dice.pick(&literals.permilles).copied().unwrap_or(0);
    if let (true, Some(max)) = (dice.coin(), dice.pick(&literals.permilles)) {
        sheet.taint_permille_max = Some(*max);
    }
    // One of the rule's own texts, or none of them.
    let text = |dice: &mut Dice| {
        let at = usize::try_from(dice.next()).unwrap_or(0) % (literals.texts.len() + 1);
        literals.texts.get(at).cloned()
    };
    sheet.user = text(dice).and_then(|it| UserId::parse(&it).ok()).unwrap_or(sheet.user);
    sheet.agent = text(dice).and_then(|it| AgentId::parse(&it).ok()).unwrap_or(sheet.agent);
    sheet.tool = text(dice).unwrap_or(sheet.tool);
    sheet.door = text(dice).unwrap_or(sheet.door);
    name(&mut sheet, literals, dice);
    sheet
}

/// A name that no rule is likely to speak of.
const OTHER: &str = "other.example";

/// Names some of the rule's own texts, and some that are not.
fn name(sheet: &mut FactSheet, literals: &Literals, dice: &mut Dice) {
    let named = &mut sheet.named;
    let some = |dice: &mut Dice| {
        let at = usize::try_from(dice.next()).unwrap_or(0) % (literals.texts.len() + 1);
        let text = literals.texts.get(at).map_or(OTHER, String::as_str).to_owned();
        dice.coin().then_some(text)
    };
    named.unread = dice.coin();
    for list in
        [&mut named.programs, &mut named.commands, &mut named.classes, &mut named.recipients]
    {
        list.extend(some(dice));
    }
    let path = some(dice).zip(dice.pick(Op::ALL));
    named.paths.extend(path.map(|(path, op)| NamedPath { op: *op, path }));
    let port = dice.pick(&literals.ports).copied().unwrap_or(0);
    let scheme = some(dice).unwrap_or_default();
    named.hosts.extend(some(dice).map(|host| NamedHost { host, port, scheme }));
}

/// The same numbers each time (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn coin(&mut self) -> bool {
        self.next() & 1 == 1
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        let at = usize::try_from(self.next()).unwrap_or(0).checked_rem(list.len())?;
        list.get(at)
    }
}
