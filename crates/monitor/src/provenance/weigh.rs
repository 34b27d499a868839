//! Weighs acts: did the user ask for them, or somebody who may, and do they have the values that the user gave?

use model::{Call, Flow, Intent, Role};

use super::acts::{Act, verb};
use super::asked::Clause;
use super::bits::Bits;
use super::delegation::Slots;
use super::given::{Given, Shape, given};
use super::label::things;
use super::ledger::Ledger;
use super::levels::{Audience, is_above, is_seen_wider};
use super::norm::word_key;
use super::trace::VALUES_PER_CALL_MAX;
use super::values::{Named, switches, values};
use super::verdict::{Label, Traced, act_objection, deed_objection};
use crate::deed::{self, Deeds};

impl Ledger {
    /// What speaks against acts that are known by themselves: nobody asked for them. Without a user's words there is
    /// nothing to hold them against, unless something came from outside.
    pub(crate) fn trace_deeds(&self, deeds: &Deeds, traced: &mut Traced) {
        let held = self.has_user() || self.untrusted;
        for deed in deeds.acts() {
            let counts = held || matches!(deed.kind, deed::Kind::Obeyed(_));
            let is_asked_for = !self.of_others && self.asks_for(deed);
            if counts && !is_asked_for {
                traced.objections.push(deed_objection(deed));
            }
            traced.asked_for |= is_asked_for;
        }
        traced.asked_for &= traced.objections.is_empty();
    }

    /// The user did not ask for this kind of act. Did somebody else who may?
    pub(super) fn weigh_act(
        &self,
        call: &Call,
        (flow, act): (&Flow, &Act),
        intent: Intent,
        traced: &mut Traced,
    ) {
        // Values that the user gave for something else ask for nothing where somebody else speaks.
        if self.of_others {
            traced.objections.push(act_objection(call.tool().as_str()));
            return;
        }
        let spoken = |word: &str| self.spoke(word);
        let asked = self.asked();
        let (lent, lender) = self.lent();
        if !lent.is_empty() {
            let heard = |word: &str| self.bits(word_key(word)).has(Bits::HANDED_ON) || spoken(word);
            if act.is_asked_for(lent, heard) {
                traced.delegated = Some(lender.to_owned());
                return;
            }
        }
        // A way to do what was asked for that no word of the user names: it passes if no text from
        // outside asks for it either, and nothing is lost by it.
        let hinted = |word: &str| {
            let bits = self.bits(word_key(word));
            bits.has(Bits::FLAGGED) || bits.has(Bits::ORDERED)
        };
        // Where the tables do not know the language, that they find nothing says nothing.
        let gives =
            act.verbs & (verb::PAY | verb::SHARE | verb::PUBLISH | verb::INVITE | verb::SEND) != 0;
        let is_silent = asked.is_empty() && lent.is_empty() && !self.accepted();
        let idle = is_silent && (gives || self.is_understood());
        let is_hinted = act.is_hinted_at(self.foreign(), hinted);
        // A verb that no table knows may destroy something; where nobody gave orders and a reader does not say no, it is
        // what the user meant.
        let is_said = act.verbs != 0 || act.is_said_to_destroy;
        let is_read = intent == Intent::Asked || intent == Intent::Unsure;
        let is_doubtful = is_said || self.marked || !is_read;
        let grave = act.is_delicate() || flow.destructive && is_doubtful;
        // What the user gave values for, and nobody else speaks of, was asked for in words that no table has.
        // What the agent offered in words of the tool, and the user accepted; in other words, if nothing is lost by it and
        // no text from outside chose what it is done to.
        let offered = act.words.iter().any(|it| it.len() > 3 && self.offered(it));
        let harmless = || {
            let stays = !gives && !flow.egress && !flow.destructive;
            let is_wanted = !is_hinted && intent != Intent::NotAsked;
            stays && is_wanted && !self.names_what_prose_names(call, flow)
        };
        // What nothing brings back wants a yes: an answer in other words is none.
        let is_agreed = offered && !(flow.destructive && self.is_only_answered());
        if !act.is_delicate() && self.accepted() && (is_agreed || harmless()) {
            return;
        }
        // What a reader does not find in the user's words is not done to an address that only others named.
        if intent == Intent::NotAsked && self.goes_elsewhere(call, flow) {
            traced.objections.push(act_objection(call.tool().as_str()));
            return;
        }
        let is_safe = !is_hinted || !(flow.destructive || gives);
        if !act.is_delicate() && is_safe && self.rests_on_user(call, flow) {
            return;
        }
        // Where some text gave orders, what a reader does not find in the user's words is not done by itself.
        let unasked = intent == Intent::NotAsked && self.marked;
        if unasked || idle || grave || is_hinted || self.names_what_prose_names(call, flow) {
            traced.objections.push(act_objection(call.tool().as_str()));
        }
    }

