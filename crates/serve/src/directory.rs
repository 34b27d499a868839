//! Who there is, which agents there are, and how they are served: the files of the state directory, read whole.
//!
//! INVARIANT (FailClosed): a file that is not understood changes nothing; at the start it is a refusal.

use std::path::Path;
use std::sync::Arc;

use agent::AgentCard;
use data_encoding::HEXLOWER;
use host::AdmissionError;
use model::provider::{Channel, Provider};
use model::{AgentId, Objection, UserId};
use policy::access::{Global, KnownTools, Manifest, ServeSettings, User, Users};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use vault::access::{AccessError, Issued, KeptTokens, Tokens};

use crate::limits::TOKEN_BYTES_MAX;

/// What the files say, at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Directory {
    /// Everybody who may come in.
    pub users: Users,
    /// The agents whose manifests are understood.
    pub manifests: Vec<Arc<Manifest>>,
    /// Agents whose manifests are not, and why.
    pub broken: Vec<(String, String)>,
    /// How agents are served.
    pub settings: ServeSettings,
    /// All settings, by which it is seen what changed.
    pub global: Arc<Global>,
}

/// Somebody who showed a token.
#[derive(Clone, Debug)]
pub struct Known {
    /// Who.
    pub user: Arc<User>,
    /// The name of the token. The token itself is not kept.
    pub token: String,
    shown: Shown,
}

/// On whose word somebody is known.
#[derive(Clone, Debug)]
enum Shown {
    /// The token of the users file.
    Own,
    /// A token that was issued, for these agents alone if it names some.
    Issued(Option<Vec<String>>),
    /// The operator at this machine.
    Operator,
    /// A messenger: who they are there.
    Peer(Channel, String),
}

/// Characters of a hash that name a token.
const ID_CHARS: usize = 12;

impl Directory {
    /// Reads the files of `home`.
    ///
    /// # Errors
    /// If the settings or the users are not understood.
    pub fn load(home: &Path) -> Result<Self, AdmissionError> {
        let global = host::settings(home)?.unwrap_or_default();
        let settings = global.serve().clone();
        let users = host::users(home, &KnownTools::default())?.unwrap_or_default();
        let (mut manifests, mut broken) = (Vec::new(), Vec::new());
        for agent in host::agents(home)? {
            match host::manifest(home, &agent) {
                Ok((_, manifest)) => manifests.push(Arc::new(manifest)),
                // INVARIANT (FailClosed): an agent that is not understood is not there.
                Err(error) => broken.push((agent.to_string(), error.to_string())),
            }
        }
        Ok(Self { users, manifests, broken, settings, global: Arc::new(global) })
    }

    /// The same, with agents whose manifests are broken now as they were `before`: a broken file changes nothing.
    #[must_use]
    pub(crate) fn keeping(mut self, before: &Self) -> Self {
        for (agent, _) in &self.broken {
            self.manifests.extend(before.manifest(agent).map(Arc::clone));
        }
        self.manifests.sort_by(|one, other| one.agent.cmp(&other.agent));
        self
    }

    /// The manifest of an agent.
    #[must_use]
    pub fn manifest(&self, agent: &str) -> Option<&Arc<Manifest>> {
        self.manifests.iter().find(|it| it.agent.as_str() == agent)
    }

    /// The agents that somebody may use.
    #[must_use]
    pub fn open_to(&self, known: &Known) -> Vec<AgentCard> {
        let open = self.manifests.iter().filter(|it| known.may_use(it).is_ok());
        open.map(|it| card(it)).collect()
    }

