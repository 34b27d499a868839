//! The door for MCP: `lazaret mcp` stands between a client and its servers, and asks here about every call.
//!
//! One connection is one session, or goes on with that of one that broke. Frames are JSON, one answer for each.

mod answer;
mod definitions;
mod finish;
mod kept;
mod keys;
mod listing;
mod offered;
mod request;
pub mod servers;
mod session;

pub use answer::{CAGE, GOES_ON, LINE, REACHED, RUNS};
pub(crate) use answer::{on_record, started_by};
pub use keys::LOGIN_PREFIX;
pub(crate) use keys::new_tokens;
pub use request::{Numbered, Request, Said, Tools, listed};
pub(super) use session::Shared;
pub use session::{door, new_name};

pub(crate) use definitions::{Listed, Taken, take_in};
pub(crate) use kept::Kept;
pub(crate) use listing::may_list;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;

use ::mcp::Listing;
use ::mcp::names::is_tool_name;
use ::mcp::trust::{self, Access, Trust};
use aegx::{Principal, RecordType};
use evidence::NewRecord;
use model::{AgentId, Caller, HostKind, Kind, RawCall, SessionId, ToolDef, UserId};
use monitor::{Approver, Asked, Begun, Doing, Opening, Refusal};
use serde_json::{Value, json};

use super::Doors;
use super::hook::Lineage;
use super::verdict::{question, reason};
use super::{before, observing};
use crate::admission::LOCAL_USER;
use crate::ipc::socket::folder_of_peer;
use request::Judged;

/// Calls of one connection that are under way at once.
const WAITING_MAX: usize = 1024;
/// Clients of servers at once: they stay connected, and hooks need room beside them.
const CLIENTS_MAX: usize = 256;
/// What servers may ask of a client, and whether that changes anything.
const DECLARED: &[(&str, Access)] =
    &[("roots", Access::Read), ("sampling", Access::Write), ("elicitation", Access::Write)];

/// A session of one client and its servers.
struct Client {
    who: Caller,
    tools: BTreeMap<String, ToolDef>,
    begun: HashMap<String, Waiting>,
    /// Questions that it was given; it answers no others.
    asked: HashSet<String>,
    known: Kept,
    next: u64,
    /// By which line each server of this connection was started or reached: trust is for that, and not for its name.
    started: HashMap<String, String>,
    /// The processes that it comes from.
    lineage: Lineage,
    /// Names of tools that were listed, by server, and which of them were said to look like another server's.
    listed: Listed,
}

/// A call that is under way.
enum Waiting {
    /// Judged here, to which server it goes, and how the model reads what comes back.
    Here { begun: Box<Begun>, server: String, read: Read },
    /// Judged by a hook of the agent that calls, in its session.
    Hook { session: String, key: String, server: String },
    /// What a server asks of the client; the answer is looked at where it is made of words.
    Server { begun: Box<Begun>, speaks: bool },
}

/// How a model reads what a server says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    /// As instructions.
    Instructions,
    /// As a prompt: its agent may hand it over as what the user said.
    Prompt,
    /// As what came of a call.
    Result,
}

