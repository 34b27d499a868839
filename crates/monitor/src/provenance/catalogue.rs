//! Catalogues: flow types that the operator wrote, and those of well-known tools that come with us.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use model::{Flow, Reach, Role, ToolDef, Trust};
use serde::Deserialize;

use super::infer::{infer, tighten};

/// The longest catalogue that is read, in bytes.
pub const CATALOGUE_BYTES_MAX: usize = 16 << 20;
/// Well-known tools: `tool` alone, or `server/tool` for a tool of an MCP server.
const BUILT_IN: &str = include_str!("well_known.json");

/// Flow types by the name of the tool, and what the operator trusts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalogue {
    tools: BTreeMap<String, Flow>,
    trusted: Trusted,
}

/// Addresses and accounts that the operator vouches for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trusted {
    pub(super) entries: Vec<String>,
}

/// Why a text is no catalogue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogueError {
    /// Too long.
    #[error("the catalogue has {bytes} bytes, at most {CATALOGUE_BYTES_MAX} are read")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Not the JSON that a catalogue is.
    #[error("the catalogue is not what a catalogue should be: {0}")]
    Json(String),
    /// A word that stands for nothing.
    #[error("`{field}` of the tool `{tool}` cannot be `{word}`; it is one of {known}")]
    Word {
        /// The tool.
        tool: String,
        /// The field, or the parameter.
        field: String,
        /// What is there.
        word: String,
        /// What could be there.
        known: &'static str,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    tools: BTreeMap<String, WrittenFlow>,
    #[serde(default)]
    trusted: WrittenTrust,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFlow {
    effect: String,
    output: String,
    egress: bool,
    destructive: bool,
    args: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTrust {
    #[serde(default)]
    addresses: Vec<String>,
    #[serde(default)]
    accounts: Vec<String>,
}

impl Catalogue {
    /// Reads a catalogue.
    ///
    /// # Errors
    /// If it is not JSON of the documented form: an unknown field or word is an error, not a guess.
    pub fn parse(text: &str) -> Result<Self, CatalogueError> {
        if text.len() > CATALOGUE_BYTES_MAX {
            return Err(CatalogueError::TooLong { bytes: text.len() });
        }
        let written: Written =
            serde_json::from_str(text).map_err(|why| CatalogueError::Json(why.to_string()))?;
        let mut tools = BTreeMap::new();
        for (name, flow) in written.tools {
            let flow = understand(&name, flow)?;
            tools.insert(name, flow);
        }
        let mut entries = written.trusted.addresses;
        entries.extend(written.trusted.accounts);
        Ok(Self { tools, trusted: Trusted { entries } })
    }

    /// The same with what another one says; where both speak of a tool, the other one counts.
    #[must_use]
    pub fn beneath(mut self, other: Self) -> Self {
        self.tools.extend(other.tools);
        self.trusted.entries.extend(other.trusted.entries);
        self
    }

    /// What the operator vouches for.
    #[must_use]
    pub fn trusted(&self) -> &Trusted {
        &self.trusted
    }

    /// The flow type of `tool`: the operator's word, else ours for a well-known tool, else inferred.
    #[must_use]
    pub fn flow(&self, tool: &ToolDef) -> Flow {
        if let Some(flow) = self.tools.get(tool.name.as_str()) {
            return flow.clone();
        }
        match well_known(tool.name.as_str()) {
            Some(flow) => {
                let mut flow = flow.clone();
                tighten(&mut flow, &tool.annotations);
                flow
            }
            None => infer(tool),
        }
    }
}

fn well_known(name: &str) -> Option<&'static Flow> {
    static TOOLS: LazyLock<Catalogue> =
        LazyLock::new(|| Catalogue::parse(BUILT_IN).unwrap_or_default());
    if let Some(flow) = TOOLS.tools.get(name) {
        return Some(flow);
    }
    // `mcp__github__create_issue`: the server's name stands before the tool's.
    let (server, tool) = name.rsplit_once("__")?;
    let server = server.rsplit("__").next().unwrap_or(server).to_lowercase();
    let known = TOOLS.tools.iter().find(|(known, _)| {
        known.split_once('/').is_some_and(|(of, its)| its == tool && server.contains(of))
    });
    known.map(|(_, flow)| flow)
}

fn understand(tool: &str, written: WrittenFlow) -> Result<Flow, CatalogueError> {
    let wrong = |field: &str, word: &str, known| CatalogueError::Word {
        tool: tool.escape_debug().to_string(),
        field: field.escape_debug().to_string(),
        word: word.escape_debug().to_string(),
        known,
    };
    let reach = Reach::parse(&written.effect)
        .ok_or_else(|| wrong("effect", &written.effect, "read, write, send"))?;
    let output = Trust::parse(&written.output)
        .ok_or_else(|| wrong("output", &written.output, "trusted, own, untrusted"))?;
    let mut roles = BTreeMap::new();
    for (param, word) in written.args {
        let role = Role::parse(&word)
            .ok_or_else(|| wrong(&param, &word, "destination, target, content, control, secret"))?;
        roles.insert(param, role);
    }
    Ok(Flow { reach, output, egress: written.egress, destructive: written.destructive, roles })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(name: &str) -> ToolDef {
        ToolDef::from_value(&json!({"name": name})).unwrap()
    }

    #[test]
    fn the_operators_word_comes_first() {
        let text = r#"{"tools":{"get_x":{"effect":"send","output":"own","egress":true,"destructive":false,"args":{"a":"secret"}}},
            "trusted":{"addresses":["a@b.com"],"accounts":["DE89 3704 0044 0532 0130 00"]}}"#;
        let catalogue = Catalogue::parse(text).unwrap();
        assert_eq!(catalogue.flow(&tool("get_x")).reach, Reach::Send);
        assert_eq!(catalogue.flow(&tool("get_y")).reach, Reach::Read);
        assert_eq!(catalogue.trusted().entries.len(), 2);
    }

    #[test]
    fn a_wrong_word_is_an_error() {
        let flow = |effect: &str, more: &str| {
            format!(
                r#"{{"tools":{{"t":{{"effect":"{effect}","output":"own","egress":true,"destructive":false,"args":{{}}{more}}}}}}}"#
            )
        };
        assert!(Catalogue::parse(&flow("send", "")).is_ok());
        let why = Catalogue::parse(&flow("sent", "")).unwrap_err().to_string();
        assert!(why.contains("`sent`") && why.contains("read, write, send"), "{why}");
        assert!(Catalogue::parse(&flow("send", r#","extra":1"#)).is_err());
        assert!(Catalogue::parse("[]").is_err());
    }

    #[test]
    fn well_known_tools_are_known() {
        Catalogue::parse(BUILT_IN).unwrap();
        let none = Catalogue::default();
        assert_eq!(none.flow(&tool("Bash")).output, Trust::Untrusted);
        assert_eq!(none.flow(&tool("mcp__github__create_issue")).reach, Reach::Send);
        assert_eq!(none.flow(&tool("WebFetch")).roles.get("url"), Some(&Role::Destination));
    }
}
