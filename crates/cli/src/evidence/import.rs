//! `lazaret evidence import`.

use std::path::PathBuf;

use evidence::{Config, Imported, import};
use host::control::{Request, is_refused};
use serde_json::{Map, Value, json};

use super::open::{self, by_gate, not_understood};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Verify a bundle of others and keep it beside the journal.
///
/// It never becomes part of the journal, so that it cannot pose as our own evidence; look at it
/// with `lazaret evidence query --import NAME`. Where a daemon or a server has the journal, it does so.
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
    // Whoever has the journal works elsewhere.
    let bundle = files::resolved(&args.bundle)
        .map_err(|error| Failure::unable(format!("`{}`: {error}", args.bundle.display())))?;
    // What is no text cannot be named to somebody else.
    let asked = match bundle.to_str() {
        Some(_) => by_gate(&args.home, &Request::Import { bundle })?,
        None => None,
    };
    let taken = match asked {
        Some(said) => Taken::told(&said).ok_or_else(not_understood)?,
        None => here(args)?,
    };
    let Taken { name, head, records, known } = taken;
    if args.json {
        output::json(&json!({ "name": name, "head": head, "records": records, "known": known }));
    } else {
        let how = if known { "here already" } else { "imported" };
        let records = output::count(records, "record");
        output::line(&format!("{how}: {records}, name {name}"));
    }
    Ok(Exit::Done)
}

/// What was taken in.
struct Taken {
    name: String,
    head: String,
    records: u64,
    known: bool,
}

impl Taken {
    fn told(said: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| said.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            name: text("name")?,
            head: text("head")?,
            records: said.get("records").and_then(Value::as_u64)?,
            known: said.get("known").and_then(Value::as_bool)?,
        })
    }
}

fn here(args: &Args) -> Result<Taken, Failure> {
    let journal = open::writer(&Config::new(args.home.journal()?))?;
    let imported = import(&journal, &args.bundle).map_err(|error| match is_refused(&error) {
        true => Failure::refused(error),
        false => Failure::unable(error),
    })?;
    journal.close().map_err(Failure::unable)?;
    let Imported { name, head, records, known } = imported;
    Ok(Taken { name: name.to_string(), head, records, known })
}
