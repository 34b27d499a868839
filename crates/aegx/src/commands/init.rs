//! `aegx init`.

use std::path::PathBuf;

use aegx::archive::Overwrite;
use aegx::bundle;
use serde_json::json;

use super::{Exit, Failure, clock, output};

/// Make an empty bundle in a new or empty directory.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The directory of the bundle.
    bundle_dir: PathBuf,
    /// Also export the empty bundle to this zip.
    #[arg(long, value_name = "ZIP")]
    zip_out: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    bundle::init(&args.bundle_dir, &clock::now())?;
    if let Some(zip) = &args.zip_out {
        bundle::pack(&args.bundle_dir, zip, Overwrite::No)?;
    }
    if args.json {
        output::json(&json!({ "bundle": args.bundle_dir, "zip": args.zip_out }));
        return Ok(Exit::Done);
    }
    output::line(&format!("Initialized bundle: {}", args.bundle_dir.display()));
    if let Some(zip) = &args.zip_out {
        output::line(&format!("Exported to: {}", zip.display()));
    }
    Ok(Exit::Done)
}
