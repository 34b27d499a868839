//! What is recorded of a question to a model, beside the decision by which it was asked.

use aegx::RecordType;
use evidence::{AppendError, Content, Journal, NewRecord};
use llm::{Answer, LlmError, Price};
use model::Kind;
use model::ipc::LlmCall;
use monitor::Permit;
use serde_json::{Value, json};

/// The most failed attempts that a record lists.
const ATTEMPTS_MAX: usize = 16;

/// How a question ended: which model answered, what it used and what that costs.
pub(super) struct Asked<'a> {
    pub(super) outcome: &'a Result<Answer, LlmError>,
    /// Models that were tried in vain, and what kind of failure it was.
    pub(super) failed: &'a [(String, &'static str)],
    pub(super) price: Option<Price>,
    pub(super) took_ms: u64,
}

impl Asked<'_> {
    /// Appends the record. It is durable when this returns.
    ///
    /// # Errors
    /// If it cannot be recorded: then the answer is not given out.
    pub(super) fn append(
        &self,
        journal: &Journal,
        permit: &Permit<LlmCall>,
    ) -> Result<(), AppendError> {
        let who = permit.who();
        let record = NewRecord {
            parents: vec![permit.record()],
            session: Some(who.session.clone()),
            agent: Some(who.agent.clone()),
            content: Content::Json(self.content()),
            ..NewRecord::of_host(RecordType::ToolCall, Kind::of_static("model_call"), Value::Null)
        };
        journal.append(record).map(drop)
    }

    fn content(&self) -> Value {
        let usage = match self.outcome {
            Ok(answer) => answer.usage,
            Err(error) => error.usage,
        };
        let failed: Vec<Value> = self
            .failed
            .iter()
            .take(ATTEMPTS_MAX)
            .map(|(model, kind)| json!({ "error": kind, "model": model }))
            .collect();
        let mut content = json!({
            "failed": failed,
            "took_ms": self.took_ms,
            "usage": {
                "cache_creation_tokens": usage.cache_creation_tokens,
                "cache_read_tokens": usage.cache_read_tokens,
                "estimated": usage.estimated,
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
            },
        });
        let mut add = |name: &str, value: Value| {
            if let Some(fields) = content.as_object_mut() {
                fields.insert(name.to_owned(), value);
            }
        };
        match self.outcome {
            Ok(answer) => {
                add("model", answer.model.as_str().into());
                add("stop", answer.stop.as_str().into());
            }
            Err(error) => {
                add("error", error.kind.as_str().into());
                add("detail", error.detail.as_str().into());
            }
        }
        // Without a price nobody says that it was free.
        add("cost_microdollars", self.price.map(|it| it.cost(&usage)).into());
        content
    }
}
