//! Answers: a reply in the form that the host really obeys for that event.

use crate::dialect::{Row, Say, dialect};
use crate::event::Seen;
use crate::host::Host;
use crate::reply::{Answer, Reply};
use crate::reshape::reshaped;
use crate::template::{Values, fill};

/// The most characters of a reason or a context: Claude Code cuts at 10,000. A replaced result is not cut.
pub const TEXT_CHARS_MAX: usize = 9_000;

/// What is said where no reason was given: a denial without one is open on Codex.
const NO_REASON: &str = "Lazaret refused this. Next step: `lazaret status` says why.";

/// Puts a reply into the host's form. `seen` is what [`crate::read`] gave; without it the forms are those that
/// hold for any input.
#[must_use]
pub fn answer(host: Host, event: &str, seen: Option<&Seen>, reply: &Reply) -> Answer {
    let dialect = dialect(host);
    let row = dialect.row(event).unwrap_or(&dialect.unknown);
    let asked = Asked { event, row, seen };
    match reply {
        Reply::Pass => asked.say(row.pass, ""),
        Reply::Deny { reason } | Reply::Withhold { reason } => asked.deny(reason),
        Reply::Ask { reason } => match row.ask {
            Some(say) => asked.say(say, &told(reason)),
            None => asked.deny(reason),
        },
        Reply::Context { text } => {
            let say = row.context.unwrap_or(row.pass.noted());
            asked.say(say, &told(text))
        }
        Reply::Replace { text } => asked.replace(text),
    }
}

/// The event that is answered.
struct Asked<'a> {
    event: &'a str,
    row: &'a Row,
    seen: Option<&'a Seen>,
}

impl Asked<'_> {
    fn deny(&self, reason: &str) -> Answer {
        let say = match self.seen {
            Some(_) if self.is_mcp() => self.row.replace_mcp.unwrap_or(self.row.deny),
            Some(_) => self.row.deny,
            None => self.row.deny_unseen.unwrap_or(self.row.deny),
        };
        self.say(say, &told(reason))
    }

    fn replace(&self, text: &str) -> Answer {
        let replace = if self.is_mcp() { self.row.replace_mcp } else { None };
        match (replace.or(self.row.replace), self.seen) {
            // An empty text is a reason too few on some hosts; say at least that.
            (Some(say), Some(_)) if text.trim().is_empty() => self.say(say, "(no output)"),
            (Some(say), Some(_)) => self.say(say, text),
            (Some(_), None) | (None, _) => self.deny(text),
        }
    }

    fn is_mcp(&self) -> bool {
        let tool = self.seen.and_then(|it| it.event.tool());
        tool.is_some_and(|it| it.mcp.is_some())
    }

    fn say(&self, say: Say, text: &str) -> Answer {
        let result = reshaped(self.seen, text);
        let values = Values { event: self.event, text, result: &result };
        let stdout = fill(say.stdout, &values).into_bytes();
        let stderr = if say.stderr { format!("{text}\n").into_bytes() } else { Vec::new() };
        Answer { exit: say.exit, stdout, stderr }
    }
}

/// Returns a text that is not empty and not too long.
fn told(text: &str) -> String {
    if text.trim().is_empty() {
        return NO_REASON.to_owned();
    }
    let mut told: String = text.chars().take(TEXT_CHARS_MAX).collect();
    if told.len() < text.len() {
        told.push('…');
    }
    told
}
