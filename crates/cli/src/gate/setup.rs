//! The gate of the commands: the policy and the catalogue that they name, on the state directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

pub(crate) use host::Gate;
use host::GateError;
use monitor::provenance::Catalogue;
use policy::Policy;

use crate::failure::Failure;
use crate::policy::folder;
use crate::policy::live::RULES;

impl From<GateError> for Failure {
    fn from(error: GateError) -> Self {
        match error {
            GateError::Usage(why) => Self::usage(why),
            GateError::Refused(why) => Self::refused(why),
            GateError::Unable(why) | GateError::Busy(why) => Self::unable(why),
        }
    }
}

/// Closes a gate when nobody holds it any more.
pub(crate) fn close(mut gate: Arc<Gate>, within: Duration) -> Result<(), Failure> {
    let until = Instant::now() + within;
    loop {
        match Arc::try_unwrap(gate) {
            Ok(gate) => return gate.close().map_err(Failure::from),
            Err(held) if Instant::now() < until => {
                gate = held;
                thread::sleep(LOOK);
            }
            // The journal is whole without it: what is open is closed at the next start.
            Err(_) => return Err(Failure::unable("a call does not come back")),
        }
    }
}

/// How often it is looked whether nobody holds it.
const LOOK: Duration = Duration::from_millis(1);

/// The rules for a gate on `home`: the embedded ones, and those of `dir`, or of the state directory itself.
pub(crate) fn policy_of(home: &Path, dir: Option<&Path>) -> Result<Policy, Failure> {
    policy(rules_dir(home, dir).as_deref())
}

/// `dir`, or the rules of the state directory, if it has some.
fn rules_dir(home: &Path, dir: Option<&Path>) -> Option<PathBuf> {
    let own = home.join(RULES);
    // Whatever is there is read, or refused: a link that leads nowhere is no empty folder.
    let own = || own.symlink_metadata().is_ok().then_some(own.clone());
    dir.map(Path::to_owned).or_else(own)
}

/// The same with what its `catalogue.json` says of tools, beneath what is known of those that a proxy has: what a browser's
/// pages ask for are calls of them.
pub(crate) fn rules_of(home: &Path, dir: Option<&Path>) -> Result<(Policy, Catalogue), Failure> {
    let loaded = loaded(rules_dir(home, dir).as_deref())?;
    let ours = gateway::proxy::catalogue().map_err(Failure::unable)?;
    Ok((loaded.policy, loaded.catalogue.beneath(ours)))
}

/// The embedded rules, and those of a directory.
pub(crate) fn policy(dir: Option<&Path>) -> Result<Policy, Failure> {
    Ok(loaded(dir)?.policy)
}

fn loaded(dir: Option<&Path>) -> Result<folder::Loaded, Failure> {
    folder::load(dir).map_err(|flaws| {
        let lines = flaws.iter().map(ToString::to_string).collect::<Vec<_>>();
        // A message is one line: `lazaret policy check` shows each flaw on its own.
        Failure::usage(format!("the policy does not load: {}", lines.join("; ")))
    })
}

/// A catalogue from a file; without one, tools are classified by ourselves.
pub(crate) fn catalogue(file: Option<&Path>) -> Result<Catalogue, Failure> {
    let Some(file) = file else { return Ok(Catalogue::default()) };
    let at =
        |error: &dyn std::fmt::Display| Failure::usage(format!("`{}`: {error}", file.display()));
    let text = fs::read_to_string(file).map_err(|error| at(&error))?;
    Catalogue::parse(&text).map_err(|error| at(&error))
}
