//! Scopes: named lists of what an agent can do at all, as patterns over qualified names of tools: `builtin:file_read`,
//! `mcp:SERVER/TOOL`, `skill:NAME/TOOL`, `acp:PEER/TOOL`, `a2a:PEER/TOOL`. A name without one of these words is `builtin`.
//!
//! A scope only takes away. One that can never match, or matches everything by accident, is an error when it is read.

use std::collections::BTreeMap;

use model::ipc::ActionName;
use model::{Decision, Domain, Objection};

use super::{Glob, GlobError, Layers, Manifest, Request, Tool};

/// The word before what is the host's own or the program's that calls.
const BUILTIN: &str = "builtin:";
/// The words before the names of tools.
const SPACES: &[&str] = &[BUILTIN, "skill:", "mcp:", "acp:", "a2a:"];
/// Of these nobody knows beforehand what there will be.
const DYNAMIC: &[&str] = &["mcp:", "acp:", "a2a:"];
/// A scope of this name may hold everything.
const GENERAL: &str = "general";
/// The scope that is always there, and holds everything.
const FULL: &str = "full";
/// Tools that come without a server and are no actions: those of coding agents, and the two of programs behind the proxy.
const OTHERS: &[&str] = &[
    "apply_patch",
    "bash",
    "edit",
    "glob",
    "grep",
    "http_connect",
    "http_request",
    "ls",
    "multiedit",
    "notebookedit",
    "read",
    "shell",
    "task",
    "todowrite",
    "webfetch",
    "websearch",
    "write",
];
/// Names that nobody has: a scope that holds all of them as well holds everything.
const OF_NOBODY: &[&str] = &[
    "builtin:zz-nobody",
    "skill:zz-nobody/x",
    "mcp:zz-nobody/x",
    "acp:zz-nobody/x",
    "a2a:zz-nobody/x",
];

/// One scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    patterns: Vec<Glob>,
}

/// What there is, as far as it is known when a scope is read.
#[derive(Clone, Debug)]
pub struct Registry<'a> {
    /// Qualified names of tools.
    pub ids: Vec<String>,
    /// Names that only say whether a scope holds everything.
    pub of_nobody: &'a [&'a str],
    /// Words before names of which nobody knows beforehand what there will be.
    pub dynamic: &'a [&'a str],
}

/// Why a scope is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScopeError {
    /// A pattern that is not understood.
    #[error("InvalidPattern: {0}")]
    InvalidPattern(#[from] GlobError),
    /// A pattern that nothing can match.
    #[error("DeadPattern: `{0}` matches no tool that there is")]
    DeadPattern(String),
    /// It holds everything, and does not say so by its name.
    #[error("AccidentallyFull: it holds every tool; only a scope called `{GENERAL}` may")]
    AccidentallyFull,
    /// It holds nothing.
    #[error("it has no patterns, and would hold nothing")]
    Empty,
}

impl Registry<'static> {
    /// Exactly these.
    #[must_use]
    pub fn of_ids(ids: Vec<String>) -> Self {
        Self { ids, of_nobody: &[], dynamic: DYNAMIC }
    }

    /// What is known when settings are read: the host's own tools, and those of coding agents.
    #[must_use]
    pub fn of_host() -> Self {
        let others = Domain::ALL.iter().flat_map(|it| it.others()).map(|it| it.0);
        let names = ActionName::ALL.iter().map(|it| it.as_str()).chain(others);
        let ids = names.chain(OTHERS.iter().copied()).map(|it| format!("{BUILTIN}{it}"));
        // Skills are folders, which whoever reads the settings does not know.
        Self {
            ids: ids.collect(),
            of_nobody: OF_NOBODY,
            dynamic: &["skill:", "mcp:", "acp:", "a2a:"],
        }
    }
}

impl Scope {
    /// Reads the scope `name`. Gives also the patterns that match nothing yet, of what may still come; if that is
    /// `strict`, they are errors.
    ///
    /// # Errors
    /// If a pattern is none or dead, or all of them together hold everything.
    pub fn read(
        name: &str,
        patterns: &[String],
        registry: &Registry<'_>,
        strict: bool,
    ) -> Result<(Self, Vec<String>), ScopeError> {
        if patterns.is_empty() {
            return Err(ScopeError::Empty);
        }
        let folded = patterns.iter().map(|it| qualified(it));
        let patterns: Vec<Glob> = folded.map(|it| Glob::name(&it)).collect::<Result<_, _>>()?;
        let all =
            || registry.ids.iter().map(String::as_str).chain(registry.of_nobody.iter().copied());
        let mut waiting = Vec::new();
        for pattern in &patterns {
            if all().any(|it| pattern.fits(it)) {
                continue;
            }
            let text = pattern.to_string();
            if strict || !registry.dynamic.iter().any(|it| text.starts_with(it)) {
                return Err(ScopeError::DeadPattern(text));
            }
            waiting.push(text);
        }
        let scope = Self { patterns };
        // All patterns together: two halves are a whole, too.
        if !matches!(name, GENERAL | FULL) && all().all(|it| scope.admits(it)) {
            return Err(ScopeError::AccidentallyFull);
        }
        Ok((scope, waiting))
    }

    /// Does it hold the tool of this name?
    #[must_use]
    pub fn admits(&self, id: &str) -> bool {
        let id = qualified(id);
        self.patterns.iter().any(|it| it.fits(&id))
    }
}

/// In small letters, with the word before it. A pattern that begins with a sign stands for any word.
fn qualified(name: &str) -> String {
    let name = name.trim().to_lowercase();
    let is_open = name.starts_with(['*', '?', '[']);
    if is_open || SPACES.iter().any(|it| name.starts_with(it)) {
        name
    } else {
        format!("{BUILTIN}{name}")
    }
}

