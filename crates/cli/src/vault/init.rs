//! `lazaret vault init`.

use std::path::PathBuf;

use vault::{Key, VaultFile};

use super::failed;
use super::input::Input;
use crate::home::Home;
use crate::output;
use crate::run::{Exit, Failure};

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
        file.create(&key).map_err(failed)?;
        output::note("nobody can open the vault without the passphrase: write it down");
    } else {
        let path = args.identity.clone().unwrap_or_else(|| file.key_path());
        let key = if path.symlink_metadata().is_ok() {
            Key::read(&path).map_err(Failure::refused)?
        } else {
            let key = Key::generate();
            let wrong = |error| Failure::unable(format!("`{}`: {error}", path.display()));
            key.write(&path).map_err(wrong)?;
            key
        };
        file.create(&key).map_err(failed)?;
        let shown = path.display();
        output::note(&format!("`{shown}` opens the vault: keep a copy where the vault is not"));
        if let Some(recipient) = key.recipient() {
            output::note(&format!("others encrypt for it with {recipient}"));
        }
    }
    output::line(&file.path().display().to_string());
    Ok(Exit::Done)
}
