//! `lazaret uninstall`.

use serde_json::json;
use setup::{Outcome, uninstall};

use super::surroundings;
use crate::act::{Act, By};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Take back what `lazaret init` changed.
///
/// Every file becomes what it was, byte for byte. Where somebody has changed a file since, only our own entries are
/// taken out of it, and that is said. Sessions, evidence and settings in the state directory stay.
///
/// Exit codes: 0 done, 3 a file could not be put back.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    #[command(flatten)]
    by: By,
    /// Print one JSON object per file.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let around = surroundings(&args.home, None)?;
    let kinds = ("agents_unwired", "agents_not_unwired");
    let done = Act::around(&args.home, &args.by, kinds, json!({}), || {
        uninstall(&around).map_err(Failure::unable)
    })?;
    for (path, outcome) in &done.files {
        let word = match outcome {
            Outcome::Restored => "restored",
            Outcome::Removed => "removed",
            Outcome::Cleaned => "our entries taken out, your changes kept",
            Outcome::Untouched => "nothing of ours in it",
            Outcome::Failed(why) => why.as_str(),
        };
        if args.json {
            output::json(&json!({ "file": path.display().to_string(), "outcome": word }));
        } else if matches!(outcome, Outcome::Failed(_)) {
            output::line(&format!("{word}: {}", path.display()));
        } else {
            output::told(false, &format!("{word}: {}", path.display()));
        }
    }
    if done.files.is_empty() && !args.json {
        output::hint("nothing was wired");
    }
    Ok(if done.is_complete() { Exit::Done } else { Exit::Unable })
}
