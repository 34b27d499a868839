//! How a skill's program is run: seed 004's `SkillExecutionConfig`, and the cage that it asks for.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::cage::{Cage, DENIED_SYSCALLS, Limits, Rung};
use crate::oci::Profile;

/// No settings are longer.
pub const CONFIG_BYTES_MAX: usize = 1 << 16;
/// So many paths may be listed.
pub const ALLOWLIST_MAX: usize = 64;
/// How long a skill may run, in milliseconds.
pub const TIMEOUT_MS_MAX: u64 = 60 * 60 * 1000;
/// The same if nothing is said.
pub const TIMEOUT_MS_DEFAULT: u64 = 30 * 1000;
/// Less memory starts no interpreter.
pub const MEMORY_BYTES_MIN: u64 = 16 << 20;
/// The most memory.
pub const MEMORY_BYTES_MAX: u64 = 64 << 30;
/// The same if nothing is said.
pub const MEMORY_BYTES_DEFAULT: u64 = 512 << 20;

/// Calls that do not exist in a cage: those whose arguments a filter cannot see, and those of other processors, which a
/// profile for several names as well.
const ABSENT: &[&str] = &[
    "clone3",
    "openat2",
    #[cfg(not(target_arch = "x86_64"))]
    "_sysctl",
    #[cfg(not(target_arch = "x86_64"))]
    "ioperm",
    #[cfg(not(target_arch = "x86_64"))]
    "iopl",
    #[cfg(not(target_arch = "x86_64"))]
    "modify_ldt",
    #[cfg(not(target_arch = "x86_64"))]
    "sysfs",
    #[cfg(not(target_arch = "x86_64"))]
    "uselib",
    #[cfg(not(target_arch = "x86_64"))]
    "ustat",
];
/// Calls that a cage refuses for some of their arguments, and that a profile may refuse for some.
const REFUSED_BY_ARGUMENT: &[&str] = &["clone", "ioctl", "socket"];

/// How a skill's program is run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SkillExecutionConfig {
    /// In a process of its own. There is no other way here.
    pub use_subprocess: bool,
    /// A seccomp profile that must hold. The cage's own filter always does; a profile that refuses more is not taken.
    pub seccomp_profile: Option<PathBuf>,
    /// What it may read besides itself and the system's programs.
    pub filesystem_allowlist: Vec<PathBuf>,
    /// When it is ended, in milliseconds.
    pub timeout_ms: u64,
    /// How much memory it may take.
    pub max_memory_bytes: u64,
}

impl Default for SkillExecutionConfig {
    fn default() -> Self {
        Self {
            use_subprocess: true,
            seccomp_profile: None,
            filesystem_allowlist: Vec::new(),
            timeout_ms: TIMEOUT_MS_DEFAULT,
            max_memory_bytes: MEMORY_BYTES_DEFAULT,
        }
    }
}

/// Where a skill and what it must not see lie.
#[derive(Clone, Copy, Debug)]
pub struct SkillPlaces<'a> {
    /// The skill itself, to read.
    pub skill: &'a Path,
    /// Where it may write.
    pub scratch: &'a Path,
    /// The home whose secrets stay outside.
    pub home: &'a Path,
    /// Our own state.
    pub state: &'a Path,
}

/// Why settings are not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// They are too long.
    #[error("settings of a skill have at most {CONFIG_BYTES_MAX} bytes")]
    TooLong,
    /// They are none.
    #[error("settings of a skill: {0}")]
    Malformed(#[from] serde_json::Error),
    /// They are something else.
    #[error("settings of a skill are a JSON object")]
    NoObject,
    /// A skill within our own process could do whatever we can.
    #[error("`use_subprocess` must be true: a skill is never run within this process")]
    WithinUs,
    /// A number out of its bounds.
    #[error("`{field}` is {value}, and must be between {min} and {max}")]
    Bounds {
        /// Which.
        field: &'static str,
        /// What it is.
        value: u64,
        /// The least.
        min: u64,
        /// The most.
        max: u64,
    },
    /// Too many paths.
    #[error("`filesystem_allowlist` has at most {ALLOWLIST_MAX} paths")]
    TooManyPaths,
    /// A path that means different things in different places.
    #[error("`{0}` is not an absolute path without dots")]
    Path(String),
    /// A profile that cannot be kept.
    #[error("`seccomp_profile` refuses what the cage does not: {0}")]
    MoreRefused(String),
}

