//! Calls of servers' tools that a hook has let through: the gateway before the server knows them again, so that one call
//! is judged once, in the session where the user's words are known.

use std::time::{Duration, Instant};

use aegx::Digest;
use hooks::ToolUse;
use monitor::Output;
use serde_json::{Map, Value};

use super::session::{Hooked, key_of};
use super::{HookDoor, lock};

/// How long a call may take from its hook to its server.
const ON_THE_WAY_MAX: Duration = Duration::from_secs(60);
/// Calls that are on the way at once.
const ANNOUNCED_MAX: usize = 4096;

/// A call on its way to a server.
pub(super) struct Announced {
    call: Digest,
    session: String,
    key: String,
    at: Instant,
}

impl HookDoor<'_> {
    /// Notes that a call goes to a server now.
    pub(super) fn announce(&self, session: &Hooked, tool: &ToolUse) {
        let Some(mcp) = &tool.mcp else { return };
        let mut announced = lock(&self.announced);
        let (id, key) = (session.who.session.as_str(), key_of(tool));
        // One call is announced once, however often its hook comes.
        announced
            .retain(|it| it.at.elapsed() < ON_THE_WAY_MAX && !(it.session == id && it.key == key));
        if announced.len() < ANNOUNCED_MAX {
            announced.push(Announced {
                call: digest(&mcp.server, &mcp.tool, &tool.args),
                session: id.to_owned(),
                key,
                at: Instant::now(),
            });
        }
    }

    /// The session and the call of a hook that announced exactly this; each announces one call.
    pub(in crate::doors) fn announced(
        &self,
        server: &str,
        tool: &str,
        arguments: &Value,
    ) -> Option<(String, String)> {
        let nothing = Map::new();
        let call = digest(server, tool, arguments.as_object().unwrap_or(&nothing));
        let mut announced = lock(&self.announced);
        announced.retain(|it| it.at.elapsed() < ON_THE_WAY_MAX);
        let at = announced.iter().position(|it| it.call == call)?;
        let found = announced.remove(at);
        Some((found.session, found.key))
    }

    /// Takes in what such a call gave back, in the session of its hook; gives what may be seen of it.
    ///
    /// # Errors
    /// If it may not be seen.
    pub(in crate::doors) fn finish(
        &self,
        session: &str,
        key: &str,
        output: Output,
    ) -> Result<String, String> {
        let found = lock(&self.sessions).get(session).cloned();
        let session = found.ok_or("the session that asked for it has ended")?;
        let mut session = lock(&session);
        let Some(begun) = session.take_begun(key) else {
            // Its turn is over, or somebody spoke of its end before it: what it says is heard all the same.
            self.hear_of_server(&session, "a server", &output.body, output.sandboxed.as_deref())?;
            return Ok(self.gate.monitor.without_secrets(&output.body).into_owned());
        };
        session.seen_elsewhere(key);
        let delivered =
            self.gate.monitor.finish(begun, output).map_err(|error| error.to_string())?;
        Ok(delivered.output.body)
    }
}

fn digest(server: &str, tool: &str, args: &Map<String, Value>) -> Digest {
    let args = aegx::SortedObject(args).to_string();
    Digest::of(format!("{}\0{server}{}\0{tool}{args}", server.len(), tool.len()).as_bytes())
}
