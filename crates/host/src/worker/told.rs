//! What an agent is told from files: those of the workspace that its manifest names, and what the operator wrote beside the
//! manifest.
//!
//! INVARIANT (OneGate): a file of the workspace is read as the agent itself would read it, by a `file_read` that is judged,
//! recorded and absorbed before a word of it is shown. What the gate stops is not shown, and is on record.

use std::io;
use std::path::Path;

use model::Caller;
use model::ipc::Answer;
use scan::boundary;
use serde_json::{Value, json};

use super::offer::Offer;
use crate::ipc::Door;

/// Characters of one file.
const FILE_CHARS_MAX: usize = 20_000;
/// Characters of all of them.
const FILES_CHARS_MAX: usize = 50_000;
/// What the operator tells an agent beside its manifest.
const CONTEXT: &str = "CONTEXT.md";
/// Bytes of that.
const CONTEXT_BYTES_MAX: u64 = 40_000;

/// The files that the manifest names, as far as they are there and may be read: their names and what stands in them.
pub(super) fn files(offer: &Offer, who: &Caller, door: &Door) -> Vec<(String, String)> {
    let (mut files, mut left) = (Vec::new(), FILES_CHARS_MAX);
    for name in &offer.manifest.instructions {
        let message = json!({ "action": "file_read", "path": name }).to_string();
        let Answer::Done(fields) = door.answer(who, message.as_bytes()) else { continue };
        let Some(text) = fields.get("content").and_then(Value::as_str) else { continue };
        // What is from outside stands between marks already; here it gets those of the instructions.
        let text = boundary::unwrapped(text).unwrap_or(text);
        let most = left.min(FILE_CHARS_MAX);
        let mut shown: String = text.chars().take(most).collect();
        let is_cut =
            shown.len() < text.len() || fields.get("truncated") == Some(&Value::Bool(true));
        left = left.saturating_sub(shown.chars().count());
        if is_cut {
            shown.push_str("\n[The rest of this file is not shown here.]");
        }
        files.push((name.clone(), shown));
    }
    files
}

/// What the operator tells the agent of `who`, if there is something. A file that cannot be read is an error: an agent that
/// lacks half of what it is to know is none.
///
/// # Errors
/// If it is there and cannot be read.
pub(crate) fn context(home: &Path, who: &Caller) -> io::Result<Option<String>> {
    let manifest = crate::manifest_path(home, &who.agent);
    let Some(folder) = manifest.parent() else { return Ok(None) };
    let found = files::private::read_if_there(&folder.join(CONTEXT), CONTEXT_BYTES_MAX);
    let wrong = |why: String| {
        let path = folder.join(CONTEXT);
        io::Error::other(format!("`{}`: {why}", path.display()))
    };
    let Some(bytes) = found.map_err(|it| wrong(it.to_string()))? else { return Ok(None) };
    let text = String::from_utf8(bytes).map_err(|_| wrong("not UTF-8".to_owned()))?;
    Ok(Some(text).filter(|it| !it.trim().is_empty()))
}
