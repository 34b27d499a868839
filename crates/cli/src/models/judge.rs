//! `lazaret models judge`.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use llm::Verdict;

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
    /// The text; stdin if none is named.
    file: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let text = text(args)?;
    match within(&args.who, |models, who| Ok(models.judge(who, &text)))? {
        Verdict::Safe => {
            output::line("safe");
            Ok(Exit::Done)
        }
        Verdict::Flagged { reason } => {
            output::line(&format!("flagged: {}", aegx::verify::printable(&reason)));
            Ok(Exit::Refused)
        }
    }
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
