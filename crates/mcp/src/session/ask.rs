//! Questions to the person behind the client: by `input_required` in the modern era, by `elicitation/create` in the
//! legacy one.

use super::Session;
use super::state::{Open, PersonAsked, Stage, Target};
use crate::approvals::Approvals;
use crate::era::{self, Era, META_CAPABILITIES};
use crate::gate::{Answered, Kind};
use crate::limits::{APPROVAL_WAIT, APPROVALS_MAX};
use crate::message::{self, Id, Message};
use crate::reply;
use serde_json::{Map, Value, json};

impl Session {
    /// Puts a question. A client that cannot show it gets the question's text as the reason: it says how to approve.
    pub(super) fn ask(
        &mut self,
        id: &Id,
        message: Message,
        target: Target,
        question: String,
        text: &str,
    ) {
        match target.era {
            Era::Modern => self.ask_modern(id, &message, &target, question, text),
            Era::Legacy => self.ask_legacy(id, message, target, question, text),
        }
    }

    fn ask_modern(
        &mut self,
        id: &Id,
        message: &Message,
        target: &Target,
        question: String,
        text: &str,
    ) {
        let capabilities = message.params().get("_meta").and_then(|it| it.get(META_CAPABILITIES));
        let can_elicit = capabilities.is_some_and(era::can_elicit_form);
        let may_ask = matches!(target.kind, Kind::Tool | Kind::Prompt | Kind::Resource);
        if !can_elicit || !may_ask {
            return self.refuse(id, target, text);
        }
        match self.approvals.issue(question, target.subject(), carried(message), self.now) {
            Some(state) => self.respond(id, reply::input_required(text, &state)),
            None => self.refuse(id, target, text),
        }
    }

    fn ask_legacy(
        &mut self,
        id: &Id,
        message: Message,
        target: Target,
        question: String,
        text: &str,
    ) {
        let can_elicit = era::can_elicit_form(&self.client.capabilities);
        if !can_elicit || self.questions.len() >= APPROVALS_MAX {
            return self.refuse(id, &target, text);
        }
        let asking = self.new_id();
        let params = reply::question(Era::Legacy, &self.client.version, text);
        self.send_client(message::encode(&json!({
            "jsonrpc": "2.0", "id": asking.to_value(), "method": "elicitation/create", "params": params,
        })));
        let open = Open {
            server: target.server,
            method: target.method.clone(),
            era: target.era,
            progress: None,
            stage: Stage::Asking(asking.clone()),
        };
        self.open.insert(id.clone(), open);
        let deadline = self.now + APPROVAL_WAIT;
        let question = PersonAsked { id: id.clone(), message, target, question, deadline };
        self.questions.insert(asking, question);
    }

    /// Takes a legacy client's answer to a question of ours; says whether it was one.
    pub(super) fn answer_question(&mut self, asking: &Id, failed: bool, message: &Message) -> bool {
        let Some(question) = self.questions.remove(asking) else { return false };
        self.open.remove(&question.id);
        let answered = if failed { Answered::Deny } else { reply::answered(message.outcome()) };
        match self.settle(&question.question, answered) {
            // The tool may have changed while the person thought.
            Ok(()) => {
                if let Some(message) = self.check(&question.id, question.message, &question.target)
                {
                    self.judge(&question.id, message, question.target, true);
                }
            }
            Err(reason) => self.refuse(&question.id, &question.target, &reason),
        }
        true
    }

    /// Reads the answer that a modern client brings with its second call, and removes it from the message. Says
    /// whether there was one; the error is the reason for the model.
    pub(super) fn settle_approval(
        &mut self,
        message: &mut Message,
        target: &Target,
    ) -> Result<bool, String> {
        let params = message.params();
        let Some(state) = params.get("requestState").and_then(Value::as_str) else {
            return Ok(false);
        };
        if !Approvals::claims(state) {
            return Ok(false);
        }
        let state = state.to_owned();
        let answered =
            params.pointer("/inputResponses/approval").map_or(Answered::Deny, reply::answered);
        let approval = self
            .approvals
            .take(&state, &target.subject(), self.now)
            .map_err(|stale| stale.to_string())?;
        if let Some(params) = message.value.get_mut("params").and_then(Value::as_object_mut) {
            params.remove("requestState");
            params.remove("inputResponses");
            params.extend(approval.carried);
        }
        message.changed = true;
        self.settle(&approval.question, answered)?;
        Ok(true)
    }

    fn settle(&self, question: &str, answered: Answered) -> Result<(), String> {
        self.gate.answer(question, answered).map_err(|error| error.to_string())?;
        if answered == Answered::Deny {
            return Err(DENIED_BY_PERSON.to_owned());
        }
        Ok(())
    }

    /// Takes a question back from the client, because its call was cancelled.
    pub(super) fn withdraw_question(&mut self, asking: &Id) {
        if self.questions.remove(asking).is_some() {
            self.cancel_at_client(asking, "the call was cancelled");
        }
    }

    /// Tells the client that a request to it needs no answer any more.
    pub(super) fn cancel_at_client(&mut self, id: &Id, reason: &str) {
        self.send_client(message::encode(&json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": id.to_value(), "reason": reason},
        })));
    }

    pub(super) fn expire_questions(&mut self) {
        let now = self.now;
        let late = self.questions.iter().filter(|(_, it)| now >= it.deadline);
        let late: Vec<Id> = late.map(|(id, _)| id.clone()).collect();
        for asking in late {
            let Some(question) = self.questions.remove(&asking) else { continue };
            self.cancel_at_client(&asking, "nobody answered in time");
            self.open.remove(&question.id);
            let _unheard = self.gate.answer(&question.question, Answered::Deny);
            self.refuse(&question.id, &question.target, NOBODY_ANSWERED);
        }
    }
}

/// What the first call brought for the server: the second brings it again, in place of what it brings for us.
fn carried(message: &Message) -> Map<String, Value> {
    let params = message.params().as_object().into_iter().flatten();
    let brought =
        params.filter(|(key, _)| matches!(key.as_str(), "requestState" | "inputResponses"));
    brought.map(|(key, value)| (key.clone(), value.clone())).collect()
}

const DENIED_BY_PERSON: &str = "The person who was asked did not allow this call.";
const NOBODY_ANSWERED: &str = "Nobody answered in time whether this call is allowed, so it was not made. Make the call again to ask again.";
