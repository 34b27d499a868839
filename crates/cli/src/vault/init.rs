//! `lazaret vault init`.

use std::path::PathBuf;

use serde_json::json;
use vault::{Key, VaultFile};

use super::input::Input;
use super::{UNCHANGED, failed};
use crate::act::{Act, By};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Make an empty vault.
///
/// It is encrypted for a new identity, which is put into vault.key beside it, or into the file that --identity names.
/// If that file is there, its first identity is taken, also one of a plugin (fido2-hmac, se, tpm, yubikey). With
/// --passphrase there is no identity: you type a passphrase.
///
/// A vault that is there is not touched.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: Home,
    /// The identity file [default: vault.key in the state directory]
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase")]
    identity: Option<PathBuf>,
    /// Encrypt with a passphrase, typed or by stdin.
    #[arg(long)]
    passphrase: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    by: By,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    files::private::create_dir(&home)
        .map_err(|error| Failure::unable(format!("`{}`: {error}", home.display())))?;
    let file = VaultFile::in_home(&home);
    if file.is_there() {
        return Err(failed(vault::VaultError::Exists(file.path().display().to_string())));
    }
    if args.passphrase {
        let typed = Input::default().new_hidden("new passphrase").map_err(Failure::unable)?;
        let key = Key::passphrase(typed).map_err(Failure::refused)?;
        recorded(args, || file.create(&key).map_err(failed))?;
        output::note("nobody can open the vault without the passphrase: write it down");
    } else {
        let path = args.identity.clone().unwrap_or_else(|| file.key_path());
        let is_there = path.symlink_metadata().is_ok();
        let key =
            if is_there { Key::read(&path).map_err(Failure::refused)? } else { Key::generate() };
        recorded(args, || {
            if !is_there {
                let wrong = |error| Failure::unable(format!("`{}`: {error}", path.display()));
                key.write(&path).map_err(wrong)?;
            }
            file.create(&key).map_err(failed)
        })?;
        let shown = path.display();
        output::note(&format!("`{shown}` opens the vault: keep a copy where the vault is not"));
        if let Some(recipient) = key.recipient() {
            output::note(&format!("others encrypt for it with {recipient}"));
        }
    }
    let made = file.path().display().to_string();
    output::result(args.json, &json!({ "vault": made }), &made);
    Ok(Exit::Done)
}

fn recorded(args: &Args, work: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    let content = json!({ "by_passphrase": args.passphrase });
    Act::around(&args.home, &args.by, ("vault_made", UNCHANGED), content, work)?;
    // A daemon that was started without a vault knows no secret to take out of anything. Whoever needs one starts the next.
    if crate::daemon::stop(&args.home.dir()?)? {
        output::note("the daemon was ended: the next one knows the vault");
    }
    Ok(())
}
