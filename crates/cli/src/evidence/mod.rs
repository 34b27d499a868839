//! `lazaret evidence …`: one file per command.

mod bench;
mod checkpoint;
mod export;
pub(crate) mod filter;
mod import;
pub(crate) mod newest;
pub(crate) mod open;
mod query;
mod retain;
mod show;
mod stats;
mod tail;
mod verify;

use clap::Subcommand;

use crate::failure::{Exit, Failure};

/// The journal: look at it, verify it, share parts of it.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Tail(tail::Args),
    Query(query::Args),
    Verify(verify::Args),
    Export(export::Args),
    Import(import::Args),
    Checkpoint(checkpoint::Args),
    Stats(stats::Args),
    Retain(retain::Args),
    Bench(bench::Args),
}

pub(crate) fn run(args: Args) -> Result<Exit, Failure> {
    match args.command {
        Command::Tail(args) => tail::run(&args),
        Command::Query(args) => query::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Checkpoint(args) => checkpoint::run(&args),
        Command::Stats(args) => stats::run(&args),
        Command::Retain(args) => retain::run(&args),
        Command::Bench(args) => bench::run(&args),
    }
}
