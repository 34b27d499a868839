//! The instructions of an agent, for one turn.

use std::io;
use std::path::Path;

use agent::prompt::{DEFAULT_IDENTITY, Parts, system};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use scan::boundary::Nonce;

use super::offer::Offer;

/// What an agent is told, and what of it the agent may say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Instructions {
    pub(super) text: String,
    pub(super) public: Vec<String>,
}

/// Puts the instructions together, as they are at `now` (in seconds since 1970).
///
/// # Errors
/// If the system gives no randomness: marks that somebody can guess are none.
pub(super) fn instructions(
    offer: &Offer,
    workspace: Option<&Path>,
    files: &[(String, String)],
    memory: &[String],
    now: i64,
) -> io::Result<String> {
    let tools = tools(offer);
    let workspace = workspace.map(|it| it.display().to_string());
    let now = said(now);
    let identity = identity(offer);
    let parts = Parts {
        identity: &identity,
        now: &now,
        workspace: workspace.as_deref(),
        tools: &tools,
        files,
        memory,
        ..Parts::default()
    };
    let mut failed = None;
    let text = system(&parts, || {
        let mut random = [0; 16];
        if let Err(error) = getrandom::fill(&mut random) {
            failed = Some(io::Error::other(error));
        }
        Nonce::new(random)
    });
    failed.map_or(Ok(text), Err)
}

/// The body of the agent's file; for a sub-agent also what it is. Whatever the agent's author asks for holds there, too.
fn identity(offer: &Offer) -> String {
    let body = offer.manifest.body.trim();
    let Some(name) = offer.sub_agents.last() else { return body.to_owned() };
    let body = if body.is_empty() { DEFAULT_IDENTITY } else { body };
    format!("{body}\n\nYou work as the sub-agent `{}`. {SUB_AGENT}", name.escape_debug())
}

/// What a sub-agent is told of its place.
const SUB_AGENT: &str = "Another agent has handed you a task, which is all that you are told of the conversation. You cannot ask anybody anything. Do the task with the tools that you have, then answer with what you found, and with what you could not do.";

/// What of the instructions an agent may say: its user knows it.
pub(super) fn public(offer: &Offer, workspace: Option<&Path>, now: i64) -> Vec<String> {
    let mut public = vec![said(now), tools(offer).join(", ")];
    public.extend(workspace.map(|it| it.display().to_string()));
    public
}

fn tools(offer: &Offer) -> Vec<String> {
    offer.tools.iter().map(|it| it.name.clone()).collect()
}

/// Date, time and zone, as people say them.
fn said(now: i64) -> String {
    let time = Timestamp::from_second(now).unwrap_or_default();
    time.to_zoned(TimeZone::system()).strftime("%A, %Y-%m-%d %H:%M (%Z)").to_string()
}
