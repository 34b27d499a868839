//! `lazaret vault set` and `lazaret vault remove`.

use evidence::{Clock, SystemClock};
use serde_json::json;
use vault::{Contents, Name, Secret};

use super::input::Input;
use super::{Guessable, Which, failed};
use crate::failure::{Exit, Failure};
use crate::output;

/// Set a secret: its value is typed without echo, or comes by stdin.
///
/// One that is there gets a new version; the last 5 are kept. Without --host a secret is sent to no host at all (or, if
/// it is there, to those that it was for). A value that can be guessed (a PIN, a word with a year) is refused: see
/// --accept-guessable.
///
/// Try it:
///   lazaret vault set GITHUB_TOKEN --host api.github.com
///   pass show brave | lazaret vault set SEARCH_KEY --host api.search.brave.com
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct SetArgs {
    #[command(flatten)]
    which: Which,
    /// Its name: letters, digits and `_`.
    name: String,
    /// A host that it is for: `api.example.com`, `*.example.com`; again for more.
    #[arg(long = "host", value_name = "HOST")]
    hosts: Vec<String>,
    /// Only say for which hosts it is; the value stays.
    #[arg(long, requires = "hosts")]
    keep_value: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    guessable: Guessable,
}

/// Remove a secret with all its versions.
#[derive(clap::Args)]
pub(super) struct RemoveArgs {
    #[command(flatten)]
    which: Which,
    /// Its name.
    name: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn set(args: &SetArgs) -> Result<Exit, Failure> {
    let name = Name::parse(&args.name).map_err(Failure::usage)?;
    let (file, mut input) = (args.which.file()?, Input::default());
    let key = args.which.key(&file, &mut input)?;
    Contents::check_hosts(&args.hosts).map_err(Failure::refused)?;
    let hosts = (!args.hosts.is_empty()).then(|| args.hosts.clone());
    let content = json!({ "name": name.as_str(), "hosts": hosts });
    if args.keep_value {
        let hosts = hosts.unwrap_or_default();
        let bind = || file.change(&key, |it| it.bind(&name, hosts)).map_err(failed);
        args.which.recorded("vault_bound", content, bind)?;
        let told = json!({ "name": name.as_str(), "outcome": "bound" });
        output::done(args.json, &told, &format!("{name}: bound"));
        return Ok(Exit::Done);
    }
    // Opened before anything is typed, so that nobody types for nothing.
    drop(file.open(&key).map_err(failed)?);
    let value = input.new_hidden(&format!("value of {name}")).map_err(Failure::unable)?;
    let secret = Secret::new(value).and_then(|it| args.guessable.check(it));
    let secret = secret.map_err(Failure::refused)?;
    let is_guessable = secret.is_guessable();
    let now = SystemClock.unix_seconds();
    let set = || {
        let done = file.change(&key, |it| {
            let version = it.set(&name, secret, hosts, now)?;
            Ok((version, it.get(&name).is_some_and(|it| !it.hosts().is_empty())))
        });
        done.map_err(failed)
    };
    let (version, bound) = args.which.recorded("vault_set", content, set)?;
    let told = json!({ "name": name.as_str(), "version": version, "bound": bound });
    output::result(args.json, &told, &format!("{name}: version {version}"));
    Guessable::warn(&name, is_guessable);
    if !bound {
        output::note(&format!(
            "`{name}` is for no host yet; add one with --keep-value --host HOST"
        ));
    }
    Ok(Exit::Done)
}

pub(super) fn remove(args: &RemoveArgs) -> Result<Exit, Failure> {
    let name = Name::parse(&args.name).map_err(Failure::usage)?;
    let file = args.which.file()?;
    let key = args.which.key(&file, &mut Input::default())?;
    let content = json!({ "name": name.as_str() });
    let remove = || file.change(&key, |it| it.remove(&name)).map_err(failed);
    args.which.recorded("vault_removed", content, remove)?;
    let told = json!({ "name": name.as_str(), "outcome": "removed" });
    output::done(args.json, &told, &format!("{name}: removed"));
    Ok(Exit::Done)
}
