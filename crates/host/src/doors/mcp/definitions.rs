//! Definitions of tools that give orders: the client is shown what is left of them, and the finding is on record.

use std::collections::{BTreeMap, BTreeSet};

use scan::tool::{self, Finding, LookAlike, Named};
use serde_json::{Map, Value, json};

use super::{Client, Doors, key_of};

/// Findings of one definition that are recorded.
const RECORDED_MAX: usize = 16;
/// Look-alike names of one connection that are recorded.
const ALIKE_MAX: usize = 256;

/// Names of tools by server, and the pairs that look alike.
#[derive(Debug, Default)]
pub(super) struct Listed {
    names: BTreeMap<String, BTreeSet<String>>,
    alike: BTreeSet<[String; 4]>,
}

impl Doors<'_> {
    /// Reads the definitions of a list, and returns those that the client is shown in place of the server's own. The tools stay
    /// callable: by trust and policy, as any other.
    pub(super) fn mcp_definitions(
        &self,
        client: &mut Client,
        server: &str,
        tools: &[Value],
    ) -> Map<String, Value> {
        let mut cleaned = Map::new();
        for definition in tools {
            let Some(name) = definition.get("name").and_then(Value::as_str) else { continue };
            let scanned = tool::scan(definition);
            if scanned.findings.is_empty() {
                continue;
            }
            // Once for each connection: lists are asked for again and again.
            if !client.tools.contains_key(&key_of(server, name)) {
                let shown = |it: &Finding| json!({ "path": it.path, "rule": it.rule });
                let findings: Value =
                    scanned.findings.iter().take(RECORDED_MAX).map(shown).collect();
                let content = json!({
                    "server": server, "tool": name, "verdict": scanned.verdict.as_str(),
                    "injection_count": scanned.injection_count, "findings": findings,
                });
                self.mcp_record(client, "mcp_definition_flagged", content);
            }
            cleaned.insert(name.to_owned(), scanned.cleaned);
        }
        self.mcp_look_alikes(client, server, tools);
        cleaned
    }

    /// Takes note of names that look like those of another server.
    fn mcp_look_alikes(&self, client: &mut Client, server: &str, tools: &[Value]) {
        let names = tools.iter().filter_map(|it| it.get("name").and_then(Value::as_str));
        let known = client.listed.names.entry(server.to_owned()).or_default();
        known.extend(names.take(model::TOOLS_MAX).map(str::to_owned));
        let all = client.listed.names.iter();
        let all: Vec<Named<'_>> = all
            .flat_map(|(server, tools)| tools.iter().map(move |tool| Named { server, tool }))
            .collect();
        let pair = |it: &LookAlike<'_>| {
            [it.known.server, it.known.tool, it.other.server, it.other.tool].map(str::to_owned)
        };
        let found: Vec<([String; 4], &'static str)> =
            tool::look_alikes(&all).iter().map(|it| (pair(it), it.rule)).collect();
        for (pair, rule) in found {
            if client.listed.alike.len() < ALIKE_MAX && client.listed.alike.insert(pair.clone()) {
                let [known_server, known_tool, other_server, other_tool] = pair;
                let content = json!({
                    "rule": rule, "server": known_server, "tool": known_tool,
                    "other_server": other_server, "other_tool": other_tool,
                });
                self.mcp_record(client, "mcp_look_alike", content);
            }
        }
    }
}
