//! The tool servers that an agent's manifest names, for one session of it: each in a cage or at its address, listed and
//! called.
//!
//! The crate `mcp` speaks to them, by the same session as the gateway `lazaret mcp`: definitions are pinned, cleaned and held as
//! there. A call is the gate's before it is theirs: INVARIANT (OneGate): it spends a permit, and what comes back goes through
//! the gate as the output of that call. Nothing else that a server says or asks reaches anybody.

mod cage;
mod client;
mod fetched;
mod gate;
mod secrets;
mod start;
mod template;
#[cfg(test)]
mod tests;
mod told;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use evidence::{Clock as _, SystemClock};
use model::{Caller, ToolCall, ToolDef};
use monitor::{Admission, Output, Permit};
use policy::access::{McpServer, Origin, Transport};
use serde_json::{Value, json};

use crate::doors::mcp::{key_of, renamed};
use crate::gate::Gate;
use crate::ipc::Stop;

pub use cage::ServerCage;
pub use fetched::Fetched;
pub use template::Template;

use client::Client;
use gate::{SessionGate, record};
use secrets::Secrets;
use start::Running;

/// How servers are called that are plugins.
pub(crate) const OF_PLUGINS: &str = "-plugin";
/// Servers of one session.
const SERVERS_MAX: usize = 16;
/// Tools of all servers of one session.
const TOOLS_MAX: usize = 512;

/// The servers of one session. Dropped, all of them end.
#[derive(Default)]
pub(crate) struct ToolServers {
    all: Vec<ToolServer>,
}

/// A server that has listed its tools.
struct ToolServer {
    name: String,
    client: Client,
    /// It knows by which line the server was started, and so whether it is the one that is trusted.
    judge: Arc<SessionGate>,
    /// Its tools by the names that the agent knows: how the server calls them, and what they are.
    tools: BTreeMap<String, (String, ToolDef)>,
    running: Option<Running>,
}

/// The servers that `admission` names for whoever is there, but for plugins; what is left out is said.
pub(crate) fn named(admission: &Admission, notes: &mut Vec<String>) -> Vec<McpServer> {
    let Admission::Layered { manifest, origin, sub_agents, .. } = admission else {
        return Vec::new();
    };
    // A sub-agent with a list of domains has nothing that is of no domain.
    let has_list = |it: &String| manifest.agents.get(it).is_none_or(|it| it.tools.is_some());
    if sub_agents.iter().any(has_list) {
        return Vec::new();
    }
    let servers = manifest.mcp.iter().flatten().filter(|it| !it.server.ends_with(OF_PLUGINS));
    let mut named = Vec::new();
    for it in servers {
        let is_command = matches!(it.transport, Transport::Command { .. });
        if is_command && *origin == Origin::Remote {
            // Layer 3 denies every call of it, so it is not even started.
            notes.push(format!(
                "the server {} is a command of this machine, and not for sessions from the network",
                it.server
            ));
        } else if named.len() >= SERVERS_MAX {
            notes.push(format!("more than {SERVERS_MAX} servers: {} is left out", it.server));
        } else {
            named.push(it.clone());
        }
    }
    named
}

/// The tools by which sessions are given what the servers themselves need: their secrets.
pub(crate) fn connections(servers: &[McpServer]) -> Vec<ToolDef> {
    servers.iter().filter_map(|it| secrets::connection(&it.server).ok()).collect()
}

impl ToolServers {
    /// Starts or reaches all of them at once, in the session of `who`, which is open; one that cannot be had is on record, and
    /// the session does without it.
    pub(crate) fn start(
        gate: &Gate,
        home: &Path,
        who: &Caller,
        servers: &[McpServer],
        stop: &Stop,
        notes: &mut Vec<String>,
    ) -> Self {
        let begin = |it: &McpServer| ToolServer::start(gate, home, who, it, stop);
        let started: Vec<Result<ToolServer, String>> = thread::scope(|scope| {
            let begin = &begin;
            let each: Vec<_> = servers.iter().map(|it| scope.spawn(move || begin(it))).collect();
            let gone = || Err("the system has no thread left".to_owned());
            each.into_iter().map(|it| it.join().unwrap_or_else(|_| gone())).collect()
        });
        let mut all: Vec<ToolServer> = Vec::new();
        for (asked, it) in servers.iter().zip(started) {
            let server = match it {
                Ok(server) => server,
                Err(why) => {
                    let detail = json!({ "why": why });
                    let content =
                        json!({ "server": asked.server, "event": "not_there", "detail": detail });
                    record(&gate.journal, who, "mcp_lifecycle", content);
                    notes.push(format!("the server {} is not there: {why}", asked.server));
                    continue;
                }
            };
            let count: usize = all.iter().map(|it| it.tools.len()).sum();
            if count.saturating_add(server.tools.len()) > TOOLS_MAX {
                notes.push(format!("more than {TOOLS_MAX} tools: {} is left out", server.name));
                continue;
            }
            all.push(server);
        }
        Self { all }
    }

    /// The tools as the gate and the model see them.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = &ToolDef> {
        self.all.iter().flat_map(|it| it.tools.values().map(|(_, def)| def))
    }

    /// Is there a tool of this name?
    pub(crate) fn has(&self, tool: &str) -> bool {
        self.all.iter().any(|it| it.tools.contains_key(tool))
    }

    /// Carries out one call.
    pub(crate) fn call(&self, permit: Permit<ToolCall>) -> Output {
        let tool = permit.effect().call.tool().as_str().to_owned();
        let found = self.all.iter().find_map(|it| Some((it, it.tools.get(&tool)?)));
        let Some((server, (name, _))) = found else {
            return Output::not_begun("no server has this tool");
        };
        let call = permit.spend().call;
        let answer = server.client.call(name, &Value::Object(call.args().clone()));
        let brings = server.judge.brings(&server.name, SystemClock.unix_seconds());
        told::output(&server.name, answer, brings)
    }
}

impl Drop for ToolServers {
    fn drop(&mut self) {
        // They are all told at once, and waited for side by side.
        thread::scope(|scope| {
            for it in self.all.drain(..) {
                scope.spawn(move || drop(it));
            }
        });
    }
}

impl ToolServer {
    fn start(
        gate: &Gate,
        home: &Path,
        who: &Caller,
        asked: &McpServer,
        stop: &Stop,
    ) -> Result<Self, String> {
        ::mcp::names::check_server(&asked.server).map_err(|error| error.to_string())?;
        let secrets = Arc::new(Secrets::of(gate, home, who, &asked.server));
        let judge = Arc::new(SessionGate::of(gate, home, who));
        let (running, server) = start::server(home, asked, &secrets, &*judge)?;
        let asks = Arc::<SessionGate>::clone(&judge);
        let client = Client::start(asks, server, stop.clone()).map_err(|it| it.to_string())?;
        let mut started = Self {
            name: asked.server.clone(),
            client,
            judge,
            tools: BTreeMap::new(),
            running: Some(running),
        };
        let listed = started.client.greet().and_then(|()| started.client.list());
        for definition in listed.map_err(|why| secrets.why().unwrap_or(why))? {
            let Ok(def) = ToolDef::from_value(&definition) else { continue };
            let own = def.name.as_str().to_owned();
            let def = renamed(def, &asked.server)?;
            started.tools.insert(key_of(&asked.server, &own), (own, def));
        }
        Ok(started)
    }
}

impl Drop for ToolServer {
    fn drop(&mut self) {
        self.client.end();
        if let Some(running) = self.running.take() {
            running.end();
        }
    }
}
