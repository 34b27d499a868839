//! `lazaret evidence export`.

use std::path::PathBuf;

use aegx::timestamp;
use evidence::{Clock, ExportError, SystemClock, Target, export};
use serde_json::json;

use super::filter::FilterArgs;
use super::open;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Write chosen records, and nothing of others, to a bundle.
///
/// The bundle passes `aegx verify` and stands on its own. A parent that does not pass the filter is
/// withheld; the record that named it then says so in `meta.withheld`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    #[command(flatten)]
    filter: FilterArgs,
    /// Where to: a zip if the name ends in .zip, else a directory.
    out: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let now = SystemClock.unix_seconds();
    let filter = args.filter.to_filter(now, None)?;
    let reader = open::reader(&args.home.journal()?)?;
    let target = Target::from_path(&args.out);
    if matches!(target, Target::Zip(_)) && args.out.symlink_metadata().is_ok() {
        let out = args.out.display();
        return Err(Failure::unable(format!("`{out}` is there already; name a file that is not")));
    }
    let exported = export(&reader, &filter, target, &timestamp::from_unix(now)).map_err(failure)?;
    if args.json {
        output::json(&json!({
            "out": args.out,
            "records": exported.records,
            "blobs": exported.blobs,
            "reissued": exported.reissued,
            "audit_head": exported.audit_head,
            "signed": exported.signed,
        }));
    } else {
        let records = output::count(exported.records, "record");
        let blobs = output::count(exported.blobs, "blob");
        output::line(&format!("exported {records}, {blobs} to {}", args.out.display()));
        if exported.records == 0 {
            output::note(
                "no record is what was asked for: `lazaret evidence query` shows what there is",
            );
        }
        if exported.reissued > 0 {
            let count = output::count(exported.reissued, "record");
            output::line(&format!("{count} issued anew without parents of others"));
        }
        if !exported.signed {
            output::note("the bundle is not signed: the journal's key is not there");
        }
    }
    Ok(Exit::Done)
}

/// What an export that failed means for the user.
fn failure(error: ExportError) -> Failure {
    match error {
        ExportError::Read(error) => open::failure(error),
        ExportError::Damaged(_) => Failure::refused(error),
        ExportError::Checkpoints(_)
        | ExportError::Bundle(_)
        | ExportError::Blob { .. }
        | ExportError::Inside { .. }
        | ExportError::Record { .. }
        | _ => Failure::unable(error),
    }
}
