//! What agents can do at all: `config.yaml`, the part under `capabilityScopes`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::scalar::{AgentName, Label};
use crate::access::scopes::{Registry, Scope, Scopes};

/// The most scopes.
const SCOPES_MAX: usize = 64;
/// The most patterns of one.
const PATTERNS_MAX: usize = 256;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    default: Option<Label>,
    #[serde(default)]
    agents: BTreeMap<AgentName, Label>,
    #[serde(default)]
    strictness: Strictness,
    scopes: BTreeMap<String, RawScope>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Strictness {
    /// A pattern of what may still come, a server or a peer, waits for it.
    #[default]
    Provisional,
    /// Every pattern matches something that there is now.
    Strict,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScope {
    patterns: Vec<Label>,
}

/// The scopes that a file names.
pub(super) fn scopes<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Scopes>, D::Error> {
    Raw::deserialize(input)?.finish().map(Some).map_err(D::Error::custom)
}

impl Raw {
    fn finish(self) -> Result<Scopes, String> {
        const KEY: &str = "capabilityScopes";
        if self.scopes.len() > SCOPES_MAX {
            return Err(format!("`{KEY}.scopes` has at most {SCOPES_MAX} scopes"));
        }
        let (registry, strict) =
            (Registry::of_host(), matches!(self.strictness, Strictness::Strict));
        let mut scopes = BTreeMap::new();
        for (name, raw) in self.scopes {
            let shown = name.escape_debug().to_string();
            if raw.patterns.len() > PATTERNS_MAX {
                return Err(format!("`{KEY}.scopes.{shown}` has at most {PATTERNS_MAX} patterns"));
            }
            let patterns: Vec<String> = raw.patterns.into_iter().map(|it| it.0).collect();
            let (scope, _) = Scope::read(&name, &patterns, &registry, strict)
                .map_err(|error| format!("`{KEY}.scopes.{shown}`: {error}"))?;
            scopes.insert(name, scope);
        }
        let agents = self.agents.into_iter().map(|(agent, it)| (agent.0.as_str().to_owned(), it.0));
        let all = Scopes { default: self.default.map(|it| it.0), agents: agents.collect(), scopes };
        let named = all.agents.values().chain(&all.default);
        match named.into_iter().find(|it| !all.has(it)) {
            None => Ok(all),
            Some(missing) => {
                Err(format!("`{KEY}`: there is no scope `{}`", missing.escape_debug()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Global;

    #[test]
    fn a_scope_that_cannot_be_meant_refuses_the_file_and_names_itself() {
        for (text, says) in [
            ("scopes: {a: {patterns: [\"builtin:file_raed\"]}}", "scopes.a`: DeadPattern"),
            ("scopes: {a: {patterns: [\"*\"]}}", "scopes.a`: AccidentallyFull"),
            ("scopes: {a: {patterns: [\"builtin:[\"]}}", "scopes.a`: InvalidPattern"),
            ("scopes: {a: {patterns: []}}", "scopes.a`: it has no patterns"),
            ("{scopes: {a: {patterns: [bash]}}, default: b}", "there is no scope `b`"),
            ("{scopes: {a: {patterns: [bash]}}, agents: {main: b}}", "there is no scope `b`"),
            ("{strictness: strict, scopes: {a: {patterns: [\"mcp:x/*\"]}}}", "DeadPattern"),
            ("{default: full}", "scopes"),
        ] {
            let error = Global::parse(&format!("capabilityScopes:\n  {text}\n")).unwrap_err();
            assert!(error.to_string().contains(says), "{text}: {error}");
        }
        let fine = "capabilityScopes: {default: full, scopes: {general: {patterns: [\"*\"]}}}";
        assert!(Global::parse(fine).is_ok());
    }
}
