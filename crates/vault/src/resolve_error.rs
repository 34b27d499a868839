//! Why a secret is not given.

use crate::name::Name;

/// Why a secret is not given. It is told to the agent, so it says nothing that an agent should not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The manifest does not grant it.
    #[error("the agent has no grant for `{0}`")]
    NotGranted(Name),
    /// A person has to be asked, and was not.
    #[error("a person has to approve each use of `{0}`")]
    NotApproved(Name),
    /// It is not there.
    #[error("there is no secret `{0}`: the operator sets it with `lazaret vault set {0}`")]
    Missing(Name),
    /// It is for other hosts.
    #[error(
        "the secret `{name}` is not for `{host}`; the operator binds it with `lazaret vault set {name} --host {host}`"
    )]
    Elsewhere {
        /// The secret.
        name: Name,
        /// Where it was to be sent.
        host: String,
    },
    /// It is for hosts, and was to go into the environment of a program.
    #[error(
        "the secret `{0}` is for hosts, and what a program does with it nobody sees; the operator sets another one for the server, without `--host`"
    )]
    ForHosts(Name),
    /// The vault does not open any more.
    #[error("the vault does not open; the operator should look")]
    Vault,
    /// What is not recorded is not given.
    #[error("its use could not be recorded")]
    NotRecorded,
}
