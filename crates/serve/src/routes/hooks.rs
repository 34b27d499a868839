//! Calls of messengers. Nobody shows a token here: a call counts by its signature alone, and every other one is told
//! the same.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use host::channels::{HookRefused, Hooked};

use crate::app::App;
use crate::body;
use crate::channels;
use crate::front::parameter;
use crate::refusal::Refusal;

/// `POST /hooks/{channel}`.
pub(crate) async fn called(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let line = channels::line(&app, &name).ok_or_else(Refusal::not_found)?;
    let body = body::read(body).await?;
    // A field that is there twice has no value.
    let field = |name: &str| {
        let mut all = headers.get_all(name).iter();
        all.next().filter(|_| all.next().is_none()).and_then(|it| it.to_str().ok())
    };
    match line.called(field, &body, app.now()).map_err(refused)? {
        Hooked::Answer(word) => Ok(plain(word)),
        Hooked::Said(said) => {
            said.into_iter().for_each(|it| channels::take(&app, line, it));
            Ok(StatusCode::OK.into_response())
        }
    }
}

/// `GET /hooks/{channel}`: a messenger is set up, and sees that we are there.
pub(crate) async fn introduced(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let line = channels::line(&app, &name).ok_or_else(Refusal::not_found)?;
    let said = |name: &str| parameter(query.as_deref(), name).unwrap_or_default();
    let word =
        line.introduced(&said("hub.mode"), &said("hub.verify_token"), &said("hub.challenge"));
    word.map(plain).map_err(refused)
}

fn plain(word: String) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], word).into_response()
}

fn refused(why: HookRefused) -> Refusal {
    match why {
        HookRefused::Nobody => Refusal::not_found(),
        HookRefused::Signature => {
            Refusal::new(StatusCode::UNAUTHORIZED, "unauthorized", "the signature is none")
        }
        HookRefused::NotUnderstood => Refusal::bad("the call is not understood"),
    }
}
