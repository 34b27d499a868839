//! `lazaret models …`: which language models are configured, and whether they answer.

mod judge;
mod list;
mod session;
mod test;

use clap::Subcommand;

use crate::failure::{Exit, Failure};

/// Show which language models are configured, and ask one.
///
/// Which models there are is said in config.yaml; keys are in the vault, each for the host of its provider:
///   providers:
///     llm: router          anthropic, openai, local, mock, or router for several
///   models:
///     default: anthropic/claude-sonnet-4-5
///     fast: [local/llama3.2, openai/gpt-5-mini]      tried in turn
///     local: {url: "http://127.0.0.1:11434"}
///
/// Try it:
///   lazaret models list            every model, its task, where its key is, and what is missing
///   lazaret models test            asks the default model for one word, through the gate
///   lazaret models test fast       the same for a task, or for `provider/model`
///   lazaret models judge FILE      asks the model under `guardrail` whether a text is safe
///
/// Exit codes: 0 done, 1 the model did not answer or flagged the text, 2 wrong usage or broken settings,
/// 3 could not work (another process has the journal).
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    List(list::Args),
    Test(test::Args),
    Judge(judge::Args),
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Command::List(args) => list::run(args),
        Command::Test(args) => test::run(args),
        Command::Judge(args) => judge::run(args),
    }
}
