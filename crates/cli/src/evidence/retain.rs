//! `lazaret evidence retain`.

use evidence::{Clock, Config, RetentionRule, SystemClock, retire};
use serde_json::json;

use super::filter::parse_time;
use super::open;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Delete old records: whole sealed segments that a checkpoint covers, oldest first.
///
/// Their heads and hashes are kept, so that the rest still verifies and old signatures can still be
/// proved. That records were deleted is itself recorded.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// Segments with nothing newer than this go: a time, or how long ago (90d).
    #[arg(long, value_name = "TIME")]
    before: String,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let before = parse_time(&args.before, SystemClock.unix_seconds())?;
    let dir = args.home.journal()?;
    // There must be a journal; none is made for this.
    open::reader(&dir)?;
    let journal = open::writer(&Config::new(&dir))?;
    let outcome = retire(&journal, RetentionRule { before }).map_err(Failure::unable)?;
    let records: u64 = outcome.segments.iter().map(|it| it.count).sum();
    journal.close().map_err(Failure::unable)?;
    if args.json {
        output::json(&json!({
            "segments": outcome.segments.len(), "records": records, "blobs": outcome.blobs,
        }));
    } else {
        let records = output::count(records, "record");
        let segments = output::count(outcome.segments.len() as u64, "segment");
        let blobs = output::count(outcome.blobs, "blob");
        output::line(&format!("deleted {records} in {segments}, {blobs}"));
    }
    Ok(Exit::Done)
}
