//! Calls of servers' tools that a hook has seen: the gateway before the server knows those again that it let through, so that one call
//! is judged once, in the session where the user's words are known. What one of the two doors saw and the other did not is
//! in `both_doors`.

use std::time::{Duration, Instant};

use aegx::Digest;
use hooks::ToolUse;
use monitor::Output;
use serde_json::{Map, Value};

use super::session::{Hooked, key_of};
use super::{HookDoor, lock};

/// How long a call may take from its hook to its server.
const ON_THE_WAY_MAX: Duration = Duration::from_secs(60);
/// How long it is known that a hook has seen a call.
const KNOWN_MAX: Duration = Duration::from_secs(3600);
/// Calls that are known at once.
const ANNOUNCED_MAX: usize = 4096;

/// A call on its way to a server.
pub(super) struct Announced {
    call: Digest,
    /// The same, by whatever name the agent has for the tool.
    pub(super) form: Digest,
    session: String,
    key: String,
    at: Instant,
    /// Was it let through, so that it need not be judged again?
    is_judged: bool,
    /// Has the gateway seen it?
    pub(super) is_met: bool,
}

impl Announced {
    /// Did a hook let it through that no gateway has seen?
    pub(super) fn is_past_gateway(&self) -> bool {
        self.is_judged && !self.is_met
    }
}

impl HookDoor<'_> {
    /// Notes that a call goes to a server now, or (`is_judged` is not so) will if the agent's user wants it.
    pub(super) fn announce(&self, session: &Hooked, tool: &ToolUse, is_judged: bool) {
        let Some(mcp) = &tool.mcp else { return };
        let mut announced = lock(&self.announced);
        let (id, key) = (session.who.session.as_str(), key_of(tool));
        // One call is announced once, however often its hook comes.
        announced.retain(|it| it.at.elapsed() < KNOWN_MAX && !(it.session == id && it.key == key));
        if announced.len() >= ANNOUNCED_MAX {
            announced.retain(|it| it.at.elapsed() < ON_THE_WAY_MAX);
        }
        if announced.len() < ANNOUNCED_MAX {
            announced.push(Announced {
                call: digest(&mcp.server, &mcp.tool, &tool.args),
                form: form(&mcp.server, &mcp.tool, &tool.args),
                session: id.to_owned(),
                key,
                at: Instant::now(),
                is_judged,
                is_met: false,
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
        let is_it = |it: &&mut Announced| {
            it.is_judged && !it.is_met && it.call == call && it.at.elapsed() < ON_THE_WAY_MAX
        };
        let found = announced.iter_mut().find(is_it)?;
        found.is_met = true;
        Some((found.session.clone(), found.key.clone()))
    }

    /// Takes out what is known of a call, which has come back.
    pub(super) fn withdraw(&self, session: &Hooked, key: &str) -> Option<Announced> {
        let mut announced = lock(&self.announced);
        let id = session.who.session.as_str();
        let at = announced.iter().position(|it| it.session == id && it.key == key)?;
        Some(announced.swap_remove(at))
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

/// A call as it is known by any name that an agent could make of its server and its tool. It lets nothing through.
pub(super) fn form(server: &str, tool: &str, args: &Map<String, Value>) -> Digest {
    let name = format!("{server}_{tool}");
    let name: String =
        name.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }).collect();
    Digest::of(format!("{name}{}", aegx::SortedObject(args)).as_bytes())
}
