//! Whose the room is: each agent has its part of it, and each token its part of that.
//!
//! INVARIANT (RoomForAll): whatever the programs of one agent do, those of another find a place; and so do those
//! with another token of the same agent, unless they are many.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::AgentId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::accounts::Accounts;
use super::answer::No;
use super::bounds::TOKENS_SHARE_MIN;

/// All parts.
pub(crate) struct Shares {
    agents: HashMap<AgentId, Arc<Agent>>,
    per_token: usize,
}

/// What the programs of one agent may hold at once.
struct Agent {
    places: Arc<Semaphore>,
    /// By the names of the tokens that somebody holds a place with.
    tokens: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// What a program with one token may hold.
pub(crate) struct Share {
    agent: Arc<Agent>,
    token: Arc<Semaphore>,
}

/// A place. Given back when it is dropped.
pub(crate) struct Place {
    _of_token: OwnedSemaphorePermit,
    _of_agent: OwnedSemaphorePermit,
}

impl Shares {
    /// So many places for the agents that have `accounts`, in equal parts.
    pub(crate) fn new(places: usize, accounts: &Accounts) -> Self {
        let all: Vec<_> = accounts.iter().map(|it| &it.who.agent).collect();
        let per_agent = places.checked_div(all.len()).unwrap_or(places).max(1);
        let part = || {
            let places = Arc::new(Semaphore::new(per_agent));
            Arc::new(Agent { places, tokens: Mutex::default() })
        };
        let agents = all.into_iter().map(|it| (it.clone(), part())).collect();
        // Where an agent has one token, there is nobody to leave room for.
        let tokens = if accounts.believe_access_tokens() { TOKENS_SHARE_MIN } else { 1 };
        Self { agents, per_token: (per_agent / tokens).max(1) }
    }

    /// The part of a program that shows a token of `agent` whose name is `token`.
    pub(crate) fn of(&self, agent: &AgentId, token: &str) -> Option<Share> {
        let agent = Arc::clone(self.agents.get(agent)?);
        let mut tokens = agent.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        if !tokens.contains_key(token) {
            // Tokens come and go; what nobody holds is forgotten.
            tokens.retain(|_, it| Arc::strong_count(it) > 1);
        }
        let new = || Arc::new(Semaphore::new(self.per_token));
        let token = Arc::clone(tokens.entry(token.to_owned()).or_insert_with(new));
        drop(tokens);
        Some(Share { agent, token })
    }
}

impl Share {
    /// A place, if there is one.
    pub(crate) fn try_place(&self) -> Option<Place> {
        let of_token = Arc::clone(&self.token).try_acquire_owned().ok()?;
        let of_agent = Arc::clone(&self.agent.places).try_acquire_owned().ok()?;
        Some(Place { _of_token: of_token, _of_agent: of_agent })
    }

    /// Waits for a place.
    pub(crate) async fn place(&self) -> Result<Place, No> {
        let unable = |_| No::unable();
        let of_token = Arc::clone(&self.token).acquire_owned().await.map_err(unable)?;
        let of_agent = Arc::clone(&self.agent.places).acquire_owned().await.map_err(unable)?;
        Ok(Place { _of_token: of_token, _of_agent: of_agent })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use egress::Rules;
    use model::{Caller, Kind, SessionId, UserId};

    use super::super::accounts::{Access, Account, Token};
    use super::*;

    struct Nobody;

    impl Access for Nobody {
        fn name_of(&self, _: &str, _: &Caller) -> Option<String> {
            None
        }
    }

    #[test]
    fn a_token_has_all_of_its_agents_part_where_there_is_no_other() {
        let agent = AgentId::parse("main").unwrap();
        let who = Caller {
            session: SessionId::parse("s").unwrap(),
            user: UserId::parse("me").unwrap(),
            agent: agent.clone(),
            door: Kind::of_static("proxy"),
        };
        let mut accounts = Accounts::default();
        accounts.add(Account::new(who, Rules::default(), &Token::random().unwrap()));
        let room = |accounts: &Accounts| {
            let share = Shares::new(4, accounts).of(&agent, "start").unwrap();
            std::iter::from_fn(|| share.try_place()).collect::<Vec<_>>().len()
        };
        assert_eq!(room(&accounts), 4);
        accounts.believe(Arc::new(Nobody));
        assert_eq!(room(&accounts), 2);
    }
}
