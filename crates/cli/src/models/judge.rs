//! `lazaret models judge`.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use llm::Verdict;
use serde_json::json;

use super::session::{As, within};
use crate::failure::{Exit, Failure};
use crate::output;

/// The longest text that is judged, in bytes.
const TEXT_BYTES_MAX: u64 = 4 << 20;

/// Ask the model under `guardrail` in config.yaml whether a text is safe. It says SAFE of all of it, or the text is flagged.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    who: As,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// The text; stdin if none is named.
    file: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let text = text(args)?;
    let verdict = within(&args.who, |models, who| Ok(models.judge(who, &text)))?;
    let reason = match &verdict {
        Verdict::Safe => None,
        Verdict::Flagged { reason } => Some(aegx::verify::printable(reason)),
    };
    match &reason {
        _ if args.json => {
            let verdict = if reason.is_some() { "flagged" } else { "safe" };
            output::json(&json!({ "verdict": verdict, "reason": reason }))
        }
        None => output::line("safe"),
        Some(reason) => output::line(&format!("flagged: {reason}")),
    };
    Ok(if reason.is_some() { Exit::Refused } else { Exit::Done })
}

fn text(args: &Args) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let most = TEXT_BYTES_MAX.saturating_add(1);
    match &args.file {
        Some(path) => {
            let file = File::open(path)
                .map_err(|error| Failure::usage(format!("`{}`: {error}", path.display())))?;
            file.take(most).read_to_end(&mut bytes).map_err(Failure::unable)?;
        }
        None => _ = io::stdin().take(most).read_to_end(&mut bytes).map_err(Failure::unable)?,
    }
    if bytes.len() as u64 > TEXT_BYTES_MAX {
        return Err(Failure::usage(format!("the text is longer than {TEXT_BYTES_MAX} bytes")));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
