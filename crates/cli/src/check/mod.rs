//! `lazaret check …`: one file per kind. `batch` reads requests and prints answers for all of them.

mod batch;
mod file;
mod given;
mod ipc;
pub(crate) mod lines;
mod output;
mod path;
mod pii;
mod secret;
mod shell;
mod skill;
mod text;
pub(crate) mod timing;
mod tool;
mod url;

use clap::Subcommand;

pub(crate) use lines::{Line, Lines};
pub(crate) use skill::table::lines as skill_lines;
pub(crate) use skill::verified as skill_verified;

use crate::failure::{Exit, Failure};

/// Judge values without acting on them.
///
/// Needs no state. Values stand on the command line or come as JSON objects on
/// stdin, one per line; each gets one line, in order, with its `id`.
///
/// Exit codes: 0 all values passed, 1 one did not. A batch from stdin exits 0 when all lines were
/// answered.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Subcommand)]
enum Kind {
    File(file::Args),
    Ipc(ipc::Args),
    Output(output::Args),
    Path(path::Args),
    Pii(pii::Args),
    Secret(secret::Args),
    Shell(shell::Args),
    Skill(skill::Args),
    Text(text::Args),
    Tool(tool::Args),
    Url(url::Args),
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.kind {
        Kind::File(args) => file::run(args),
        Kind::Ipc(args) => ipc::run(args),
        Kind::Output(args) => output::run(args),
        Kind::Path(args) => path::run(args),
        Kind::Pii(args) => pii::run(args),
        Kind::Secret(args) => secret::run(args),
        Kind::Shell(args) => shell::run(args),
        Kind::Skill(args) => skill::run(args),
        Kind::Text(args) => text::run(args),
        Kind::Tool(args) => tool::run(args),
        Kind::Url(args) => url::run(args),
    }
}
