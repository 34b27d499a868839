//! What is found out of a text, up to so much of it; what is left out is said.

use crate::acts::Done;
use crate::limits::{ACTS_MAX, FIELDS_MAX, REVEALED_MAX, TARGETS_MAX};
use crate::{Engine, Finding, HOLE, Place, Var};

impl Engine {
    pub(super) fn add_place(&mut self, place: Place) {
        let is_kept = keep(&mut self.places, place, TARGETS_MAX);
        self.is_kept(is_kept);
    }

    pub(super) fn add_host(&mut self, host: String) {
        let is_kept = keep(&mut self.hosts, host, TARGETS_MAX);
        self.is_kept(is_kept);
    }

    pub(super) fn add_act(&mut self, act: Done) {
        let is_kept = keep(&mut self.acts, act, ACTS_MAX);
        self.is_kept(is_kept);
    }

    pub(super) fn add_revealed(&mut self, text: String) {
        let is_kept = keep(&mut self.revealed, text, REVEALED_MAX);
        self.is_kept(is_kept);
    }

    fn is_kept(&mut self, is_kept: bool) {
        if !is_kept {
            self.too_much();
        }
    }

    /// A list of the shell; what is longer than is read is not known.
    pub(super) fn list(&mut self, items: Vec<(String, String)>) -> Var {
        if items.len() > FIELDS_MAX {
            self.too_much();
            return Var::Text(HOLE.to_string());
        }
        Var::list(items)
    }

    /// Adds all that another reader found out about a text that belongs to this one; of its findings, those that are `wanted`.
    pub(super) fn absorb(&mut self, other: Self, wanted: impl Fn(&Finding) -> bool) {
        other.places.into_iter().for_each(|it| self.add_place(it));
        other.hosts.into_iter().for_each(|it| self.add_host(it));
        other.steps.into_iter().for_each(|it| self.take_step(it));
        other.acts.into_iter().for_each(|it| self.add_act(it));
        self.classes.extend(other.classes);
        self.told.merge(other.told);
        self.unended |= other.unended;
        for it in other.findings.into_iter().filter(wanted) {
            self.find(it.decision, it.rule, it.reason);
        }
    }
}

/// Keeps what is not there yet, unless there is too much of it already.
fn keep<T: PartialEq>(all: &mut Vec<T>, new: T, most: usize) -> bool {
    let is_there = all.contains(&new);
    let has_room = all.len() < most;
    if !is_there && has_room {
        all.push(new);
    }
    is_there || has_room
}
