//! What MCP servers say that a coding agent reaches without our gateway: a hook alone hears of it, by the name that the agent
//! has for the server, or without one.

use std::sync::PoisonError;

use evidence::{Clock as _, SystemClock};
use hooks::{Speaker, ToolUse};
use model::{Source, TaintTag};
use monitor::Heard;

use super::HookDoor;
use super::session::Hooked;
use crate::doors::mcp::servers::Brings;

/// What stands for a server that an agent does not name.
const UNNAMED: &str = "a server";

/// What is heard of a result that the agent did not show.
const UNHEARD: &str = "What a server's tool gave back was not shown.";

/// What the words of a server bring along.
pub(super) struct OfServer {
    /// That nobody vouches for them.
    pub(super) tag: Option<TaintTag>,
    /// Whose they are, if nothing may be done because of them.
    pub(super) sandboxed: Option<String>,
}

impl HookDoor<'_> {
    /// What a result brings along that a server has given; none if it is of the agent's own tool. Where the agent does not say
    /// which server that is, or two may be meant, it counts as the words of a sandboxed one if there is one.
    pub(super) fn of_server(
        &self,
        session: &Hooked,
        tool: &ToolUse,
    ) -> Result<Option<OfServer>, String> {
        let speaker = tool.speaker(session.host);
        if speaker == Speaker::Host {
            return Ok(None);
        }
        let now = SystemClock.unix_seconds();
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = servers.now(self.home).map_err(|error| error.to_string())?;
        let may_be = |it: &&str| tool.may_be_of(session.host, it);
        let sandboxed = known.sandboxed().find(may_be).map(str::to_owned);
        let Brings { tag, .. } = match speaker {
            Speaker::Server(name) => known.brings_past_gateway(name, now),
            Speaker::SomeServer | Speaker::Host => Brings::of_unknown(UNNAMED, now),
        };
        Ok(Some(OfServer { tag, sandboxed }))
    }

    /// Labels the session by calls of servers that have not come back when the next one is judged. Where the host tells of no call that
    /// failed, one of them may have, and its model has read what the server said; one that still runs brings the same label.
    pub(super) fn hear_unheard(&self, session: &mut Hooked) -> Result<(), String> {
        for tool in session.take_unheard() {
            let Some(OfServer { tag, sandboxed }) = self.of_server(session, &tool)? else {
                continue;
            };
            if tag.is_some() || sandboxed.is_some() {
                self.hear_of_server(session, &tool.name, UNHEARD, sandboxed.as_deref())?;
            }
        }
        Ok(())
    }

    /// Hears what a call gave back that was not seen to begin, or not any more.
    pub(super) fn hear_of_tool(
        &self,
        session: &Hooked,
        tool: &ToolUse,
        text: &str,
    ) -> Result<(), String> {
        let sandboxed = self.of_server(session, tool)?.and_then(|it| it.sandboxed);
        self.hear_of_server(session, &tool.name, text, sandboxed.as_deref())
    }

    /// Hears what came of `origin`, and is of this sandboxed server, if it is of one.
    pub(super) fn hear_of_server(
        &self,
        session: &Hooked,
        origin: &str,
        text: &str,
        sandboxed: Option<&str>,
    ) -> Result<(), String> {
        let (monitor, who) = (&self.gate.monitor, &session.who);
        let heard = Heard { source: Source::Tool, origin, text };
        let heard = match sandboxed {
            Some(server) => monitor.hear_sandboxed(who, &heard, server),
            None => monitor.hear(who, &heard),
        };
        heard.map(drop).map_err(|error| error.to_string())
    }
}
