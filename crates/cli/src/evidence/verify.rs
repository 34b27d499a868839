//! `lazaret evidence verify`.

use std::fs;
use std::path::PathBuf;

use aegx::note::{KeyRefused, VerifierKey};
use aegx::verify::printable;
use evidence::{Against, Verified, verify};
use serde_json::json;

use super::open;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output::{self, Paint};

/// Check every record, link, signature and blob of the journal.
///
/// Pin the key with --key to find a history that was rewritten and signed anew: keep a copy of
/// `checkpoint.pub` elsewhere. Give a checkpoint that was kept elsewhere with --checkpoint to find a
/// history that was cut back to an earlier one.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// The key that must have signed: the text of `checkpoint.pub`, or a file that holds it.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// A file with a signed checkpoint that the journal must contain.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let reader = open::reader(&args.home.journal()?)?;
    let key = args.key.as_deref().map(parse_key).transpose()?;
    let checkpoint = match &args.checkpoint {
        None => None,
        Some(path) => Some(
            fs::read_to_string(path)
                .map_err(|error| Failure::unable(format!("`{}`: {error}", path.display())))?,
        ),
    };
    let spinner = output::spinner("verifying");
    let verified = verify(&reader, &Against { key, checkpoint });
    spinner.finish_and_clear();
    let verified = verified.map_err(open::failure)?;
    if args.json {
        output::json(&to_json(&verified));
    } else {
        print(&verified);
    }
    Ok(if verified.damages.is_empty() { Exit::Done } else { Exit::Refused })
}

/// A key is given as itself or as a file that holds it. What was given is never repeated: it could
/// be the private key by mistake.
fn parse_key(text: &str) -> Result<VerifierKey, Failure> {
    let refused = |error: KeyRefused| Failure::usage(format!("--key: {error}"));
    match VerifierKey::parse(text) {
        Ok(key) => Ok(key),
        Err(error @ KeyRefused::Private) => Err(refused(error)),
        Err(_) => {
            let file = fs::read_to_string(text).map_err(|error| {
                Failure::usage(format!(
                    "--key is neither a key nor a file that can be read: {error}"
                ))
            })?;
            VerifierKey::parse(file.trim_end()).map_err(refused)
        }
    }
}

fn print(verified: &Verified) {
    let paint = Paint::for_stdout();
    for damage in &verified.damages {
        output::line(&format!("{} {}", paint.bad("✗"), printable(&damage.to_string())));
    }
    let Verified { records, segments, blobs, checkpoints, signed_size, first, .. } = verified;
    let [records_text, segments, blobs] =
        [(records, "record"), (segments, "segment"), (blobs, "blob")]
            .map(|(number, noun)| output::count(*number, noun));
    output::line(&format!("{records_text} in {segments}, {blobs}"));
    if *first > 0 {
        output::line(&format!("{first} older records were retired; their head is kept"));
    }
    let whose =
        if verified.pinned { "the pinned key" } else { "the journal's own key (not pinned)" };
    output::line(&format!(
        "{checkpoints} checkpoints by {whose}, the last over {signed_size} records"
    ));
    let unsigned = (first + records).saturating_sub(*signed_size);
    if unsigned > 0 {
        output::line(&format!("{unsigned} records are newer than the last checkpoint"));
    }
    output::line(&if verified.damages.is_empty() {
        paint.good("verified")
    } else {
        paint.bad("NOT VERIFIED")
    });
}

fn to_json(verified: &Verified) -> serde_json::Value {
    let errors: Vec<_> = verified
        .damages
        .iter()
        .map(|it| json!({ "segment": it.segment, "offset": it.offset, "detail": it.what }))
        .collect();
    json!({
        "ok": errors.is_empty(),
        "records": verified.records,
        "first": verified.first,
        "segments": verified.segments,
        "blobs": verified.blobs,
        "checkpoints": verified.checkpoints,
        "signed_size": verified.signed_size,
        "pinned": verified.pinned,
        "errors": errors,
    })
}
