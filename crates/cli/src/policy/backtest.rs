//! `lazaret policy backtest`.

use std::path::PathBuf;

use aegx::verify::printable;
use evidence::{Clock as _, SystemClock};
use serde_json::{Value, json};

use super::again::{Anew, Names};
use super::folder::{self, Loaded};
use super::recorded::{self, Recorded};
use super::tally::{Change, Row, Tally};
use super::{live, show};
use crate::evidence::filter::parse_time;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Judge what the journal recorded by another policy, and say what would differ.
///
/// Every decision in the journal holds the facts that were judged. The rules of DIR, with the program's own,
/// are asked about each of them again; what guards said (the shell's list, secrets, where values came from)
/// stays, because no policy changes it. A yes that a person gave counts for what they were shown, and for
/// nothing that is new. Nothing is run and nothing is changed.
///
/// What cannot be judged exactly is counted and never guessed. What a call would have led to afterwards, had
/// it been stopped or not, is not known and not said.
///
/// Try it:
///   lazaret policy propose --out proposal
///   lazaret policy backtest proposal --since 30d
///
/// Exit codes: 0 told, whatever would differ; 2 a broken policy or time.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// The policy folder.
    dir: PathBuf,
    /// Decisions not before this time (RFC 3339), or this long ago (90s, 15m, 12h, 30d).
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Print one JSON object per decision that would differ, and one for all.
    #[arg(long)]
    json: bool,
}

/// How much of a call is shown, in characters.
const SHOWN_CHARS_MAX: usize = 60;

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let loaded = match folder::load(Some(&args.dir)) {
        Ok(loaded) => loaded,
        Err(flaws) => return Ok(show::flaws(&flaws, args.json)),
    };
    let now = SystemClock.unix_seconds();
    let since = args.since.as_deref().map(|it| parse_time(it, now)).transpose()?;
    let found = recorded::read(&args.home.journal()?, since)?;
    let names = names(&args.home, &loaded)?;
    let tally = Tally::of(&found, &loaded, &names, &mut |it, anew, change| {
        if args.json {
            output::json(&changed(it, anew, change));
        }
    });
    if args.json {
        let mut all = tally.to_json();
        if let Some(fields) = all.as_object_mut() {
            fields.insert("from".to_owned(), loaded.source.to_json());
        }
        output::json(&all);
    } else {
        output::hint(&loaded.source.to_string());
        tell(&tally);
    }
    Ok(Exit::Done)
}

/// The names of the rules of `loaded`, and of those in force, as far as they load.
pub(super) fn names(home: &Home, loaded: &Loaded) -> Result<Names, Failure> {
    let in_force = live::load(home, None)?.ok();
    let policies = [Some(&loaded.policy), in_force.as_ref().map(|it| &it.policy)];
    Ok(Names::of(policies.into_iter().flatten()))
}

fn changed(it: &Recorded, anew: &Anew, change: Change) -> Value {
    json!({
        "record": it.id.to_string(),
        "ts": it.ts,
        "agent": it.agent,
        "tool": it.tool,
        "effect": it.effect.as_str(),
        "change": change.as_str(),
        "before": { "decision": it.decision.as_str(), "rule": it.rule },
        "after": { "decision": anew.decision.as_str(), "rule": anew.rule },
    })
}

/// For people.
pub(super) fn tell(tally: &Tally) {
    for change in Change::ALL {
        let what = match change {
            Change::Stopped => "let through before, stopped by this policy",
            Change::Allowed => "stopped before, let through by this policy",
            Change::Otherwise => "stopped both times, but otherwise",
        };
        output::line(&format!("{:>7}  {what}", tally.count(*change)));
        for (row, (count, shown)) in tally.rows.iter().filter(|(row, _)| row.change == *change) {
            output::line(&line(row, *count, shown));
        }
    }
    output::line(&format!("{:>7}  as they were", tally.same()));
    output::line(&format!("{:>7}  not judged again", tally.unjudged()));
    for (why, count) in &tally.unjudged {
        output::line(&format!("{count:>11}  {why}"));
    }
    if tally.turned_away > 0 {
        let count = output::count(tally.turned_away, "call");
        output::hint(&format!("{count} turned away unread: no policy changes that"));
    }
}

fn line(row: &Row, count: u64, shown: &str) -> String {
    let side = |(decision, rule): &(model::Decision, String)| format!("{decision} by {rule}");
    let shown: String = shown.chars().take(SHOWN_CHARS_MAX).collect();
    let line = format!("{count:>11}  {} -> {}  {shown}", side(&row.before), side(&row.after));
    printable(line.trim_end()).to_string()
}
