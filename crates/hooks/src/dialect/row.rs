//! One row of the dialect table: an event, and the form of every answer to it.

/// What an event of a host is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A session begins.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// A prompt is submitted.
    Prompt,
    /// A tool is about to run.
    Before,
    /// The host is about to ask its user.
    Permission,
    /// A tool has run.
    After,
    /// A tool has run and failed.
    Failed,
    /// All tools of one answer of the model have run, and it is about to read what they gave.
    Batch,
    /// A subagent begins.
    SubagentStart,
    /// A subagent ends.
    SubagentStop,
    /// The conversation is summarised.
    Compact,
    /// The agent ends its turn.
    Stop,
    /// Instructions have been read to the model.
    Instructions,
    /// Anything else.
    Other,
}

/// The form of one answer: exit status, standard output, and whether the text goes to standard error.
///
/// In `stdout`, `$event` stands for the event's name, `$text` for the reason or text, `$result` for the
/// text in the shape of the tool's own result; all as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Say {
    pub(crate) exit: u8,
    pub(crate) stdout: &'static str,
    pub(crate) stderr: bool,
}

impl Say {
    /// Says nothing.
    pub(crate) const SILENCE: Say = Say { exit: 0, stdout: "", stderr: false };
    /// Lets the event go on and leaves the text on standard error.
    pub(crate) const NOTE: Say = Say { exit: 0, stdout: "", stderr: true };
    /// Blocks by the exit status that all hosts share, with the text on standard error.
    pub(crate) const EXIT_2: Say = Say { exit: 2, stdout: "", stderr: true };

    /// Says it in JSON.
    pub(crate) const fn json(stdout: &'static str) -> Say {
        Say { exit: 0, stdout, stderr: false }
    }

    /// Adds the text on standard error.
    pub(crate) const fn noted(self) -> Say {
        Say { stderr: true, ..self }
    }
}

/// The tool that an event is about where its input does not name one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Given {
    /// The input names the tool.
    Named,
    /// The event is about this tool; these fields of the input are its arguments.
    Fixed { name: &'static str, args: &'static [&'static str] },
    /// The input names the tool of an MCP server.
    Mcp,
}

/// An event of a host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) event: &'static str,
    pub(crate) kind: Kind,
    pub(crate) given: Given,
    pub(crate) pass: Say,
    /// Refuses; for results: withholds.
    pub(crate) deny: Say,
    /// Refuses where the input could not be read, so that the shape of the result is not known.
    pub(crate) deny_unseen: Option<Say>,
    /// Has the host ask its user. Absent where the host would go on, or end the run: denied then.
    pub(crate) ask: Option<Say>,
    /// Tells the model something. Absent: told on standard error.
    pub(crate) context: Option<Say>,
    /// Replaces the result. Absent: as a refusal.
    pub(crate) replace: Option<Say>,
    /// Replaces or withholds the result of an MCP server's tool, where that differs.
    pub(crate) replace_mcp: Option<Say>,
}

impl Row {
    /// A row of an event that can only be watched: what is said goes to standard error.
    pub(crate) const fn new(event: &'static str, kind: Kind) -> Row {
        Row {
            event,
            kind,
            given: Given::Named,
            pass: Say::SILENCE,
            deny: Say::NOTE,
            deny_unseen: None,
            ask: None,
            context: None,
            replace: None,
            replace_mcp: None,
        }
    }

    pub(crate) const fn given(self, given: Given) -> Row {
        Row { given, ..self }
    }

    pub(crate) const fn pass(self, pass: Say) -> Row {
        Row { pass, ..self }
    }

    pub(crate) const fn deny(self, deny: Say) -> Row {
        Row { deny, ..self }
    }

    pub(crate) const fn deny_unseen(self, say: Say) -> Row {
        Row { deny_unseen: Some(say), ..self }
    }

    pub(crate) const fn ask(self, say: Say) -> Row {
        Row { ask: Some(say), ..self }
    }

    pub(crate) const fn context(self, say: Say) -> Row {
        Row { context: Some(say), ..self }
    }

    pub(crate) const fn replace(self, say: Say) -> Row {
        Row { replace: Some(say), ..self }
    }

    pub(crate) const fn replace_mcp(self, say: Say) -> Row {
        Row { replace_mcp: Some(say), ..self }
    }
}
