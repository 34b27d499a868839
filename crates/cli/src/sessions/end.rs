//! `lazaret sessions end`.

use model::SessionId;
use serde_json::json;
use store::Oversight as _;

use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;
use crate::workers;

/// End a session that `lazaret serve` has open.
///
/// Its turn is interrupted and its worker ended; what was said stays, and who speaks in it again begins a new worker.
///
/// Exit codes: 0 done, 1 refused (no server runs), 2 there is no such session.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[command(flatten)]
    home: Home,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// The session, as `lazaret sessions` names it.
    #[arg(value_parser = |it: &str| SessionId::parse(it))]
    id: SessionId,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let found = match super::open(&args.home)? {
        Some(store) => store.session(&args.id).map_err(Failure::unable)?,
        None => None,
    };
    let row = found.ok_or_else(|| Failure::usage(format!("there is no session `{}`", args.id)))?;
    workers::ask(&args.home, &format!("end {} {} {}", row.user, row.agent, row.id))?;
    let told = json!({ "session": args.id.as_str(), "outcome": "ended" });
    output::done(args.json, &told, "ended");
    Ok(Exit::Done)
}
