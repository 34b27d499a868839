//! `aegx prove-inclusion`.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use aegx::checkpoint::Checkpoint;
use aegx::inclusion::InclusionProof;
use aegx::{Digest, Rules};

use super::{Exit, Failure, input, output, signed_checkpoint};

/// Prove that a record is part of the history that a checkpoint was signed for.
///
/// The bundle must hold that history from its first record on. The proof is one JSON object; with
/// it and the checkpoint, anybody can check the one record without seeing the others:
/// `aegx verify-checkpoint NOTE --key KEY --proof PROOF`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A directory or a zip.
    bundle: PathBuf,
    /// The id of the record.
    #[arg(long, value_name = "ID", value_parser = signed_checkpoint::parse_id)]
    record: Digest,
    /// The signed checkpoint.
    #[arg(long, value_name = "NOTE_FILE")]
    checkpoint: PathBuf,
    /// The key that must have signed it: the key itself or a file that holds it.
    #[arg(long, value_name = "VKEY")]
    key: Option<String>,
    /// Write the proof to this new file instead of printing it.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the proof as JSON, even with --out.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let note = signed_checkpoint::read_note(&args.checkpoint)?;
    let text = note.to_text();
    let checkpoint = match &args.key {
        Some(key) => signed_checkpoint::verify_note(note, &signed_checkpoint::read_key(key)?)?,
        None => {
            output::note("note: no --key was given, so the signature was not checked");
            Checkpoint::from_unverified(&note)
                .map_err(|error| Failure::refused(error.to_string()))?
        }
    };
    let source = input::open(&args.bundle, Rules::Strict)?;
    let ids = signed_checkpoint::read_ids(&args.bundle, &source)?;
    let proof = InclusionProof::make(&ids, &args.record, &checkpoint, &text)
        .map_err(|error| Failure::refused(error.to_string()))?;
    let json = serde_json::to_string(&proof)
        .map_err(|error| Failure::unable(format!("cannot print as JSON: {error}")))?;
    if let Some(out) = &args.out {
        write_new(out, &json)
            .map_err(|error| Failure::unable(format!("`{}`: {error}", out.display())))?;
        if !args.json {
            let (number, size) = (proof.index + 1, proof.size);
            let origin = checkpoint.origin();
            output::line(&format!(
                "Proved: record {number} of {size} of {origin}, in {}",
                out.display()
            ));
            return Ok(Exit::Done);
        }
    }
    output::line(&json);
    Ok(Exit::Done)
}

/// Writes a file that must not exist; it is there whole or not at all.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    let written = writeln!(file, "{text}").and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
}
