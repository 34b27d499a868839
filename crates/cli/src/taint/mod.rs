//! `lazaret taint …`: one file per command.

mod clear;
mod files;
mod show;

use std::path::{Path, PathBuf};

use aegx::timestamp;
use clap::Subcommand;
use host::workspace::LABELS;
use model::ipc::Uuid;
use model::{SessionId, TaintTag};
use serde_json::{Value, json};
use store::Subject;
use store::workspace::Registry;

use crate::failure::{Exit, Failure};
use crate::home::Home;

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

/// What a command is about: one thing, or everything.
#[derive(clap::Args)]
struct SubjectArgs {
    /// A session.
    #[arg(long, value_name = "ID", value_parser = parse_session, conflicts_with_all = ["memory", "workspace"])]
    session: Option<SessionId>,
    /// A memory entry.
    #[arg(long, value_name = "UUID", value_parser = parse_uuid, conflicts_with = "workspace")]
    memory: Option<Uuid>,
    /// A workspace.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// A file of the workspace, as `taint show` names it.
    #[arg(long, value_name = "PATH", requires = "workspace")]
    file: Option<String>,
}

/// What a command is about.
enum About<'a> {
    /// Something that the store keeps.
    Kept(Subject),
    /// The files of a workspace, or one of them.
    Files { workspace: &'a Path, file: Option<&'a str> },
}

impl SubjectArgs {
    fn get(&self) -> Option<About<'_>> {
        if let Some(workspace) = &self.workspace {
            return Some(About::Files { workspace, file: self.file.as_deref() });
        }
        let session = self.session.clone().map(Subject::Session);
        session.or_else(|| self.memory.map(Subject::Memory)).map(About::Kept)
    }
}

/// The labels of workspaces, if there are some: looking makes none.
fn registry(home: &Home) -> Result<Option<Registry>, Failure> {
    let dir = home.dir()?.join(LABELS);
    match std::fs::symlink_metadata(&dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::unable(format!("`{}`: {error}", dir.display()))),
        Ok(_) => Registry::open(&dir).map(Some).map_err(Failure::unable),
    }
}

/// A label for programs.
pub(crate) fn tag_value(tag: &TaintTag) -> Value {
    json!({
        "source": tag.source.as_str(),
        "taint": tag.taint.iter_names().collect::<Vec<_>>(),
        "origin": tag.origin,
        "time": timestamp::from_unix(tag.unix_seconds),
        "record": tag.record,
    })
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
