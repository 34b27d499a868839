//! What the operator requires of the surroundings (seed 004's `SandboxProfile`), held against what was found.

use super::findings::{Status, is_contained};
use super::namespaces::{Namespace, Own};
use super::process::Seccomp;
use super::report::Audit;

/// What must be so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// Processes and mounts of its own.
    Container,
    /// System calls are filtered.
    Seccomp,
    /// The root is mounted read-only.
    ReadonlyRoot,
    /// A network of its own.
    NetworkNamespace,
    /// Every wall that the audit looks for and needs.
    Full,
    /// Processes are bounded by so many or fewer.
    Processes(u32),
    /// Open files are bounded by so many or fewer.
    OpenFiles(u32),
}

impl Requirement {
    /// The requirement of a name, or of a name and a number: `container`, `max_processes=512`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let number = |it: &str| it.parse::<u32>().ok().filter(|it| *it > 0);
        Some(match text.split_once('=') {
            Some(("max_processes", most)) => Self::Processes(number(most)?),
            Some(("max_open_files", most)) => Self::OpenFiles(number(most)?),
            Some(_) => return None,
            None => match text {
                "container" => Self::Container,
                "seccomp" => Self::Seccomp,
                "readonly_root" => Self::ReadonlyRoot,
                "network_namespace" => Self::NetworkNamespace,
                "full" => Self::Full,
                _ => return None,
            },
        })
    }

    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Container => "container",
            Self::Seccomp => "seccomp",
            Self::ReadonlyRoot => "readonly_root",
            Self::NetworkNamespace => "network_namespace",
            Self::Full => "full",
            Self::Processes(_) => "max_processes",
            Self::OpenFiles(_) => "max_open_files",
        }
    }

    /// Why it is not met, if it is not. What could not be found out is not met.
    #[must_use]
    pub fn lacks(self, audit: &Audit) -> Option<String> {
        let facts = audit.facts();
        let because = |holds: bool, why: &str| (!holds).then(|| why.to_owned());
        match self {
            Self::Container => {
                because(is_contained(facts), "it sees the machine's processes or mounts")
            }
            Self::Seccomp => because(
                matches!(facts.process.seccomp, Some(Seccomp::Filter | Seccomp::Strict)),
                "system calls are not filtered",
            ),
            Self::ReadonlyRoot => {
                because(facts.readonly_root == Some(true), "the root can be written")
            }
            Self::NetworkNamespace => {
                because(facts.whose(Namespace::Network) == Own::Yes, "it has the machine's network")
            }
            Self::Full => {
                let weak = audit.findings().iter().filter(|it| it.needed);
                let weak: Vec<&str> =
                    weak.filter(|it| it.status != Status::Pass).map(|it| it.id).collect();
                because(weak.is_empty(), &weak.join(", "))
            }
            Self::Processes(most) => over("processes", facts.limits.processes, most),
            Self::OpenFiles(most) => over("open files", facts.limits.open_files, most),
        }
    }
}

fn over(what: &str, bound: Option<u64>, most: u32) -> Option<String> {
    match bound {
        Some(bound) if bound <= u64::from(most) => None,
        Some(bound) => Some(format!("{bound} {what} are allowed, and {most} may be")),
        None => Some(format!("{what} are not bounded")),
    }
}