impl Doors<'_> {
    /// Serves one client until it goes.
    pub(super) fn mcp(&self, stream: &UnixStream, session: &[&str]) {
        if self.clients.fetch_add(1, Ordering::AcqRel) >= CLIENTS_MAX {
            self.clients.fetch_sub(1, Ordering::AcqRel);
            let why = format!("{CLIENTS_MAX} clients of servers are connected already");
            return self.say_error(stream, "unable", &why);
        }
        match session::asked(session) {
            Ok((session, is_again)) => {
                self.shared.enter(&session);
                self.mcp_client(stream, &session, is_again);
            }
            Err(why) => self.say_error(stream, "refused", &why),
        }
        self.clients.fetch_sub(1, Ordering::AcqRel);
    }

    fn mcp_client(&self, stream: &UnixStream, session: &SessionId, is_again: bool) {
        let mut client = match self.mcp_opened(session, is_again) {
            Ok(client) => client,
            Err(why) => {
                self.shared.leave(session, || {});
                return self.say_error(stream, "refused", &why);
            }
        };
        client.lineage = Lineage::of_peer(stream, None);
        // Its servers were started there, and read relative paths from there.
        self.gate.own.works_in(&client.who.session, folder_of_peer(stream).as_deref());
        let mut under_way = Vec::new();
        while let Some(asked) = self.hear_long(stream) {
            let (number, request) = Numbered::read(&asked);
            let _asking = match &request {
                // Not answered, it is asked of the next daemon.
                Ok(Request::Begin { .. }) => match self.calls.begin() {
                    Some(new) => new,
                    None => break,
                },
                _ => self.calls.go_on(),
            };
            let answer = request.and_then(|it| self.mcp_answer(&mut client, it));
            let mut answer = answer.unwrap_or_else(|why| json!({ "error": why }));
            if let (Some(number), Some(fields)) = (number, answer.as_object_mut()) {
                fields.insert("number".to_owned(), number.into());
            }
            under_way.resize_with(client.begun.len(), || self.calls.go_on());
            // Whoever missed an answer must not wait for the next: the connection ends.
            if self.try_say(stream, answer.to_string().as_bytes()).is_err() {
                break;
            }
        }
        // Calls that are under way are lost, and count as read.
        client.begun.clear();
        self.shared.leave(session, || {
            self.gate.own.works_in(session, None);
            let _ = self.gate.monitor.end_session(&client.who);
        });
    }

    fn mcp_opened(&self, session: &SessionId, is_again: bool) -> Result<Client, String> {
        let text = |it: &dyn std::fmt::Display| it.to_string();
        let who = Caller {
            session: session.clone(),
            user: UserId::parse(LOCAL_USER).map_err(|it| text(&it))?,
            agent: AgentId::parse("mcp").map_err(|it| text(&it))?,
            door: Kind::of_static("mcp"),
        };
        let mut client = Client {
            who,
            tools: BTreeMap::new(),
            begun: HashMap::new(),
            asked: HashSet::new(),
            started: HashMap::new(),
            known: Kept::default(),
            next: session::first_ticket().map_err(|it| text(&it))?,
            lineage: Lineage::default(),
            listed: Listed::default(),
        };
        self.mcp_reopen(&mut client)?;
        if is_again {
            before::hear_of(self.gate, &client.who)?;
        }
        Ok(client)
    }

    fn mcp_reopen(&self, client: &mut Client) -> Result<(), String> {
        client.listed.forget_shown();
        let tools: Vec<ToolDef> = client.tools.values().cloned().collect();
        let admission = crate::admission_of_program(self.home, &client.who, &tools);
        let admission = admission.map_err(|error| error.to_string())?;
        let opening = Opening {
            who: client.who.clone(),
            principal: Principal::User,
            profile: admission.profile(),
            parent: None,
            admission,
            approver: Approver::Reachable,
            tools,
        };
        self.gate.monitor.open_session(opening).map_err(|error| error.to_string())
    }

    fn mcp_answer(&self, client: &mut Client, request: Request) -> Result<Value, String> {
        match request {
            Request::Tools { server, tools, continued } => {
                self.mcp_tools(client, &server, &tools, continued)
            }
            Request::Relisted { server, digest } => self.mcp_relisted(client, &server, &digest),
            Request::Offers { server, list, items, continued } => {
                self.mcp_offers(client, &server, &list, (&items, continued))
            }
            Request::Begin { server, kind, name, arguments } => {
                let asked =
                    Judged { server: &server, kind: &kind, name: &name, arguments: &arguments };
                self.mcp_begin(client, &asked)
            }
            Request::Finish { ticket, text, failed } => {
                self.mcp_finish(client, &ticket, &text, failed)
            }
            Request::Lost { ticket } => match client.begun.get(&ticket) {
                // What is lost is the client's own answer: nobody has read anything.
                Some(Waiting::Server { .. }) => self.mcp_unsent(client, &ticket),
                Some(Waiting::Here { .. } | Waiting::Hook { .. }) | None => {
                    client.begun.remove(&ticket);
                    Ok(json!({}))
                }
            },
            Request::Unsent { ticket } => self.mcp_unsent(client, &ticket),
            Request::Answer { question, answer } => self.mcp_said(client, &question, answer),
            Request::Lifecycle { server, event, detail } => {
                self.mcp_lived(client, &server, &event, &detail)
            }
            Request::Secret { server, name, url } => {
                self.mcp_secret(&server, &name, url.as_deref())
            }
            Request::Renewed { server, tokens } => self.mcp_renewed(&server, tokens),
        }
    }

    /// Takes in a list of tools: the first is accepted; what is new or has changed later is held until a person accepts it.
    fn mcp_tools(
        &self,
        client: &mut Client,
        server: &str,
        tools: &[Value],
        is_continued: bool,
    ) -> Result<Value, String> {
        let Client { known, listed, tools: before, .. } = client;
        let was_listed = |name: &str| before.contains_key(&key_of(server, name));
        let page = Listing { items: tools, is_continued };
        let taken = take_in(self.home, known, listed, (server, page), was_listed);
        let Taken { held, cleaned, accepted_for, found } = taken.map_err(|it| it.to_string())?;
        for (kind, content) in found {
            self.mcp_record(client, kind, content);
        }
        let (mut names, mut is_other) = (Vec::new(), false);
        let defs = tools.iter().filter_map(|it| ToolDef::from_value(it).ok());
        for def in defs.filter(|it| is_tool_name(it.name.as_str())) {
            names.push(def.name.as_str().to_owned());
            let (key, def) = (key_of(server, def.name.as_str()), renamed(def, server)?);
            is_other |= client.tools.get(&key) != Some(&def);
            client.tools.insert(key, def);
        }
        if is_other {
            self.mcp_reopen(client)?;
        }
        let mut hidden = self.mcp_hidden(client, server, &names);
        let monitor = &self.gate.monitor;
        if !may_list(monitor, &client.who, &mut client.listed, server, tools)? {
            hidden = names;
        }
        if let Some(version) = accepted_for.filter(|_| hidden.is_empty()) {
            client.listed.is_shown(server, version);
        }
        Ok(json!({ "hidden": hidden, "held": held, "cleaned": cleaned }))
    }

    fn mcp_begin(&self, client: &mut Client, asked: &Judged<'_>) -> Result<Value, String> {
        if client.begun.len() >= WAITING_MAX {
            return Err(format!("{WAITING_MAX} calls are under way already"));
        }
        if asked.kind == "tool" && !is_tool_name(asked.name) {
            return Err("no tool can have this name".to_owned());
        }
        client.next += 1;
        let ticket = client.next.to_string();
        let known = client.known.now(self.home).map_err(|it| it.to_string())?;
        let own = client.started.get(asked.server).map(String::as_str);
        let trust = known.trust_by(asked.server, own);
        if known.is_held(asked.server, asked.kind, asked.name) {
            let why = offered::held_because(asked);
            let content = json!({ "server": asked.server, "kind": asked.kind, "name": asked.name, "reason": why });
            self.mcp_record(client, "mcp_held_not_used", content);
            return Ok(json!({ "denied": why }));
        }
        // The floor under the policy: what nobody's rule can lift.
        if DECLARED.iter().any(|(kind, _)| *kind == asked.kind) {
            if let Err(refused) = trust::check(trust, asked.server, asked.kind, DECLARED) {
                let why = format!("{refused}: `lazaret mcp trust {} trusted`", asked.server);
                let content =
                    json!({ "server": asked.server, "capability": asked.kind, "reason": why });
                self.mcp_record(client, "confused_deputy", content);
                return Ok(json!({ "denied": why }));
            }
            let content = json!({ "server": asked.server, "capability": asked.kind });
            self.mcp_record(client, "mcp_server_request", content);
        }
        let waiting = match self.mcp_judge(client, asked, trust)? {
            Ok(waiting) => waiting,
            Err(stopped) => return Ok(stopped),
        };
        client.begun.insert(ticket.clone(), waiting);
        Ok(json!({ "allowed": ticket }))
    }

    /// Judges a call, unless a hook of the same agent has just judged it.
    fn mcp_judge(
        &self,
        client: &mut Client,
        asked: &Judged<'_>,
        trust: Trust,
    ) -> Result<Result<Waiting, Value>, String> {
        if asked.kind == "tool" {
            let announced = self.hook.announced(asked.server, asked.name, asked.arguments);
            if let Some((session, key)) = announced {
                return Ok(Ok(Waiting::Hook { session, key, server: asked.server.to_owned() }));
            }
            self.hook.meet(&client.lineage, (asked.server, asked.name), asked.arguments);
        }
        let name = asked.tool();
        let kind = asked.host_kind();
        let is_tool = kind.is_none_or(HostKind::is_read_of_server);
        if is_tool && !client.tools.contains_key(&name) {
            client.tools.insert(name.clone(), asked.definition(&name)?);
            self.mcp_reopen(client)?;
        }
        let args = asked.arguments.to_string();
        let call = RawCall { tool: &name, args: args.as_bytes() };
        let call = match kind {
            Some(kind) => Asked::Host(Doing { kind, by: Judged::behind(kind, trust), call }),
            None => Asked::Tool(call),
        };
        match self.gate.monitor.begin(&client.who, &call) {
            Ok((permit, begun)) => {
                drop(permit);
                Ok(Ok(asked.waiting(begun)))
            }
            Err(Refusal::Stopped(verdict)) => {
                let stopped = (&call, &*verdict);
                let begun = observing::let_through(self.gate, self.home, &client.who, stopped);
                if let Some(begun) = begun {
                    return Ok(Ok(asked.waiting(begun)));
                }
                Ok(Err(match verdict.approval {
                    Some(id) if verdict.decision.asks() => {
                        client.asked.insert(id.to_string());
                        self.hook.notify(&id.to_string(), &format!("{name} {args}"));
                        json!({ "asked": id.to_string(), "message": question(&verdict) })
                    }
                    _ => json!({ "denied": reason(&verdict) }),
                }))
            }
            Err(error) => Ok(Err(json!({ "denied": error.to_string() }))),
        }
    }

    /// INVARIANT (NothingSilent): what happens to servers and their definitions.
    fn mcp_record(&self, client: &Client, kind: &'static str, content: Value) {
        let record = NewRecord {
            session: Some(client.who.session.clone()),
            ..NewRecord::of_host(RecordType::GuardDecision, Kind::of_static(kind), content)
        };
        // What was refused stays refused.
        let _ = self.gate.journal.append(record);
    }
}

/// The name of a server's tool in a session, which may have several servers.
pub(crate) fn key_of(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}

/// The name by which something is judged that a server does beside its tools. No tool can have it: the protocol's names have no
/// colon, and no list with another name is taken in.
pub(crate) fn key_beside(server: &str, what: &str) -> String {
    key_of(server, &format!(":{what}"))
}

/// The same tool by that name.
pub(crate) fn renamed(def: ToolDef, server: &str) -> Result<ToolDef, String> {
    let name = key_of(server, def.name.as_str());
    let name = model::ToolName::parse(&name).map_err(|error| error.to_string())?;
    Ok(ToolDef { name, ..def })
}
