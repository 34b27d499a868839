//! `lazaret vault list`.

use aegx::timestamp;
use serde_json::json;

use super::input::Input;
use super::{Which, failed};
use crate::failure::{Exit, Failure};
use crate::output;

/// List secrets: names, versions and hosts, never values.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    which: Which,
    /// Print one JSON object per secret.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let file = args.which.file()?;
    let key = args.which.key(&file, &mut Input::default())?;
    let contents = file.open(&key).map_err(failed)?;
    for (name, entry) in contents.iter() {
        let category = name.category().as_str();
        let set = entry.versions().last().map(|it| timestamp::from_unix(it.created));
        let set = set.unwrap_or_default();
        let shown = if args.json {
            output::json(&json!({
                "category": category,
                "guessable": entry.is_guessable(),
                "hosts": entry.hosts(),
                "name": name.as_str(),
                "set": set,
                "version": entry.newest(),
                "versions_kept": entry.versions().len(),
            }))
        } else {
            let hosts = match entry.hosts() {
                [] => "(no host)".to_owned(),
                hosts => hosts.join(" "),
            };
            let guessable =
                if entry.is_guessable() { "  can be guessed: not taken out of texts" } else { "" };
            output::line(&format!(
                "{name:<32} v{:<4} {set}  {category:<11} {hosts}{guessable}",
                entry.newest()
            ))
        };
        if !shown {
            break;
        }
    }
    Ok(Exit::Done)
}
