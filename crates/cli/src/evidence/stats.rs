//! `lazaret evidence stats`.

use evidence::Imports;
use serde_json::json;

use super::open;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Say how much the journal holds.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let reader = open::reader(&args.home.journal()?)?;
    let groups = evidence::groups(&reader).map_err(open::failure)?;
    let records = groups.records;
    let segments = reader.segments().map_err(open::failure)?;
    let bytes = reader.bytes().map_err(open::failure)?;
    let kept = reader.checkpoints().map_err(Failure::unable)?;
    let last = kept.last();
    let imports = Imports::of(&reader).names();
    if args.json {
        output::json(&json!({
            "records": records,
            "segments": segments.len(),
            "bytes": bytes,
            "checkpoints": kept.len(),
            "signed_size": last.map_or(0, |it| it.size),
            "by_type": groups.by_type,
            "by_principal": groups.by_principal,
            "sessions": groups.sessions,
            "tainted": groups.tainted,
            "imports": imports,
        }));
        return Ok(Exit::Done);
    }
    output::line(&format!("records      {records}, {} of them tainted", groups.tainted));
    output::line(&format!("sessions     {}", groups.sessions));
    output::line(&format!("segments     {} ({bytes} bytes)", segments.len()));
    let signed = last.map_or_else(
        || "none".to_owned(),
        |it| format!("the last over {} records, {}", it.size, it.ts),
    );
    output::line(&format!("checkpoints  {} ({signed})", kept.len()));
    output::line(&format!("imports      {}", imports.len()));
    for (title, counts) in [("by type", &groups.by_type), ("by principal", &groups.by_principal)] {
        output::line(title);
        for (name, count) in counts {
            output::line(&format!("  {name:<26} {count:>10}"));
        }
    }
    Ok(Exit::Done)
}