/// The qualified name of a tool that is called. What a tool says of itself in its name gives it no other word.
fn id_of(tool: &Tool<'_>) -> String {
    match tool.server() {
        Some(server) => format!("mcp:{server}/{}", tool.last_part()),
        None => format!("{BUILTIN}{}", tool.last_part()),
    }
}

/// Scopes, and whose they are: `config.yaml`, the part under `capabilityScopes`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes {
    /// The scope of agents of which nothing else is said.
    pub default: Option<String>,
    /// Those of single agents, in place of the default.
    pub agents: BTreeMap<String, String>,
    /// All of them by name.
    pub scopes: BTreeMap<String, Scope>,
}

impl Scopes {
    /// The names of the scopes that hold for an agent whose manifest names `own`: all of them must hold a tool.
    fn of<'a>(&'a self, agent: &str, own: Option<&'a str>) -> impl Iterator<Item = &'a str> {
        let operators = self.agents.get(agent).or(self.default.as_ref());
        operators.map(String::as_str).into_iter().chain(own)
    }

    /// The first scope of an agent that does not hold the tool of this name; none if all of them do.
    fn without<'a>(&'a self, manifest: &'a Manifest, id: &str) -> Option<&'a str> {
        let own = manifest.capability_scope.as_deref();
        self.of(manifest.agent.as_str(), own).find(|name| match self.scopes.get(*name) {
            Some(scope) => !scope.admits(id),
            None => *name != FULL,
        })
    }

    /// Do all scopes of an agent hold the tool of this name?
    #[must_use]
    pub fn admit(&self, manifest: &Manifest, id: &str) -> bool {
        self.without(manifest, id).is_none()
    }

    /// Is there a scope of this name?
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        name == FULL || self.scopes.contains_key(name)
    }
}

/// What the scopes of an agent have against a call.
///
/// # Errors
/// If one of them does not hold the tool, or is not there.
pub(super) fn check(layers: &Layers<'_>, request: &Request<'_>) -> Result<(), Objection> {
    if !request.tool.is_call() {
        return Ok(());
    }
    let id = id_of(request.tool);
    let Some(name) = layers.global.scopes().without(layers.manifest, &id) else { return Ok(()) };
    let shown = |it: &str| it.chars().take(100).collect::<String>().escape_debug().to_string();
    let why = format!("`{}` is out of the scope `{}` of this agent", shown(&id), shown(name));
    let remedy = "do without this tool, or have the operator add it to the scope";
    Err(Objection::new(RULE, Decision::Deny, "out_of_scope", why).with_remedy(remedy))
}

/// The id in records.
pub(super) const RULE: &str = "layer-scope";

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_vector_of_others() {
        let cases = include_str!("../../../../corpus/scopes/zeph.json");
        let cases: Vec<Value> = serde_json::from_str(cases).unwrap();
        assert_eq!(cases.len(), 10);
        for case in &cases {
            let input = &case["input"];
            let texts = |it: &Value| -> Vec<String> {
                it.as_array()
                    .into_iter()
                    .flatten()
                    .map(|it| it.as_str().unwrap().to_owned())
                    .collect()
            };
            let name = input["scope_name"].as_str().or(input["scope"].as_str()).unwrap_or("s");
            let strict = input["pattern_strictness"] == "strict";
            let patterns = match name {
                FULL => vec!["*".to_owned()],
                _ => texts(&input["patterns"]),
            };
            let mut ids = texts(&input["registry"]);
            if ids.is_empty() {
                // Two cases bring no registry.
                ids = vec!["builtin:read".to_owned(), "builtin:execute".to_owned()];
            }
            let read = Scope::read(name, &patterns, &Registry::of_ids(ids), strict);
            // By a way round, as `execute()`: there is none here that no tool stands for.
            let call = input["call"].as_str().or(input["id"].as_str()).or(input["path"].as_str());
            let found = match (&read, call) {
                (Err(error), _) => {
                    format!("error:{}", error.to_string().split(':').next().unwrap())
                }
                (Ok((scope, _)), Some(call)) if scope.admits(call) => "admit".to_owned(),
                (Ok(_), Some(_)) => "reject".to_owned(),
                (Ok((_, waiting)), None) if waiting.is_empty() => "ok".to_owned(),
                (Ok(_), None) => "ok with warning ProvisionalDeadPattern".to_owned(),
            };
            // A truth value says that it is admitted.
            let expected = case["expected"].as_str().unwrap_or("admit");
            let expected = match expected {
                "should_error_as_full" => "error:AccidentallyFull",
                "should_reject" => "reject",
                it => it,
            };
            assert_eq!(found, expected, "{}", case["name"]);
        }
    }

    #[test]
    fn what_is_known_of_the_host_tells_dead_patterns_and_leaves_all_of_its_own_tools_to_be_named() {
        let read = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|it| (*it).to_owned()).collect();
            Scope::read("s", &patterns, &Registry::of_host(), false)
        };
        assert!(read(&["builtin:file_*", "bash", "mcp:git/*"]).is_ok());
        assert!(read(&["builtin:*"]).is_ok());
        assert!(matches!(read(&["builtin:file_raed"]), Err(ScopeError::DeadPattern(_))));
        assert!(matches!(read(&["nothing:*"]), Err(ScopeError::DeadPattern(_))));
        assert!(matches!(read(&[]), Err(ScopeError::Empty)));
        for full in [
            &["*"][..],
            &["builtin:*", "skill:*", "mcp:*", "acp:*", "a2a:*"],
            &["[a-b]*", "[c-z]*"],
        ] {
            assert_eq!(read(full), Err(ScopeError::AccidentallyFull), "{full:?}");
        }
    }
}
