//! `aegx verify-checkpoint`.

use std::path::{Path, PathBuf};

use aegx::checkpoint::Checkpoint;
use aegx::inclusion::{self, InclusionProof};
use aegx::note::{NOTE_BYTES_MAX, SignedNote, VerifierKey};
use aegx::{Digest, Format, Progress, Rules};
use serde_json::{Value, json};

use super::{Exit, Failure, input, output, signed_checkpoint};

/// Check a signed checkpoint, and a bundle or a proof against it.
///
/// The signature must be by the key given. With --bundle, the bundle must verify strictly and its
/// first records must have the signed root: a history that was altered, shortened, reordered or
/// rebuilt is found. With --proof, one record is shown to be part of the history.
///
/// Exit codes: 0 verified, 1 refused, 2 wrong usage, 3 could not read.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The signed checkpoint.
    note_file: PathBuf,
    /// The key that must have signed it: the key itself or a file that holds it.
    #[arg(long, value_name = "VKEY")]
    key: String,
    /// A bundle that must hold the history, a directory or a zip.
    #[arg(long)]
    bundle: Option<PathBuf>,
    /// A proof made by `prove-inclusion`.
    #[arg(long, value_name = "PROOF_FILE")]
    proof: Option<PathBuf>,
    /// The record that the proof must be about, or that must be in the bundle.
    #[arg(long, value_name = "ID", value_parser = signed_checkpoint::parse_id)]
    record: Option<Digest>,
    /// The log that the checkpoint must be about.
    #[arg(long, value_name = "TEXT")]
    origin: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    if args.record.is_some() && args.bundle.is_none() && args.proof.is_none() {
        return Err(Failure::usage("--record needs --bundle or --proof"));
    }
    let key = signed_checkpoint::read_key(&args.key)?;
    match check(args, &key) {
        Ok(verified) => {
            print(&verified, &key, args.json);
            Ok(Exit::Done)
        }
        Err(failure) => {
            if args.json && matches!(failure.exit, Exit::Refused) {
                output::json(&json!({ "ok": false, "error": failure.message }));
            }
            Err(failure)
        }
    }
}

struct Verified {
    checkpoint: Checkpoint,
    /// Records of the bundle, if one was given.
    records: Option<u64>,
    proof: Option<InclusionProof>,
}

fn check(args: &Args, key: &VerifierKey) -> Result<Verified, Failure> {
    let note = signed_checkpoint::read_note(&args.note_file)?;
    let checkpoint = signed_checkpoint::verify_note(note, key)?;
    if let Some(origin) = args.origin.as_deref().filter(|it| *it != checkpoint.origin()) {
        let found = checkpoint.origin();
        let message = format!("the checkpoint is about `{found}`, not about `{origin}`");
        return Err(Failure::refused(message));
    }
    let records = match &args.bundle {
        Some(bundle) => Some(check_bundle(bundle, &checkpoint, args.record.as_ref())?),
        None => None,
    };
    let proof = match &args.proof {
        Some(proof) => Some(check_proof(proof, &checkpoint, key, args.record.as_ref())?),
        None => None,
    };
    Ok(Verified { checkpoint, records, proof })
}

/// Holds a bundle against the checkpoint and gives the number of its records.
fn check_bundle(
    path: &Path,
    checkpoint: &Checkpoint,
    record: Option<&Digest>,
) -> Result<u64, Failure> {
    let refused = |why: String| Failure::refused(format!("`{}`: {why}", path.display()));
    let source = input::open(path, Rules::Strict)?;
    let ids = signed_checkpoint::read_ids(path, &source)?;
    let covered = inclusion::covered(&ids, checkpoint).map_err(|it| refused(it.to_string()))?;
    if let Some(record) = record.filter(|record| !covered.contains(record)) {
        return Err(refused(format!("the record {record} is not among those covered")));
    }
    // The root pins the records; that blobs and audit log are theirs is for the verifier to say.
    let report = aegx::verify_any(&source, Rules::Strict, &Progress::default());
    if let Some(finding) = report.findings.first() {
        let total = report.findings_total;
        return Err(refused(format!("does not verify ({total} findings): {finding}")));
    }
    if report.format != Format::Aegx01 {
        return Err(refused("only bundles of format A have checkpoints".to_owned()));
    }
    Ok(report.records)
}

fn check_proof(
    path: &Path,
    checkpoint: &Checkpoint,
    key: &VerifierKey,
    record: Option<&Digest>,
) -> Result<InclusionProof, Failure> {
    let refused = |why: String| Failure::refused(format!("`{}`: {why}", path.display()));
    let bytes = input::read_file(path, PROOF_BYTES_MAX)?;
    let proof: InclusionProof = serde_json::from_slice(&bytes)
        .map_err(|error| refused(format!("not an inclusion proof: {error}")))?;
    if let Some(record) = record.filter(|record| **record != proof.record_id) {
        let about = proof.record_id;
        return Err(refused(format!("the proof is about the record {about}, not about {record}")));
    }
    proof.verify(checkpoint).map_err(|error| refused(error.to_string()))?;
    // What the proof carries must not contradict what it was checked against.
    let carried = SignedNote::parse(proof.checkpoint.as_bytes())
        .map_err(|error| refused(format!("the checkpoint in the proof: {error}")))?;
    if signed_checkpoint::verify_note(carried, key)? != *checkpoint {
        return Err(refused("the proof carries another checkpoint".to_owned()));
    }
    Ok(proof)
}

/// A note, escaped, and 64 hashes.
const PROOF_BYTES_MAX: usize = 2 * NOTE_BYTES_MAX + (64 << 10);

fn print(verified: &Verified, key: &VerifierKey, json: bool) {
    let Verified { checkpoint, records, proof } = verified;
    let (size, root) = (checkpoint.size(), checkpoint.root());
    if json {
        output::json(&json!({
            "ok": true,
            "signer": key.name().as_str(),
            "keyId": format!("{:08x}", key.id()),
            "origin": checkpoint.origin(),
            "size": size,
            "root": root.to_string(),
            "bundle_records": records,
            "proof": proof.as_ref().map_or(Value::Null, |it| {
                json!({ "recordId": it.record_id.to_string(), "index": it.index })
            }),
        }));
        return;
    }
    let (name, origin) = (key.name(), checkpoint.origin());
    output::line(&format!(
        "Checkpoint: signed by {name}, origin {origin}, {size} records, root {root}"
    ));
    if let Some(records) = records {
        let later = records.saturating_sub(size);
        let beyond = match later {
            0 => String::new(),
            _ => format!("; {later} later records are not covered"),
        };
        output::line(&format!("Bundle: its first {size} records are those signed for{beyond}"));
    }
    if let Some(proof) = proof {
        let number = proof.index + 1;
        output::line(&format!("Proof: {} is record {number} of {size}", proof.record_id));
    }
}
