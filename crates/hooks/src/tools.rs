//! The definitions of the hosts' built-in tools, in the form of MCP's `tools/list`.

use crate::dialect::dialect;
use crate::host::Host;
use serde_json::Value;
use std::sync::OnceLock;

/// Returns the host's built-in tools, each `{name, description, inputSchema}`.
#[must_use]
pub fn tools(host: Host) -> &'static [Value] {
    static READ: [OnceLock<Vec<Value>>; Host::ALL.len()] = [const { OnceLock::new() }; 6];
    let read = || serde_json::from_str(dialect(host).tools).unwrap_or_default();
    READ.get(host as usize).map_or(&[], |it| it.get_or_init(read))
}

/// Returns the definition of a built-in tool, by any name that hooks have for it.
#[must_use]
pub fn definition(host: Host, name: &str) -> Option<&'static Value> {
    let alias = dialect(host).aliases.iter().find(|it| it.0 == name);
    let by_name = |wanted: &str| {
        tools(host).iter().find(|it| it.get("name").and_then(Value::as_str) == Some(wanted))
    };
    by_name(name).or_else(|| by_name(alias?.1))
}
