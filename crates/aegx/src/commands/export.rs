//! `aegx export`.

use std::path::PathBuf;

use aegx::archive::Overwrite;
use aegx::bundle;
use serde_json::json;

use super::{Exit, Failure, output, progress};

/// Pack a bundle into a zip.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The directory of the bundle.
    bundle_dir: PathBuf,
    /// The zip to write, by custom `NAME.aegx.zip`.
    out_zip: PathBuf,
    /// Replace the zip if it exists.
    #[arg(long)]
    force: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let overwrite = if args.force { Overwrite::Yes } else { Overwrite::No };
    let bar = progress::bar(progress::size_of(&args.bundle_dir), "exporting");
    let show = &mut |bytes| bar.inc(bytes);
    let packed = bundle::pack_showing(&args.bundle_dir, &args.out_zip, overwrite, show);
    bar.finish_and_clear();
    packed?;
    if args.json {
        output::json(&json!({ "zip": args.out_zip }));
    } else {
        output::line(&format!("Exported: {}", args.out_zip.display()));
    }
    Ok(Exit::Done)
}
