//! `aegx verify`.

use std::path::{Path, PathBuf};

use aegx::archive::ArchiveError;
use aegx::note::VerifierKey;
use aegx::verify::Class;
use aegx::{Finding, Format, Progress, Report, Rules, Source};
use serde_json::json;

use super::{Exit, Failure, output, progress, signed_checkpoint};

/// Check that a bundle is what was written, all of it, in order.
///
/// By default everything is refused that cannot be known to be true, each with its own code.
/// With --compat the verdict and the exit code are upstream's: 0 pass, 2 verification failure,
/// 3 schema failure, 4 unreadable. Bundles of the two older formats (AER 0.1, unified 0.2) are
/// recognised; with --compat they exit with 0 or 1, as their own programs do.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A directory or a zip.
    bundle: PathBuf,
    /// Judge as upstream's program does.
    #[arg(long)]
    compat: bool,
    /// The bundle must be signed as a whole with this public key: itself, or the file that holds it.
    #[arg(long, conflicts_with = "compat")]
    key: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let rules = if args.compat { Rules::Compat } else { Rules::Strict };
    let key = args.key.as_deref().map(signed_checkpoint::read_key).transpose()?;
    let report = verify(&args.bundle, rules, key.as_ref())?;
    if args.json {
        output::json(&to_json(&report));
    } else {
        print(&report);
    }
    Ok(exit(&report, rules))
}

/// Verifies what is at `path`, with a bar if it takes a while.
pub(crate) fn verify(
    path: &Path,
    rules: Rules,
    key: Option<&VerifierKey>,
) -> Result<Report, Failure> {
    let source = match Source::open(path, rules) {
        Ok(source) => source,
        Err(error @ ArchiveError::Io { .. }) if rules == Rules::Strict => {
            return Err(Failure::unable(output::chain(&error)));
        }
        Err(error) => {
            let at = path.file_name().unwrap_or_default().to_string_lossy();
            return Ok(Report::of_one(Finding::of_archive(at, &error)));
        }
    };
    let bar = progress::bar(progress::size_of(path), "verifying");
    let show = |done| bar.set_position(done);
    let report = aegx::verify_any_signed(&source, rules, key, &Progress::showing(&show));
    bar.finish_and_clear();
    Ok(report)
}

fn exit(report: &Report, rules: Rules) -> Exit {
    match (rules, report.worst) {
        (_, None) => Exit::Done,
        (Rules::Strict, Some(_)) => Exit::Refused,
        // The two later formats' own programs know only 0 and 1.
        (Rules::Compat, Some(_)) if report.format != Format::Aegx01 => Exit::Upstream(1),
        (Rules::Compat, Some(Class::Strict | Class::Integrity)) => Exit::Upstream(2),
        (Rules::Compat, Some(Class::Schema)) => Exit::Upstream(3),
        (Rules::Compat, Some(Class::Unreadable)) => Exit::Upstream(4),
    }
}

fn print(report: &Report) {
    for finding in &report.findings {
        output::note(&finding.to_string());
    }
    let unlisted = report.findings_total - report.findings.len() as u64;
    if unlisted > 0 {
        output::note(&format!("… and {unlisted} more"));
    }
    for text in &report.notes {
        output::note(&format!("note: {text}"));
    }
    output::line(if report.ok() { "Verification: PASS" } else { "Verification: FAIL" });
}

fn to_json(report: &Report) -> serde_json::Value {
    json!({
        "ok": report.ok(),
        "format": report.format.as_str(),
        "records": report.records,
        "blobs": report.blobs,
        "errors": report.findings,
        "errors_total": report.findings_total,
        "notes": report.notes,
    })
}
