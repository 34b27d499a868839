//! Did the user ask for just this? Then what cannot be undone need not be asked about again.
//!
//! Timid on purpose: whatever is not plainly the user's own choice is not.

use model::{Call, Flow, Role};
use serde_json::Value;

use super::acts::{Act, name_words, verb};
use super::bits::Bits;
use super::label::things;
use super::ledger::Ledger;
use super::norm::{phrase, word_key};
use super::verdict::{Label, Sink};

impl Ledger {
    /// The act is asked for already. Is everything that it acts on named by the user, or listed as what
    /// the user meant, one by one?
    pub(super) fn is_just_so(&self, call: &Call, flow: &Flow, act: &Act, sinks: &[Sink]) -> bool {
        // What a command does is not told by its words.
        if act.verbs & verb::RUN != 0 {
            return false;
        }
        let decides =
            |param: &str| matches!(flow.roles.get(param), Some(Role::Destination | Role::Target));
        let mut targets = sinks.iter().filter(|it| decides(&it.param)).peekable();
        let own = targets.peek().is_some() && targets.all(|it| is_own(&it.label));
        own && call.args().iter().all(|(param, value)| match flow.roles.get(param) {
            Some(Role::Destination | Role::Target) => self.is_plain_target(value),
            Some(Role::Content) => true,
            Some(Role::Control | Role::Secret) | None => self.is_plain_choice(param, value),
        })
    }

    /// Names of single things, none of which a text that gives orders names as well.
    fn is_plain_target(&self, value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::String(text) => {
                let things = things(text);
                let ordered = things.iter().any(|it| self.is_ordered(self.bits(it.key)));
                is_one_thing(text) && !things.is_empty() && !ordered
            }
            Value::Number(number) => !self.is_ordered(self.key_bits(&number.to_string())),
            Value::Array(items) => items.iter().all(|it| self.is_plain_target(it)),
            Value::Bool(_) | Value::Object(_) => false,
        }
    }

    /// A switch or a number is the user's if they said it.
    fn is_plain_choice(&self, param: &str, value: &Value) -> bool {
        let said = |word: &str| self.bits(word_key(word)).has(Bits::SPOKEN);
        match value {
            Value::Null | Value::Bool(false) => true,
            Value::Bool(true) => name_words(param).iter().any(|it| said(it)),
            Value::Number(number) => self.key_bits(&number.to_string()).is_vouched_for(),
            Value::String(text) => is_one_thing(text),
            Value::Array(items) => items.iter().all(|it| self.is_plain_choice(param, it)),
            Value::Object(_) => false,
        }
    }

    fn key_bits(&self, text: &str) -> Bits {
        phrase(text).map(|it| self.bits(it)).unwrap_or_default()
    }

    /// It may be one of those whom the user meant, and somebody else's choice all the same.
    fn is_ordered(&self, bits: Bits) -> bool {
        (bits.has(Bits::FLAGGED) || bits.has(Bits::ORDERED)) && !bits.is_vouched_for()
    }
}

/// Chosen as it stands, not put together or handed on.
fn is_own(label: &Label) -> bool {
    match label {
        Label::User | Label::Operator | Label::ListedTrusted | Label::Listed => true,
        Label::Composed
        | Label::Delegated(_)
        | Label::ListedElsewhere(_)
        | Label::Mentioned(_)
        | Label::Ordered(_)
        | Label::Flagged(_)
        | Label::Doubted
        | Label::Instead
        | Label::Several(_)
        | Label::Wider
        | Label::Unseen => false,
    }
}

/// No pattern, no way up, no home, nothing that cannot be seen.
fn is_one_thing(text: &str) -> bool {
    let wild = |it: char| matches!(it, '*' | '?' | '%' | '~' | '$' | '[' | '{') || it.is_control();
    !text.contains(wild) && !text.contains("..") && text.contains(char::is_alphanumeric)
}
