//! `lazaret skills show`.

use aegx::verify::printable;
use host::skills::{Proposal, ProposalState, Repository, SkillError, SkillName};
use model::ipc::Uuid;
use serde_json::json;

use super::{failure, list, open, repository};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;
use crate::taint::tag_value;

/// Show a skill, or a proposal with what speaks against it.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// The name of a skill, or the id of a proposal.
    name: String,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let skills = open(&args.home)?;
    if let (Some(id), Some(repository)) = (Uuid::parse(&args.name), repository(&skills)) {
        let (state, found) = find(repository, id)?;
        if args.json {
            let mut value = list::proposal(state, &found);
            if let Some(fields) = value.as_object_mut() {
                fields.insert("content".to_owned(), json!(found.content));
            }
            output::json(&value);
        } else {
            let _ = lines(&found).iter().all(|it| output::line(it));
        }
        return Ok(Exit::Done);
    }
    let name = SkillName::parse(&args.name).map_err(|error| failure(&error.into()))?;
    let found = skills.read(&name).map_err(|error| failure(&error))?;
    if args.json {
        let tag = found.tag.as_ref().map(tag_value);
        output::json(&json!({ "skill": name.as_str(), "content": found.content, "tag": tag }));
    } else {
        let _ = found.content.lines().all(|it| output::line(&printable(it)));
    }
    Ok(Exit::Done)
}

/// A proposal in whatever state.
fn find(repository: &Repository, id: Uuid) -> Result<(ProposalState, Proposal), Failure> {
    for state in [ProposalState::Waiting, ProposalState::Approved, ProposalState::Rejected] {
        if let Some(found) = repository.proposal(state, id).map_err(|error| failure(&error))? {
            return Ok((state, found));
        }
    }
    Err(failure(&SkillError::NoProposal(id.to_string())))
}

/// What a person looks at before they answer. Nothing of it can act on the terminal.
pub(super) fn lines(it: &Proposal) -> Vec<String> {
    let mut lines = vec![
        format!("proposal {} of the skill `{}`", it.id, it.skill),
        format!("by agent {} in session {} of user {}", it.agent, it.session, it.user),
        format!("why: {}", printable(&it.reason)),
    ];
    if let Some(tag) = &it.tag {
        lines.push(format!(
            "TAINTED: {} from {}; it stays so if you approve",
            tag.taint,
            printable(&tag.origin)
        ));
    }
    let reading = scan::text::read(&it.content, scan::text::Author::Outsider);
    let findings = &reading.findings;
    if !findings.is_empty() {
        let verdict = reading.verdict().as_str();
        lines.push(format!(
            "the scan for orders says: {verdict}, {}",
            output::count(findings.len() as u64, "finding")
        ));
    }
    lines.push("----".to_owned());
    lines.extend(it.content.lines().map(|it| printable(it).to_string()));
    lines.push("----".to_owned());
    lines
}
