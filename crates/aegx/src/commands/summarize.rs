//! `aegx summarize`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use aegx::Rules;
use serde_json::json;

use super::{Exit, Failure, output, verify};

/// Count what is in a bundle, and say whether it verifies.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A directory or a zip.
    bundle: PathBuf,
    /// Judge as upstream's program does; the exit code is then 0 even if it fails.
    #[arg(long)]
    compat: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let rules = if args.compat { Rules::Compat } else { Rules::Strict };
    let report = verify::verify(&args.bundle, rules, None)?;
    if args.json {
        output::json(&json!({
            "ok": report.ok(),
            "format": report.format.as_str(),
            "records": report.records,
            "blobs": report.blobs,
            "blob_bytes": report.blob_bytes,
            "by_type": report.by_type,
            "by_principal": report.by_principal,
            "errors_total": report.findings_total,
            "notes": report.notes,
        }));
    } else {
        output::line(&format!("Format: {}", report.format.as_str()));
        output::line(&format!("Records: {}", report.records));
        print_counts("By type", &report.by_type);
        print_counts("By principal", &report.by_principal);
        output::line(&format!("Blobs: {} ({} bytes)", report.blobs, report.blob_bytes));
        output::line(&format!("Verification: {}", if report.ok() { "PASS" } else { "FAIL" }));
        report.notes.iter().for_each(|text| output::note(&format!("note: {text}")));
    }
    let passes = report.ok() || rules == Rules::Compat;
    Ok(if passes { Exit::Done } else { Exit::Refused })
}

fn print_counts(title: &str, counts: &BTreeMap<String, u64>) {
    output::line(&format!("{title}:"));
    let width = counts.keys().map(String::len).max().unwrap_or(0);
    for (name, count) in counts {
        output::line(&format!("  {name:<width$}  {count}"));
    }
}
