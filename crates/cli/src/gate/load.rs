//! The load of the benchmark: sessions that read something and send something, as agents do.

use std::time::Instant;

use model::{AgentId, Caller, Effect, Kind, RawCall, SessionId, Source, ToolDef, UserId};
use monitor::{Asked, Executor, Heard, Monitor, Opening, Output, Permit};
use serde_json::json;

use crate::failure::Failure;

/// What one caller does over and over.
pub(crate) struct Load {
    /// What is read and sent, but for its number.
    text: String,
    read: Vec<u8>,
}

/// What one call of the load does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// It reads the payload.
    Reads,
    /// It sends the payload.
    Sends,
}

impl Doing {
    /// Reading and sending take turns.
    fn nth(number: u64) -> Self {
        if number.is_multiple_of(2) { Self::Reads } else { Self::Sends }
    }
}

impl Load {
    /// Payloads of so many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        // Words, not one long letter: an atom is looked for in every one of them.
        let words = "The minutes of the meeting on the harbour wall were read and agreed to. ";
        let text = words.chars().cycle().take(bytes).collect();
        let read = json!({ "query": "minutes" });
        Self { text, read: read.to_string().into_bytes() }
    }

    /// One call through the whole gate, and how long it took in nanoseconds.
    pub(crate) fn call(
        &self,
        monitor: &Monitor,
        who: &Caller,
        number: u64,
    ) -> Result<(Doing, u64), Failure> {
        // No payload is like another: what was seen before is not read again.
        let text = self.numbered(number);
        let doing = Doing::nth(number);
        let (tool, args, output) = match doing {
            Doing::Reads => ("search_notes", self.read.clone(), text.as_str()),
            Doing::Sends => ("send_message", sent(&text), ""),
        };
        let executor = NoOp { output };
        let asked = Asked::Tool(RawCall { tool, args: &args });
        let begun = Instant::now();
        monitor.run(who, &asked, &executor).map_err(Failure::unable)?;
        Ok((doing, u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)))
    }

    fn numbered(&self, number: u64) -> String {
        let mut text = format!("Meeting number {number}. {}", self.text);
        text.truncate(text.floor_char_boundary(self.text.len()));
        text
    }
}

fn sent(text: &str) -> Vec<u8> {
    let args = json!({ "recipient": "ann@example.org", "subject": "Minutes", "body": text });
    args.to_string().into_bytes()
}

/// Does nothing and gives back what it was told to.
struct NoOp<'a> {
    output: &'a str,
}

impl Executor for NoOp<'_> {
    fn execute(&self, permit: Permit<Effect>) -> Output {
        drop(permit.spend());
        Output::text(self.output)
    }
}

/// Opens a session in which the user has asked for what the load does.
pub(crate) fn session(monitor: &Monitor, number: u64) -> Result<Caller, Failure> {
    let who = Caller {
        session: SessionId::parse(&format!("bench-{number}")).map_err(Failure::usage)?,
        user: UserId::parse("bench").map_err(Failure::usage)?,
        agent: AgentId::parse("bench").map_err(Failure::usage)?,
        door: Kind::of_static("bench"),
    };
    let opening = Opening { tools: tools()?, ..Opening::of_one_person(who.clone()) };
    monitor.open_session(opening).map_err(Failure::unable)?;
    let text = "Search my notes for the minutes of the meeting and send a message with them to \
                ann@example.org.";
    let heard = Heard { source: Source::User, origin: "", text };
    monitor.hear(&who, &heard).map_err(Failure::unable)?;
    Ok(who)
}

fn tools() -> Result<Vec<ToolDef>, Failure> {
    let string = |about: &str| json!({ "type": "string", "description": about });
    let defs = [
        json!({
            "name": "search_notes",
            "description": "Searches the notes for a text.",
            "inputSchema": { "type": "object", "properties": { "query": string("What to look for.") } },
        }),
        json!({
            "name": "send_message",
            "description": "Sends a message to a recipient.",
            "inputSchema": { "type": "object", "properties": {
                "recipient": string("Address of the recipient."),
                "subject": string("Subject of the message."),
                "body": string("Text of the message."),
            } },
        }),
    ];
    defs.iter().map(|it| ToolDef::from_value(it).map_err(Failure::usage)).collect()
}
