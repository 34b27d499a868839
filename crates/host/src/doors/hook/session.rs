//! One session of a coding agent, as its hooks show it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use aegx::{Digest, Principal};
use hooks::{Host, Reply, ToolUse};
use model::{AgentId, Caller, EffectKind, Kind, SessionId, ToolDef, UserId};
use monitor::{Approver, Begun, Opening, Output};

use super::carried::Carried;
use super::fetching::Watch;
use super::tools;
use crate::admission::LOCAL_USER;
use crate::doors::mcp::servers::Servers;
use crate::gate::Gate;

/// Calls of one session that are under way at once.
const WAITING_MAX: usize = 256;

/// Texts of one session that are known to have been heard.
const INSTRUCTED_MAX: usize = 1024;

/// The key of commands that run on; no call has it.
const RUNS_ON: &str = "";

/// A session, and the calls of it that are under way.
pub(super) struct Hooked {
    pub(super) who: Caller,
    pub(super) host: Host,
    /// Where it works, without links.
    pub(super) cwd: Option<PathBuf>,
    parent: Option<SessionId>,
    /// When something was heard of it last.
    pub(super) seen: Instant,
    /// What the model should know, where the host does not tell it when a session begins.
    pub(super) untold: Option<Reply>,
    home: PathBuf,
    tools: BTreeMap<String, ToolDef>,
    /// Calls that were let through, until they come back.
    begun: HashMap<String, Vec<Begun>>,
    /// Calls about which the host asks its user.
    asked: HashMap<String, AskedCall>,
    /// Calls of servers that are under way, where the host may never tell of their results.
    unheard: HashMap<String, ToolUse>,
    /// Calls whose results came by the gateway before their server.
    elsewhere: HashSet<String>,
    /// What was read to the model as instructions, and heard.
    instructed: HashSet<Digest>,
    /// What was there before commands that reach the network, by their calls.
    watched: Vec<(String, Watch)>,
}

/// A call about which the host asks its user.
pub(super) struct AskedCall {
    pub(super) kind: EffectKind,
    pub(super) call: Digest,
    /// The digest of its arguments, as they were judged.
    pub(super) args: Digest,
}

/// The name of a session: the host's own, or its hash where it cannot be a name of ours.
pub(super) fn id_of(host: Host, session: &str, agent: Option<&str>) -> String {
    let part = |it: &str| match SessionId::parse(it) {
        Ok(_) if it.len() <= 48 && !it.contains(':') => it.to_owned(),
        _ => Digest::of(it.as_bytes()).to_hex().as_str().get(..32).unwrap_or_default().to_owned(),
    };
    let main = format!("{}:{}", host.as_str(), part(session));
    match agent {
        Some(agent) => format!("{main}:{}", part(agent)),
        None => main,
    }
}

/// What tells one call of a session from another: the host's id, or what is called with what.
pub(super) fn key_of(tool: &ToolUse) -> String {
    match &tool.id {
        // With the name: what came back of one tool is not what another was let through for.
        Some(id) => format!("{id}\0{}", tool.name),
        None => {
            let args = aegx::SortedObject(&tool.args).to_string();
            Digest::of(format!("{}\0{args}", tool.name).as_bytes()).to_string()
        }
    }
}

impl Hooked {
    /// Opens the session, or finds it again as tainted as it was.
    pub(super) fn open(
        gate: &Gate,
        home: &Path,
        host: Host,
        id: &str,
        parent: Option<&str>,
    ) -> Result<Self, String> {
        let text = |it: &dyn std::fmt::Display| it.to_string();
        let who = Caller {
            session: SessionId::parse(id).map_err(|it| text(&it))?,
            user: UserId::parse(LOCAL_USER).map_err(|it| text(&it))?,
            agent: AgentId::parse(host.as_str()).map_err(|it| text(&it))?,
            door: Kind::of_static("hook"),
        };
        let parent = parent.map(SessionId::parse).transpose().map_err(|it| text(&it))?;
        let session = Self {
            who,
            host,
            cwd: None,
            parent,
            seen: Instant::now(),
            untold: None,
            home: home.to_owned(),
            tools: tools::of_host(host),
            begun: HashMap::new(),
            asked: HashMap::new(),
            unheard: HashMap::new(),
            elsewhere: HashSet::new(),
            instructed: HashSet::new(),
            watched: Vec::new(),
        };
        session.reopen(gate)?;
        Ok(session)
    }