impl SkillExecutionConfig {
    /// Reads settings, and takes them only within their bounds.
    ///
    /// # Errors
    /// If anything is missing, unknown or out of bounds.
    pub fn parse(text: &str) -> Result<Self, SkillError> {
        if text.len() > CONFIG_BYTES_MAX {
            return Err(SkillError::TooLong);
        }
        // A list would be read as fields in their order.
        if !text.trim_start().starts_with('{') {
            return Err(SkillError::NoObject);
        }
        let read: Self = serde_json::from_str(text)?;
        read.check()?;
        Ok(read)
    }

    fn check(&self) -> Result<(), SkillError> {
        if !self.use_subprocess {
            return Err(SkillError::WithinUs);
        }
        bounded("timeout_ms", self.timeout_ms, 1, TIMEOUT_MS_MAX)?;
        bounded("max_memory_bytes", self.max_memory_bytes, MEMORY_BYTES_MIN, MEMORY_BYTES_MAX)?;
        if self.filesystem_allowlist.len() > ALLOWLIST_MAX {
            return Err(SkillError::TooManyPaths);
        }
        let paths = self.filesystem_allowlist.iter().chain(&self.seccomp_profile);
        match paths.into_iter().find(|it| !is_plain(it)) {
            Some(path) => Err(SkillError::Path(path.display().to_string())),
            None => Ok(()),
        }
    }

    /// Whoever reads the profile that is named shows it here.
    ///
    /// # Errors
    /// If it refuses a call that the cage lets through: then it would not hold.
    pub fn accept(&self, profile: &Profile) -> Result<(), SkillError> {
        let refused = |name: &str| DENIED_SYSCALLS.iter().any(|it| it.0 == name);
        let known = |name: &str| refused(name) || ABSENT.contains(&name);
        let sometimes = |name: &str| known(name) || REFUSED_BY_ARGUMENT.contains(&name);
        let more = profile.denied.iter().map(String::as_str).filter(|it| !known(it));
        let narrower = profile.denied_sometimes.iter().map(String::as_str);
        let more: Vec<&str> = more.chain(narrower.filter(|it| !sometimes(it))).collect();
        if more.is_empty() { Ok(()) } else { Err(SkillError::MoreRefused(more.join(" "))) }
    }

    /// The cage for a skill. There is no way to the network.
    ///
    /// # Errors
    /// If the settings are out of bounds.
    pub fn cage(&self, places: &SkillPlaces<'_>) -> Result<Cage, SkillError> {
        self.check()?;
        let mut readable = vec![places.skill.to_owned()];
        readable.extend(self.filesystem_allowlist.iter().cloned());
        let limits = Limits {
            wall_time: Some(Duration::from_millis(self.timeout_ms)),
            memory_bytes: self.max_memory_bytes,
            ..Limits::default()
        };
        let needed = Rung::FOR_SKILLS.to_vec();
        let workspaces = vec![places.scratch.to_owned()];
        // Whoever lists the home, or something with secrets in it, is not given the secrets.
        let (home, state) = (Some(places.home.to_owned()), Some(places.state.to_owned()));
        // A skill may lie in our state, of which nothing else is seen.
        let own = places.skill.starts_with(places.state).then(|| places.skill.to_owned());
        Ok(Cage { workspaces, readable, home, state, own, limits, needed, ..Cage::default() })
    }
}

fn bounded(field: &'static str, value: u64, min: u64, max: u64) -> Result<(), SkillError> {
    let within = (min..=max).contains(&value);
    if within { Ok(()) } else { Err(SkillError::Bounds { field, value, min, max }) }
}

fn is_plain(path: &Path) -> bool {
    let normal = |it: Component<'_>| matches!(it, Component::RootDir | Component::Normal(_));
    // `components` drops dots that say nothing.
    let dots = path.to_string_lossy().split('/').any(|it| matches!(it, "." | ".."));
    path.is_absolute() && !dots && path.components().all(normal)
}
