//! `lazaret credentials …`: which agent gets which keys.

pub(crate) mod check;
mod migrate;

use std::path::Path;

use clap::Subcommand;
use vault::{Contents, Source, VaultFile};

use crate::failure::{Exit, Failure};

/// See which agent gets which keys, and give each only its own.
///
/// An agent's manifest, agents/AGENT/IDENTITY.md, says under `credentials.grants` which keys its tools get, by domain,
/// and whether a person is asked each time:
///
///   credentials:
///     grants:
///       github-read:
///         keys: [GITHUB_TOKEN]
///         tools: [web]
///       wire:
///         keys: [WIRE_ACCOUNT]
///         tools: [web]
///         approval: required
///
/// A manifest that says nothing of credentials is of the old kind: at this machine its tools get every key, and over the
/// network none.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(check::Args),
    Migrate(migrate::Args),
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Command::Check(args) => check::run(args),
        Command::Migrate(args) => migrate::run(args),
    }
}

/// What is kept, as far as it can be opened without asking anybody; why not, otherwise.
fn kept(home: &Path) -> Result<Contents, String> {
    use model::provider::{Credentials, Provider, ProviderKind};
    let providers = host::providers(home).map_err(|it| it.to_string())?;
    if providers.of(ProviderKind::Credentials) == Some(Provider::Credentials(Credentials::Env)) {
        let Source::Env(all) = Source::env() else { return Ok(Contents::default()) };
        return Ok(vault::of_env(&all).0);
    }
    let file = VaultFile::in_home(home);
    let key = vault::unlock(&file, None).map_err(|it| it.to_string())?;
    file.open(&key).map_err(|it| it.to_string())
}
