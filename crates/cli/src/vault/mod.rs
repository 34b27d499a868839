//! `lazaret vault …`: one file per command.

mod change;
mod export;
mod import;
mod init;
mod input;
mod list;
mod locking;
mod rotate;

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::Value;
use vault::{Key, Name, Secret, SecretError, VaultError, VaultFile};

use crate::act::{Act, By};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;
use input::Input;

/// Keep secrets that agents use and never see.
///
/// The vault is one file, vault.age in the state directory, encrypted with age: for an identity that lies in
/// vault.key beside it (or where --identity says), or with a passphrase. What opens it can be kept in the kernel's
/// keyring until the machine restarts: `lazaret vault unlock`.
///
/// A secret has a name, the hosts that it is for, and its older versions. It is sent to no other host. Whatever goes
/// back to an agent is scrubbed of every value in the vault. Values are typed without echo or come by stdin; they are
/// never arguments, which other users of the machine can see.
///
/// Try it:
///   lazaret vault init
///   lazaret vault set GITHUB_TOKEN --host api.github.com
///   lazaret vault list
///
/// Exit codes: 0 done, 1 refused (no such secret, a value that is too short or can be guessed), 2 wrong usage, 3 could not work (a key
/// that does not fit, a damaged file, a journal that another process has). Where something fails, the vault is as it
/// was. Every change is in the journal before it is made, by name, never by value; a gate that runs records it for you.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Init(init::Args),
    Set(change::SetArgs),
    List(list::Args),
    Remove(change::RemoveArgs),
    Rotate(rotate::Args),
    ImportEnv(import::Args),
    Export(export::Args),
    Unlock(locking::UnlockArgs),
    Lock(locking::LockArgs),
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Command::Init(args) => init::run(args),
        Command::Set(args) => change::set(args),
        Command::List(args) => list::run(args),
        Command::Remove(args) => change::remove(args),
        Command::Rotate(args) => rotate::run(args),
        Command::ImportEnv(args) => import::run(args),
        Command::Export(args) => export::run(args),
        Command::Unlock(args) => locking::unlock(args),
        Command::Lock(args) => locking::lock(args),
    }
}

/// A change that came to nothing, in the journal.
const UNCHANGED: &str = "vault_not_changed";

/// Which vault, and what opens it.
#[derive(clap::Args)]
struct Which {
    #[command(flatten)]
    home: Home,
    /// The identity file that opens it [default: vault.key in the state directory]
    #[arg(long, value_name = "FILE", env = "LAZARET_VAULT_IDENTITY", hide_env_values = true)]
    identity: Option<PathBuf>,
    /// Take the passphrase from the first line of stdin.
    #[arg(long, conflicts_with = "identity")]
    passphrase_stdin: bool,
    #[command(flatten)]
    by: By,
}

impl Which {
    fn file(&self) -> Result<VaultFile, Failure> {
        Ok(VaultFile::in_home(&self.home.dir()?))
    }

    /// Does `work` after it was recorded what it is. Names only.
    fn recorded<T>(
        &self,
        kind: &'static str,
        content: Value,
        work: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        Act::around(&self.home, &self.by, (kind, UNCHANGED), content, work)
    }

    /// What opens the vault. A passphrase is asked for if nobody has kept it.
    fn key(&self, file: &VaultFile, input: &mut Input) -> Result<Key, Failure> {
        if self.passphrase_stdin {
            let typed = input.line().map_err(Failure::unable)?;
            return Key::passphrase(typed).map_err(Failure::refused);
        }
        let found = vault::unlock(file, self.identity.as_deref());
        let untyped = matches!(
            &found,
            Err(VaultError::Open { error: vault::sealed::OpenError::NeedsPassphrase, .. })
        );
        if untyped && self.identity.is_none() {
            let typed = input.hidden("passphrase of the vault").map_err(Failure::unable)?;
            return Key::passphrase(typed).map_err(Failure::refused);
        }
        found.map_err(failed)
    }
}

/// What is done with values that can be guessed.
#[derive(clap::Args)]
struct Guessable {
    /// Store a value although it can be guessed. It is then not taken out of what agents are shown: who sees what is
    /// taken out of a text of all numbers knows the number.
    #[arg(long)]
    accept_guessable: bool,
}

impl Guessable {
    /// The secret, if it may be stored.
    fn check(&self, secret: Secret) -> Result<Secret, SecretError> {
        if self.accept_guessable { Ok(secret) } else { secret.unless_guessable() }
    }

    /// What is said of one that is stored all the same.
    fn warn(name: &Name, is_guessable: bool) {
        if is_guessable {
            output::note(&format!(
                "`{name}` can be guessed: it is NOT taken out of what agents are shown; use a longer random value"
            ));
        }
    }
}

/// What a vault's error means for a command.
fn failed(error: VaultError) -> Failure {
    if matches!(error, VaultError::Contents(_) | VaultError::Exists(_)) {
        return Failure::refused(error);
    }
    if matches!(error, VaultError::NoVault(_)) {
        Failure::usage(error)
    } else {
        Failure::unable(error)
    }
}