    /// Opens it with the tools that are known now.
    fn reopen(&self, gate: &Gate) -> Result<(), String> {
        let tools: Vec<ToolDef> = self.tools.values().cloned().collect();
        let admission = crate::admission_of_program(&self.home, &self.who, &tools);
        let admission = admission.map_err(|error| {
            crate::record_refused(gate, &self.who, &error.to_string());
            error.to_string()
        })?;
        let opening = Opening {
            who: self.who.clone(),
            principal: Principal::User,
            profile: admission.profile(),
            parent: self.parent.clone(),
            admission,
            approver: Approver::Reachable,
            tools,
        };
        gate.monitor.open_session(opening).map_err(|error| error.to_string())
    }

    /// Takes in a tool that was not known, or is called with more than was known of it.
    pub(super) fn know(&mut self, gate: &Gate, tool: &ToolUse) -> Result<(), String> {
        let known = self.tools.get(&tool.name);
        // Read anew for each tool of a server that is new here: another may have been accepted since.
        let servers = match (&tool.mcp, known) {
            (Some(_), None) => Servers::of(&self.home).unwrap_or_default(),
            _ => Servers::default(),
        };
        let pinned = tool.mcp.as_ref().and_then(|it| {
            let pin = servers.pins.servers.get(&it.server)?.get(&it.tool)?;
            Some(&pin.definition)
        });
        if let Some(def) = tools::learned(known, pinned, tool)? {
            self.tools.insert(tool.name.clone(), def);
            self.reopen(gate)?;
        }
        Ok(())
    }

    /// Notes that it is heard of, and where the agent works now.
    pub(super) fn moved_to(&mut self, gate: &Gate, cwd: Option<&str>) {
        self.seen = Instant::now();
        let Some(cwd) = cwd else { return };
        if self.cwd.as_ref().is_some_and(|it| it.as_os_str() == cwd) {
            return;
        }
        // What cannot be resolved is nowhere that is trusted.
        self.cwd = files::resolved(Path::new(cwd)).ok();
        gate.own.works_in(&self.who.session, self.cwd.as_deref());
    }

    /// Was a text that instructs the model heard before?
    pub(super) fn was_instructed(&self, text: &Digest) -> bool {
        self.instructed.contains(text)
    }

    /// Notes that such a text was heard.
    pub(super) fn instructed_by(&mut self, text: Digest) {
        // Behind so many, each is heard again: that is the worse of the two.
        if self.instructed.len() < INSTRUCTED_MAX {
            self.instructed.insert(text);
        }
    }

    /// Which session has started it, if one has.
    pub(super) fn parent(&self) -> Option<&str> {
        self.parent.as_ref().map(SessionId::as_str)
    }

    /// Whether an agent has started it: its prompts are that agent's words.
    pub(super) fn is_of_agent(&self) -> bool {
        self.parent.is_some()
    }

    pub(super) fn waiting(&self) -> usize {
        self.begun.values().map(Vec::len).sum()
    }

    pub(super) fn is_full(&self) -> bool {
        self.waiting() + self.asked.len() >= WAITING_MAX
    }

    /// Notes a call that was let through. Hosts without ids of calls may make the same one twice at once.
    pub(super) fn begin(&mut self, key: String, begun: Begun) {
        self.begun.entry(key).or_default().push(begun);
    }

    /// Notes a call of a server of whose result the host may never tell.
    pub(super) fn may_go_unheard(&mut self, key: String, tool: &ToolUse) {
        self.unheard.insert(key, tool.clone());
    }

    /// The calls of servers that have not come back; of each once.
    pub(super) fn take_unheard(&mut self) -> Vec<ToolUse> {
        std::mem::take(&mut self.unheard).into_values().collect()
    }

    pub(super) fn take_begun(&mut self, key: &str) -> Option<Begun> {
        self.unheard.remove(key);
        let all = self.begun.get_mut(key)?;
        let begun = all.pop();
        if all.is_empty() {
            self.begun.remove(key);
        }
        begun
    }

