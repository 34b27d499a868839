//! What MCP servers say to a coding agent by our gateway beside the calls that its hooks announce: resources, prompts, messages. The
//! gateway judges them in a session of its own; who reads them is the agent, so that its session hears them, too.
//!
//! Whose client it is may not be known yet: an agent is known by the second of its hooks, and asks servers before. Then it is owed,
//! and heard with the first hook by which the agent is known, before that is judged.

use std::sync::Arc;

use super::session::Hooked;
use super::{HookDoor, Lineage, lock};

/// Servers of clients whose words are owed; beyond that the oldest are forgotten: mostly of agents that have no hooks.
const OWED_MAX: usize = 1024;
/// How much is kept of what one server said to one client, in bytes; what is beyond that counts, and is not traced.
const OWED_BYTES_MAX: usize = 64 << 10;

/// What a server said to a client.
#[derive(Clone, Copy)]
pub(in crate::doors) struct Words<'a> {
    pub(in crate::doors) server: &'a str,
    pub(in crate::doors) text: &'a str,
    /// May nothing be done because of them?
    pub(in crate::doors) is_sandboxed: bool,
}

/// The same, until it is known whose client it is.
pub(super) struct Owed {
    client: Lineage,
    server: String,
    text: String,
    is_sandboxed: bool,
}

impl HookDoor<'_> {
    /// The agent that has started a client hears what a server says to it. What may come later than the agent is known is owed.
    ///
    /// # Errors
    /// If it cannot be heard; then the client must not have it.
    pub(in crate::doors) fn hear_by_gateway(
        &self,
        client: &Lineage,
        words: Words<'_>,
        may_be_owed: bool,
    ) -> Result<(), String> {
        let (agent, is_sure) = {
            let seats = lock(&self.seats);
            (seats.of_client(client).map(str::to_owned), seats.is_sure_of(client))
        };
        let heard = match &agent {
            Some(agent) => self.heard_by(agent, words)?,
            None => false,
        };
        if may_be_owed && !(heard && is_sure) {
            self.owe(client, words);
        }
        Ok(())
    }

    /// The session of an agent whose hook has come hears what it is owed.
    ///
    /// # Errors
    /// If it cannot be heard; then it is owed still.
    pub(super) fn hear_owed(&self, agent: &str) -> Result<(), String> {
        let due = {
            let mut owed = lock(&self.owed);
            if owed.is_empty() {
                return Ok(());
            }
            let seats = lock(&self.seats);
            let is_its = |it: &mut Owed| {
                seats.of_client(&it.client) == Some(agent) && seats.is_sure_of(&it.client)
            };
            owed.extract_if(.., is_its).collect::<Vec<Owed>>()
        };
        let mut due = due.into_iter();
        while let Some(it) = due.next() {
            let words = Words { server: &it.server, text: &it.text, is_sandboxed: it.is_sandboxed };
            if let Err(why) = self.heard_by(agent, words) {
                lock(&self.owed).extend(std::iter::once(it).chain(due));
                return Err(why);
            }
        }
        Ok(())
    }

    /// A session and those of its subagents hear it: which of them has asked is not known. False if the session is not open.
    fn heard_by(&self, agent: &str, words: Words<'_>) -> Result<bool, String> {
        let prefix = format!("{agent}:");
        let (is_open, all) = {
            let sessions = lock(&self.sessions);
            let is_its = |it: &str| it == agent || it.starts_with(&prefix);
            let all = sessions.iter().filter(|it| is_its(it.0)).map(|it| Arc::clone(it.1));
            (sessions.contains_key(agent), all.collect::<Vec<_>>())
        };
        for session in all {
            let session: &Hooked = &lock(&session);
            let sandboxed = words.is_sandboxed.then_some(words.server);
            self.hear_of_server(session, words.server, words.text, sandboxed)?;
        }
        Ok(is_open)
    }

    fn owe(&self, client: &Lineage, words: Words<'_>) {
        if !client.is_known() {
            return;
        }
        let mut owed = lock(&self.owed);
        let at = owed.iter().position(|it| it.client == *client && it.server == words.server);
        let mut it = at.map(|at| owed.remove(at)).unwrap_or_else(|| Owed {
            client: client.clone(),
            server: words.server.to_owned(),
            text: String::new(),
            is_sandboxed: false,
        });
        it.is_sandboxed |= words.is_sandboxed;
        let room = OWED_BYTES_MAX.saturating_sub(it.text.len() + 1);
        let more = words.text.get(..words.text.floor_char_boundary(room)).unwrap_or_default();
        if !more.is_empty() {
            it.text.push_str(more);
            it.text.push('\n');
        }
        if owed.len() >= OWED_MAX {
            owed.remove(0);
        }
        owed.push(it);
    }
}
