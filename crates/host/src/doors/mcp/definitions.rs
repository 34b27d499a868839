//! Definitions of tools, and instructions of servers, that give orders: the client is shown what is left of them, and the
//! finding is on record.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ::mcp::trust::Trust;
use ::mcp::{Listing, Offer};
use aegx::Digest;
use scan::tool::{self, Finding, LookAlike, Named, SANITIZED, Scanned};
use serde_json::{Map, Value, json};

use super::kept::Kept;
use super::request::{INSTRUCTIONS, listed};
use super::servers::{Seen, Servers, ServersError, Told};
use super::{Client, Doors};

/// Findings of one definition that are recorded.
const RECORDED_MAX: usize = 16;
/// Names of other servers that a list is compared with.
const OTHERS_MAX: usize = 2048;
/// Servers of one connection whose last list is kept.
const LISTS_KEPT_MAX: usize = 64;
/// Lists of one connection of which it is remembered that they may be seen.
const JUDGED_MAX: usize = 1024;
/// Pairs of names that are looked for at once ([`tool::look_alikes`]).
const FOUND_MAX: usize = 256;
/// Look-alike names of one connection that are recorded.
const ALIKE_MAX: usize = 256;

/// Names of tools by server, and the pairs that look alike.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    names: BTreeMap<String, BTreeSet<String>>,
    alike: BTreeSet<[String; 4]>,
    /// Tools whose names look like another server's, by server.
    shadows: BTreeMap<String, Shadows>,
    /// Servers of which nothing was known before this connection, while they list their tools for the first time.
    first: BTreeSet<String>,
    /// The same of what they offer beside tools.
    first_offers: BTreeSet<(String, Offer)>,
    /// Lists that may be seen, by server.
    judged: BTreeSet<(String, Digest)>,
    /// The last list of each server: clients ask for the same list again and again.
    last: BTreeMap<String, Last>,
}

/// Tools of a server whose names look like those of others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shadows {
    names: BTreeSet<String>,
    /// Are there more than are looked for? Then any may be one.
    are_all: bool,
}

impl Shadows {
    pub(super) fn contains(&self, tool: &str) -> bool {
        self.are_all || self.names.contains(tool)
    }
}

/// The last list of a server.
#[derive(Debug)]
struct Last {
    digest: Digest,
    /// What the client was shown in place of its definitions.
    cleaned: Map<String, Value>,
    /// The version of what is known of servers for which nothing of the list was held or hidden.
    is_shown_for: Option<u64>,
}

impl Listed {
    /// Takes note that nothing of a server's last list is held or hidden, as long as what is known of servers is this version.
    pub(super) fn is_shown(&mut self, server: &str, version: u64) {
        if let Some(last) = self.last.get_mut(server) {
            last.is_shown_for = Some(version);
        }
    }

    /// Whether this is the first list of a server, or a page of it: nothing was known of the server when it began.
    pub(super) fn is_first(&mut self, known: &Servers, server: &str, is_continued: bool) -> bool {
        if !known.is_known(server) {
            self.first.insert(server.to_owned());
        } else if !is_continued {
            self.first.remove(server);
        }
        self.first.contains(server)
    }

    /// Whether this is the first list of a server's prompts or resources, or a page of it.
    pub(super) fn is_first_offer(
        &mut self,
        known: &Servers,
        server: &str,
        offer: Offer,
        is_continued: bool,
    ) -> bool {
        let key = (server.to_owned(), offer);
        if !known.offers_anything(server, offer) {
            self.first_offers.insert(key.clone());
        } else if !is_continued {
            self.first_offers.remove(&key);
        }
        self.first_offers.contains(&key)
    }

    /// Whether this list may be seen.
    pub(crate) fn was_judged(&self, server: &str, list: Digest) -> bool {
        self.judged.contains(&(server.to_owned(), list))
    }

    /// Takes note that this list may be seen.
    pub(crate) fn judged(&mut self, server: &str, list: Digest) {
        if self.judged.len() >= JUDGED_MAX {
            self.judged.clear();
        }
        self.judged.insert((server.to_owned(), list));
    }

    /// Forgets what was said of lists, because somebody else may see them now.
    pub(super) fn forget_shown(&mut self) {
        self.last.values_mut().for_each(|it| it.is_shown_for = None);
    }
}

/// Each tool with its server.
fn named<'a>(
    server: &str,
    tools: impl Iterator<Item = &'a String>,
) -> impl Iterator<Item = (String, String)> {
    tools.map(move |tool| (server.to_owned(), tool.clone()))
}

