//! `sandbox_audit`: what confines this process, told by the kernel and not by names.
//!
//! A container is namespaces of one's own. `/.dockerenv`, words in a cgroup's path and variables only say what somebody
//! wants us to believe, so that they name a container and never make one. Whether a namespace is the machine's own is
//! known by its number, which the kernel fixes, and not by comparing with process 1, which in a container is in the same
//! box. What cannot be read counts as absent.

mod findings;
mod namespaces;
mod process;
mod read;
mod report;
mod required;

use std::path::Path;

pub use findings::{Finding, Severity, Status};
pub use namespaces::{Namespace, Own};
pub use process::{Capabilities, Limits, Process, Seccomp};
pub use read::{Facts, Marker};
pub use report::{Audit, Compliance};
pub use required::Requirement;

/// Looks at the process that asks.
///
/// `root` is `/`; tests give a prepared tree. `variable` says what a variable of the environment is set to, if it is.
#[must_use]
pub fn audit(root: &Path, variable: impl Fn(&str) -> Option<String>) -> Audit {
    Audit::of(Facts::read(root, variable))
}
