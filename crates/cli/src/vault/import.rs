//! `lazaret vault import-env`.

use evidence::{Clock, SystemClock};
use serde_json::json;
use vault::{Name, SECRET_PREFIX, Secret};
use zeroize::Zeroizing;

use super::input::Input;
use super::{Guessable, Which, failed};
use crate::failure::{Exit, Failure};
use crate::output;

/// Take secrets over from this process's environment.
///
/// Each LAZARET_SECRET_NAME becomes the secret NAME, for the hosts in LAZARET_HOSTS_NAME, with commas between. With NAMES
/// those variables are taken as they are called. What cannot be kept (shorter than 8 bytes, or easy to guess) is named and left out.
///
/// Try it:
///   LAZARET_SECRET_GITHUB=… LAZARET_HOSTS_GITHUB=api.github.com lazaret vault import-env
///   lazaret vault import-env GITHUB_TOKEN OPENAI_API_KEY
///
/// Unset the variables afterwards: other programs that you start can read them.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[command(flatten)]
    which: Which,
    /// Variables to take instead of those with the prefix.
    names: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    guessable: Guessable,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let file = args.which.file()?;
    let key = args.which.key(&file, &mut Input::default())?;
    let mut wanted = Vec::new();
    let mut skipped = Vec::new();
    for (variable, name) in variables(args) {
        match taken(&variable, &name, &args.guessable) {
            Ok(found) => wanted.push(found),
            Err(why) => skipped.push(format!("`{variable}` was left out: {why}")),
        }
    }
    let now = SystemClock.unix_seconds();
    let names: Vec<Name> = wanted.iter().map(|(name, ..)| name.clone()).collect();
    let easy = wanted.iter().filter(|(_, secret, _)| secret.is_guessable());
    let easy: Vec<Name> = easy.map(|(name, ..)| name.clone()).collect();
    if !wanted.is_empty() {
        let content = json!({ "names": names.iter().map(Name::as_str).collect::<Vec<_>>() });
        args.which.recorded("vault_imported", content, || {
            let done = file.change(&key, |it| {
                wanted.into_iter().try_for_each(|(name, secret, hosts)| {
                    it.set(&name, secret, hosts, now).map(drop)
                })
            });
            done.map_err(failed)
        })?;
    }
    // Whether anybody still reads makes no difference: it is done.
    let told = names.iter().map(Name::as_str).collect::<Vec<_>>();
    let _ = match args.json {
        true => output::json(&json!({ "names": told, "left_out": skipped })),
        false => told.iter().all(|it| output::line(it)),
    };
    skipped.iter().for_each(|it| output::note(it));
    easy.iter().for_each(|it| Guessable::warn(it, true));
    if names.is_empty() && skipped.is_empty() {
        output::note(&format!("there is no variable that begins with {SECRET_PREFIX}"));
    }
    Ok(if skipped.is_empty() { Exit::Done } else { Exit::Refused })
}

/// Variables and the names that they become.
fn variables(args: &Args) -> Vec<(String, String)> {
    if !args.names.is_empty() {
        return args.names.iter().map(|it| (it.clone(), it.clone())).collect();
    }
    let all = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    all.filter_map(|it| it.strip_prefix(SECRET_PREFIX).map(|name| (it.clone(), name.to_owned())))
        .collect()
}

type Taken = (Name, Secret, Option<Vec<String>>);

fn taken(variable: &str, name: &str, guessable: &Guessable) -> Result<Taken, String> {
    let name = Name::parse(name).map_err(|it| it.to_string())?;
    let value = std::env::var(variable).map_err(|_| "it is not set, or not UTF-8".to_owned())?;
    let secret = Secret::new(Zeroizing::new(value)).and_then(|it| guessable.check(it));
    let secret = secret.map_err(|it| it.to_string())?;
    let hosts = std::env::var(format!("{}{name}", vault::HOSTS_PREFIX)).ok();
    let list = |it: String| it.split(',').map(str::trim).map(str::to_owned).collect();
    Ok((name, secret, hosts.map(list)))
}
