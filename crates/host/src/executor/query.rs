//! Questions to models that a session asks beside its own conversation: without tools, and without what was said.

use std::path::Path;
use std::sync::Arc;

use llm::{Answer, Block, Flow, LlmError, Message, Request, Role};
use model::Caller;
use model::ipc::ModelQuery;
use monitor::{Output, Permit, Status, Words};
use serde_json::json;

use crate::gate::{Gate, GateError};
use crate::models::{Models, Paid, Payer};
use crate::worker::tokens;

/// Asks models for a session.
///
/// INVARIANT (OneGate): the question is an `llm_call` of that session, judged and recorded by itself, whoever asks.
pub(crate) trait Questions: Send + Sync {
    /// Asks once.
    ///
    /// # Errors
    /// If the gate refuses it, as much is used as may be, or no model gives a whole answer.
    fn ask(&self, who: &Caller, request: Request) -> Result<Answer, LlmError>;
}

impl Questions for Models {
    fn ask(&self, who: &Caller, request: Request) -> Result<Answer, LlmError> {
        Models::ask(self, who, &request, &mut |_| Flow::Continue)
    }
}

/// Who is asked for a session, and the model that its agent has.
#[derive(Clone)]
pub(crate) struct Asker {
    /// Who is asked.
    pub(crate) questions: Arc<dyn Questions>,
    /// The agent's own model, if its manifest names one.
    pub(crate) model: Option<String>,
}

impl Asker {
    /// Who asks models for a session: `supplied`, or the models that the settings choose, paid by `payer` if there is one;
    /// nobody where they choose none.
    pub(crate) fn of(
        (supplied, payer): (Option<Arc<dyn Questions>>, Option<Payer>),
        gate: &Gate,
        home: &Path,
        model: Option<String>,
    ) -> Result<Option<Self>, GateError> {
        let chosen = || Models::of(gate, home).map_err(GateError::usage);
        let questions = match supplied {
            Some(questions) => Some(questions),
            None => chosen()?.map(|it| match payer {
                Some(payer) => Arc::new(Paid::new(it, payer)) as Arc<dyn Questions>,
                None => Arc::new(it) as Arc<dyn Questions>,
            }),
        };
        Ok(questions.map(|questions| Self { questions, model }))
    }

    /// Answers the question of an agent.
    pub(super) fn answer(&self, permit: Permit<ModelQuery>) -> Output {
        let who = permit.who().clone();
        let asked = permit.spend();
        let own = || self.model.clone().unwrap_or_default();
        let model = asked.model.map_or_else(own, |it| it.as_str().to_owned());
        let system = asked.system.map_or_else(String::new, |it| it.as_str().to_owned());
        let max_tokens = asked.max_tokens.and_then(|it| u32::try_from(it.get()).ok());
        let request = Request { max_tokens, ..question(model, system, asked.message.as_str()) };
        match self.questions.ask(&who, request) {
            Ok(answer) => {
                let told = json!({
                    "answer": words(&answer),
                    "model": answer.model,
                    "tokens": tokens(&answer.usage),
                });
                Output::text(told.to_string())
            }
            // Some of the words may be the provider's.
            Err(error) => Output {
                status: Status::Failed,
                words: Words::Theirs,
                ..Output::text(format!("{}: {}", error.kind, error.detail))
            },
        }
    }
}

/// One question, without tools.
pub(crate) fn question(model: String, system: String, text: &str) -> Request {
    let content = vec![Block::Text { text: text.to_owned() }];
    Request {
        model,
        system,
        messages: vec![Message { role: Role::User, content }],
        tools: Vec::new(),
        max_tokens: None,
        temperature: None,
        effort: None,
    }
}

/// What a model said. It was offered no tools: what it calls nevertheless is not said.
pub(crate) fn words(answer: &Answer) -> String {
    let text = answer.content.iter().map(|it| match it {
        Block::Text { text } => text.as_str(),
        Block::ToolUse { .. } | Block::ToolResult { .. } => "",
    });
    text.collect()
}
