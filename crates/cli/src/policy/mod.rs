//! `lazaret policy …`: one file per command. `folder` reads what an operator wrote, `judge` asks the
//! rules and the layers, `recorded` reads what the journal holds, and `again` judges that by another policy.

mod again;
mod backtest;
mod check;
mod explain;
pub(crate) mod folder;
mod judge;
pub(crate) mod live;
mod propose;
mod recorded;
mod schema;
mod show;
mod tally;
mod test;

use clap::Subcommand;

use crate::failure::{Exit, Failure};

/// The policy: who may do what.
///
/// Rules are Cedar text. Those of the program are always there; your own stand in a folder, and can
/// only be added. A `permit` grants, a `forbid` objects (deny, step_up or defer), and what no rule
/// permits is denied. Beside the rules, five layers must all let a call pass: the host's settings,
/// the agent's manifest, the sandbox of remote sessions, the user, the operation.
///
/// A policy folder holds, all of it optional:
///
///   *.cedar                rules of your own
///   *.cases.jsonl          calls with the decision that you expect
///   config.yaml            which domains of tools are on
///   users.yaml             users and their limits
///   agents/ID/IDENTITY.md  agents, with their manifests
///   catalogue.json         what tools do; gates know them by it, and `lazaret replay --catalog` does
///
/// `check` and `explain` look at the state directory, as the gate does: config.yaml, users.yaml and agents there, and
/// rules of your own in its folder `policy`. They say what they looked at; --policy names another folder.
///
/// Try `lazaret policy explain tool_send taint=UNTRUSTED sinks=untrusted_destination`.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(check::Args),
    Explain(explain::Args),
    Test(test::Args),
    Propose(propose::Args),
    Backtest(backtest::Args),
    Schema(schema::Args),
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Command::Check(args) => check::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Test(args) => test::run(args),
        Command::Propose(args) => propose::run(args),
        Command::Backtest(args) => backtest::run(args),
        Command::Schema(args) => Ok(schema::run(args)),
    }
}
