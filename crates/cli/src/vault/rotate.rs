//! `lazaret vault rotate`.

use evidence::{Clock, SystemClock};
use serde_json::json;
use vault::{Key, Name, Secret};

use super::input::Input;
use super::{Guessable, Which, failed};
use crate::failure::{Exit, Failure};
use crate::output;

/// Give the vault a new key, or a secret a new value.
///
/// Without NAME the vault is encrypted anew: for a new identity, which takes the place of the old one in the identity
/// file, or with a new passphrase. Copies of the vault that were made before still open with the old key.
///
/// With NAME a secret that is there gets a new value, typed or by stdin; the old one is kept as a version.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    which: Which,
    /// A secret.
    name: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    guessable: Guessable,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let (file, mut input) = (args.which.file()?, Input::default());
    let key = args.which.key(&file, &mut input)?;
    if let Some(name) = &args.name {
        let name = Name::parse(name).map_err(Failure::usage)?;
        let there = file.open(&key).map_err(failed)?.get(&name).is_some();
        if !there {
            return Err(failed(vault::ContentsError::NoSuchName(name).into()));
        }
        let value = input.new_hidden(&format!("new value of {name}")).map_err(Failure::unable)?;
        let secret = Secret::new(value).and_then(|it| args.guessable.check(it));
        let secret = secret.map_err(Failure::refused)?;
        let is_guessable = secret.is_guessable();
        let now = SystemClock.unix_seconds();
        let content = json!({ "name": name.as_str(), "hosts": null });
        let set = || file.change(&key, |it| it.set(&name, secret, None, now)).map_err(failed);
        let version = args.which.recorded("vault_set", content, set)?;
        let told = json!({ "name": name.as_str(), "version": version });
        output::result(args.json, &told, &format!("{name}: version {version}"));
        Guessable::warn(&name, is_guessable);
        return Ok(Exit::Done);
    }
    // What the keyring keeps would not open it any more.
    let was_kept = vault::keyring::forget(&file.path()).unwrap_or(false);
    if key.is_passphrase() {
        drop(file.open(&key).map_err(failed)?);
        let typed = input.new_hidden("new passphrase").map_err(Failure::unable)?;
        let new = Key::passphrase(typed).map_err(Failure::refused)?;
        let content = json!({ "by_passphrase": true });
        let rekey = || file.rekey(&key, new, |_| Ok(())).map_err(failed);
        args.which.recorded("vault_rekeyed", content, rekey)?;
    } else {
        let path = args.which.identity.clone().unwrap_or_else(|| file.key_path());
        let rekey = || file.rekey(&key, Key::generate(), |key| key.write(&path)).map_err(failed);
        args.which.recorded("vault_rekeyed", json!({ "by_passphrase": false }), rekey)?;
        output::note(&format!("`{}` holds the new identity", path.display()));
    }
    if was_kept {
        output::note("the keyring has forgotten the old key; run `lazaret vault unlock`");
    }
    output::done(args.json, &json!({ "outcome": "rekeyed" }), "the vault has a new key");
    Ok(Exit::Done)
}
