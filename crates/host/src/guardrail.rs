//! Texts that a model judges before they are delivered, where the manifest asks for that.
//!
//! The model that the settings name as `guardrail` is asked in the session itself (`llm_call`), without tools and with the whole
//! text, in windows. It says `SAFE` of all of it, or the text is withheld; what it says in place of that is on record, and told
//! to nobody: its words may be those of the text.
//!
//! INVARIANT (FailClosed): a text that could not be judged is withheld.

use std::path::Path;
use std::sync::Arc;

use aegx::RecordType;
use evidence::{Journal, NewRecord};
use llm::{Answer, Flow, GuardrailFilter, LlmError, Piece, Provider, Request, Verdict};
use model::{Caller, Kind};
use monitor::{Admission, Delivered, Output, Status};
use serde_json::json;

use crate::executor::{Asker, Questions};
use crate::gate::{Gate, GateError};

/// Has texts judged.
pub(crate) struct Guardrail {
    questions: Arc<dyn Questions>,
    model: String,
    on: policy::access::Guardrail,
    journal: Arc<Journal>,
}

impl Guardrail {
    /// What the manifest of `admission` asks for; nothing where it asks for nothing.
    ///
    /// # Errors
    /// If the settings name no model for it.
    pub(crate) fn of(
        on: policy::access::Guardrail,
        gate: &Gate,
        home: &Path,
        asker: Option<&Asker>,
    ) -> Result<Option<Self>, GateError> {
        if !on.is_on() {
            return Ok(None);
        }
        let none = || {
            let why = "the manifest asks for a guardrail, and `models` in config.yaml names no model `guardrail`";
            GateError::usage(why)
        };
        let settings = crate::settings(home).map_err(GateError::usage)?;
        let model = settings.and_then(|it| it.models().guardrail.clone()).ok_or_else(none)?;
        let questions = Arc::clone(&asker.ok_or_else(none)?.questions);
        let (model, journal) = (model.to_string(), Arc::clone(&gate.journal));
        Ok(Some(Self { questions, model, on, journal }))
    }

    /// What the agent is given in the place of what came from outside.
    pub(crate) fn of_result(&self, who: &Caller, delivered: Delivered) -> Delivered {
        if !self.on.results || delivered.tag.is_none() {
            return delivered;
        }
        let asking = InSession { questions: &*self.questions, who };
        match self.judge(who, "result", &delivered.output.body, &asking) {
            Verdict::Safe => delivered,
            Verdict::Flagged { .. } => {
                let body = "the result is withheld: the guardrail did not find it safe".to_owned();
                let output = Output { status: Status::Failed, body, ..delivered.output };
                Delivered { output, flagged: true, ..delivered }
            }
        }
    }

    /// Are answers judged?
    pub(crate) fn judges_answers(&self) -> bool {
        self.on.answers
    }

    /// May this answer be given, by what `models` say of it?
    pub(crate) fn allows_answer(&self, who: &Caller, text: &str, models: &dyn Provider) -> bool {
        !self.on.answers || self.judge(who, "answer", text, models) == Verdict::Safe
    }

    fn judge(&self, who: &Caller, what: &str, text: &str, models: &dyn Provider) -> Verdict {
        let verdict = GuardrailFilter::new(models, self.model.clone()).judge(text);
        if let Verdict::Flagged { reason } = &verdict {
            let content = json!({
                "decision": "deny", "what": what, "model": self.model, "reason": reason,
                "sha256": aegx::Digest::of(text.as_bytes()).to_string(),
            });
            // It stays withheld, recorded or not.
            let _ = self.journal.append(NewRecord {
                session: Some(who.session.clone()),
                agent: Some(who.agent.clone()),
                ..NewRecord::of_host(
                    RecordType::GuardDecision,
                    Kind::of_static("guardrail_flagged"),
                    content,
                )
            });
        }
        verdict
    }
}

/// What the manifest of `admission` asks for.
pub(crate) fn wanted(admission: &Admission) -> policy::access::Guardrail {
    match admission {
        Admission::OnePerson => policy::access::Guardrail::default(),
        Admission::Layered { manifest, .. } => manifest.guardrail,
    }
}

/// The models as one session asks them.
struct InSession<'a> {
    questions: &'a dyn Questions,
    who: &'a Caller,
}

impl Provider for InSession<'_> {
    fn ask(&self, request: &Request, _: &mut dyn FnMut(Piece) -> Flow) -> Result<Answer, LlmError> {
        self.questions.ask(self.who, request.clone())
    }
}
