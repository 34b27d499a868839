//! The kernel's rules for files, TCP, abstract sockets and signals, laid over the file tree, or in its place.

use std::fs;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};

use super::error::{CageError, Step};
use super::ladder::Hold;
use super::view::View;

/// The newest interface that this was written for. An older kernel holds what it knows, and we say which it is.
const NEWEST: ABI = ABI::V7;
/// Devices that are written to.
const DEVICES: &[&str] = &["/dev"];
/// The same without a file tree of one's own: one by one.
const PLAIN_DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
/// Entries of one directory that rules are made for one by one.
const ENTRIES_MAX: usize = 4096;

/// Rules over the cage's own file tree: where it can be written is where files can be written.
pub(crate) fn over_own_tree(view: &View) -> Result<Hold, CageError> {
    let rules = files(ruleset(false)?, "/", AccessFs::from_read(NEWEST))?;
    let mut rules = rules;
    for at in view.writable.iter().chain(&view.fresh) {
        rules = files(rules, at, AccessFs::from_all(NEWEST))?;
    }
    let device = AccessFs::from_file(NEWEST) | AccessFs::ReadDir;
    for at in DEVICES {
        rules = files(rules, at, device)?;
    }
    restrict(rules)
}

/// Rules over the host's tree, where there is no other: only what is named can be reached.
///
/// What is to be kept within a workspace cannot be taken out of it again by these rules, and they say nothing of modes,
/// owners and times of files; the report says so.
pub(crate) fn over_host_tree(view: &View, fresh: &Path) -> Result<Hold, CageError> {
    // There are no sockets; if there were, they would reach nobody by TCP.
    let mut rules = ruleset(true)?;
    for at in view.readable.iter().map(PathBuf::as_path).chain([Path::new("/proc")]) {
        for part in without(at, &view.covered)? {
            rules = files(rules, &part, AccessFs::from_read(NEWEST))?;
        }
    }
    for at in &view.writable {
        if let Some(inside) = view.covered.iter().find(|it| it.starts_with(at)) {
            let what = format!("`{}` cannot be covered without namespaces", inside.display());
            return Err(CageError::step("landlock", what));
        }
        rules = files(rules, at, AccessFs::from_all(NEWEST))?;
    }
    rules = files(rules, fresh, AccessFs::from_all(NEWEST))?;
    for at in PLAIN_DEVICES.iter().filter(|it| Path::new(it).exists()) {
        rules = files(rules, at, AccessFs::from_file(NEWEST))?;
    }
    Ok(match restrict(rules)? {
        Hold::Held(how) => Hold::Held(format!("{how}, {NOT_HELD}")),
        missing @ Hold::Missing(_) => missing,
    })
}

/// What rules over the host's tree cannot hold.
const NOT_HELD: &str =
    "without what is kept in a workspace and without modes and times of the user's own files";

/// `network`: whether TCP is to be held as well.
fn ruleset(network: bool) -> Result<RulesetCreated, CageError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))
        .and_then(|it| it.scope(Scope::from_all(NEWEST)))
        .step("landlock")?;
    if network {
        rules = rules.handle_access(AccessNet::from_all(NEWEST)).step("landlock: TCP")?;
    }
    rules.create().step("landlock")
}

fn files(
    rules: RulesetCreated,
    at: impl AsRef<Path>,
    access: landlock::BitFlags<AccessFs>,
) -> Result<RulesetCreated, CageError> {
    let at = at.as_ref();
    let step = || format!("landlock: {}", at.display());
    // Of a file only what can be done with files may be allowed.
    let is_dir = at.metadata().step(step())?.is_dir();
    let access = if is_dir { access } else { access & AccessFs::from_file(NEWEST) };
    let parent = PathFd::new(at).step(step())?;
    rules.add_rule(PathBeneath::new(parent, access)).step(step())
}

/// A directory, or the parts of it that hold nothing of what is covered.
fn without(at: &Path, covered: &[PathBuf]) -> Result<Vec<PathBuf>, CageError> {
    if covered.iter().any(|it| at.starts_with(it)) {
        return Ok(Vec::new());
    }
    if !covered.iter().any(|it| it.starts_with(at)) {
        return Ok(vec![at.to_owned()]);
    }
    let step = || format!("landlock: list {}", at.display());
    let mut parts = Vec::new();
    for (count, entry) in fs::read_dir(at).step(step())?.enumerate() {
        if count == ENTRIES_MAX {
            return Err(CageError::step(step(), "too many entries"));
        }
        let entry = entry.step(step())?;
        // A link is followed by nobody here: what it leads to is allowed where that lies, or not at all.
        if !entry.file_type().step(step())?.is_symlink() {
            parts.extend(without(&entry.path(), covered)?);
        }
    }
    Ok(parts)
}

fn restrict(rules: RulesetCreated) -> Result<Hold, CageError> {
    let status = rules.restrict_self().step("landlock")?;
    let abi = match status.landlock {
        LandlockStatus::NotEnabled => return Ok(missing("it is not switched on at boot")),
        LandlockStatus::NotImplemented => return Ok(missing("this kernel does not have it")),
        LandlockStatus::Available { effective_abi, .. } => effective_abi as i32,
    };
    Ok(match status.ruleset {
        RulesetStatus::FullyEnforced => Hold::Held(format!("interface {abi}")),
        RulesetStatus::PartiallyEnforced => {
            Hold::Held(format!("interface {abi}, which lacks {}", lacking(abi)))
        }
        RulesetStatus::NotEnforced => missing("the kernel enforces none of the rules"),
    })
}

fn missing(why: &str) -> Hold {
    Hold::Missing(why.to_owned())
}

/// What an older interface does not know.
fn lacking(abi: i32) -> String {
    let all = [
        (2, "moves between directories"),
        (3, "truncation"),
        (4, "TCP"),
        (5, "device requests"),
        (6, "signals and abstract sockets"),
        (7, "its own log"),
    ];
    let names: Vec<&str> =
        all.iter().filter(|(since, _)| abi < *since).map(|(_, it)| *it).collect();
    if names.is_empty() { "something newer".to_owned() } else { names.join(", ") }
}
