//! The OpenAI-shaped door: an agent is a model, a request is one turn.
//!
//! What a client calls the system's or the assistant's words is neither: it is history from outside, and marked so.

use std::sync::Arc;

use agent::Voice;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use model::ipc::Uuid;
use scan::boundary::{Boundary, Nonce, wrap};
use serde::Deserialize;
use serde_json::{Value, json};

use super::completion::{self, Completion};
use crate::admit::{charge, consented, may_use};
use crate::app::App;
use crate::auth::Caller;
use crate::body;
use crate::limits::CHAT_MESSAGES_MAX;
use crate::message::CONTENT_CHARS_MAX;
use crate::opening::open_session;
use crate::refusal::Refusal;
use crate::turn::Asked;
use crate::turns::Key;

/// `GET /v1/models`: the agents that the caller may use.
pub(crate) async fn models(State(app): State<Arc<App>>, caller: Caller) -> Json<Value> {
    let agents = app.directory().open_to(&caller.known);
    let data = agents
        .into_iter()
        .map(|it| json!({ "id": it.id, "object": "model", "created": 0, "owned_by": "lazaret" }));
    Json(json!({ "object": "list", "data": data.collect::<Vec<_>>() }))
}

/// What a client may ask. Fields that only tune a model are read over: the manifest chooses the model.
#[derive(Deserialize)]
pub(crate) struct Request {
    model: String,
    messages: Vec<Said>,
    #[serde(default)]
    stream: bool,
    #[serde(default)]
    stream_options: Option<StreamOptions>,
    user: Option<String>,
    session_id: Option<String>,
    n: Option<u64>,
    tools: Option<Value>,
    functions: Option<Value>,
}

#[derive(Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

#[derive(Deserialize)]
struct Said {
    role: Role,
    content: Content,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    System,
    Developer,
    User,
    Assistant,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Part {
    Text { text: String },
}

impl Content {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Parts(parts) => {
                let text = |it: &Part| match it {
                    Part::Text { text } => text.clone(),
                };
                parts.iter().map(text).collect::<Vec<_>>().join("\n")
            }
        }
    }
}

/// `POST /v1/chat/completions`.
pub(crate) async fn complete(
    State(app): State<Arc<App>>,
    caller: Caller,
    body: Body,
) -> Result<Response, Refusal> {
    let request: Request = body::json(body).await?;
    let (content, earlier) = check(&request, &caller)?;
    let known = caller.known;
    may_use(&app.directory(), &known, &request.model)?;
    consented(&app, &app.directory(), &known).await?;
    charge(&app, known.name().as_str())?;
    let once = request.session_id.is_none();
    let session = match &request.session_id {
        None => None,
        Some(id) => Some(Uuid::parse(id).ok_or_else(|| Refusal::bad("`session_id` is no UUID"))?),
    };
    let session = open_session(&app, &known, &request.model, session).await?;
    let key = Key { user: known.name().to_string(), agent: request.model.clone(), session };
    let made = Completion::new(&app, &key);
    let asked = Asked { known, key, content, voice: Voice::User, earlier, once };
    if request.stream {
        let with_usage = request.stream_options.is_some_and(|it| it.include_usage);
        let session = made.key().session.clone();
        let stream = completion::stream(&app, asked, made, with_usage);
        let headers = [
            (header::CONTENT_TYPE, "text/event-stream".to_owned()),
            (header::HeaderName::from_static("x-accel-buffering"), "no".to_owned()),
            (header::HeaderName::from_static("x-session-id"), session),
        ];
        return Ok((headers, stream).into_response());
    }
    let answered = completion::whole(&app, asked).await?;
    let session = made.key().session.clone();
    let body = Json(made.answer(&answered));
    Ok(([("x-session-id", session)], body).into_response())
}

/// What the user says, and what the client says was said before.
fn check(request: &Request, caller: &Caller) -> Result<(String, Option<String>), Refusal> {
    // INVARIANT (NoIdentityInMessages): who asks is known by the token.
    if request.user.as_ref().is_some_and(|it| it != caller.known.name().as_str()) {
        let why = "`user` is not who the token belongs to";
        return Err(Refusal::new(StatusCode::FORBIDDEN, "access_denied", why));
    }
    if request.n.is_some_and(|it| it != 1) {
        return Err(Refusal::bad("there is one answer to a message: `n` is 1"));
    }
    if request.tools.is_some() || request.functions.is_some() {
        return Err(Refusal::bad("an agent has the tools of its manifest, and none of a client"));
    }
    if request.messages.len() > CHAT_MESSAGES_MAX {
        return Err(Refusal::bad(format!("there are at most {CHAT_MESSAGES_MAX} messages")));
    }
    let Some((last, earlier)) = request.messages.split_last() else {
        return Err(Refusal::bad("`messages` is empty"));
    };
    if last.role != Role::User {
        return Err(Refusal::bad("the last message is the user's"));
    }
    let content = last.content.text();
    let earlier = if earlier.is_empty() { None } else { Some(history(earlier)?) };
    let texts = [Some(&content), earlier.as_ref()];
    let chars: usize = texts.into_iter().flatten().map(|it| it.chars().count()).sum();
    let has_nul = texts.into_iter().flatten().any(|it| it.contains('\0'));
    if content.is_empty() || has_nul || chars > CONTENT_CHARS_MAX {
        let why = format!("a message has 1 to {CONTENT_CHARS_MAX} characters, and no NUL");
        return Err(Refusal::bad(why));
    }
    Ok((content, earlier))
}

/// Earlier messages, between marks that nothing in them can close.
fn history(earlier: &[Said]) -> Result<String, Refusal> {
    let lines = earlier.iter().map(|it| {
        let who = match it.role {
            Role::System | Role::Developer => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        format!("{who}: {}", it.content.text())
    });
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|_| Refusal::broken())?;
    let text = lines.collect::<Vec<_>>().join("\n\n");
    Ok(wrap(Boundary::History, "client", &text, &Nonce::new(random)))
}
