//! What is on record about a run: before it begins, and how it ended.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use aegx::{Digest, Principal, RecordType};
use evidence::{Config, NewRecord, OpenError, PassingError};
use model::Kind;
use sandbox::cage::{Cage, CageError, Ending, Held, Network};
use sandbox::runner::Aside;
use serde_json::{Value, json};

use super::presets::Preset;
use super::settings::Words;
use crate::failure::Failure;
use crate::home::Home;

/// Another run may be writing its own record: that takes milliseconds.
const WAIT_MAX: Duration = Duration::from_secs(10);
const WAIT_PAUSE: Duration = Duration::from_micros(300);
/// Small: whoever begins one makes room for all of it, and whoever comes after a crash reads it.
const SEGMENT_BYTES: u64 = 1 << 20;
/// Characters of a command that are kept.
const COMMAND_CHARS_MAX: usize = 8 * 1024;

/// Records of one run, in a journal of their own: many runs share it, each for a moment, also while a server has the
/// other journal open.
pub(crate) struct Records {
    dir: Result<PathBuf, String>,
    command: String,
    begun: Option<Digest>,
}

/// The beginning of a command, and how much more there was: what is left out is not hidden.
fn kept(command: &str) -> String {
    let (mut text, more): (String, usize) = (
        command.chars().take(COMMAND_CHARS_MAX).collect(),
        command.chars().skip(COMMAND_CHARS_MAX).count(),
    );
    if more > 0 {
        text.push_str(&format!(" … and {more} more characters"));
    }
    text
}

impl Records {
    pub(crate) fn of(home: &Home, words: &Words<'_>) -> Self {
        let dir = home.dir().map(|it| it.join("exec").join("evidence"));
        let dir = dir.map_err(|failure| failure.message().to_owned());
        Self { dir, command: kept(&words.as_shell_text()), begun: None }
    }

    /// INVARIANT (RecordThenAct): durable before anything runs.
    pub(crate) fn begin(&mut self, cage: &Cage, preset: Option<&Preset>) -> Result<(), Failure> {
        let paths = |list: &[PathBuf]| -> Vec<String> {
            list.iter().map(|it| it.display().to_string()).collect()
        };
        let content = json!({
            "command": self.command,
            "workspaces": paths(&cage.workspaces),
            "readable": paths(&cage.readable),
            "shown": paths(&cage.shown),
            "changed": paths(&cage.changed),
            "network": cage.network != Network::None,
            "preset": preset.map(|it| it.to_json(cage)),
            "required": cage.needed,
        });
        self.begun = Some(self.append("exec_begin", content)?);
        Ok(())
    }

    pub(crate) fn end(
        &self,
        held: &Held,
        ending: &Result<Ending, CageError>,
        aside: &Aside,
        took: Duration,
    ) -> Result<(), Failure> {
        let ending = match ending {
            Ok(Ending::Exited(code)) => json!({ "exited": code }),
            Ok(Ending::Killed(signal)) => json!({ "killed": signal }),
            Ok(Ending::TimedOut) => json!({ "timed_out": true }),
            Err(error) => json!({ "error": error.to_string() }),
        };
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let content = json!({
            "held": held,
            "ending": ending,
            "set_aside": aside.first.iter().map(|it| it.at.display().to_string()).collect::<Vec<_>>(),
            "set_aside_more": aside.more,
            "ms": millis,
        });
        self.append("exec_end", content).map(drop)
    }

    /// Something more about it, before it begins.
    pub(crate) fn note(&self, kind: &'static str, content: Value) -> Result<(), Failure> {
        self.append(kind, content).map(drop)
    }

    /// A command that must never run.
    pub(crate) fn refused(&self, rule: &str, why: &str) -> Result<(), Failure> {
        let content = json!({ "command": self.command, "rule": rule, "reason": why });
        self.append("exec_refused", content).map(drop)
    }

    /// No cage could be made. If that cannot be recorded either, nothing has happened that would have to be.
    pub(crate) fn not_begun(&self, why: &str) {
        let content = json!({ "command": self.command, "error": why });
        let _nothing_ran = self.append("exec_not_begun", content);
    }

    fn append(&self, kind: &'static str, content: Value) -> Result<Digest, Failure> {
        let dir = self.dir.as_ref().map_err(Failure::unable)?;
        let config = Config { segment_bytes: SEGMENT_BYTES, ..Config::new(dir) };
        let since = Instant::now();
        loop {
            let record = NewRecord {
                principal: Principal::User,
                parents: self.begun.into_iter().collect(),
                ..NewRecord::of_host(RecordType::ToolCall, Kind::of_static(kind), content.clone())
            };
            match evidence::append_passing(&config, record) {
                Ok(receipt) => return Ok(receipt.id()),
                Err(PassingError::Open(OpenError::Locked { .. })) if since.elapsed() < WAIT_MAX => {
                    std::thread::sleep(WAIT_PAUSE);
                }
                Err(error) => return Err(Failure::unable(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn that_a_command_was_cut_is_on_record() {
        assert_eq!(kept("ls -la"), "ls -la");
        let all = "x".repeat(COMMAND_CHARS_MAX);
        assert_eq!(kept(&all), all);
        assert_eq!(kept(&format!("{all}yz")), format!("{all} … and 2 more characters"));
    }
}
