//! `aegx import`.

use std::path::PathBuf;

use aegx::Rules;
use aegx::archive::{self, Archive, ArchiveError};
use serde_json::json;

use super::{Exit, Failure, output, progress};

/// Unpack a zip into a new or empty directory.
///
/// Names that lead out, links, duplicates, bombs and damaged archives are refused, and a refused
/// archive leaves nothing behind. The bundle itself is not verified here: use `aegx verify`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The zip.
    bundle_zip: PathBuf,
    /// The directory to make.
    out_dir: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let refused = |error: ArchiveError| {
        let zip = args.bundle_zip.display();
        let message = format!("`{zip}`: {} [{}]", output::chain(&error), error.code());
        let disk = matches!(error, ArchiveError::Io { .. });
        if disk { Failure::unable(message) } else { Failure::refused(message) }
    };
    let zip = Archive::open(&args.bundle_zip, Rules::Strict).map_err(refused)?;
    let bytes = zip.entries().map(archive::Entry::size).sum();
    let bar = progress::bar(bytes, "importing");
    let extracted = archive::extract(&zip, &args.out_dir, &mut |done| bar.inc(done));
    bar.finish_and_clear();
    let extracted = extracted.map_err(refused)?;
    if args.json {
        output::json(
            &json!({ "dir": args.out_dir, "files": extracted.files, "bytes": extracted.bytes }),
        );
    } else {
        output::line(&format!("Imported: {}", args.out_dir.display()));
    }
    Ok(Exit::Done)
}
