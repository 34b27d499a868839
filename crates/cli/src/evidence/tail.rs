//! `lazaret evidence tail`.

use std::ops::ControlFlow;
use std::time::Duration;

use evidence::{Position, ReadError, Reader, Row};

use super::newest::newest;
use super::{open, show};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Show the newest records, and with -f those that come.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// How many.
    #[arg(short = 'n', long, default_value_t = 20)]
    lines: usize,
    /// Go on showing records as they are appended.
    #[arg(short, long)]
    follow: bool,
    /// Print one JSON object per record.
    #[arg(long)]
    json: bool,
}

/// How often a follower looks.
const PAUSE: Duration = Duration::from_millis(200);
/// The most records that are held in memory to find the last ones.
const LINES_MAX: usize = 100_000;

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let reader = open::reader(&args.home.journal()?)?;
    let (rows, mut at) = newest(&reader, args.lines.min(LINES_MAX))?;
    for row in rows {
        if !show::row(&row, args.json) {
            return Ok(Exit::Done);
        }
    }
    if !args.follow {
        return Ok(Exit::Done);
    }
    loop {
        let seen = reader.read(at, |entry| {
            let row = Row { idx: entry.idx, id: entry.id, line: entry.record.to_vec() };
            if show::row(&row, args.json) {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        match seen {
            Ok((_, Some(()))) => return Ok(Exit::Done),
            Ok((next, None)) => at = next,
            Err(error) => at = after_retention(&reader, at, error)?,
        }
        std::thread::sleep(PAUSE);
    }
}

/// Where to go on if retention deleted the segment that was to be read.
fn after_retention(reader: &Reader, at: Position, error: ReadError) -> Result<Position, Failure> {
    let start = reader.start().map_err(open::failure)?;
    if !matches!(error, ReadError::Gone { .. }) || start.segment <= at.segment {
        return Err(open::failure(error));
    }
    output::note("records were deleted by retention before they could be shown");
    Ok(start)
}