/// What is on record of a text that gives orders.
fn flagged(server: &str, name: &str, scanned: &Scanned) -> Value {
    let shown = |it: &Finding| json!({ "path": it.path, "rule": it.rule.as_str() });
    let findings: Value = scanned.findings.iter().take(RECORDED_MAX).map(shown).collect();
    let parameters = scanned.flagged_parameters().take(RECORDED_MAX);
    let parameters: Value = parameters.map(|(path, rule)| json!([path, rule.as_str()])).collect();
    json!({
        "server": server, "tool": name, "verdict": scanned.verdict.as_str(),
        "injection_count": scanned.injection_count, "findings": findings,
        "flagged_parameters": parameters, "in_names": scanned.still_orders,
    })
}

/// What is on record where more of a server is held than is kept.
pub(super) fn not_kept(server: &str, seen: &Seen) -> Value {
    let why = "more is new or changed than is kept of one server; the rest is seen after what is kept was accepted";
    json!({ "server": server, "count": seen.left_out, "why": why })
}

/// A list of tools that was taken in.
pub(crate) struct Taken {
    /// Names of tools that are held until a person accepts them.
    pub(crate) held: Vec<String>,
    /// Definitions that the client is shown in place of the server's own.
    pub(crate) cleaned: Map<String, Value>,
    /// The version of what is known of servers for which nothing of it is held.
    pub(crate) accepted_for: Option<u64>,
    /// What is to be on record.
    pub(crate) found: Vec<(&'static str, Value)>,
}

/// Takes in a list of tools: the first is accepted, but for tools of a server that is not trusted whose names look like another
/// server's; those, and what is new or has changed later, are held until a person accepts them. `own` is the line by which the server
/// is started or reached.
/// `was_listed` says whether a tool was in a list of this connection before.
pub(crate) fn take_in(
    home: &Path,
    known: &mut Kept,
    listed: &mut Listed,
    (server, own, page): (&str, Option<&str>, Listing<'_>),
    was_listed: impl Fn(&str) -> bool,
) -> Result<Taken, ServersError> {
    let Listing { items: tools, is_continued } = page;
    // Most lists are as they were: then nothing is written.
    let mut seen = Seen::default();
    let now = known.now(home)?;
    let is_first = listed.is_first(now, server, is_continued);
    let are_accepted = now.are_accepted(server, tools);
    let looked_at = known.version();
    let mut found = Vec::new();
    if !are_accepted {
        listed.look_alikes(home, known, server, tools, &mut found);
        let now = known.now(home)?;
        let is_trusted = now.trust_by(server, own) == Trust::Trusted;
        let shadows = listed.shadows.get(server).filter(|_| !is_trusted).cloned();
        let list = (tools, &shadows.unwrap_or_default());
        seen = now.only(server).see(server, list, is_first);
        if seen.is_new {
            seen = Servers::note(home, |it| it.see(server, list, is_first))?;
        }
    }
    for change in &seen.changed {
        let content = json!({ "server": server, "tool": change.tool, "diff": change.diff });
        found.push(("mcp_definition_changed", content));
    }
    for added in &seen.added {
        let content = json!({
            "server": server, "tool": added.tool, "sha256": added.after, "definition": added.diff,
        });
        found.push(("mcp_tool_added", content));
    }
    if seen.is_crowded {
        found.push(("mcp_definitions_not_kept", not_kept(server, &seen)));
    }
    let cleaned = listed.read(home, known, (server, tools), was_listed, &mut found);
    let accepted_for = are_accepted.then_some(looked_at);
    Ok(Taken { held: seen.held, cleaned, accepted_for, found })
}

impl Listed {
    /// Reads the definitions of a list, and returns those that the client is shown in place of the server's own. The tools stay
    /// callable: by trust and policy, as any other; those that give orders in names are held ([`super::servers::Servers::see`]).
    fn read(
        &mut self,
        home: &Path,
        known: &mut Kept,
        (server, tools): (&str, &[Value]),
        was_listed: impl Fn(&str) -> bool,
        found: &mut Vec<(&'static str, Value)>,
    ) -> Map<String, Value> {
        let digest = listed(tools);
        if let Some(last) = self.last.get(server)
            && last.digest == digest
        {
            return last.cleaned.clone();
        }
        let mut cleaned = Map::new();
        for definition in tools {
            let Some(name) = definition.get("name").and_then(Value::as_str) else { continue };
            let scanned = tool::scan(definition);
            if scanned.findings.is_empty() {
                continue;
            }
            // Once for each connection: lists are asked for again and again.
            if !was_listed(name) {
                found.push(("mcp_definition_flagged", flagged(server, name, &scanned)));
            }
            cleaned.insert(name.to_owned(), scanned.cleaned);
        }
        self.look_alikes(home, known, server, tools, found);
        let kept = &self.last;
        if kept.len() < LISTS_KEPT_MAX || kept.contains_key(server) {
            let last = Last { digest, cleaned: cleaned.clone(), is_shown_for: None };
            self.last.insert(server.to_owned(), last);
        }
        cleaned
    }

    /// Takes note of names that look like those of another server: of this client, or of any that was seen before. Most
    /// clients have a gateway for each server.
    fn look_alikes(
        &mut self,
        home: &Path,
        known: &mut Kept,
        server: &str,
        tools: &[Value],
        record: &mut Vec<(&'static str, Value)>,
    ) {
        let names = tools.iter().filter_map(|it| it.get("name").and_then(Value::as_str));
        let own = self.names.entry(server.to_owned()).or_default();
        let before = own.len();
        own.extend(names.take(model::TOOLS_MAX).map(str::to_owned));
        if own.len() == before {
            return;
        }
        // What cannot be read here stops the list elsewhere.
        let seen = known.now(home).ok();
        let seen = seen.into_iter().flat_map(|it| &it.pins.servers).filter(|it| it.0 != server);
        let mut others: BTreeSet<(String, String)> =
            seen.flat_map(|(server, tools)| named(server, tools.keys())).collect();
        let listed = self.names.iter().filter(|it| it.0 != server);
        others.extend(listed.flat_map(|(server, tools)| named(server, tools.iter())));
        let own = self.names.get(server).into_iter().flatten();
        let own = own.map(|tool| Named { server, tool });
        let others = others.iter().take(OTHERS_MAX);
        let all = others.map(|(server, tool)| Named { server, tool }).chain(own);
        let all: Vec<Named<'_>> = all.collect();
        let pair = |it: &LookAlike<'_>| {
            [it.known.server, it.known.tool, it.other.server, it.other.tool].map(str::to_owned)
        };
        let found = tool::look_alikes(&all);
        let both = found.iter().flat_map(|it| [it.known, it.other]);
        let names = both.filter(|it| it.server == server).map(|it| it.tool.to_owned());
        let shadows = Shadows { names: names.collect(), are_all: found.len() >= FOUND_MAX };
        let found: Vec<([String; 4], &'static str)> =
            found.iter().map(|it| (pair(it), it.rule.as_str())).collect();
        self.shadows.insert(server.to_owned(), shadows);
        for (pair, rule) in found {
            if self.alike.len() < ALIKE_MAX && self.alike.insert(pair.clone()) {
                let [known_server, known_tool, other_server, other_tool] = pair;
                let content = json!({
                    "rule": rule, "server": known_server, "tool": known_tool,
                    "other_server": other_server, "other_tool": other_tool,
                });
                record.push(("mcp_look_alike", content));
            }
        }
    }
}

impl Doors<'_> {
    /// Answers a list that is the last one again. What is not known any more is to be listed in full: nothing of it is judged
    /// here.
    pub(super) fn mcp_relisted(
        &self,
        client: &mut Client,
        server: &str,
        digest: &str,
    ) -> Result<Value, String> {
        client.known.now(self.home).map_err(|error| error.to_string())?;
        let version = client.known.version();
        let last = client.listed.last.get(server);
        let is_it =
            |it: &&Last| it.digest.to_string() == digest && it.is_shown_for == Some(version);
        Ok(match last.filter(is_it) {
            Some(last) => json!({ "hidden": [], "held": [], "cleaned": last.cleaned }),
            None => json!({ "unknown": true }),
        })
    }

    /// Reads what a server tells the model to begin with, as a definition is read: where it gives orders as it came, nothing of
    /// it is shown, also not what the gate has left of it (`seen`); where it is not what was accepted, it is held.
    pub(super) fn mcp_instructions(
        &self,
        client: &mut Client,
        server: &str,
        came: &str,
        seen: String,
    ) -> Result<String, String> {
        let scanned = tool::scan_instructions(came);
        if !scanned.findings.is_empty() {
            let content = flagged(server, INSTRUCTIONS, &scanned);
            self.mcp_record(client, "mcp_instructions_flagged", content);
            return Ok(SANITIZED.to_owned());
        }
        let unable = |error: ServersError| error.to_string();
        let mut told = client.known.now(self.home).map_err(unable)?.told(server, came);
        if told == Told::Changed {
            let own = client.started.get(server).map(String::as_str);
            told = Servers::note(self.home, |it| it.hear(server, own, came)).map_err(unable)?;
            if told == Told::Changed {
                let sha256 = Digest::of(came.as_bytes()).to_string();
                let content = json!({ "server": server, "sha256": sha256, "bytes": came.len() });
                self.mcp_record(client, "mcp_instructions_changed", content);
            }
        }
        match told {
            Told::Accepted => Ok(seen),
            Told::Held | Told::Changed => Err(format!(
                "the instructions of `{server}` are not those that were accepted: `lazaret mcp accept {server}`"
            )),
        }
    }
}
