//! `aegx convert`.

use std::path::PathBuf;

use aegx::Rules;
use aegx::legacy::{self, ConvertError, Trust};
use serde_json::json;

use super::{Exit, Failure, clock, input, output};

/// Rewrite a bundle of an older format (AER 0.1, unified 0.2) as AEGX v0.1.
///
/// The bundle must verify strictly. What the new format has no field for is kept in `meta`: the old
/// id in `aer_record_id`, the full time in `aer_ts`, the old principal in `aer_principal`. Nothing
/// is left behind on failure.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A directory or a zip of an older format.
    bundle: PathBuf,
    /// The bundle to write: a zip if the name ends in `.zip`, otherwise a directory.
    out: PathBuf,
    /// Convert even if the bundle does not verify; all records are then marked `aer_unverified`.
    #[arg(long)]
    unverified: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let (trust, rules) = match args.unverified {
        true => (Trust::Unverified, Rules::Compat),
        false => (Trust::Verified, Rules::Strict),
    };
    let source = input::open(&args.bundle, rules)?;
    let converted = legacy::convert(&source, &args.out, trust, &clock::now()).map_err(failure)?;
    for text in &converted.report.notes {
        output::note(&format!("note: {text}"));
    }
    if trust == Trust::Unverified {
        let total = converted.report.findings_total;
        output::note(&format!("note: {total} findings; all records are marked `aer_unverified`"));
    }
    let (records, blobs) = (converted.records, converted.blobs);
    let format = converted.report.format.as_str();
    if args.json {
        output::json(
            &json!({ "records": records, "blobs": blobs, "out": args.out, "format": format }),
        );
    } else {
        let out = args.out.display();
        output::line(&format!(
            "Converted: {out} ({records} records, {blobs} blobs, from {format})"
        ));
    }
    Ok(Exit::Done)
}

fn failure(error: ConvertError) -> Failure {
    if let ConvertError::Unverified(report) = &error {
        report.findings.iter().for_each(|finding| output::note(&finding.to_string()));
        output::note("to convert it all the same, marked as unverified, give --unverified");
    }
    match error {
        ConvertError::Bundle(error) => error.into(),
        ConvertError::NotLegacy => Failure::usage(error.to_string()),
        ConvertError::Unverified(_)
        | ConvertError::Unreadable(_)
        | ConvertError::NotARecord { .. }
        | ConvertError::Draft { .. }
        | ConvertError::Parent { .. }
        | ConvertError::Blob { .. }
        | _ => Failure::refused(output::chain(&error)),
    }
}