    /// Agents that the users file names and that are not there.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let named = self.users.iter().filter_map(|it| match &it.agents {
            policy::access::Agents::All => None,
            policy::access::Agents::Only(names) => Some(names),
        });
        let absent = |it: &&AgentId| self.manifest(it.as_str()).is_none();
        named.flatten().filter(absent).map(ToString::to_string).collect()
    }

    /// Who shows `token`. Every hash is compared, each in constant time.
    ///
    /// # Errors
    /// If the tokens cannot be read: then nobody is known.
    pub fn verify(
        &self,
        tokens: &KeptTokens,
        token: &str,
        now: i64,
    ) -> Result<Option<Known>, AccessError> {
        if token.is_empty() || token.len() > TOKEN_BYTES_MAX {
            return Ok(None);
        }
        let bearer = tokens.verify(token, now)?;
        let hash = HEXLOWER.encode(&Sha256::digest(token.as_bytes()));
        let mut own = None;
        for user in self.users.iter() {
            if bool::from(user.token_hash.as_bytes().ct_eq(hash.as_bytes())) {
                own = Some(user);
            }
        }
        if let Some(bearer) = bearer {
            let user = self.users.get(bearer.user.as_str());
            return Ok(user.map(|user| Known {
                user: narrowed(user, bearer.agents()),
                token: bearer.id.clone(),
                shown: Shown::Issued(bearer.agents().map(<[_]>::to_vec)),
            }));
        }
        let token = hash.chars().take(ID_CHARS).collect();
        Ok(own.map(|user| Known { user: Arc::new(user.clone()), token, shown: Shown::Own }))
    }

    /// A user on the word of the operator at this machine, who shows no token.
    pub(crate) fn named(&self, name: &str) -> Option<Known> {
        let user = self.users.get(name)?;
        let (user, token) = (narrowed(user, None), "local".to_owned());
        Some(Known { user, token, shown: Shown::Operator })
    }

    /// A user on the word of a messenger, if the users file says who that is.
    pub(crate) fn at(&self, channel: Channel, peer: &str) -> Option<Known> {
        let user = narrowed(self.users.at(channel, peer)?, None);
        let shown = Shown::Peer(channel, peer.to_owned());
        Some(Known { user, token: Provider::Channel(channel).name().to_owned(), shown })
    }

    /// The same person as the files say it now; none if their token opens nothing any more.
    #[must_use]
    pub fn again(&self, known: &Known, issued: &[Issued], now: i64) -> Option<Known> {
        let user = self.users.get(known.user.name.as_str())?;
        let holds = match &known.shown {
            Shown::Issued(_) => issued.iter().any(|it| it.id == known.token && it.is_in_force(now)),
            Shown::Own => user.token_hash.starts_with(&known.token),
            Shown::Operator => true,
            Shown::Peer(channel, peer) => user.channels.has(*channel, peer),
        };
        let agents = known.only_agents();
        holds.then(|| Known { user: narrowed(user, agents), ..known.clone() })
    }
}

impl Known {
    /// Checks whether they may use an agent: by the users file, its manifest, and their token.
    ///
    /// # Errors
    /// If not.
    pub fn may_use(&self, manifest: &Manifest) -> Result<(), Objection> {
        self.user.may_use(manifest)
    }

    /// The agents beside which their token opens nothing, if it names some.
    #[must_use]
    pub fn only_agents(&self) -> Option<&[String]> {
        match &self.shown {
            Shown::Issued(agents) => agents.as_deref(),
            Shown::Own | Shown::Operator | Shown::Peer(..) => None,
        }
    }

    /// Their name.
    #[must_use]
    pub fn name(&self) -> &UserId {
        &self.user.name
    }
}

/// A user with at most the agents of a token.
fn narrowed(user: &User, agents: Option<&[String]>) -> Arc<User> {
    let user = user.clone();
    Arc::new(match agents {
        Some(agents) => user.narrowed_to(agents),
        None => user,
    })
}

/// All tokens that were issued in `home`.
///
/// # Errors
/// If they cannot be read.
pub(crate) fn issued(home: &Path) -> Result<Vec<Issued>, AccessError> {
    Tokens::in_home(home).list()
}

/// What is shown of an agent.
fn card(manifest: &Manifest) -> AgentCard {
    AgentCard {
        id: manifest.agent.to_string(),
        name: manifest.display_name(),
        description: manifest.about().unwrap_or_default().to_owned(),
        icon: manifest.icon.clone(),
        tags: manifest.tags.clone(),
        starters: manifest.starters.clone(),
    }
}
