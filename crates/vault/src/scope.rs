//! For which agent, and by which files, a key is asked for.

use std::sync::Arc;

use monitor::Admission;
use policy::access::{Domain, KeyGrant, KeyMode, Manifest, Origin};

/// By which manifest keys are given in a session.
#[derive(Clone)]
pub enum Scope {
    /// One person's machine, without files: all keys are theirs, and so are their agents.
    OnePerson,
    /// By a manifest.
    Manifest {
        /// The agent's.
        manifest: Arc<Manifest>,
        /// Where the session comes from.
        origin: Origin,
    },
    /// The host itself needs it, for something that the operator has set up: no agent chooses it.
    Host,
}

/// How a key was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) mode: &'static str,
    pub(crate) grant: Option<String>,
}

/// Why a key is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotGiven {
    NotGranted,
    NotApproved,
}

impl Scope {
    /// The scope of a session that was admitted so.
    #[must_use]
    pub fn of(admission: &Admission) -> Self {
        match admission {
            Admission::OnePerson => Self::OnePerson,
            Admission::Layered { manifest, origin, .. } => {
                Self::Manifest { manifest: Arc::clone(manifest), origin: *origin }
            }
        }
    }

    /// Does the agent get whatever there is, because its manifest says nothing of keys?
    #[must_use]
    pub fn is_legacy(&self) -> bool {
        match self {
            Self::OnePerson | Self::Host => false,
            Self::Manifest { manifest, origin } => manifest.key_mode(*origin) == KeyMode::Legacy,
        }
    }

    /// Could a key be given for this, if a person says yes where one is asked?
    #[must_use]
    pub fn could_give(&self, key: &str, domain: Domain) -> bool {
        self.give(key, domain, true).is_ok()
    }

    pub(crate) fn give(
        &self,
        key: &str,
        domain: Domain,
        approved: bool,
    ) -> Result<Given, NotGiven> {
        let (manifest, origin) = match self {
            Self::OnePerson => return Ok(Given { mode: "one_person", grant: None }),
            Self::Host => return Ok(Given { mode: "host", grant: None }),
            Self::Manifest { manifest, origin } => (manifest, *origin),
        };
        let mode = manifest.key_mode(origin).as_str();
        match manifest.key(key, domain, origin) {
            KeyGrant::Granted(grant) => Ok(Given { mode, grant: Some(grant.to_owned()) }),
            KeyGrant::Legacy => Ok(Given { mode, grant: None }),
            KeyGrant::NeedsApproval(grant) if approved => {
                Ok(Given { mode, grant: Some(grant.to_owned()) })
            }
            KeyGrant::NeedsApproval(_) => Err(NotGiven::NotApproved),
            KeyGrant::NotGranted => Err(NotGiven::NotGranted),
        }
    }
}
