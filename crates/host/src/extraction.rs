//! Pages that a model reads first, where the settings name one for that: the agent is given what it says of them.
//!
//! The page was fetched, judged, recorded and absorbed as any other; then the model is asked in the same session, without
//! tools (`llm_call`). What it says is made of the page, so it stands between the same marks, and the session carries the
//! label of the page by then.
//!
//! INVARIANT (FailClosed): a page that the model does not read is not given in its place.

use std::path::Path;

use agent::prompt::EXTRACT;
use model::ipc::{self, Action};
use model::{Caller, Domain};
use monitor::{Delivered, Output, Status};
use scan::boundary::{Boundary, Nonce, wrap};
use serde_json::{Value, json};

use crate::executor::{Asker, question, words};
use crate::gate::GateError;

/// Characters of a page that the model is shown.
const SHOWN_CHARS_MAX: usize = 90_000;
/// Tokens of what it says of it.
const ANSWER_TOKENS_MAX: u32 = 4096;

/// Has pages read.
pub(crate) struct Extraction {
    /// Who asks, if there is somebody.
    asker: Option<Asker>,
    /// The model that reads pages.
    model: String,
}

impl Extraction {
    /// By the settings in `home`; nothing where they name no model for it.
    pub(crate) fn by_settings(
        home: &Path,
        asker: Option<&Asker>,
    ) -> Result<Option<Self>, GateError> {
        let settings = crate::settings(home).map_err(GateError::usage)?;
        let web = settings.as_ref().and_then(|it| it.tool(Domain::Web));
        let model = web.and_then(|it| it.extraction_model.clone());
        Ok(model.map(|model| Self { asker: asker.cloned(), model }))
    }

    /// What the agent is given in the place of a page. Anything else stays as it is.
    pub(crate) fn of(&self, who: &Caller, message: &[u8], delivered: Delivered) -> Delivered {
        let Ok(Action::WebFetch(asked)) = ipc::parse(message) else { return delivered };
        let query = asked.query.as_ref().map(|it| it.as_str());
        let body = serde_json::from_str(&delivered.output.body);
        match (delivered.output.status, body) {
            (Status::Done, Ok(Value::Object(page))) if is_text(&page) => {
                let output = match self.read(who, asked.url.as_str(), query, page) {
                    Ok(page) => Output { body: page.to_string(), ..delivered.output },
                    Err(why) => Output {
                        status: Status::Failed,
                        body: format!("the page was not read by `extraction_model`: {why}"),
                        ..delivered.output
                    },
                };
                Delivered { output, ..delivered }
            }
            (Status::Done | Status::Failed | Status::NotBegun, _) => delivered,
        }
    }

    fn read(
        &self,
        who: &Caller,
        url: &str,
        query: Option<&str>,
        mut page: serde_json::Map<String, Value>,
    ) -> Result<Value, String> {
        let content = page.get(CONTENT).and_then(Value::as_str).unwrap_or_default();
        let mut shown: String = content.chars().take(SHOWN_CHARS_MAX).collect();
        let is_cut = shown.len() < content.len();
        if is_cut {
            // The mark at its end was cut off with the rest.
            shown = marked(url, &shown)?;
        }
        let asked = match query {
            Some(query) => format!("What is wanted of the page: {query}\n\n{shown}"),
            None => shown,
        };
        let asker = self.asker.as_ref().ok_or("no llm provider is configured")?;
        let request = llm::Request {
            max_tokens: Some(ANSWER_TOKENS_MAX),
            ..question(self.model.clone(), EXTRACT.to_owned(), &asked)
        };
        let answer = asker.questions.ask(who, request);
        let answer = answer.map_err(|it| format!("{}: {}", it.kind, it.detail))?;
        page.insert(CONTENT.to_owned(), json!(marked(url, &words(&answer))?));
        page.insert("extractedBy".to_owned(), json!(answer.model));
        if is_cut {
            page.insert("truncated".to_owned(), json!(true));
        }
        Ok(Value::Object(page))
    }
}

/// The field that holds what a page says.
const CONTENT: &str = "content";

/// Does the page say anything?
fn is_text(page: &serde_json::Map<String, Value>) -> bool {
    page.get("bytes").and_then(Value::as_u64).is_some_and(|it| it > 0)
        && page.get("binary").is_none()
        && page.get(CONTENT).is_some_and(Value::is_string)
}

/// Between marks; an error without randomness, for marks that somebody can guess are none.
fn marked(url: &str, text: &str) -> Result<String, String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|it| it.to_string())?;
    Ok(wrap(Boundary::Fetched, url, text, &Nonce::new(random)))
}
