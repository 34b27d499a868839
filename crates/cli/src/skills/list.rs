//! `lazaret skills list`.

use aegx::timestamp;
use aegx::verify::printable;
use host::skills::{Listed, Proposal, ProposalState};
use serde_json::{Value, json};

use super::{failure, open, repository};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output::{self, Paint};
use crate::taint::tag_value;

/// List the skills that are active, and the proposals that wait.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// Proposals too that were approved or rejected.
    #[arg(long)]
    all: bool,
    /// Print one JSON object per skill and per proposal.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let skills = open(&args.home)?;
    let active = skills.list().map_err(|error| failure(&error))?;
    let mut proposals = Vec::new();
    if let Some(repository) = repository(&skills) {
        let answered = [ProposalState::Approved, ProposalState::Rejected];
        let states =
            [ProposalState::Waiting].into_iter().chain(answered.into_iter().filter(|_| args.all));
        for state in states {
            let found = repository.proposals(state).map_err(|error| failure(&error))?;
            proposals.extend(found.into_iter().map(|it| (state, it)));
        }
    }
    let _ = if args.json {
        active.iter().all(|it| output::json(&listed(it)))
            && proposals.iter().all(|(state, it)| output::json(&proposal(*state, it)))
    } else {
        active.iter().all(line) && proposals.iter().all(|(state, it)| proposal_line(*state, it))
    };
    if !args.json && active.is_empty() && proposals.is_empty() {
        output::note("there are no skills, and nothing was proposed");
    }
    Ok(Exit::Done)
}

fn listed(it: &Listed) -> Value {
    json!({
        "skill": it.name.as_str(),
        "state": "active",
        "description": it.front.description,
        "problem": it.front.problem,
        "tag": it.tag.as_ref().map(tag_value),
    })
}

/// A proposal for programs.
pub(super) fn proposal(state: ProposalState, it: &Proposal) -> Value {
    json!({
        "proposal": it.id.to_string(),
        "skill": it.skill.as_str(),
        "state": state.as_str(),
        "commit": it.commit.to_string(),
        "reason": it.reason,
        "user": it.user,
        "agent": it.agent,
        "session": it.session,
        "record": it.record,
        "created": timestamp::from_unix(it.created),
        "tag": it.tag.as_ref().map(tag_value),
    })
}

fn line(it: &Listed) -> bool {
    let paint = Paint::for_stdout();
    let taint =
        it.tag.as_ref().map_or_else(String::new, |it| paint.bad(&format!(" [{}]", it.taint)));
    let about = it.front.description.as_deref().or(it.front.problem).unwrap_or_default();
    output::line(&format!("{:<24} {}{taint}", paint.strong(it.name.as_str()), printable(about)))
}

fn proposal_line(state: ProposalState, it: &Proposal) -> bool {
    let paint = Paint::for_stdout();
    let taint =
        it.tag.as_ref().map_or_else(String::new, |it| paint.bad(&format!(" [{}]", it.taint)));
    let reason: String = it.reason.chars().take(60).collect();
    output::line(&format!(
        "{} {:<8} {:<24} by {} for {}: {}{taint}",
        it.id,
        state.as_str(),
        it.skill.as_str(),
        it.agent,
        it.user,
        printable(&reason),
    ))
}
