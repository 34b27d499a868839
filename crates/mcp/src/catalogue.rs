//! The tools of one server as they were listed last, and the check of a call against them.

use crate::canonical;
use crate::gate::Listed;
use crate::limits::{DEFINITION_BYTES_MAX, TOOLS_MAX};
use crate::names;
use crate::parameter_headers;
use crate::schema::{Schema, SchemaError};
use crate::shown;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;

/// Tools of one server.
#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    tools: HashMap<String, Tool>,
    state: State,
    /// How often definitions were taken.
    changes: u64,
    /// The page that must come next for the list to be complete.
    next: Option<String>,
    /// Compiled schemas by the digest of the schema: they outlive a new list.
    compiled: HashMap<String, Arc<Result<Schema, SchemaError>>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Some pages may be missing, or the server said that its tools changed.
    #[default]
    Incomplete,
    Complete,
}

#[derive(Debug)]
struct Tool {
    standing: Standing,
    schema: Value,
    /// The digest of the schema, once a call has asked for it.
    digest: Option<String>,
}

/// What the gate said about a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Listed,
    Hidden,
    Held,
}

/// A tool that was left out, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dropped {
    pub(crate) name: String,
    pub(crate) reason: String,
}

/// The answer to whether a tool may be called with these arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    Fits,
    /// Not known, and the list is not complete: list again.
    ListFirst,
    Unknown,
    /// Known, but this call cannot be made; in words for the model.
    Refused(String),
}

impl Catalogue {
    /// Forgets that the list is complete: the server said that it changed.
    pub(crate) fn mark_stale(&mut self) {
        self.state = State::Incomplete;
        self.next = None;
    }

    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.state == State::Complete
    }

    /// Takes a page of definitions with the gate's word on them, and returns what the client may see of it. `cursor`
    /// is what was asked for, `next` what the server offers: only pages in a row make a complete list.
    pub(crate) fn take(
        &mut self,
        page: Page,
        cursor: Option<&str>,
        next: Option<&str>,
        listed: &Listed,
    ) -> Visible {
        self.changes += 1;
        if cursor.is_none() {
            self.tools.clear();
        }
        let is_in_row = cursor.is_none() || self.next.as_deref() == cursor;
        self.state = State::Incomplete;
        self.next = next.filter(|_| is_in_row).map(str::to_owned);
        let mut visible = Visible { is_whole: page.dropped.is_empty(), tools: Vec::new() };
        for definition in page.definitions {
            let Some(name) = definition.get("name").and_then(Value::as_str) else { continue };
            let has = |names: &[String]| names.iter().any(|it| it == name);
            let standing = if has(&listed.hidden) {
                Standing::Hidden
            } else if has(&listed.held) {
                Standing::Held
            } else {
                Standing::Listed
            };
            if self.tools.len() >= TOOLS_MAX && !self.tools.contains_key(name) {
                visible.is_whole = false;
                break;
            }
            let schema = definition.get("inputSchema").cloned().unwrap_or_default();
            self.tools.insert(name.to_owned(), Tool { standing, schema, digest: None });
            let cleaned = listed.cleaned.get(name);
            visible.is_whole &= standing == Standing::Listed && cleaned.is_none();
            if standing == Standing::Listed {
                visible.tools.push(cleaned.cloned().unwrap_or(definition));
            }
        }
        if is_in_row && next.is_none() {
            self.state = State::Complete;
            self.forget_unused_schemas();
        }
        visible
    }

    /// Checks a call.
    pub(crate) fn look_up(&mut self, name: &str, arguments: &Value) -> Lookup {
        if !self.is_complete() {
            return Lookup::ListFirst;
        }
        let Some(tool) = self.tools.get_mut(name) else { return Lookup::Unknown };
        match tool.standing {
            Standing::Hidden => return Lookup::Unknown,
            Standing::Held => {
                return Lookup::Refused(format!(
                    "`{name}` is held: it is new, or its definition changed since it was accepted, or gives orders, or its name looks like that of another server's tool. A person must review it and accept it before it can be called."
                ));
            }
            Standing::Listed => {}
        }
        let schema = &tool.schema;
        let digest = tool.digest.get_or_insert_with(|| canonical::digest(schema));
        if !self.compiled.contains_key(digest) {
            self.compiled.insert(digest.clone(), Arc::new(Schema::compile(schema)));
        }
        let Some(compiled) = self.compiled.get(digest) else { return Lookup::ListFirst };
        match compiled.as_ref() {
            Err(error) => Lookup::Refused(format!("`{name}` cannot be called: {error}.")),
            Ok(schema) => match schema.check(arguments) {
                Ok(()) => Lookup::Fits,
                Err(violation) => Lookup::Refused(format!("`{name}` was not called: {violation}.")),
            },
        }
    }

    fn forget_unused_schemas(&mut self) {
        if self.compiled.len() <= self.tools.len() {
            return;
        }
        let used: HashSet<String> =
            self.tools.values().map(|it| canonical::digest(&it.schema)).collect();
        self.compiled.retain(|digest, _| used.contains(digest));
    }
}

/// What the client may see of a page.
#[derive(Debug, Default)]
pub(crate) struct Visible {
    /// The definitions, in their order.
    pub(crate) tools: Vec<Value>,
    /// Whether they are all that there were, as they came.
    pub(crate) is_whole: bool,
}

/// A page of definitions whose form is right.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) definitions: Vec<Value>,
    pub(crate) dropped: Vec<Dropped>,
}

impl Page {
    /// Reads definitions, and leaves out those that break the protocol's rules.
    pub(crate) fn parse(tools: Vec<Value>) -> Self {
        let mut page = Self::default();
        let mut names = HashSet::new();
        for definition in tools {
            let name = definition.get("name").and_then(Value::as_str).unwrap_or_default();
            match check(&definition, name, &names, page.definitions.len()) {
                Ok(()) => {
                    names.insert(name.to_owned());
                    page.definitions.push(definition);
                }
                Err(reason) => {
                    page.dropped
                        .push(Dropped { name: shown::tool_name(&shown::log_value(name)), reason });
                }
            }
        }
        page
    }

    /// Returns what was left out, for a record.
    pub(crate) fn dropped_detail(&self) -> Value {
        let shown = self.dropped.iter().take(DROPPED_SHOWN_MAX);
        let tools: Vec<Value> =
            shown.map(|it| json!({"tool": it.name, "reason": it.reason})).collect();
        json!({"count": self.dropped.len(), "tools": tools})
    }
}

fn check(
    definition: &Value,
    name: &str,
    names: &HashSet<String>,
    count: usize,
) -> Result<(), String> {
    if count >= TOOLS_MAX {
        return Err(format!("the server has more than {TOOLS_MAX} tools"));
    }
    if !names::is_tool_name(name) {
        return Err("its name breaks the rules of the protocol".to_owned());
    }
    if names.contains(name) {
        return Err("its name stands twice in the list".to_owned());
    }
    if length(definition) > DEFINITION_BYTES_MAX {
        return Err(format!("its definition has more than {DEFINITION_BYTES_MAX} bytes"));
    }
    let schema = definition.get("inputSchema").unwrap_or(&Value::Null);
    Schema::inspect(schema).map_err(|error| error.to_string())?;
    parameter_headers::check(schema)
}

/// The bytes of a value as it is written.
fn length(value: &Value) -> usize {
    let mut count = Count(0);
    // Counting does not fail; if it did, the value would be too long.
    serde_json::to_writer(&mut count, value).map_or(usize::MAX, |()| count.0)
}

/// Counts what is written to it.
struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const DROPPED_SHOWN_MAX: usize = 20;
