//! `lazaret vault export`.

use std::io::{self, Write};

use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use super::input::Input;
use super::{Which, failed};
use crate::failure::{Exit, Failure};

/// Write the newest values out: encrypted for somebody, or plainly.
///
/// With --for the values are encrypted as a JSON object for a recipient of age; `age -d` opens it. Without, they would be
/// written as they are, so that has to be said.
///
/// Try it:
///   lazaret vault export --for age1… > backup.age
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[command(flatten)]
    which: Which,
    /// A recipient: `age1…`.
    #[arg(long = "for", value_name = "RECIPIENT", required_unless_present = "plain")]
    recipient: Option<String>,
    /// Write the values as they are.
    #[arg(long = "dangerously-plain", conflicts_with = "recipient")]
    plain: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let file = args.which.file()?;
    let key = args.which.key(&file, &mut Input::default())?;
    let contents = file.open(&key).map_err(failed)?;
    let names: Vec<&str> = contents.iter().map(|(name, _)| name.as_str()).collect();
    let record = json!({ "for": args.recipient, "names": names, "plain": args.plain });
    let mut all = Map::new();
    contents.dangerously_reveal_to_a_person(|name, value| {
        all.insert(name.as_str().to_owned(), value.into());
    });
    let mut text = Zeroizing::new(aegx::Sorted(&Value::Object(all)).to_string().into_bytes());
    text.push(b'\n');
    let bytes = match &args.recipient {
        Some(recipient) => vault::sealed::seal_for(&text, recipient).map_err(Failure::refused)?,
        None => std::mem::take(&mut *text),
    };
    let bytes = Zeroizing::new(bytes);
    let write = || io::stdout().lock().write_all(&bytes).map_err(Failure::unable);
    args.which.recorded("vault_exported", record, write)?;
    Ok(Exit::Done)
}
