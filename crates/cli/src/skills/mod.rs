//! `lazaret skills …`: what agents know how to do, and what they propose.

mod add;
mod answer;
mod clawhub;
mod list;
mod run;
mod show;
mod suppress;

use clap::Subcommand;
use host::skills::{Repository, SkillError, Skills};
use model::ipc::Uuid;

use crate::failure::Failure;
use crate::home::Home;

/// List skills, and answer what agents propose.
///
/// A skill is a text that tells an agent how to do something. Where they are is said in config.yaml:
///   providers:
///     skills: readonly    the folder `skills` of the state directory: NAME/SKILL.md or NAME.md
///     skills: git         the repository `skills.git`; agents may propose, and nothing that they propose
///                         is active until you approve it here
///
/// Try it:
///   lazaret skills add ./deploy.zip         verifies it, asks you, pins exactly these files (`skills: readonly`)
///   lazaret skills add clawhub:tea           the same, fetched from the registry
///   lazaret skills list                     what is active, and what waits for you
///   lazaret skills show deploy              a skill, or a proposal by its id
///   lazaret skills approve ID               shows it, asks at the terminal, makes exactly that active
///   lazaret skills reject ID --reason "too broad"
///   lazaret skills run deploy -- sh plan.sh  a program of a skill, in a cage
///   git -C ~/.lazaret/skills.git log        the repository is a real one (SHA-256); clone it, push to it
///
/// What a tainted session proposed stays tainted when you approve it: whoever reads it is tainted too.
///
/// Exit codes: 0 done, 1 no such skill or proposal, or it was refused, 2 wrong usage, 3 could not work
/// (another process has the journal and cannot be reached). A gate that runs records for you.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Add(add::Args),
    List(list::Args),
    Show(show::Args),
    Approve(answer::ApproveArgs),
    Reject(answer::RejectArgs),
    Remove(add::RemoveArgs),
    Run(run::Args),
    Suppress(suppress::Args),
}

/// What to exit with.
pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let done = match &args.command {
        Command::Add(args) => add::run(args),
        Command::List(args) => list::run(args),
        Command::Show(args) => show::run(args),
        Command::Approve(args) => answer::approve(args),
        Command::Reject(args) => answer::reject(args),
        Command::Remove(args) => add::remove(args),
        Command::Suppress(args) => suppress::run(args),
        // Ends as the program ended.
        Command::Run(args) => return run::run(args),
    };
    done.map(|it| it as u8)
}

fn open(home: &Home) -> Result<Skills, Failure> {
    let skills = host::skills::skills(&home.dir()?).map_err(Failure::usage)?;
    skills.ok_or_else(|| {
        Failure::usage("no skills provider is chosen: `skills: git` or `skills: readonly` under `providers` in config.yaml")
    })
}

fn repository(skills: &Skills) -> Option<&Repository> {
    match skills {
        Skills::Folder(_) => None,
        Skills::Repository(repository) => Some(repository),
    }
}

fn parse_id(text: &str) -> Result<Uuid, String> {
    Uuid::parse(text).ok_or_else(|| "a proposal is named by a UUID in lower case".to_owned())
}

fn failure(error: &SkillError) -> Failure {
    if error.is_refusal() { Failure::refused(error) } else { Failure::unable(error) }
}
