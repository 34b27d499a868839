//! `lazaret evidence import`.

use std::path::PathBuf;

use aegx::archive::ArchiveError;
use evidence::{Config, ImportError, import};
use serde_json::json;

use super::open;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Verify a bundle of others and keep it beside the journal.
///
/// It never becomes part of the journal, so that it cannot pose as our own evidence; look at it
/// with `lazaret evidence query --import HEAD`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// A directory or a zip.
    bundle: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let journal = open::writer(&Config::new(args.home.journal()?))?;
    let imported = import(&journal, &args.bundle).map_err(|error| {
        let unable = matches!(
            error,
            ImportError::Append(_)
                | ImportError::Io { .. }
                | ImportError::Archive(ArchiveError::Io { .. })
        );
        if unable { Failure::unable(error) } else { Failure::refused(error) }
    })?;
    journal.close().map_err(Failure::unable)?;
    if args.json {
        output::json(&json!({
            "name": imported.name.to_string(), "head": imported.head, "records": imported.records,
            "known": imported.known,
        }));
    } else {
        let how = if imported.known { "here already" } else { "imported" };
        let records = output::count(imported.records, "record");
        output::line(&format!("{how}: {records}, name {}", imported.name));
    }
    Ok(Exit::Done)
}
