//! `lazaret gate`: the gate itself.

mod bench;
mod explain;
mod load;
pub(crate) mod setup;
mod turns;

use crate::failure::{Exit, Failure};

/// The gate: what decided about a call, and how fast it is.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Explain(explain::Args),
    Bench(bench::Args),
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Command::Explain(args) => explain::run(args),
        Command::Bench(args) => bench::run(args),
    }
}
