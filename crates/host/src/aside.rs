//! What a command made where git, editors or agents would obey it, in words for whoever looks after it.

use std::path::Path;

use aegx::verify::printable;
use sandbox::cage::SetAside;
use sandbox::runner::Aside;
use serde_json::{Map, Value, json};

/// Things that an agent is told.
const TOLD_MAX: usize = 16;
/// The longest path that is told, in characters.
const PATH_CHARS_MAX: usize = 240;

/// What became of one thing. Its path is told as it is seen from `root`, where it lies there.
#[must_use]
pub fn set_aside(it: &SetAside, root: Option<&Path>) -> String {
    // The command chose some of these names.
    let shown = |path: &Path| -> String {
        let below = root.and_then(|it| path.strip_prefix(it).ok());
        let path = match below.unwrap_or(path) {
            here if here.as_os_str().is_empty() => Path::new("."),
            path => path,
        };
        printable(&path.display().to_string()).chars().take(PATH_CHARS_MAX).collect()
    };
    let at = shown(&it.at);
    match &it.now {
        Some(now) => format!(
            "`{at}` was made by the command and would be obeyed: it is now `{}`",
            shown(now)
        ),
        None => format!("`{at}` was changed by the command and could not be set aside: look at it"),
    }
}

/// All of it for an agent, a line each. The text is the command's as much as ours.
pub(crate) fn listed(aside: &Aside, root: &Path) -> String {
    let told = aside.first.iter().take(TOLD_MAX);
    let mut text: Vec<String> = told.map(|it| set_aside(it, Some(root))).collect();
    let more = aside.first.len().saturating_sub(TOLD_MAX).saturating_add(aside.more);
    if more > 0 {
        text.push(format!("and {more} more"));
    }
    text.join("\n")
}

/// All of it for the record.
pub(crate) fn recorded(aside: &Aside) -> Value {
    let one = |it: &SetAside| {
        let mut fields = Map::from_iter([("at".to_owned(), json!(it.at.display().to_string()))]);
        if let Some(now) = &it.now {
            fields.insert("now".to_owned(), json!(now.display().to_string()));
        }
        Value::Object(fields)
    };
    let first: Vec<Value> = aside.first.iter().map(one).collect();
    json!({ "first": first, "more": aside.more })
}
