//! Calls that pass two doors, the hook of an agent and the gateway before its server: what one of them saw and the other did not is
//! an alarm, and stops nothing, for each door judges by itself.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use hooks::ToolUse;
use serde_json::{Map, Value, json};

use super::announced::form;
use super::session::Hooked;
use super::{HookDoor, Lineage, lock};

impl HookDoor<'_> {
    /// A call has come back to its hook. If it went to a server that is behind the gateway, the gateway has seen it; but for one that
    /// failed, which may have been refused there.
    pub(super) fn came_back(
        &self,
        session: &Hooked,
        tool: &ToolUse,
        (key, failed): (&str, bool),
    ) -> Result<(), String> {
        let is_past = self.withdraw(session, key).is_some_and(|it| it.is_past_gateway());
        let Some(mcp) = tool.mcp.as_ref().filter(|_| is_past && !failed) else { return Ok(()) };
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = servers.now(self.home).map_err(|error| error.to_string())?;
        // Whose command or address is known was started behind the gateway.
        if !known.lines.contains_key(&mcp.server) {
            return Ok(());
        }
        self.past_gateway.fetch_add(1, Ordering::Relaxed);
        self.record(
            "door_missed",
            &json!({
                "host": session.host.as_str(),
                "session": session.who.session.as_str(),
                "server": mcp.server,
                "tool": tool.name,
                "why": "a call went past the gateway to a server that is behind it",
            }),
        );
        Ok(())
    }

    /// The gateway has a call of a tool that no hook let through. If its client was started by an agent whose hooks are heard, one of
    /// them has seen the call.
    pub(in crate::doors) fn meet(
        &self,
        client: &Lineage,
        (server, tool): (&str, &str),
        arguments: &Value,
    ) {
        let nothing = Map::new();
        let form = form(server, tool, arguments.as_object().unwrap_or(&nothing));
        let mut is_known = false;
        for it in lock(&self.announced).iter_mut().filter(|it| it.form == form) {
            (it.is_met, is_known) = (true, true);
        }
        let agent = lock(&self.seats).of_client(client).map(str::to_owned);
        let Some(session) = agent.filter(|_| !is_known) else { return };
        self.unannounced.fetch_add(1, Ordering::Relaxed);
        self.record(
            "door_missed",
            &json!({
                "door": "mcp",
                "session": session,
                "server": server,
                "tool": tool,
                "why": "a call came to the gateway from an agent whose hook had not announced it",
            }),
        );
    }

    /// How many calls went past the gateway to servers that are behind it.
    #[must_use]
    pub fn past_gateway(&self) -> u64 {
        self.past_gateway.load(Ordering::Relaxed)
    }

    /// How many calls came to the gateway that the agent's hook had not announced.
    #[must_use]
    pub fn unannounced_calls(&self) -> u64 {
        self.unannounced.load(Ordering::Relaxed)
    }
}
