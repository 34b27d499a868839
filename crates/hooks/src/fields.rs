//! The fields of a host's input, by the names that its dialect has for them.

use crate::dialect::Dialect;
use crate::host::Host;
use crate::read::ReadError;
use serde_json::{Map, Value};

/// The longest id of a session, an agent or a call.
pub const ID_BYTES_MAX: usize = 512;
/// The longest name of a tool or of an event.
pub const NAME_BYTES_MAX: usize = 512;

/// Sources of prompts, as Claude Code names them, that are the user: at the terminal, and whoever starts it with `-p`.
const USERS: &[&str] = &["user", "sdk"];
/// How a session began, where the host does not say.
const SOURCE_UNTOLD: &str = "startup";

/// An input, with the names of its fields.
pub(crate) struct Input<'a> {
    object: &'a Map<String, Value>,
    dialect: &'static Dialect,
}

impl<'a> Input<'a> {
    pub(crate) fn new(object: &'a Map<String, Value>, dialect: &'static Dialect) -> Self {
        Self { object, dialect }
    }

    /// Checks that the input says it is of this event, where it says so at all.
    pub(crate) fn is_of(&self, event: &str) -> Result<(), ReadError> {
        let Some((_, said)) = self.find(self.dialect.fields.event) else { return Ok(()) };
        let said = said
            .as_str()
            .ok_or(ReadError::Unexpected { field: "hook_event_name", expected: "a name" })?;
        // Copilot names some events in the case of its other dialect.
        let same = match self.dialect.host {
            Host::Copilot => said.eq_ignore_ascii_case(event),
            Host::Claude | Host::Codex | Host::Cursor | Host::Gemini | Host::OpenCode => {
                said == event
            }
        };
        if same {
            return Ok(());
        }
        let said = said.chars().take(NAME_BYTES_MAX).collect();
        Err(ReadError::OtherEvent { told: event.to_owned(), said })
    }

    pub(crate) fn session(&self) -> Result<String, ReadError> {
        self.required_id(self.dialect.fields.session, "session_id")
    }

    pub(crate) fn agent(&self) -> Result<Option<String>, ReadError> {
        self.id(self.dialect.fields.agent)
    }

    pub(crate) fn parent(&self) -> Result<Option<String>, ReadError> {
        self.id(self.dialect.fields.parent)
    }

    pub(crate) fn call(&self) -> Result<Option<String>, ReadError> {
        self.id(self.dialect.fields.call)
    }

    /// Returns the working directory; Cursor names the folders of the window instead.
    pub(crate) fn cwd(&self) -> Option<String> {
        let roots = || self.object.get("workspace_roots")?.as_array()?.first();
        let cwd = self.object.get("cwd").or_else(roots)?.as_str()?;
        (!cwd.is_empty()).then(|| cwd.to_owned())
    }

    pub(crate) fn tool(&self) -> Result<String, ReadError> {
        let names = self.dialect.fields.tool;
        let name = self.required_id(names, "tool_name")?;
        if name.len() > NAME_BYTES_MAX {
            return Err(ReadError::Unexpected { field: "tool_name", expected: "a short name" });
        }
        Ok(name)
    }

    /// Returns the arguments: an object, or the text of one.
    pub(crate) fn args(&self) -> Result<Map<String, Value>, ReadError> {
        const EXPECTED: &str = "an object";
        let (field, value) = self
            .find(self.dialect.fields.args)
            .ok_or(ReadError::Missing { field: "tool_input" })?;
        match value {
            Value::Object(args) => Ok(args.clone()),
            Value::String(text) => serde_json::from_str(text)
                .map_err(|_| ReadError::Unexpected { field, expected: EXPECTED }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                Err(ReadError::Unexpected { field, expected: EXPECTED })
            }
        }
    }

    /// Returns the calls of a batch, each an object.
    pub(crate) fn calls(&self) -> Result<Vec<Map<String, Value>>, ReadError> {
        const FIELD: &str = "tool_calls";
        let unexpected = || ReadError::Unexpected { field: FIELD, expected: "a list of objects" };
        let calls = self.object.get(FIELD).ok_or(ReadError::Missing { field: FIELD })?;
        let calls = calls.as_array().ok_or_else(unexpected)?;
        calls.iter().map(|it| it.as_object().cloned().ok_or_else(unexpected)).collect()
    }

