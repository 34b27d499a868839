//! `lazaret trust`: folders whose files count as the user's own.

use std::path::{Path, PathBuf};

use evidence::{Clock as _, SystemClock};
use host::fetched::Fetched;
use host::trust::{Trust, TrustError, Trusted};
use serde_json::json;

use crate::act::{Act, By};
use crate::approvals::answer::settle_folder;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Trust a folder, as editors have it.
///
/// In a folder that you trust, its files and what commands print there without a network count as your
/// own. Anywhere else (a fresh clone, a download) they are outside content: an agent that has read them is
/// asked about what it does next, and what they say is not believed. Trust holds for everything in the
/// folder, until you take it back, but not for what an agent's commands fetch into it (a clone, a download):
/// that is listed, and yours as soon as you trust its folder, or once more the folder that it lies in.
///
/// Try it:
///   lazaret trust .
///   lazaret trust --list
///   lazaret trust --remove .
///
/// Exit codes: 0 done, 1 it was not trusted, 2 no such folder or too much to trust.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// The folder.
    #[arg(value_name = "DIR", required_unless_present = "list")]
    folder: Option<PathBuf>,
    /// Take trust in exactly this folder back.
    #[arg(long, conflicts_with = "list")]
    remove: bool,
    /// Show what is trusted.
    #[arg(long, conflicts_with = "folder")]
    list: bool,
    /// Print one JSON object per folder.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    by: By,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    let mut trust = Trust::of(&home).map_err(failure)?;
    let Some(named) = &args.folder else {
        list(args, &trust, &Fetched::of(&home).map_err(failure)?);
        return Ok(Exit::Done);
    };
    let folder = files::resolved(named)
        .map_err(|error| Failure::usage(format!("`{}`: {error}", named.display())))?;
    if !folder.is_dir() {
        return Err(Failure::usage(format!("`{}` is no folder", folder.display())));
    }
    let content = json!({ "folder": folder.display().to_string() });
    if args.remove {
        if !trust.remove(&folder) {
            let why = format!("`{}` was not trusted by itself; see --list", folder.display());
            return Err(Failure::refused(why));
        }
        let kinds = ("folder_distrusted", "folder_trust_not_changed");
        Act::around(&args.home, &args.by, kinds, content, || trust.keep(&home).map_err(failure))?;
        return Ok(tell(args, &folder, "no longer trusted"));
    }
    let trusted = Trusted {
        path: folder.clone(),
        by: args.by.user()?.as_str().to_owned(),
        since: SystemClock.unix_seconds(),
    };
    let fetched = Fetched::of(&home).map_err(failure)?;
    let is_fetched = fetched.places().iter().any(|it| it.path.starts_with(&folder));
    let is_new = trust.add(trusted, std::env::home_dir().as_deref()).map_err(failure)?;
    if !is_new && !is_fetched {
        return Ok(tell(args, &folder, "trusted already"));
    }
    let kinds = ("folder_trusted", "folder_trust_not_changed");
    Act::around(&args.home, &args.by, kinds, content, || {
        trust.keep(&home).map_err(failure)?;
        Fetched::change(&home, |it| it.remove_below(&folder)).map_err(failure)
    })?;
    // It is trusted already; a question that cannot be answered runs out.
    if let Err(why) = settle_folder(&args.home, &args.by.user()?, &folder) {
        output::note(why.message());
    }
    Ok(tell(args, &folder, "trusted"))
}

fn tell(args: &Args, folder: &Path, what: &str) -> Exit {
    if args.json {
        output::json(&json!({ "folder": folder.display().to_string(), "outcome": what }));
    }
    output::told(args.json, &format!("{what}: {}", folder.display()));
    Exit::Done
}

fn list(args: &Args, trust: &Trust, fetched: &Fetched) {
    for it in trust.folders() {
        if args.json {
            let folder = it.path.display().to_string();
            output::json(&json!({ "folder": folder, "by": it.by, "since": it.since }));
        } else {
            let since = aegx::timestamp::from_unix(it.since);
            output::line(&format!("{}  since {since}, by {}", it.path.display(), it.by));
        }
    }
    for it in fetched.places() {
        if args.json {
            let place = it.path.display().to_string();
            output::json(&json!({ "fetched": place, "by": it.by, "since": it.since }));
        } else {
            let since = aegx::timestamp::from_unix(it.since);
            output::line(&format!("not {}  fetched {since} by {}", it.path.display(), it.by));
        }
    }
    if trust.folders().is_empty() && !args.json {
        output::hint("no folder is trusted: `lazaret trust DIR`");
    }
}

fn failure(error: TrustError) -> Failure {
    match error {
        TrustError::Io { .. } => Failure::unable(error),
        TrustError::Unreadable { .. } | TrustError::TooMuch(_) | TrustError::TooMany => {
            Failure::usage(error)
        }
    }
}
