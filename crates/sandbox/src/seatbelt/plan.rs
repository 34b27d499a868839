//! A cage as a profile: everything that is decided before a process is started.

use std::ffi::OsString;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

use super::policy::{Policy, PolicyError};
use super::{Kind, Network, Request};
use crate::cage::environment;
use crate::cage::error::CageError;
use crate::cage::git;
use crate::cage::given::{allowed, changeable, kept_places, real};
use crate::cage::nested::Nested;
use crate::cage::{self, Cage, Held, Hold, Inmate, Maker, Rung};

/// What is run behind which profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The profile.
    pub profile: String,
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// Where it starts.
    pub directory: PathBuf,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// What will hold it, if the system takes the profile.
    pub held: Held,
    pub(super) nested: Nested,
}

impl Plan {
    /// Plans a cage. `fresh` is a directory for what the program makes for itself, `port` the one of this machine where our
    /// proxy listens.
    ///
    /// # Errors
    /// If there is no home, something cannot be given, or something is asked for that only Linux has.
    pub fn of(
        cage: &Cage,
        inmate: &Inmate,
        fresh: &Path,
        port: Option<NonZeroU16>,
    ) -> Result<Self, CageError> {
        inmate.program()?;
        only_elsewhere(cage, inmate)?;
        cage.workspaces.iter().try_for_each(|it| changeable(it, cage))?;
        cage.readable.iter().try_for_each(|it| allowed(it, cage))?;
        if !inmate.directory.is_dir() {
            let step = format!("enter {}", inmate.directory.display());
            return Err(CageError::step(step, "it is no directory"));
        }
        let nested = Nested::find(&cage.workspaces, &cage.readable)?;
        git::check(&nested)?;
        let policy = Policy::look(&request(cage, &nested, fresh, port)?).map_err(refused)?;
        // Nothing here asks for a kind without one.
        let profile = policy.profile().ok_or_else(|| CageError::NoCage("no profile".to_owned()))?;
        let mut environment = inmate.environment.clone();
        let added = environment::added(&cage.network, port.map(NonZeroU16::get), Some(fresh));
        environment.extend(added.into_iter().map(|(name, value)| (name.into(), value)));
        Ok(Self {
            held: held(cage, &profile),
            profile,
            words: inmate.words.clone(),
            directory: inmate.directory.clone(),
            environment,
            nested,
        })
    }
}

/// What cannot be had here is not left out in silence.
fn only_elsewhere(cage: &Cage, inmate: &Inmate) -> Result<(), CageError> {
    let no = |why: &str| Err(CageError::Settings(why.to_owned()));
    if inmate.terminal {
        return no("a terminal of its own is made on Linux only");
    }
    if !cage.changed.is_empty() {
        return no("what is kept can be changed by commands on Linux only (--change)");
    }
    if !cage.belongings.is_empty() {
        return no("an agent's own files are given on Linux only (--preset none)");
    }
    match cage.maker {
        Maker::Either => Ok(()),
        Maker::Own | Maker::Bubblewrap => {
            no("there are no namespaces here that anybody could make")
        }
    }
}

fn request(
    cage: &Cage,
    nested: &Nested,
    fresh: &Path,
    port: Option<NonZeroU16>,
) -> Result<Request, CageError> {
    let network = match (&cage.network, port) {
        (cage::Network::None, None) => Network::None,
        (cage::Network::Proxy(_), Some(port)) => Network::Proxy(port),
        (cage::Network::None, Some(_)) | (cage::Network::Proxy(_), None) => {
            return Err(CageError::step("find the proxy", "its port is not the one asked for"));
        }
    };
    let is_shown = |it: &PathBuf| cage.shown.contains(it);
    // A link is not closed itself: what it leads to is.
    let secrets = nested.secrets.iter().filter(|it| !is_shown(it)).filter_map(|it| real(it));
    let covered = secrets.filter(|it| !is_shown(it)).collect();
    let writes = |it: &&PathBuf| cage.workspaces.contains(it);
    let mut allow_read = cage.shown.clone();
    // Everything else can be read anyway, and what is named here would be opened with the secrets in it.
    allow_read.extend(cage.own.iter().filter(|it| !writes(it)).cloned());
    let mut allow_write = cage.workspaces.clone();
    allow_write.push(fresh.to_owned());
    Ok(Request {
        kind: Kind::Workspace,
        home: cage.home.clone(),
        state: cage.state.clone(),
        workspace: None,
        allow_read,
        allow_write,
        own: cage.own.iter().find(writes).cloned(),
        covered,
        kept: kept_places(nested),
        network,
        denied_domains: Vec::new(),
    })
}

fn held(cage: &Cage, profile: &str) -> Held {
    let left_out = |rung| cage.without.contains(&rung);
    let missing = || Hold::Missing("left out".to_owned());
    let rules = profile.lines().filter(|it| it.starts_with('(')).count();
    let mut held = Held::default();
    held.note(
        Rung::Seatbelt,
        match left_out(Rung::Seatbelt) {
            true => missing(),
            false => Hold::Held(format!("a profile of {rules} rules")),
        },
    );
    let limits = &cage.limits;
    held.note(
        Rung::Limits,
        match left_out(Rung::Limits) {
            true => missing(),
            false => Hold::Held(format!(
                "{} processes of the user, {} open files; memory is not bounded",
                limits.processes, limits.open_files
            )),
        },
    );
    held
}

fn refused(error: PolicyError) -> CageError {
    match error {
        PolicyError::NoHome | PolicyError::Io { .. } => CageError::NoCage(error.to_string()),
        PolicyError::Kind(_) | PolicyError::Path { .. } | PolicyError::Contradiction(_) => {
            CageError::Settings(error.to_string())
        }
    }
}
