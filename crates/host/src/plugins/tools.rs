//! The tools that a plugin offers, as its manifest declares them: pinned with every other byte of it, so that nothing the
//! plugin says while it runs changes what a model is told of them.

use ::mcp::schema::Schema;
use model::{ToolDef, ToolName};
use monitor::provenance::EGRESS_HINT;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::manifest::{Manifest, ManifestError, wrong};

/// How many tools a plugin may have.
pub const PLUGIN_TOOLS_MAX: usize = 32;
/// The longest name of a tool, and of what a plugin with tools provides, in bytes: models take names of 64.
const NAME_BYTES_MAX: usize = 24;
/// What stands before, between and behind both: the plugin is a server of others to every layer, and none of the host's own,
/// whose names end with a domain.
const BEFORE: &str = "mcp__";
const BETWEEN: &str = "-plugin__";

/// One tool of a plugin.
#[derive(Clone, Debug, PartialEq)]
pub struct PluginTool {
    /// Its name in the plugin.
    pub name: String,
    /// What the manifest says of it.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolForm {
    name: String,
    description: String,
    #[serde(rename = "inputSchema")]
    input_schema: Map<String, Value>,
}

/// Checks what a manifest says of tools.
pub(super) fn tools(
    forms: Vec<ToolForm>,
    provides: &str,
) -> Result<Vec<PluginTool>, ManifestError> {
    if forms.len() > PLUGIN_TOOLS_MAX {
        return Err(wrong(format_args!("`tools` has more than {PLUGIN_TOOLS_MAX} entries")));
    }
    if !forms.is_empty() && provides.len() > NAME_BYTES_MAX {
        let why = "`ax_provider.name` of a plugin with tools has at most";
        return Err(wrong(format_args!("{why} {NAME_BYTES_MAX} bytes")));
    }
    let mut all: Vec<PluginTool> = Vec::new();
    for form in forms {
        let ToolForm { name, description, input_schema } = form;
        if !is_name(&name) || all.iter().any(|it| it.name == name) {
            let why =
                "a tool's `name` is a word of a-z, 0-9 and `_` that is there once, with at most";
            return Err(wrong(format_args!("{why} {NAME_BYTES_MAX} bytes")));
        }
        super::manifest::check_text(&description)?;
        let input_schema = Value::Object(input_schema);
        Schema::inspect(&input_schema).map_err(|it| wrong(format_args!("tool `{name}`: {it}")))?;
        all.push(PluginTool { name, description, input_schema });
    }
    Ok(all)
}

impl Manifest {
    /// The name by which models and rules know a tool of this plugin.
    #[must_use]
    pub fn tool_name(&self, tool: &PluginTool) -> String {
        format!("{BEFORE}{}{BETWEEN}{}", self.provides, tool.name)
    }

    /// A tool as the gate and the model see it: what gives orders in it is taken out. The second says whether anything was.
    ///
    /// # Errors
    /// If it cannot be a tool of a session, or gives orders in names.
    pub fn definition(&self, tool: &PluginTool) -> Result<(ToolDef, bool), ManifestError> {
        let name = self.tool_name(tool);
        let reaches_out = !self.capabilities.network.is_empty();
        let told = json!({
            "name": name, "description": tool.description, "inputSchema": tool.input_schema,
            "annotations": {(EGRESS_HINT): reaches_out},
        });
        let scanned = scan::tool::scan(&told);
        if scanned.still_orders {
            let at = scanned.findings.first().map_or("", |it| it.path.as_str());
            return Err(wrong(format_args!(
                "tool `{}`: a name gives orders, near `{at}`",
                tool.name
            )));
        }
        let is_flagged = !scanned.findings.is_empty();
        let shown = if is_flagged { scanned.cleaned } else { told };
        let def = ToolDef::from_value(&shown).map_err(wrong)?;
        // Whatever was taken out: it is called by its own name.
        let name = ToolName::parse(&name).map_err(wrong)?;
        Ok((ToolDef { name, ..def }, is_flagged))
    }
}

fn is_name(name: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&name.len())
        && name.starts_with(|it: char| it.is_ascii_lowercase())
        && name.bytes().all(|it| matches!(it, b'a'..=b'z' | b'0'..=b'9' | b'_'))
        && !name.contains("__")
}
