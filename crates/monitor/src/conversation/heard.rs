//! A text that reaches the agent without a call: what the user says, what somebody on a channel says, what lies in a file
//! that a prompt names. It is looked at, judged if it is a message, recorded and absorbed before the agent sees it.

use model::{Caller, Message, Source};

use crate::monitor::Monitor;
use crate::record;
use crate::refusal::Refusal;
use crate::taint;
use crate::understanding::Understanding;

/// A text that reaches the agent without a call.
#[derive(Clone, Debug)]
pub struct Heard<'a> {
    /// The door by which it came.
    pub source: Source,
    /// Where from: a url, a name.
    pub origin: &'a str,
    /// What it says.
    pub text: &'a str,
}

/// What begins with a text.
enum Begins {
    Nothing,
    /// A turn of the user.
    Turn,
    /// A turn of somebody else.
    TurnOfOthers,
}

impl Monitor {
    /// A text reaches the agent. Its label is kept before it does.
    ///
    /// # Errors
    /// If it cannot be recorded or kept; then the agent must not see it.
    pub fn hear(&self, who: &Caller, heard: &Heard<'_>) -> Result<Understanding, Refusal> {
        self.take_in(who, heard, Begins::Nothing, None)
    }

    /// The same for words of a tool server that whoever runs this machine has sandboxed: nothing may be done because of them.
    ///
    /// # Errors
    /// As [`Monitor::hear`].
    pub fn hear_sandboxed(
        &self,
        who: &Caller,
        heard: &Heard<'_>,
        server: &str,
    ) -> Result<Understanding, Refusal> {
        self.take_in(who, heard, Begins::Nothing, Some(server))
    }

    /// The user says something, and a turn of theirs begins with it.
    ///
    /// # Errors
    /// If it cannot be recorded or kept; then it was not said, though a turn may have begun.
    pub fn hear_turn(&self, who: &Caller, text: &str) -> Result<Understanding, Refusal> {
        let heard = Heard { source: Source::User, origin: "", text };
        self.take_in(who, &heard, Begins::Turn, None)
    }

    /// Somebody who is not the user says something, and a turn begins with it: calls in it are theirs, and the user has
    /// asked for none of them.
    ///
    /// # Errors
    /// If it cannot be recorded or kept; then it was not said, though a turn may have begun.
    pub fn hear_turn_of_others(
        &self,
        who: &Caller,
        origin: &str,
        text: &str,
    ) -> Result<Understanding, Refusal> {
        let heard = Heard { source: Source::Channel, origin, text };
        self.take_in(who, &heard, Begins::TurnOfOthers, None)
    }

    /// Takes in a text. A turn begins once it is recorded, and before it counts.
    fn take_in(
        &self,
        who: &Caller,
        heard: &Heard<'_>,
        begins: Begins,
        sandboxed: Option<&str>,
    ) -> Result<Understanding, Refusal> {
        let turned_away = |error| self.turned_away(who, heard.text.as_bytes(), error);
        let session = self.sessions().get(who).map_err(turned_away)?;
        let mut session = session.lock().map_err(turned_away)?;
        let now = self.now();
        let mut label = taint::label(heard.source, heard.origin, now);
        let spoken = self.look_at(&session, heard, now)?;
        label.taint = label.taint.union(spoken.taint.unwrap_or_default());
        let judged = match Message::of(heard.source, heard.text) {
            Some(message) => {
                Some(self.judge_message(&mut session, message, &label, spoken, now)?)
            }
            None => None,
        };
        let text = self.without_secrets(heard.text);
        let new = record::heard(who, &label, &text, judged.as_ref());
        let (record, turn) = match begins {
            Begins::Nothing => (self.journal().append(new)?.id(), None),
            // Whatever the agent does in its turn is recorded behind these words, and waits for both.
            Begins::Turn => (self.journal().post(new)?, Some(session.begin_turn())),
            Begins::TurnOfOthers => {
                (self.journal().post(new)?, Some(session.begin_turn_of_others()))
            }
        };
        label.record = record.to_hex().as_str().to_owned();
        if let Some(turn) = turn {
            self.keep_soon(&mut session, &turn)?;
        }
        let (change, answer) = session.absorb_heard((&label, sandboxed), heard.text, now);
        self.keep(&mut session, &change)?;
        session.count_answer(&change);
        self.tell_parents(&mut session, &change)?;
        let outside = taint::is_outside(label.taint);
        let own = heard.source == Source::Agent;
        let tag = if own { session.taint.tag() } else { outside.then_some(label) };
        Ok(Understanding { record, answer, tag })
    }
}
