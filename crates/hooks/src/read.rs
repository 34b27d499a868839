//! Reading a host's input: bounded, strict about who and what, tolerant of fields that are new.

use crate::dialect::{Dialect, Given, Kind, Row, dialect};
use crate::event::{Event, Seen, ToolUse};
use crate::fields::Input;
use crate::host::Host;
use crate::{mcp_name, result_text};
use serde_json::{Map, Value};

/// The most bytes of one input.
pub const INPUT_BYTES_MAX: usize = 32 << 20;
/// The deepest nesting of one input.
pub const DEPTH_MAX: usize = 96;

/// What is wrong with a host's input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The host has no event of that name.
    #[error("{host} has no event `{event}`: `lazaret init` sets up those it has")]
    UnknownEvent {
        /// The host.
        host: Host,
        /// The name that was given.
        event: String,
    },
    /// The input is too long.
    #[error("the hook's input has {bytes} bytes, more than {max}: let the agent pass less at once")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// The input is nested too deeply.
    #[error(
        "the hook's input is nested more than {max} deep: let the agent pass simpler arguments"
    )]
    TooDeep {
        /// The limit.
        max: usize,
    },
    /// The input is no JSON object.
    #[error(
        "the hook's input is not a JSON object ({why}): check that the host itself runs the hook"
    )]
    NotJson {
        /// What the parser said.
        why: String,
    },
    /// A field is not there.
    #[error(
        "the hook's input has no `{field}`: update Lazaret, the host may be newer than it knows"
    )]
    Missing {
        /// The field.
        field: &'static str,
    },
    /// A field holds something else than it must.
    #[error(
        "`{field}` in the hook's input is not {expected}: update Lazaret, the host may be newer than it knows"
    )]
    Unexpected {
        /// The field.
        field: &'static str,
        /// What it must be.
        expected: &'static str,
    },
    /// The input is that of another event.
    #[error(
        "the hook was started for `{told}` but its input is of `{said}`: run `lazaret init` again"
    )]
    OtherEvent {
        /// The event that the program was started for.
        told: String,
        /// The event that the input names.
        said: String,
    },
}

/// Reads the input of a hook, for an event by the host's name of it.
///
/// # Errors
///
/// The event is unknown, or the input is not what the host gives for it.
pub fn read(host: Host, event: &str, input: &[u8]) -> Result<Seen, ReadError> {
    let dialect = dialect(host);
    let row = dialect
        .row(event)
        .ok_or_else(|| ReadError::UnknownEvent { host, event: event.to_owned() })?;
    let object = parse(input)?;
    let input = Input::new(&object, dialect);
    input.is_of(event)?;
    let (session, subagent, parent_agent) = who(host, &input)?;
    let event = understand(dialect, row, &input, subagent.as_deref())?;
    // A subagent's start and end are told about it, not by it.
    let is_about = matches!(event, Event::SubagentStart { .. } | Event::SubagentStop { .. });
    let subagent = subagent.filter(|_| !is_about);
    Ok(Seen { session, subagent, parent_agent, cwd: input.cwd(), event })
}

fn parse(input: &[u8]) -> Result<Map<String, Value>, ReadError> {
    if input.len() > INPUT_BYTES_MAX {
        return Err(ReadError::TooLong { bytes: input.len(), max: INPUT_BYTES_MAX });
    }
    let value: Value =
        serde_json::from_slice(input).map_err(|it| ReadError::NotJson { why: it.to_string() })?;
    if depth(&value) > DEPTH_MAX {
        return Err(ReadError::TooDeep { max: DEPTH_MAX });
    }
    match value {
        Value::Object(object) => Ok(object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(ReadError::NotJson { why: "it is another value".to_owned() })
        }
    }
}

/// Measures the nesting; the parser has bounded it already, so the recursion is bounded too.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

type Who = (String, Option<String>, Option<String>);

/// Says in whose session the event happens, and which subagent acts.
fn who(host: Host, input: &Input<'_>) -> Result<Who, ReadError> {
    let session = input.session()?;
    let agent = input.agent()?;
    let parent = input.parent()?;
    Ok(match (host, agent, parent) {
        // A subagent of OpenCode is a session of its own.
        (Host::OpenCode, _, Some(parent)) => (parent, Some(session), None),
        // Copilot names the subagent as the session, except when permission is asked.
        (Host::Copilot, Some(agent), Some(parent)) if agent == session => {
            (parent.clone(), Some(agent), Some(parent))
        }
        (
            Host::Claude
            | Host::Codex
            | Host::Cursor
            | Host::Gemini
            | Host::Copilot
            | Host::OpenCode,
            agent,
            parent,
        ) => (session, agent, parent),
    })
}

fn understand(
    dialect: &'static Dialect,
    row: &Row,
    input: &Input<'_>,
    agent: Option<&str>,
) -> Result<Event, ReadError> {
    let id = || agent.map(str::to_owned).ok_or(ReadError::Missing { field: "agent_id" });
    Ok(match row.kind {
        Kind::SessionStart => Event::SessionStart { source: input.source() },
        Kind::SessionEnd => Event::SessionEnd,
        Kind::Prompt => Event::Prompt { text: input.prompt()?, is_others: input.is_others() },
        Kind::Before => Event::Before(tool(dialect, row, input)?),
        Kind::Permission => Event::Permission(tool(dialect, row, input)?),
        Kind::After | Kind::Failed => after(dialect, row, input)?,
        Kind::Batch => Event::Batch { calls: batch(dialect, row, input)? },
        Kind::SubagentStart => Event::SubagentStart { id: id()? },
        Kind::SubagentStop => Event::SubagentStop { id: id()? },
        Kind::Compact => Event::Compact { summary: input.summary() },
        Kind::Stop => Event::Stop { message: input.last_message() },
        Kind::Instructions => Event::Instructions { path: input.file() },
        Kind::Other => Event::Other,
    })
}

fn tool(dialect: &Dialect, row: &Row, input: &Input<'_>) -> Result<ToolUse, ReadError> {
    let id = input.call()?;
    match row.given {
        Given::Fixed { name, args } => {
            Ok(ToolUse { id, name: name.to_owned(), args: input.chosen(args)?, mcp: None })
        }
        Given::Mcp => {
            let (name, mcp) = mcp_name::by_cursor(&input.tool()?, &input.server());
            Ok(ToolUse { id, name, args: input.args()?, mcp: Some(mcp) })
        }
        Given::Named => {
            let name = input.tool()?;
            let mcp = mcp_name::split(dialect, &name, input);
            Ok(ToolUse { id, name, args: input.args()?, mcp })
        }
    }
}

fn after(dialect: &Dialect, row: &Row, input: &Input<'_>) -> Result<Event, ReadError> {
    let tool = tool(dialect, row, input)?;
    let shape = input.result();
    let failed = row.kind == Kind::Failed || input.says_failed() || result_text::is_failure(&shape);
    let mut output = result_text::of(dialect.host, &shape);
    if let Some(error) = input.error() {
        if !output.is_empty() {
            output.push('\n');
        }
        output.push_str(&error);
    }
    Ok(Event::After { tool, output, failed, shape })
}

/// The calls of a batch, each told like the end of one call.
fn batch(dialect: &'static Dialect, row: &Row, input: &Input<'_>) -> Result<Vec<Event>, ReadError> {
    let all = input.calls()?;
    all.iter().map(|it| after(dialect, row, &Input::new(it, dialect))).collect()
}