    /// Was the call let through, and nothing heard of its end?
    pub(super) fn waits_for(&self, key: &str) -> bool {
        self.begun.contains_key(key)
    }

    /// Notes what is there before a command runs that reaches the network.
    pub(super) fn watch(&mut self, key: String, watch: Watch) {
        self.watched.push((key, watch));
    }

    /// What was there before the call `key`.
    pub(super) fn take_watched(&mut self, key: &str) -> Vec<Watch> {
        self.watched.extract_if(.., |it| it.0 == key).map(|it| it.1).collect()
    }

    /// Goes on watching for a command that runs on, until the turn is over.
    pub(super) fn watch_on(&mut self, watched: Vec<Watch>) {
        self.watched.extend(watched.into_iter().map(|it| (RUNS_ON.to_owned(), it)));
    }

    /// What was there before commands that run on, or that have not come back. What was only asked about has not run.
    pub(super) fn take_watched_still(&mut self) -> Vec<Watch> {
        let watched = std::mem::take(&mut self.watched).into_iter();
        let ran = |key: &str| key == RUNS_ON || self.begun.contains_key(key);
        watched.filter(|it| ran(&it.0)).map(|it| it.1).collect()
    }

    /// The host asks its user about a call.
    pub(super) fn asks(&mut self, key: String, asked: AskedCall) {
        self.asked.insert(key, asked);
    }

    pub(super) fn take_asked(&mut self, key: &str) -> Option<AskedCall> {
        self.asked.remove(key)
    }

    /// The calls that are under way, for the daemon after this one.
    pub(super) fn carried(&self, is_trusted: bool) -> Vec<(String, Carried)> {
        let of = |begun: &Vec<Begun>| match is_trusted && begun.iter().all(Begun::stays_here) {
            true => Carried::StaysHere,
            false => Carried::Outside,
        };
        let begun = self.begun.iter().map(|(key, it)| (key.clone(), of(it)));
        begun.chain(self.asked.iter().map(|(key, it)| (key.clone(), it.carried()))).collect()
    }

    /// Are there calls that no other daemon could look after: what they bring from the network has to be found?
    pub(super) fn is_watching(&self) -> bool {
        !self.watched.is_empty()
    }

    /// What a call gave back was taken in by another door; the hook's own word of it is no news.
    pub(super) fn seen_elsewhere(&mut self, key: &str) {
        self.elsewhere.insert(key.to_owned());
    }

    pub(super) fn was_seen_elsewhere(&mut self, key: &str) -> bool {
        self.elsewhere.remove(key)
    }

    /// The turn is over. Of calls that have not come back it is not known whether they ran, and what the agent saw of them:
    /// most were declined by the host's user. What could only have shown the user's own is closed as unanswered; every
    /// other is dropped, and the session counts as tainted.
    pub(super) fn settle(&mut self, gate: &Gate, is_trusted: bool) -> Result<(), String> {
        self.asked.clear();
        self.elsewhere.clear();
        self.unheard.clear();
        for begun in std::mem::take(&mut self.begun).into_values().flatten() {
            if is_trusted && begun.stays_here() {
                let output = Output::unanswered("the host told of no result");
                gate.monitor.finish(begun, output).map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }

    /// The session is over; its labels stay where they are kept.
    pub(super) fn end(&self, gate: &Gate) -> Result<(), String> {
        gate.own.works_in(&self.who.session, None);
        gate.monitor.end_session(&self.who).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_sessions_are_kept_or_hashed() {
        let id = id_of(Host::Claude, "0c97beba-bfcb-4f84", None);
        assert_eq!(id, "claude:0c97beba-bfcb-4f84");
        assert_eq!(id_of(Host::Claude, "s", Some("a1")), "claude:s:a1");
        for odd in ["../../x", "", "a b", &"x".repeat(400), "a:b"] {
            let id = id_of(Host::Codex, odd, Some(odd));
            assert!(SessionId::parse(&id).is_ok(), "{id}");
        }
        assert_ne!(id_of(Host::Codex, "a/b", None), id_of(Host::Codex, "a/c", None));
    }
}
