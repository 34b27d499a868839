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
        /// The sub-agents whose session it is, from that of the agent itself downwards; none if it is the agent's own. It
        /// has at most what each of them has.
        sub_agents: Vec<String>,
    },
}

impl Admission {
    /// The same for the session of sub-agents; none if the manifest does not name one of them.
    #[must_use]
    pub fn of_sub_agents(self, names: Vec<String>) -> Option<Self> {
        match self {
            Self::OnePerson => names.is_empty().then_some(Self::OnePerson),
            Self::Layered { global, manifest, user, origin, .. } => {
                let are_there = names.iter().all(|it| manifest.agents.contains_key(it));
                let layered = Self::Layered { global, manifest, user, origin, sub_agents: names };
                are_there.then_some(layered)
            }
        }
    }

    /// The sub-agents whose session it is.
    #[must_use]
    pub fn sub_agents(&self) -> &[String] {
        match self {
            Self::OnePerson => &[],
            Self::Layered { sub_agents, .. } => sub_agents,
        }
    }

    /// As whom its calls are judged: as each of its sub-agents, or as the agent itself.
    pub(crate) fn callers(&self) -> Vec<Option<&str>> {
        match self.sub_agents() {
            [] => vec![None],
            names => names.iter().map(|it| Some(it.as_str())).collect(),
        }
    }

    /// Did its user come over the network?
    pub(crate) fn is_remote(&self) -> bool {
        matches!(self, Self::Layered { origin: Origin::Remote, .. })
    }

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