    /// Returns these fields as arguments; the first must be there.
    pub(crate) fn chosen(
        &self,
        names: &'static [&'static str],
    ) -> Result<Map<String, Value>, ReadError> {
        let mut chosen = Map::new();
        for name in names {
            if let Some(value) = self.object.get(*name) {
                chosen.insert((*name).to_owned(), value.clone());
            }
        }
        match names.first() {
            Some(first) if !chosen.contains_key(*first) => Err(ReadError::Missing { field: first }),
            Some(_) | None => Ok(chosen),
        }
    }

    pub(crate) fn prompt(&self) -> Result<String, ReadError> {
        let (field, value) =
            self.find(self.dialect.fields.prompt).ok_or(ReadError::Missing { field: "prompt" })?;
        let text = value.as_str().ok_or(ReadError::Unexpected { field, expected: "a text" })?;
        Ok(text.to_owned())
    }

    /// Whether Claude Code says that a prompt came from elsewhere than the user. What it does not say, it is not.
    pub(crate) fn is_others(&self) -> bool {
        let source = self.object.get("source").filter(|_| self.dialect.host == Host::Claude);
        source.is_some_and(|it| !it.as_str().is_some_and(|it| USERS.contains(&it)))
    }

    pub(crate) fn source(&self) -> String {
        self.object.get("source").and_then(Value::as_str).unwrap_or(SOURCE_UNTOLD).to_owned()
    }

    pub(crate) fn summary(&self) -> Option<String> {
        let summary = self.object.get("compact_summary").or_else(|| self.object.get("summary"))?;
        summary.as_str().map(str::to_owned)
    }

    /// Returns what the agent said last: Claude Code and Codex have one name for it, Gemini CLI another.
    pub(crate) fn last_message(&self) -> Option<String> {
        let (_, message) = self.find(&["last_assistant_message", "prompt_response"])?;
        message.as_str().filter(|it| !it.is_empty()).map(str::to_owned)
    }

    /// Returns the file that the event is about.
    pub(crate) fn file(&self) -> Option<String> {
        let path = self.object.get("file_path")?.as_str()?;
        (!path.is_empty()).then(|| path.to_owned())
    }

    /// Returns the host's own result; a tool that gave nothing leaves the field out.
    pub(crate) fn result(&self) -> Value {
        self.find(self.dialect.fields.result).map(|it| it.1.clone()).unwrap_or_default()
    }

    pub(crate) fn error(&self) -> Option<String> {
        let (_, error) = self.find(self.dialect.fields.error)?;
        Some(error.as_str().map_or_else(|| error.to_string(), str::to_owned))
    }

    pub(crate) fn says_failed(&self) -> bool {
        self.object.get("failed").and_then(Value::as_bool).unwrap_or(false)
    }

    /// Returns the address or command of the MCP server, as Cursor gives it.
    pub(crate) fn server(&self) -> String {
        let server = self.object.get("url").or_else(|| self.object.get("command"));
        server.and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// Returns a text within an object of the input: `mcp_server.name`.
    pub(crate) fn within(&self, outer: &str, inner: &str) -> Option<&'a str> {
        self.object.get(outer)?.get(inner)?.as_str()
    }

    fn find(&self, names: &'static [&'static str]) -> Option<(&'static str, &'a Value)> {
        names.iter().find_map(|name| {
            self.object.get(*name).filter(|it| !it.is_null()).map(|it| (*name, it))
        })
    }

    fn required_id(
        &self,
        names: &'static [&'static str],
        field: &'static str,
    ) -> Result<String, ReadError> {
        let field = names.first().copied().unwrap_or(field);
        self.id(names)?.ok_or(ReadError::Missing { field })
    }

    fn id(&self, names: &'static [&'static str]) -> Result<Option<String>, ReadError> {
        let Some((field, value)) = self.find(names) else { return Ok(None) };
        let is_id = |it: &&str| {
            !it.is_empty() && it.len() <= ID_BYTES_MAX && !it.chars().any(char::is_control)
        };
        match value.as_str().filter(is_id) {
            Some(id) => Ok(Some(id.to_owned())),
            None => Err(ReadError::Unexpected { field, expected: "a short line of text" }),
        }
    }
}
