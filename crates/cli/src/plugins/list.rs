//! `lazaret plugins list` and `verify`.

use aegx::verify::printable;
use host::plugins::{Entry, Refused};
use serde_json::json;

use super::{failure, plugins};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output::{self, Paint};

/// List the plugins that were added, sound or not.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    home: Home,
    /// Print one JSON object per plugin.
    #[arg(long)]
    json: bool,
}

/// Compare every file of every plugin with what was added.
#[derive(clap::Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    home: Home,
    /// Print one JSON object per plugin.
    #[arg(long)]
    json: bool,
}

pub(crate) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let found = plugins(&args.home)?.list().map_err(|error| failure(&error))?;
    let _ = found.iter().all(|it| {
        if args.json {
            output::json(&json!({ "plugin": it.name, "digest": it.digest.to_string(), "added": it.added, "record": it.record }))
        } else {
            output::line(&format!("{:<48} {} {}", it.name, it.added, it.digest))
        }
    });
    Ok(Exit::Done)
}

pub(crate) fn verify(args: &VerifyArgs) -> Result<Exit, Failure> {
    let checked = plugins(&args.home)?.check();
    let paint = Paint::for_stdout();
    let sound = |it: &Entry| {
        if args.json {
            output::json(&json!({ "plugin": it.name, "ok": true, "error": null }))
        } else {
            output::line(&format!("{} {}", paint.good("sound  "), it.name))
        }
    };
    let refused = |it: &Refused| {
        if args.json {
            output::json(&json!({ "plugin": it.name, "ok": false, "error": it.why }))
        } else {
            output::line(&format!(
                "{} {}: {}",
                paint.bad("refused"),
                printable(&it.name),
                printable(&it.why)
            ))
        }
    };
    let _ = checked.sound.iter().all(sound) && checked.refused.iter().all(refused);
    Ok(if checked.refused.is_empty() { Exit::Done } else { Exit::Refused })
}