    /// Holds values that stand instead of ones that the user gave.
    pub(super) fn compare(&self, values: &[Named<'_>], traced: &mut Traced) {
        // What a text that is sent on says is no value of the call, but for days.
        let counts = |value: &Named<'_>, it: &Given| {
            value.role != Some(Role::Content) || it.shape == Shape::Day
        };
        let of = |value: &Named<'_>| -> Vec<Given> {
            given(&value.text).into_iter().filter(|it| counts(value, it)).collect()
        };
        let used: Vec<Given> = values.iter().take(VALUES_PER_CALL_MAX).flat_map(of).collect();
        let is_open = self.has_left(&used);
        for value in values.iter().take(VALUES_PER_CALL_MAX) {
            let Some(role) = value.role.filter(|it| *it != Role::Secret) else { continue };
            let is_held =
                traced.sinks.iter().any(|it| it.param == value.param && !it.label.is_chosen());
            let is_another = is_open && of(value).iter().any(|it| self.gave_another(*it, &used));
            if is_another && !is_held {
                traced.hold(role, value.param, &value.text, Label::Instead);
            }
        }
    }

    /// Holds what gives or shows more to others than the user named.
    pub(super) fn hold_wider(&self, call: &Call, values: &[Named<'_>], traced: &mut Traced) {
        let audience = self.audience();
        let spoke = |word: &str| self.spoke(word);
        for value in values.iter().take(VALUES_PER_CALL_MAX) {
            let is_wider = is_above(value.param, &value.text, spoke)
                || is_seen_wider(value.param, Some(&value.text), audience, spoke);
            // What it decides is known by its name, whatever its role is.
            let role = value.role.unwrap_or(Role::Control);
            if is_wider && role != Role::Secret {
                traced.hold(role, value.param, &value.text, Label::Wider);
            }
        }
        for switch in switches(call) {
            if is_seen_wider(switch, None, audience, spoke) {
                traced.hold(Role::Control, switch, "true", Label::Wider);
            }
        }
    }

    /// Who is to see what the user speaks of.
    fn audience(&self) -> Audience {
        let clauses = self.asked().clauses();
        if clauses.iter().any(Clause::proclaims) {
            Audience::Everybody
        } else if clauses.iter().any(|it| it.asks(verb::SHARE)) {
            Audience::Somebody
        } else {
            Audience::Unsaid
        }
    }

    /// Did the user give a value that decides something in the call, and nobody else any?
    fn rests_on_user(&self, call: &Call, flow: &Flow) -> bool {
        let decides = |it| matches!(it, Some(Role::Destination | Role::Target | Role::Control));
        let values = values(call, flow, decides);
        let mut has_own = false;
        for thing in values.iter().flat_map(|it| things(&it.text)) {
            let bits = self.bits(thing.key);
            let of_others = bits.has(Bits::FLAGGED)
                || bits.has(Bits::ORDERED)
                || (bits.has(Bits::MENTIONED) && !bits.is_listed_well());
            let ordered = bits.has(Bits::FLAGGED) || bits.has(Bits::ORDERED);
            if bits.is_vouched_for() && !ordered {
                has_own = true;
            } else if of_others || ordered {
                return false;
            }
        }
        has_own
    }

    /// Does the call go to an address, a page or an account that neither the user nor the user's own system named?
    fn goes_elsewhere(&self, call: &Call, flow: &Flow) -> bool {
        let values = values(call, flow, |it| it == Some(Role::Destination));
        let things = values.iter().flat_map(|it| things(&it.text));
        things.filter(|it| it.kind.is_some()).any(|it| {
            let bits = self.bits(it.key);
            !bits.is_vouched_for() && !bits.has(Bits::TRUSTED)
        })
    }

    /// Does the call go to or act on something that stands in prose and that the user did not name?
    fn names_what_prose_names(&self, call: &Call, flow: &Flow) -> bool {
        let decides = |it| matches!(it, Some(Role::Destination | Role::Target));
        let values = values(call, flow, decides);
        values.iter().flat_map(|it| things(&it.text)).any(|thing| {
            let bits = self.bits(thing.key);
            let alien = bits.has(Bits::MENTIONED) && !bits.has(Bits::HANDED_ON);
            let handed_on = bits.has(Bits::HANDED_ON) && self.may_fill(thing.key, Slots::TASKS);
            let ordered = bits.has(Bits::ORDERED) && !handed_on;
            (alien || ordered || bits.has(Bits::FLAGGED)) && !bits.is_vouched_for()
        })
    }
}
