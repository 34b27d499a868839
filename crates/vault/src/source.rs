//! Where secrets come from: the vault, or the environment of this process.

use std::ffi::OsString;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::contents::{Contents, Entry};
use crate::file::{VaultError, VaultFile};
use crate::key::Key;
use crate::name::Name;
use crate::secret::Secret;

/// Before the name of a secret in the environment.
pub const SECRET_PREFIX: &str = "LAZARET_SECRET_";
/// Before the name of a secret, for the hosts that it is for, with commas between.
pub const HOSTS_PREFIX: &str = "LAZARET_HOSTS_";

/// Why a value that can be guessed is not taken from the environment.
const GUESSABLE: &str = "the value can be guessed; use a longer random one, or `lazaret vault set` with --accept-guessable";

/// Where secrets come from.
pub enum Source {
    /// A vault, and what opens it.
    Vault {
        /// The vault.
        file: VaultFile,
        /// What opens it.
        key: Key,
    },
    /// The environment. What is set later is not seen, and nothing can be stored.
    Env(Vec<(String, OsString)>),
}

/// Something in the environment that is not taken as a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The variable.
    pub variable: String,
    /// Why.
    pub why: String,
}

impl Source {
    /// The environment of this process. From now on no other process of the user can read it out of `/proc`.
    #[must_use]
    pub fn env() -> Self {
        hide_environment();
        let all = std::env::vars_os().filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            let ours = name.starts_with(SECRET_PREFIX) || name.starts_with(HOSTS_PREFIX);
            ours.then_some((name, value))
        });
        Self::Env(all.collect())
    }

    /// What opens it, as text, one secret for each.
    pub(crate) fn keys(&self) -> Vec<Arc<Secret>> {
        match self {
            Self::Vault { key, .. } => key.as_secrets(),
            Self::Env(_) => Vec::new(),
        }
    }

    pub(crate) fn read(&self) -> Result<Contents, VaultError> {
        match self {
            Self::Vault { file, key } => file.open(key),
            Self::Env(all) => Ok(of_env(all).0),
        }
    }
}

/// Programs that agents start run as the same user, and could read their parent's environment.
#[cfg(target_os = "linux")]
fn hide_environment() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    // Where the kernel does not have it, the environment is as open as it was.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

#[cfg(not(target_os = "linux"))]
fn hide_environment() {}

/// The secrets of an environment, and what in it is not taken as one.
#[must_use]
pub fn of_env(all: &[(String, OsString)]) -> (Contents, Vec<Skipped>) {
    let mut skipped = Vec::new();
    let mut found = Vec::new();
    for (variable, value) in all {
        let Some(name) = variable.strip_prefix(SECRET_PREFIX) else { continue };
        match one(name, value, all) {
            Ok(entry) => found.push(entry),
            Err(why) => skipped.push(Skipped { variable: variable.clone(), why }),
        }
    }
    (found.into_iter().collect(), skipped)
}

fn one(name: &str, value: &OsString, all: &[(String, OsString)]) -> Result<(Name, Entry), String> {
    let name = Name::parse(name).map_err(|it| it.to_string())?;
    let value = value.to_str().ok_or("the value is not UTF-8")?;
    let secret = Secret::new(Zeroizing::new(value.to_owned())).map_err(|it| it.to_string())?;
    let secret = secret.unless_guessable().map_err(|_| GUESSABLE)?;
    let hosts = all.iter().find(|(it, _)| it.strip_prefix(HOSTS_PREFIX) == Some(name.as_str()));
    let hosts = hosts.map(|(_, it)| it.to_str().ok_or("its hosts are not UTF-8")).transpose()?;
    let hosts = hosts.unwrap_or_default().split(',').map(str::trim).filter(|it| !it.is_empty());
    let entry = Entry::single(secret, hosts.map(str::to_owned).collect());
    entry.map(|it| (name, it)).map_err(|it| it.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_the_prefix_and_can_be_kept_is_taken() {
        let all = [
            ("LAZARET_SECRET_GITHUB", "ghp_R4nd0mT0kenV4lueZq81"),
            ("LAZARET_SECRET_PIN", "83920174"),
            ("LAZARET_HOSTS_GITHUB", "api.github.com, *.example.org"),
            ("LAZARET_SECRET_SHORT", "short"),
            ("LAZARET_SECRET_", "nameless value"),
            ("LAZARET_SECRET_A-B", "bad name value"),
            ("LAZARET_SECRET_WIDE", "v4lue-of-m4ny-Zq81LkWm27"),
            ("LAZARET_HOSTS_WIDE", "*"),
            ("AWS_SECRET_ACCESS_KEY", "not ours at all"),
            ("lazaret_secret_x", "not ours either"),
        ];
        let all: Vec<_> = all.iter().map(|(a, b)| ((*a).to_owned(), OsString::from(b))).collect();
        let (contents, skipped) = of_env(&all);
        let names: Vec<_> =
            contents.iter().map(|(name, it)| (name.as_str(), it.hosts().len())).collect();
        assert_eq!(names, [("GITHUB", 2)]);
        let skipped: Vec<_> = skipped.iter().map(|it| it.variable.as_str()).collect();
        let expected = [
            "LAZARET_SECRET_PIN",
            "LAZARET_SECRET_SHORT",
            "LAZARET_SECRET_",
            "LAZARET_SECRET_A-B",
            "LAZARET_SECRET_WIDE",
        ];
        assert_eq!(skipped, expected);
    }
}
