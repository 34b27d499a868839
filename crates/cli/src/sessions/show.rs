//! `lazaret sessions show`.

use aegx::verify::printable;
use model::SessionId;
use serde_json::{Value, json};
use store::{Oversight, Turn, Turns};

use super::{line, open, value};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output::{self, Paint};
use crate::taint::tag_value;

/// Show one session and the turns of its conversation, the newest last.
///
/// Of a turn there is kept who spoke, the digest of what was said, and its label. The words are not.
/// Turns are noted by `lazaret replay --home`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// The session.
    #[arg(value_parser = |it: &str| SessionId::parse(it))]
    id: SessionId,
    /// At most so many turns, the newest.
    #[arg(long, default_value_t = 100)]
    limit: u32,
    /// Print one JSON object for the session and one for each turn.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let missing = || Failure::refused(format!("there is no session `{}`", args.id));
    let store = open(&args.home)?.ok_or_else(missing)?;
    let row = store.session(&args.id).map_err(Failure::unable)?.ok_or_else(missing)?;
    let turns = store.turns(&args.id, args.limit).map_err(Failure::unable)?;
    // Whoever stops reading has seen enough.
    let _ = if args.json {
        let mut session = value(&row);
        if let Some(fields) = session.as_object_mut() {
            fields.insert("kind".to_owned(), "session".into());
        }
        output::json(&session) && turns.iter().all(|it| output::json(&turn_value(it)))
    } else {
        line(&row) && turns.iter().all(turn_line)
    };
    Ok(Exit::Done)
}

fn turn_value(turn: &Turn) -> Value {
    json!({
        "kind": "turn",
        "role": turn.role.as_str(),
        "sha256": turn.text.to_string(),
        "tag": turn.tag.as_ref().map(tag_value),
    })
}

fn turn_line(turn: &Turn) -> bool {
    let paint = Paint::for_stdout();
    let label = turn.tag.as_ref().map_or_else(
        || paint.faint("clean"),
        |it| {
            format!("{} {} {}", paint.bad(&it.taint.to_string()), it.source, printable(&it.origin))
        },
    );
    output::line(format!("  {:<9} {} {label}", turn.role.as_str(), turn.text).trim_end())
}
