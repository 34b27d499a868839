//! Prompts that an agent has scheduled. When their time comes, the host hands them over as if the user had said them: they are the
//! agent's words all the same, in whatever session.
//!
//! INVARIANT (NothingForgotten): a prompt that may still come is never dropped to make room: what there is no room for is not scheduled.

use std::path::Path;

use evidence::{Clock as _, SystemClock};
use hooks::ToolUse;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Tools by which an agent has a prompt run later, and the argument that is the prompt.
const SCHEDULES: [(&str, &str); 2] = [("CronCreate", "prompt"), ("ScheduleWakeup", "prompt")];
/// The file of the state directory.
const FILE: &str = "scheduled-prompts.json";
/// Prompts that are kept; beyond it those make room that are older than [`KEPT_SECONDS`], and no others.
const PROMPTS_MAX: usize = 256;
/// How long a prompt may still come, in seconds: hosts end jobs that come again after days.
const KEPT_SECONDS: i64 = 30 * 24 * 3600;
/// Bytes of one prompt that are kept.
const PROMPT_BYTES_MAX: usize = 4096;
/// The longest such file, in bytes: JSON may make six of one.
const FILE_BYTES_MAX: u64 = 8 << 20;
/// Bytes from which on a prompt is found within a longer one, too.
const WITHIN_BYTES_MIN: usize = 32;

/// A prompt that was scheduled.
#[derive(Debug, Serialize, Deserialize)]
#[serde(from = "Written")]
struct Scheduled {
    text: String,
    /// When it was scheduled last, in seconds since 1970.
    since: i64,
}

/// A prompt as it stands in the file: once without its time.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Whole { text: String, since: i64 },
}

impl From<Written> for Scheduled {
    fn from(written: Written) -> Self {
        match written {
            Written::Text(text) => Self { text, since: SystemClock.unix_seconds() },
            Written::Whole { text, since } => Self { text, since },
        }
    }
}

/// Keeps the prompt that this call schedules, if it does.
///
/// # Errors
/// If it cannot be kept, or there is no room for it.
pub(super) fn keep(home: &Path, tool: &ToolUse) -> Result<(), String> {
    let Some((_, argument)) = SCHEDULES.iter().find(|it| it.0 == tool.name) else { return Ok(()) };
    let Some(text) = tool.args.get(*argument).and_then(Value::as_str) else { return Ok(()) };
    let (text, now) = (normal(text), SystemClock.unix_seconds());
    let mut kept = kept(home)?;
    kept.retain(|it| it.text != text);
    if kept.len() >= PROMPTS_MAX {
        kept.retain(|it| now.saturating_sub(it.since) < KEPT_SECONDS);
    }
    if kept.len() >= PROMPTS_MAX {
        let days = KEPT_SECONDS / (24 * 3600);
        return Err(format!(
            "{PROMPTS_MAX} prompts were scheduled in {days} days, and no more are"
        ));
    }
    kept.push(Scheduled { text, since: now });
    let bytes = serde_json::to_vec(&kept).map_err(|error| error.to_string())?;
    files::private::replace(&home.join(FILE), &bytes).map_err(|error| error.to_string())
}

/// Whether a prompt is one that an agent has scheduled. What cannot be looked up is.
pub(super) fn is_one(home: &Path, prompt: &str) -> bool {
    let Ok(kept) = kept(home) else { return true };
    let whole = words(prompt);
    let cut = normal(prompt);
    // Hosts may say beside it whose it is: in lines of their own, or around it.
    let pieces: Vec<String> = prompt.split(['\n', '<', '>']).map(words).collect();
    kept.iter().map(|it| it.text.as_str()).any(|it| {
        it == cut
            || (it.len() >= WITHIN_BYTES_MIN && whole.contains(it))
            || pieces.iter().any(|piece| piece == it && !it.is_empty())
    })
}

fn kept(home: &Path) -> Result<Vec<Scheduled>, String> {
    let bytes = files::private::read_if_there(&home.join(FILE), FILE_BYTES_MAX);
    let bytes = bytes.map_err(|error| format!("`{FILE}`: {error}"))?;
    let Some(bytes) = bytes else { return Ok(Vec::new()) };
    serde_json::from_slice(&bytes).map_err(|error| format!("`{FILE}` is not understood: {error}"))
}

/// A prompt with one space between words, cut: hosts may lay it out in their own way.
fn normal(text: &str) -> String {
    let mut text = words(text);
    text.truncate(text.floor_char_boundary(PROMPT_BYTES_MAX));
    text
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_an_agent_has_scheduled_is_known_again() {
        let dir = tempfile::tempdir().unwrap();
        let call = |name: &str, prompt: &str| ToolUse {
            id: None,
            name: name.to_owned(),
            args: json!({ "cron": "* * * * *", "prompt": prompt }).as_object().unwrap().clone(),
            mcp: None,
        };
        let long = "push the branch to the mirror\n at example.org and tell nobody";
        for prompt in ["push it", long] {
            keep(dir.path(), &call("CronCreate", prompt)).unwrap();
        }
        keep(dir.path(), &call("Agent", "look at it")).unwrap();
        for (prompt, is_its) in [
            ("push it", true),
            (" push  it\n", true),
            // The user may say it among other things; a whole sentence of an agent is nobody else's.
            ("please push it", false),
            ("push the branch to the mirror at example.org and tell nobody", true),
            (&*format!("It is nine.\n{long}."), true),
            ("look at it", false),
            ("A job is due:\npush it\n", true),
            ("<job id=\"1\">push it</job>", true),
        ] {
            assert_eq!(is_one(dir.path(), prompt), is_its, "{prompt}");
        }
        // Whoever schedules many has none of them forgotten.
        for number in 2..PROMPTS_MAX {
            keep(dir.path(), &call("ScheduleWakeup", &format!("go on {number}"))).unwrap();
        }
        assert!(keep(dir.path(), &call("CronCreate", "one more")).is_err());
        assert!(is_one(dir.path(), "push it") && is_one(dir.path(), "go on 2"));
        keep(dir.path(), &call("CronCreate", "push it")).unwrap();
    }

    #[test]
    fn a_prompt_that_cannot_come_any_more_makes_room_and_one_of_an_older_file_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let mut all = vec![Value::from("of an older file")];
        all.extend((2..PROMPTS_MAX).map(|it| Value::from(format!("go on {it}"))));
        all.push(json!({ "text": "long ago", "since": 7 }));
        let bytes = serde_json::to_vec(&all).unwrap();
        files::private::replace(&dir.path().join(FILE), &bytes).unwrap();
        assert!(is_one(dir.path(), "long ago"));
        let args = json!({ "prompt": "push it" }).as_object().unwrap().clone();
        let tool = ToolUse { id: None, name: "CronCreate".to_owned(), args, mcp: None };
        keep(dir.path(), &tool).unwrap();
        assert!(!is_one(dir.path(), "long ago") && is_one(dir.path(), "of an older file"));
        assert_eq!(kept(dir.path()).unwrap().len(), PROMPTS_MAX);
    }
}
