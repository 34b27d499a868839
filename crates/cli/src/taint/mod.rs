//! `lazaret taint …`: one file per command.

mod clear;
mod show;

use clap::Subcommand;
use model::SessionId;
use model::ipc::Uuid;
use store::Subject;

use crate::run::{Exit, Failure};

/// What came from outside and is still marked: look at it, or take the mark away.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Show(show::Args),
    Clear(clear::Args),
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Command::Show(args) => show::run(args),
        Command::Clear(args) => clear::run(args),
    }
}

/// What a command is about.
#[derive(clap::Args)]
#[group(multiple = false)]
struct SubjectArgs {
    /// A session.
    #[arg(long, value_name = "ID", value_parser = parse_session)]
    session: Option<SessionId>,
    /// A memory entry.
    #[arg(long, value_name = "UUID", value_parser = parse_uuid)]
    memory: Option<Uuid>,
}

impl SubjectArgs {
    fn get(&self) -> Option<Subject> {
        let session = self.session.clone().map(Subject::Session);
        session.or_else(|| self.memory.map(Subject::Memory))
    }
}

fn parse_session(text: &str) -> Result<SessionId, String> {
    SessionId::parse(text).map_err(|error| error.to_string())
}

fn parse_uuid(text: &str) -> Result<Uuid, String> {
    Uuid::parse(text).ok_or_else(|| "a memory entry is named by a UUID in lower case".to_owned())
}

/// Nothing is kept under this name.
fn not_found(subject: &Subject) -> Failure {
    Failure::refused(format!("there is no {} `{}`", subject.kind(), subject.name()))
}
