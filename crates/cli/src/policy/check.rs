//! `lazaret policy check`.

use std::path::PathBuf;

use policy::access::Domain;
use serde_json::json;

use super::folder::Loaded;
use super::{live, show};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Check the policy and list its rules.
///
/// Reads the program's own rules and what the state directory says, or the folder DIR. Every rule is validated against the
/// schema, its examples are tried, and a rule that can never match, permits nothing, or stands
/// against everything is an error. Settings, users and manifests in the folder are read strictly.
///
/// Exit codes: 0 usable, 2 broken; each error tells its file and line.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// A policy folder, in place of the state directory; see `lazaret policy --help`.
    #[arg(value_name = "DIR", conflicts_with = "policy")]
    dir: Option<PathBuf>,
    /// The same.
    #[arg(long, value_name = "DIR")]
    policy: Option<PathBuf>,
    /// Print one JSON object per rule, or per error.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let loaded = match live::load(&args.home, args.dir.as_deref().or(args.policy.as_deref()))? {
        Ok(loaded) => loaded,
        Err(flaws) => return Ok(show::flaws(&flaws, args.json)),
    };
    for rule in loaded.policy.rules() {
        if !show::rule(rule, args.json) {
            return Ok(Exit::Done);
        }
    }
    if args.json {
        output::json(&summary(&loaded));
    } else {
        print_summary(&loaded);
    }
    Ok(Exit::Done)
}

fn summary(loaded: &Loaded) -> serde_json::Value {
    json!({
        "from": loaded.source.to_json(),
        "rules": loaded.policy.rules().len(),
        "agents": loaded.manifests.as_ref().map(|it| it.keys().collect::<Vec<_>>()),
        "users": loaded.users.as_ref().map(|it| it.iter().map(|it| it.name.as_str()).collect::<Vec<_>>()),
        "domains_off": domains_off(loaded),
    })
}

fn domains_off(loaded: &Loaded) -> Option<Vec<&'static str>> {
    let global = loaded.global.as_ref()?;
    let off = Domain::ALL.iter().filter(|it| !global.is_enabled(**it));
    Some(off.map(|it| it.as_str()).collect())
}

fn print_summary(loaded: &Loaded) {
    let mut parts = vec![output::count(loaded.policy.rules().len() as u64, "rule")];
    if let Some(manifests) = &loaded.manifests {
        parts.push(output::count(manifests.len() as u64, "agent"));
    }
    if let Some(users) = &loaded.users {
        parts.push(output::count(users.iter().count() as u64, "user"));
    }
    if let Some(off) = domains_off(loaded).filter(|it| !it.is_empty()) {
        parts.push(format!("switched off: {}", off.join(", ")));
    }
    output::note(&format!("the policy is in order: {}; {}", parts.join(", "), loaded.source));
}
