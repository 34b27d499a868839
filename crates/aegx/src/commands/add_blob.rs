//! `aegx add-blob`.

use std::fs::File;
use std::path::PathBuf;

use aegx::bundle;
use serde_json::json;

use super::{Exit, Failure, output};

/// Copy a file into the bundle and print the hash that names it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The directory of the bundle.
    bundle: PathBuf,
    /// The file to copy.
    file_path: PathBuf,
    /// Accepted for scripts written for upstream; the record that names the blob says its type.
    #[arg(long, default_value = "application/octet-stream")]
    mime: String,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let unable = |error| Failure::unable(format!("`{}`: {error}", args.file_path.display()));
    let input = File::open(&args.file_path).map_err(unable)?;
    if !input.metadata().map_err(unable)?.is_file() {
        return Err(Failure::usage(format!("`{}` is not a file", args.file_path.display())));
    }
    let blob = bundle::add_blob(&args.bundle, input)?;
    if args.json {
        output::json(&json!({ "blob": blob.to_string(), "mime": args.mime }));
    } else {
        output::line(&blob.to_string());
    }
    Ok(Exit::Done)
}
