//! The surroundings: `config.yaml`, the part under `sandbox` (seed 004's `SandboxProfile`).

use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::scalar::{Flag, Number};

/// What must confine the host itself. Where it does not, there is no session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SandboxProfile {
    /// Processes and mounts of its own.
    #[serde(deserialize_with = "flag")]
    pub require_container: bool,
    /// System calls are filtered.
    #[serde(deserialize_with = "flag")]
    pub require_seccomp: bool,
    /// The root is mounted read-only.
    #[serde(deserialize_with = "flag")]
    pub require_readonly_root: bool,
    /// A network of its own.
    #[serde(deserialize_with = "flag")]
    pub network_namespace: bool,
    /// Processes are bounded by this many or fewer.
    #[serde(deserialize_with = "bound")]
    pub max_processes: Option<u32>,
    /// Open files are bounded by this many or fewer.
    #[serde(deserialize_with = "bound")]
    pub max_open_files: Option<u32>,
    allowed_syscalls: Unseen,
}

/// Tells whether a bound is higher than it was. Without one everything is allowed.
pub fn is_higher<T: PartialOrd>(was: Option<T>, is: Option<T>) -> bool {
    match (was, is) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(was), Some(is)) => is > was,
    }
}

impl SandboxProfile {
    /// Is something that was required no longer required, or required less strictly?
    #[must_use]
    pub fn holds_less_than(&self, before: &Self) -> bool {
        // Without `..`: whatever is new has to be compared before this compiles.
        let Self {
            require_container,
            require_seccomp,
            require_readonly_root,
            network_namespace,
            max_processes,
            max_open_files,
            allowed_syscalls: Unseen,
        } = before;
        *require_container && !self.require_container
            || *require_seccomp && !self.require_seccomp
            || *require_readonly_root && !self.require_readonly_root
            || *network_namespace && !self.network_namespace
            || is_higher(*max_processes, self.max_processes)
            || is_higher(*max_open_files, self.max_open_files)
    }
}

fn flag<'de, D: Deserializer<'de>>(input: D) -> Result<bool, D::Error> {
    Flag::deserialize(input).map(|it| it.0)
}

fn bound<'de, D: Deserializer<'de>>(input: D) -> Result<Option<u32>, D::Error> {
    let Number(number) = Number::deserialize(input)?;
    let is_whole = number.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&number);
    match is_whole {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is whole and within bounds"
        )]
        true => Ok(Some(number as u32)),
        false => Err(D::Error::custom("a whole number from 1 on")),
    }
}

/// A list that nobody could check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Unseen;

impl<'de> Deserialize<'de> for Unseen {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        let why = "which system calls a filter lets through cannot be seen from inside; `require_seccomp` asks that there is one";
        Err(D::Error::custom(why))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Global;
    use super::*;

    fn read(text: &str) -> Result<SandboxProfile, String> {
        let read = Global::parse(&format!("sandbox:\n  {text}\n"));
        read.map(|it| it.sandbox().clone()).map_err(|it| it.to_string())
    }

    #[test]
    fn what_is_required_is_read_and_nothing_is_guessed() {
        let all = read("require_container: true\n  max_processes: 512\n  network_namespace: true");
        let expected = SandboxProfile {
            require_container: true,
            network_namespace: true,
            max_processes: Some(512),
            ..SandboxProfile::default()
        };
        assert_eq!(all.unwrap(), expected);
        for wrong in [
            "require_container: yes",
            "require_containers: true",
            "max_processes: 0",
            "max_processes: 1.5",
            "max_open_files: \"7\"",
            "max_open_files: -1",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(read("allowed_syscalls: [read]").unwrap_err().contains("cannot be seen"));
    }
}
