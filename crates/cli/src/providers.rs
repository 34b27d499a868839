//! `lazaret providers`.

use model::provider::{Provider, ProviderKind, resolve};
use serde_json::json;

use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output::{self, Paint};

/// List the providers that `config.yaml` may choose, and which of them are in use.
///
/// The table is fixed: a provider is chosen by its name under `providers` in config.yaml, and no other
/// name is taken. What is marked with `*` is in use; what is in parentheses is not in this version.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// Print one JSON object per kind.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let providers = host::providers(&args.home.dir()?).map_err(Failure::usage)?;
    for kind in ProviderKind::ALL {
        let in_use = providers.of(*kind);
        let shown = if args.json { value(*kind, in_use) } else { line(*kind, in_use) };
        if !shown {
            break;
        }
    }
    Ok(Exit::Done)
}

fn value(kind: ProviderKind, in_use: Option<Provider>) -> bool {
    output::json(&json!({
        "kind": kind.as_str(),
        "names": kind.names(),
        "built": kind.names().iter().filter(|it| is_built(kind, it)).collect::<Vec<_>>(),
        "in_use": in_use.map(Provider::name),
    }))
}

fn line(kind: ProviderKind, in_use: Option<Provider>) -> bool {
    let paint = Paint::for_stdout();
    let names = kind.names().iter().map(|name| match in_use.map(Provider::name) {
        Some(used) if used == *name => paint.strong(&format!("{name}*")),
        Some(_) | None if is_built(kind, name) => (*name).to_owned(),
        Some(_) | None => paint.faint(&format!("({name})")),
    });
    output::line(&format!("{:<12} {}", kind.as_str(), names.collect::<Vec<_>>().join(" ")))
}

fn is_built(kind: ProviderKind, name: &str) -> bool {
    resolve(kind.as_str(), name).is_ok_and(host::is_built)
}
