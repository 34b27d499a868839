//! What is remembered of the conversations between users and agents. A session's id is no part of the key, so that a new
//! session does not begin a conversation anew.
//!
//! On disk stand numbers alone: the scores and times of the last messages, and which parts of a prompt were given out. Nobody's words.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::{AgentId, Caller, Source, UserId};
use scan::conversation::{Conversation, Crescendo};
use scan::leak::{Leak, Registry, Turns};
use serde::{Deserialize, Serialize};

use crate::conversation::Heard;
use crate::state::{State, StateError};

/// The longest form of one conversation, in bytes.
pub const TALK_BYTES_MAX: usize = 256 * 1024;
/// Conversations that are held here. When there are more, all are read again from where they are kept.
const TALKS_MAX: usize = 1024;
/// Prompts of one agent of which is remembered what was given out.
const PROMPTS_MAX: usize = 16;

/// What is remembered of one user and one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Talk {
    /// The user's own messages.
    user: Conversation,
    /// Those of others on a shared channel.
    channel: Conversation,
    /// What the agent has given out of each of its prompts, by their hashes, the newest last. One that has none does not make
    /// forgotten what was given out of another.
    turns: Vec<(String, Turns)>,
}

impl Talk {
    /// Compares an answer with a prompt, and remembers what it gives out.
    fn say(&mut self, registry: &Registry, text: &str) -> Vec<Leak> {
        let hash = registry.prompt_hash().unwrap_or_default();
        let at = self.turns.iter().position(|it| it.0 == hash);
        let kept = at.map(|at| self.turns.remove(at));
        let (hash, mut turns) = kept.unwrap_or_else(|| (hash.to_owned(), Turns::default()));
        let leaks = turns.add(registry, text);
        if self.turns.len() >= PROMPTS_MAX {
            self.turns.remove(0);
        }
        self.turns.push((hash, turns));
        leaks
    }
}

/// The conversations, one lock for all: each is held for microseconds, and a write of the store.
#[derive(Debug, Default)]
pub(crate) struct Talks(Mutex<BTreeMap<(UserId, AgentId), Talk>>);

impl Talks {
    /// Takes in a message of the user or of a channel; says whether it presses on.
    pub(super) fn hear(
        &self,
        state: &dyn State,
        who: &Caller,
        heard: &Heard<'_>,
        now: i64,
    ) -> Result<Option<Crescendo>, StateError> {
        let mut talks = self.lock();
        let mut talk = found(&mut talks, state, who)?;
        let conversation =
            if heard.source == Source::User { &mut talk.user } else { &mut talk.channel };
        let found = conversation.hear(now, heard.text);
        keep(&mut talks, state, who, &talk)?;
        // Roles and styles are anybody's to ask for; pressing means to ask for what is inside.
        let asks_inside = found.signs.internal || found.signs.extraction > 0;
        Ok(found.crescendo.filter(|_| asks_inside))
    }

    /// Compares an answer with a prompt, alone and together with what went out before. Nothing is remembered yet.
    pub(super) fn compare(
        &self,
        state: &dyn State,
        who: &Caller,
        registry: &Registry,
        text: &str,
    ) -> Result<Vec<Leak>, StateError> {
        let mut talk = found(&mut self.lock(), state, who)?;
        Ok(talk.say(registry, text))
    }

    /// The answer goes out; gives what it is together with those that went out since it was compared.
    pub(super) fn said(
        &self,
        state: &dyn State,
        who: &Caller,
        registry: &Registry,
        text: &str,
    ) -> Result<Vec<Leak>, StateError> {
        let mut talks = self.lock();
        let mut talk = found(&mut talks, state, who)?;
        let leaks = talk.say(registry, text);
        keep(&mut talks, state, who, &talk)?;
        Ok(leaks)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(UserId, AgentId), Talk>> {
        // A conversation is put in whole, after it was kept.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Held<'a> = MutexGuard<'a, BTreeMap<(UserId, AgentId), Talk>>;

fn found(talks: &mut Held<'_>, state: &dyn State, who: &Caller) -> Result<Talk, StateError> {
    let key = (who.user.clone(), who.agent.clone());
    if let Some(talk) = talks.get(&key) {
        return Ok(talk.clone());
    }
    let Some(kept) = state.talk(&who.user, &who.agent)? else { return Ok(Talk::default()) };
    serde_json::from_slice(&kept).map_err(|error| StateError::Broken {
        reason: format!("what was kept of a conversation cannot be read: {error}"),
    })
}

fn keep(
    talks: &mut Held<'_>,
    state: &dyn State,
    who: &Caller,
    talk: &Talk,
) -> Result<(), StateError> {
    let quiet = talk.turns.iter().map(|(hash, turns)| (hash.clone(), turns.without_words()));
    let written = Talk { turns: quiet.collect(), ..talk.clone() };
    let bytes = serde_json::to_vec(&written)
        .map_err(|error| StateError::Broken { reason: error.to_string() })?;
    state.keep_talk(&who.user, &who.agent, &bytes)?;
    if talks.len() >= TALKS_MAX {
        talks.clear();
    }
    talks.insert((who.user.clone(), who.agent.clone()), talk.clone());
    Ok(())
}
