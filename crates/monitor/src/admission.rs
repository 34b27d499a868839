//! What the five layers of access look at, for one session.

use std::sync::Arc;

use policy::access::{Global, Manifest, Network, Origin, User};
use scan::net::Inner;

/// By which files a session was admitted.
#[derive(Clone, Debug)]
pub enum Admission {
    /// A machine of one person, without settings, manifests and users: the policy alone decides.
    OnePerson,
    /// By settings, a manifest and a user, all of which parsed.
    Layered {
        /// The host's settings.
        global: Arc<Global>,
        /// The agent's manifest.
        manifest: Arc<Manifest>,
        /// The user.
        user: Arc<User>,
        /// Where the session comes from.
        origin: Origin,
    },
}

impl Admission {
    /// Do commands of the agent have a way to the network, which is our proxy? Only where the settings name the agent
    /// and its manifest does not close it.
    #[must_use]
    pub fn commands_reach_out(&self) -> bool {
        match self {
            Self::OnePerson => false,
            Self::Layered { global, manifest, .. } => {
                global.shell().has_network(&manifest.agent) && !self.closes_network()
            }
        }
    }

    /// Hosts of the inner network that the settings open.
    #[must_use]
    pub fn inner(&self) -> Inner {
        match self {
            Self::OnePerson => Inner::default(),
            Self::Layered { global, .. } => global.egress().inner.clone(),
        }
    }

    /// Does the manifest say that programs of the agent have no network, whoever starts them?
    #[must_use]
    pub fn closes_network(&self) -> bool {
        match self {
            Self::OnePerson => false,
            Self::Layered { manifest, .. } => manifest.sandbox.network == Some(Network::None),
        }
    }
}
