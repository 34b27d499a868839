//! `lazaret policy propose`: from what was done to rules that allow that and no more, for a person to look over.

mod cases;
mod cedar;
mod places;
mod rules;
mod seen;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};

use evidence::{Clock as _, SystemClock};
use model::Decision;
use policy::PACK_BYTES_MAX;
use serde_json::{Value, json};

use super::backtest::{names, tell};
use super::folder::{self, Loaded};
use super::recorded::{self, Found};
use super::tally::{Change, Tally};
use crate::evidence::filter::parse_time;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;
use seen::Seen;

/// Propose a policy that allows what agents did, and no more.
///
/// Reads the calls that the journal says were let through, and writes a policy folder to look over: for each
/// agent the tools, programs, commands, hosts, recipients and folders that it has used, how often, and a
/// `forbid` for everything else of that agent. The program's own rules stay in force beside it. With them come
/// cases for `lazaret policy test`, taken from the calls, and a catalogue of the tools.
///
/// To gather what is normal without being asked all the time: `lazaret observe start --days 7`.
/// What was done is not what ought to be done: read the rules, and strike what you do not want. Then copy the
/// files into the folder `policy` of the state directory, and restart the daemon.
///
/// Try it:
///   lazaret policy propose --since 30d --out proposal
///   lazaret policy check proposal
///   lazaret policy test proposal
///   lazaret policy backtest proposal
///
/// Exit codes: 0 written, 1 nothing was recorded to go by, 2 the folder is taken.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// Calls not before this time (RFC 3339), or this long ago (90s, 15m, 12h, 30d).
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// The folder to write, which must be new or empty.
    #[arg(long, value_name = "DIR", default_value = "policy-proposal")]
    out: PathBuf,
    /// What becomes of everything else.
    #[arg(long, value_enum, default_value = "deny")]
    rest: Rest,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// What becomes of what was not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Rest {
    /// It is denied.
    Deny,
    /// A person is asked.
    Ask,
}

impl Rest {
    const fn decision(self) -> Decision {
        match self {
            Self::Deny => Decision::Deny,
            Self::Ask => Decision::StepUp,
        }
    }
}

/// What is written, by the names of the files.
struct Proposal {
    files: Vec<(String, String)>,
    loaded: Loaded,
    cases: usize,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    must_be_free(&args.out)?;
    let now = SystemClock.unix_seconds();
    let since = args.since.as_deref().map(|it| parse_time(it, now)).transpose()?;
    let found = recorded::read(&args.home.journal()?, since)?;
    let seen = Seen::of(&found);
    if seen.agents.is_empty() {
        let why = "no call that was let through is recorded in that time: let agents work first, see `lazaret observe --help`";
        return Err(Failure::refused(why));
    }
    let proposal = proposed(args, &found, &seen, now)?;
    write(&args.out, &proposal.files)?;
    let names = names(&args.home, &proposal.loaded)?;
    let tally = Tally::of(&found, &proposal.loaded, &names, &mut |_, _, _| ());
    if args.json {
        output::json(&summary(args, &seen, &proposal, &tally));
        return Ok(Exit::Done);
    }
    if output::is_quiet() {
        return Ok(Exit::Done);
    }
    let files: Vec<&str> = proposal.files.iter().map(|(name, _)| name.as_str()).collect();
    output::line(&format!("written to {}: {}", args.out.display(), files.join(", ")));
    for note in seen.notes() {
        output::note(&note);
    }
    output::line("what the journal recorded, judged by it:");
    tell(&tally);
    output::note("read it before you use it: what was done is not always what ought to be done");
    Ok(Exit::Done)
}

/// The folder's files, which were tried: they load, and their cases hold.
fn proposed(args: &Args, found: &Found, seen: &Seen, now: i64) -> Result<Proposal, Failure> {
    let mut files = Vec::new();
    let mut examples = Vec::new();
    for (slug, agent) in rules::slugs(seen) {
        let (text, strangers) = rules::text(&slug, agent, args.rest.decision(), now);
        if text.len() > PACK_BYTES_MAX {
            let why =
                format!("the rules for `{}` are too long; take a shorter --since", agent.name);
            return Err(Failure::unable(why));
        }
        files.push((format!("seen-{slug}.cedar"), text));
        examples.extend(strangers);
    }
    let loaded = folder::of_texts(&files).map_err(|flaws| {
        let lines: Vec<String> = flaws.iter().map(ToString::to_string).collect();
        Failure::unable(format!("what would be proposed does not load: {}", lines.join("; ")))
    })?;
    let lines = cases::lines(found, &loaded, &examples);
    let cases = lines.len();
    files.push(("seen.cases.jsonl".to_owned(), lines.concat()));
    let catalogue = tools::catalogue(&args.home.dir()?, found)?;
    files.push(("catalogue.json".to_owned(), catalogue));
    Ok(Proposal { files, loaded, cases })
}

fn summary(args: &Args, seen: &Seen, proposal: &Proposal, tally: &Tally) -> Value {
    json!({
        "out": args.out.to_string_lossy(),
        "files": proposal.files.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "agents": seen.agents.keys().collect::<Vec<_>>(),
        "calls": seen.agents.values().map(|it| it.calls).sum::<u64>(),
        "observed": seen.observed,
        "cases": proposal.cases,
        "notes": seen.notes(),
        "stopped": tally.count(Change::Stopped),
        "backtest": tally.to_json(),
    })
}

fn must_be_free(out: &Path) -> Result<(), Failure> {
    let taken = match fs::read_dir(out) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => out.symlink_metadata().is_ok(),
    };
    if taken {
        let why = format!("`{}` is there already; name a new folder with --out", out.display());
        return Err(Failure::usage(why));
    }
    Ok(())
}

fn write(out: &Path, files: &[(String, String)]) -> Result<(), Failure> {
    let wrong =
        |error: &dyn std::fmt::Display| Failure::unable(format!("`{}`: {error}", out.display()));
    files::private::create_dir(out).map_err(|error| wrong(&error))?;
    let out = &files::resolved(out).map_err(|error| wrong(&error))?;
    for (name, text) in files {
        let path = files::safe_path(out, &[name]).map_err(|error| wrong(&error))?;
        files::private::replace(&path, text.as_bytes()).map_err(|error| wrong(&error))?;
    }
    Ok(())
}
