//! `lazaret plugins …`: folders of somebody else's code, and whether they are what you added.

mod add;
mod list;
mod reload;
mod remove;

use clap::Subcommand;
use host::plugins::{PluginError, Plugins};

use crate::failure::{Exit, Failure};
use crate::home::Home;

/// Add plugins, and check that they are still what you added.
///
/// A plugin is a folder with a MANIFEST.json. `add` copies it into the state directory and keeps a digest
/// of every file in plugins.json, beside the folders and not in them. From then on every check compares
/// all of it: a file that changed, is new, is gone or was renamed, a mode that changed, a link, a file with
/// a second name, a folder that nobody added, a list that cannot be read: all refused and recorded, and
/// there is no other mode. They are checked when `lazaret ipc` starts, and when `reload` tells one that runs to
/// look again.
///
/// A plugin whose manifest declares `tools` is run for agents of our own (`lazaret run`, `chat`, `serve`): its
/// program is started for each call, in a cage, from a copy that was compared first. It reaches the hosts and gets
/// the secrets of the vault that its manifest declares, which you are shown before you add it, and nothing else.
///
/// Try it:
///   lazaret plugins add ./provider-memory-redis
///   lazaret plugins list
///   lazaret plugins verify
///   lazaret plugins reload
///   lazaret plugins remove @community/provider-memory-redis
///
/// Exit codes: 0 done, 1 refused or not as it was, 2 wrong usage, 3 could not work (another process has
/// the journal open).
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Add(add::Args),
    List(list::ListArgs),
    Verify(list::VerifyArgs),
    Reload(reload::Args),
    Remove(remove::Args),
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Command::Add(args) => add::run(args),
        Command::List(args) => list::list(args),
        Command::Verify(args) => list::verify(args),
        Command::Reload(args) => reload::run(args),
        Command::Remove(args) => remove::run(args),
    }
}

fn plugins(home: &Home) -> Result<Plugins, Failure> {
    Ok(Plugins::new(&home.dir()?))
}

fn failure(error: &PluginError) -> Failure {
    if error.is_refusal() { Failure::refused(error) } else { Failure::unable(error) }
}
