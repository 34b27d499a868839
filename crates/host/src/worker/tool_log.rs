//! `tools.jsonl` in the state directory: one line for each call of a tool, where `hooks: {logToolUse: true}` asks for it.
//! It is for people who look on; the evidence is the journal, which has every call anyway.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use evidence::{Clock as _, SystemClock};
use model::Caller;
use serde_json::json;

use super::shared::held;

/// The file.
const TOOLS: &str = "tools.jsonl";
/// What becomes of it when it is full.
const FULL: &str = "tools.old.jsonl";
/// Bytes from which on it is full.
const BYTES_MAX: u64 = 16 << 20;

/// One line after the other, whichever session it is of.
static WRITING: Mutex<()> = Mutex::new(());

/// Where calls of a session are written down.
pub(super) struct ToolLog(PathBuf);

impl ToolLog {
    /// In this state directory.
    pub(super) fn of(home: &Path) -> Self {
        Self(home.join(TOOLS))
    }

    /// Writes a call down: its tool and what came of it, nothing of what it got or gave.
    pub(super) fn note(&self, who: &Caller, tool: &str, status: &str) {
        let line = json!({
            "time": SystemClock.unix_seconds(),
            "agent": who.agent.as_str(),
            "user": who.user.as_str(),
            "session": who.session.as_str(),
            "tool": tool,
            "status": status,
        });
        // Nothing depends on it: a line that is lost is in the journal.
        let _ = self.append(line.to_string().as_bytes());
    }

    fn append(&self, line: &[u8]) -> io::Result<()> {
        let _writing = held(&WRITING);
        if self.0.symlink_metadata().is_ok_and(|it| it.len() >= BYTES_MAX) {
            fs::rename(&self.0, self.0.with_file_name(FULL))?;
        }
        files::private::append_line(&self.0, line)
    }
}
