//! Trust in a server, and which capabilities of an agent's host its output may set in motion.
//!
//! INVARIANT (TrustNotContent): the level governs; nothing that a server says can raise it.

use serde::{Deserialize, Serialize};

/// A level of trust in a server. What is not said is `untrusted`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// Nothing may be set in motion.
    Sandboxed,
    /// What only reads may be set in motion.
    #[default]
    Untrusted,
    /// Every declared capability may be set in motion.
    Trusted,
}

/// An effect of a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// It reads and changes nothing.
    Read,
    /// It changes something, runs something, or sends something away.
    Write,
}

/// A refusal to let a server's output set a capability in motion.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfusedDeputy {
    /// The server is sandboxed.
    #[error(
        "`{server}` is sandboxed: nothing that it returns may use `{capability}`; only an operator can raise its trust"
    )]
    Sandboxed {
        /// The server.
        server: String,
        /// The capability.
        capability: String,
    },
    /// The server is untrusted and the capability writes.
    #[error(
        "`{server}` is untrusted: what it returns may only use capabilities that read, and `{capability}` writes; only an operator can raise its trust"
    )]
    WriteByUntrusted {
        /// The server.
        server: String,
        /// The capability.
        capability: String,
    },
    /// The capability was never declared.
    #[error("`{capability}` is not among the declared capabilities, so `{server}` cannot use it")]
    Undeclared {
        /// The server.
        server: String,
        /// The capability.
        capability: String,
    },
}

/// Checks that a server of this trust may set a capability in motion. `declared` has every capability of the host
/// with its access.
pub fn check(
    trust: Trust,
    server: &str,
    capability: &str,
    declared: &[(&str, Access)],
) -> Result<(), ConfusedDeputy> {
    let (server, name) = (server.to_owned(), capability.to_owned());
    if trust == Trust::Sandboxed {
        return Err(ConfusedDeputy::Sandboxed { server, capability: name });
    }
    let Some((_, access)) = declared.iter().find(|(it, _)| *it == capability) else {
        return Err(ConfusedDeputy::Undeclared { server, capability: name });
    };
    match (trust, access) {
        (Trust::Trusted, Access::Read | Access::Write) | (Trust::Untrusted, Access::Read) => Ok(()),
        (Trust::Untrusted | Trust::Sandboxed, Access::Write) | (Trust::Sandboxed, Access::Read) => {
            Err(ConfusedDeputy::WriteByUntrusted { server, capability: name })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_trust_and_access() {
        let declared = [("fs/read", Access::Read), ("fs/write", Access::Write)];
        let allowed = |trust, capability| check(trust, "s", capability, &declared).is_ok();
        let row = |trust| ["fs/read", "fs/write", "terminal"].map(|it| allowed(trust, it));
        assert_eq!(row(Trust::Trusted), [true, true, false]);
        assert_eq!(row(Trust::Untrusted), [true, false, false]);
        assert_eq!(row(Trust::Sandboxed), [false, false, false]);
        assert_eq!(Trust::default(), Trust::Untrusted);
    }
}
