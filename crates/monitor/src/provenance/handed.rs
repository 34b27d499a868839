//! What stands in the sources of the user's delegations, and so may fill what these leave open.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::delegation::{DELEGATIONS_MAX, Delegation, Origin, Slots};
use super::hash::{Key, KeyHasher};
use super::ledger::Ledger;

/// Values that are noted. Of more, nothing is handed on.
const VALUES_MAX: usize = 1 << 18;

/// The delegations of which something is true, by their places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Places(u32);

const _: () = assert!(DELEGATIONS_MAX <= u32::BITS as usize);

impl Places {
    const fn of(place: usize) -> Self {
        Self(if place < DELEGATIONS_MAX { 1 << place } else { 0 })
    }

    const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Of which delegations a result is the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SourceOf {
    /// Its values may fill what they leave open.
    pub(super) fills: Places,
    /// What its values name is their source as well: a mail, and the file that is attached to it.
    pub(super) leads: Places,
}

/// Values of sources, since the user last spoke.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Handed {
    values: HashMap<Key, SourceOf, KeyHasher>,
}

impl Handed {
    /// Notes a value of a source.
    pub(super) fn note(&mut self, key: Key, of: SourceOf) {
        if self.values.len() < VALUES_MAX || self.values.contains_key(&key) {
            let known = self.values.entry(key).or_default();
            known.fills = known.fills.with(of.fills);
            known.leads = known.leads.with(of.leads);
        }
    }

    pub(super) fn clear(&mut self) {
        self.values.clear();
    }

    fn of(&self, key: Key) -> SourceOf {
        self.values.get(&key).copied().unwrap_or_default()
    }
}

impl Ledger {
    /// The delegations that count: those of this turn and, where it asks for nothing, of the one before it.
    fn delegations(&self) -> impl Iterator<Item = &Delegation> {
        let before =
            if self.turn.asked.is_empty() { self.before.delegations.as_slice() } else { &[] };
        self.turn.delegations.iter().chain(before).take(DELEGATIONS_MAX)
    }

    /// Those that leave one of these open.
    fn places(&self, slots: Slots) -> Places {
        let all = self.delegations().enumerate().filter(|(_, it)| it.slots.has(slots));
        all.fold(Places::default(), |all, (at, _)| all.with(Places::of(at)))
    }

    /// Does the user hand on one of these, whatever the source is?
    pub(super) fn delegates(&self, slots: Slots) -> bool {
        self.delegations().any(|it| it.slots.has(slots))
    }

    /// Does it stand in the source of a delegation that leaves one of these open?
    pub(super) fn may_fill(&self, key: Key, slots: Slots) -> bool {
        let fills = self.handed.of(key).fills;
        !fills.is_empty() && fills.meets(self.places(slots))
    }

    /// What is left of it for delegations that leave one of these open.
    pub(super) fn only(&self, of: SourceOf, slots: Slots) -> SourceOf {
        let places = self.places(slots);
        SourceOf { fills: of.fills.and(places), leads: of.leads.and(places) }
    }

    /// Does a result fill one of these?
    pub(super) fn is_filled(&self, of: SourceOf, slots: Slots) -> bool {
        of.fills.meets(self.places(slots))
    }

    /// Of which delegations a result is the source: by its own names, or because their source led to it.
    pub(super) fn source_of(&self, origin: &Origin<'_>) -> SourceOf {
        let mut of = SourceOf::default();
        for (at, delegation) in self.delegations().enumerate() {
            let place = Places::of(at);
            let is_led = || origin.args.iter().any(|it| self.handed.of(*it).leads.meets(place));
            if delegation.names(origin) || is_led() {
                of.leads = of.leads.with(place);
                if delegation.fits(origin) {
                    of.fills = of.fills.with(place);
                }
            }
        }
        of
    }

    /// Is it a word of a source that the user pointed at?
    pub(super) fn is_source(&self, key: Key) -> bool {
        self.delegations().any(|it| it.slots.has(Slots::POINTED) && it.source.has(key))
    }
}
