//! `lazaret skills approve` and `reject`: a person's acts. The record of them comes first.

use evidence::{Clock, SystemClock};
use host::skills::{Proposal, ProposalState, Repository, SkillError};
use model::Taint;
use model::ipc::Uuid;
use serde_json::json;
use store::REASON_BYTES_MAX;

use super::{failure, open, parse_id, repository, show};
use crate::act::{Act, By};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;
use crate::person;

#[derive(clap::Args)]
struct Common {
    #[command(flatten)]
    home: Home,
    /// The proposal.
    #[arg(value_parser = parse_id)]
    id: Uuid,
    #[command(flatten)]
    by: By,
    /// Why, in your own words.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    reason: String,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Make a proposal active, exactly as it is shown.
#[derive(clap::Args)]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    common: Common,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
}

/// Put a proposal away.
#[derive(clap::Args)]
pub(crate) struct RejectArgs {
    #[command(flatten)]
    common: Common,
}

pub(crate) fn approve(args: &ApproveArgs) -> Result<Exit, Failure> {
    let (skills, by) = (open(&args.common.home)?, args.common.by.user()?);
    let repository = writable(repository(&skills))?;
    let found = find(repository, &args.common)?;
    if !args.yes && !person::says_yes(&show::lines(&found), "make exactly this text active")? {
        return Err(Failure::refused("nothing was approved"));
    }
    let act = begin(&args.common, "skill_approved", &found)?;
    let done = repository.approve(&found, &by, &act.receipt, SystemClock.unix_seconds());
    tell(&args.common, act, done, "skill_not_approved", "approved", &found)
}

pub(crate) fn reject(args: &RejectArgs) -> Result<Exit, Failure> {
    let skills = open(&args.common.home)?;
    let repository = writable(repository(&skills))?;
    let found = find(repository, &args.common)?;
    let act = begin(&args.common, "skill_rejected", &found)?;
    let done = repository.reject(&found, &act.receipt);
    tell(&args.common, act, done, "skill_not_rejected", "rejected", &found)
}

fn writable(repository: Option<&Repository>) -> Result<&Repository, Failure> {
    repository.ok_or_else(|| failure(&SkillError::ReadOnly))
}

fn find(repository: &Repository, args: &Common) -> Result<Proposal, Failure> {
    if args.reason.len() > REASON_BYTES_MAX {
        return Err(Failure::usage(format!("a reason has at most {REASON_BYTES_MAX} bytes")));
    }
    let found =
        repository.proposal(ProposalState::Waiting, args.id).map_err(|error| failure(&error))?;
    found.ok_or_else(|| failure(&SkillError::NoProposal(args.id.to_string())))
}

fn begin(args: &Common, kind: &'static str, found: &Proposal) -> Result<Act, Failure> {
    let content = json!({
        "proposal": found.id.to_string(),
        "skill": found.skill.as_str(),
        "commit": found.commit.to_string(),
        "proposed_by": found.record,
        "reason": args.reason,
    });
    let taint = found.tag.as_ref().map_or(Taint::NONE, |it| it.taint);
    Act::begin(&args.home, kind, &args.by.user()?, taint, content)
}

fn tell(
    args: &Common,
    act: Act,
    done: Result<(), SkillError>,
    failed: &'static str,
    word: &str,
    found: &Proposal,
) -> Result<Exit, Failure> {
    let ((), record) = act.end(done.map_err(|error| failure(&error)), failed)?;
    if args.json {
        output::json(
            &json!({ "proposal": found.id.to_string(), "skill": found.skill.as_str(), "state": word, "record": record }),
        );
    } else {
        output::line(&format!("{word} {} of the skill {}", found.id, found.skill));
    }
    Ok(Exit::Done)
}
