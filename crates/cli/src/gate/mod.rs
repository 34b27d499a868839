//! `lazaret gate`: the gate itself.

mod bench;
mod load;
pub(crate) mod setup;

use crate::failure::{Exit, Failure};

/// Measure the gate.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Bench(bench::Args),
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Command::Bench(args) => bench::run(args),
    }
}
