//! `lazaret vault unlock` and `lazaret vault lock`.

use serde_json::json;
use vault::keyring;

use super::input::Input;
use super::{UNCHANGED, Which, failed};
use crate::act::{Act, By};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Keep what opens the vault in the system's keyring.
///
/// Afterwards every command of yours opens the vault without asking, until `lazaret vault lock` or a restart of the
/// machine. On Linux it is the kernel's keyring of your login session: nothing is written to a disk. A login without a
/// session keyring (containers, some services) forgets it when the command ends; use an identity file there.
#[derive(clap::Args)]
pub(super) struct UnlockArgs {
    #[command(flatten)]
    which: Which,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Forget what opens the vault.
#[derive(clap::Args)]
pub(super) struct LockArgs {
    #[command(flatten)]
    home: Home,
    #[command(flatten)]
    by: By,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn unlock(args: &UnlockArgs) -> Result<Exit, Failure> {
    let file = args.which.file()?;
    let key = args.which.key(&file, &mut Input::default())?;
    drop(file.open(&key).map_err(failed)?);
    args.which.recorded("vault_unlocked", json!({}), || {
        keyring::keep(&file.path(), &key).map_err(|error| {
            let instead = "use an identity file, or type the passphrase each time";
            Failure::unable(format!("{error}; {instead}"))
        })
    })?;
    let said = "unlocked until `lazaret vault lock` or a restart";
    output::done(args.json, &json!({ "vault": "unlocked" }), said);
    Ok(Exit::Done)
}

pub(super) fn lock(args: &LockArgs) -> Result<Exit, Failure> {
    let file = vault::VaultFile::in_home(&args.home.dir()?);
    // First: who locks up does not wait for somebody to write it down.
    let was_kept = keyring::forget(&file.path()).map_err(Failure::unable)?;
    let content = json!({ "was_unlocked": was_kept });
    Act::around(&args.home, &args.by, ("vault_locked", UNCHANGED), content, || Ok(()))?;
    let said = if was_kept { "locked" } else { "it was not unlocked" };
    output::result(args.json, &json!({ "vault": "locked", "was_unlocked": was_kept }), said);
    Ok(Exit::Done)
}
