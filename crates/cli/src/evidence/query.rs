//! `lazaret evidence query`.

use evidence::{Clock, Imports, SystemClock};

use super::filter::{FilterArgs, parse_id};
use super::{open, show};
use crate::failure::{Exit, Failure};
use crate::home::Home;

/// Find records.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    #[command(flatten)]
    filter: FilterArgs,
    /// At most so many, the newest.
    #[arg(long, default_value_t = 1000)]
    limit: u64,
    /// In the imported bundle with this name instead of the journal.
    #[arg(long, value_name = "NAME")]
    import: Option<String>,
    /// Print one JSON object per record.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let filter = args.filter.to_filter(SystemClock.unix_seconds(), Some(args.limit))?;
    let reader = open::reader(&args.home.journal()?)?;
    let mut see = |row| show::row(&row, args.json);
    if let Some(name) = &args.import {
        let name = parse_id(name).map_err(Failure::usage)?;
        let imports = Imports::of(&reader);
        imports.query(&name, &filter, &mut see).map_err(|error| {
            let known = imports.names().join(", ");
            Failure::unable(format!("no imported bundle {name}: {error}; there are: {known}"))
        })?;
        return Ok(Exit::Done);
    }
    evidence::query(&reader, &filter, &mut see).map_err(open::failure)?;
    Ok(Exit::Done)
}
