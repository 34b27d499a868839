//! `lazaret evidence retain`.

use evidence::{Clock, Config, RetentionRule, SystemClock, retire};
use host::control::Request;
use serde_json::{Map, Value, json};

use super::filter::parse_time;
use super::open::{self, by_gate, not_understood};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Delete old records: whole sealed segments that a checkpoint covers, oldest first.
///
/// Their heads and hashes are kept, so that the rest still verifies and old signatures can still be
/// proved. That records were deleted is itself recorded. Where a daemon or a server has the journal,
/// it does so.
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
    // There must be a journal; none is made for this.
    open::reader(&args.home.journal()?)?;
    let Gone { segments, records, blobs } = match by_gate(&args.home, &Request::Retain { before })?
    {
        Some(said) => Gone::told(&said).ok_or_else(not_understood)?,
        None => here(args, before)?,
    };
    if args.json {
        output::json(&json!({ "segments": segments, "records": records, "blobs": blobs }));
    } else {
        let records = output::count(records, "record");
        let segments = output::count(segments, "segment");
        let blobs = output::count(blobs, "blob");
        output::line(&format!("deleted {records} in {segments}, {blobs}"));
    }
    Ok(Exit::Done)
}

/// What went.
struct Gone {
    segments: u64,
    records: u64,
    blobs: u64,
}

impl Gone {
    fn told(said: &Map<String, Value>) -> Option<Self> {
        let number = |name: &str| said.get(name).and_then(Value::as_u64);
        Some(Self {
            segments: number("segments")?,
            records: number("records")?,
            blobs: number("blobs")?,
        })
    }
}

fn here(args: &Args, before: i64) -> Result<Gone, Failure> {
    let journal = open::writer(&Config::new(args.home.journal()?))?;
    let outcome = retire(&journal, RetentionRule { before }).map_err(Failure::unable)?;
    journal.close().map_err(Failure::unable)?;
    let records = outcome.segments.iter().map(|it| it.count).sum();
    Ok(Gone { segments: outcome.segments.len() as u64, records, blobs: outcome.blobs })
}
