//! `lazaret scheduler remove`: a person's act.

use model::Taint;
use serde_json::json;

use super::failure;
use crate::act::{Act, By};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Remove a job with its runs, or take a run off the list.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// The job or the run.
    id: String,
    #[command(flatten)]
    by: By,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let content = json!({ "id": args.id });
    let act = Act::begin(&args.home, "job_removed", &args.by.user()?, Taint::NONE, content)?;
    let done = super::of_person(&args.home)
        .and_then(|it| it.remove(&args.id, None).map_err(|error| failure(&error)));
    let ((), record) = act.end(done, "job_not_removed")?;
    if args.json {
        output::json(&json!({ "id": args.id, "record": record }));
    } else {
        output::line(&format!("removed {}", args.id.escape_debug()));
    }
    Ok(Exit::Done)
}
