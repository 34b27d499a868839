//! `lazaret skills suppress`: a person's word that a finding passes, for a while.

use std::path::PathBuf;

use evidence::{Clock, Reader, SystemClock};
use files::private;
use host::skills::{SUPPRESSIONS, day, gather};
use model::Taint;
use serde_json::json;
use skill::{Finding, Index};

use super::add::own_suppressions;
use crate::act::{Act, By};
use crate::check::skill_verified::not_gathered;
use crate::evidence::open;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;
use crate::person;

/// Let one finding about a skill pass, until a day.
///
/// It is bound to the check, the file and what stands there: whatever else is found, or the same thing changed by one letter, is found
/// as before. It is signed with the key of the journal; elsewhere `lazaret check skill --suppressions` takes
/// the file `skill-suppressions.note` of the state directory with the public key.
///
/// Try it:
///   lazaret skills suppress ./my-skill 5f1c2a90d4e8 --until 2027-03-31 --reason "read by the security team, ticket 4711"
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// The skill.
    path: PathBuf,
    /// The fingerprint of the finding, or its first 12 letters or more.
    fingerprint: String,
    /// The last day on which it passes, as YYYY-MM-DD; at most a year from now.
    #[arg(long, value_name = "DAY")]
    until: String,
    /// Why, in your own words.
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    by: By,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// The shortest beginning of a fingerprint that is taken for it.
const PREFIX_LETTERS_MIN: usize = 12;

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let by = args.by.user()?;
    let finding = finding(args)?;
    let home = args.home.dir()?;
    let shown = vec![
        format!("{} {} in {}:{}", finding.severity, finding.check, finding.file, finding.line),
        finding.why.clone(),
        finding.excerpt.clone(),
        format!("passes until {}: {}", args.until, args.reason),
    ];
    if !args.yes && !person::says_yes(&shown, "let it pass")? {
        return Err(Failure::refused("nothing was suppressed"));
    }
    let mut all = own_suppressions(&args.home, &home)?.unwrap_or_default();
    let today = day(SystemClock.unix_seconds());
    all.add(&finding, &args.until, &args.reason, by.as_str(), today).map_err(Failure::usage)?;
    let fingerprint = finding.fingerprint.to_string();
    let content = json!({
        "check": finding.check.as_str(), "severity": finding.severity.as_str(), "file": finding.file,
        "fingerprint": fingerprint, "until": args.until, "reason": args.reason,
    });
    let act = Act::begin(&args.home, "skill_suppressed", &by, Taint::NONE, content)?;
    let journal = args.home.journal()?;
    let write = || -> Result<(), Failure> {
        let reader = Reader::open(&journal).map_err(open::failure)?;
        let note = reader.sign(&all.to_text()).map_err(Failure::unable)?;
        private::replace(&home.join(SUPPRESSIONS), note.as_bytes()).map_err(Failure::unable)
    };
    let ((), record) = act.end(write(), "skill_not_suppressed")?;
    if args.json {
        output::json(&json!({ "fingerprint": fingerprint, "until": args.until, "record": record }));
    } else {
        output::line(&format!("{} in {} passes until {}", finding.check, finding.file, args.until));
    }
    Ok(Exit::Done)
}

/// The one finding of that fingerprint.
fn finding(args: &Args) -> Result<Finding, Failure> {
    let is_hex = args.fingerprint.bytes().all(|it| it.is_ascii_hexdigit());
    if !is_hex || args.fingerprint.len() < PREFIX_LETTERS_MIN {
        return Err(Failure::usage(format!(
            "a fingerprint has {PREFIX_LETTERS_MIN} letters or more"
        )));
    }
    let wanted = args.fingerprint.to_ascii_lowercase();
    let tree = gather(&args.path).map_err(|error| not_gathered(&args.path, &error))?;
    let report = skill::verify(&tree, None, &Index::default());
    let mut found =
        report.findings.into_iter().filter(|it| it.fingerprint.to_string().starts_with(&wanted));
    match (found.next(), found.next()) {
        (Some(finding), None) => Ok(finding),
        (Some(_), Some(_)) => Err(Failure::refused("several findings begin like that")),
        (None, _) => Err(Failure::refused("there is no such finding about this skill")),
    }
}
