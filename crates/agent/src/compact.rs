//! Long outputs of what went well, shortened: of a command the first and the last lines, of a search the first matches.

use serde_json::{Map, Value, json};

use crate::outcome::{Fate, Outcome};

/// Lines of each end of an output that are shown.
const LINES_SHOWN: usize = 5;
/// Matches of a search that are shown.
const MATCHES_SHOWN: usize = 10;

/// The same result in fewer lines; nothing if it has no more than `lines_max`, failed, or is of another tool.
pub(crate) fn shorter(tool: &str, outcome: &Outcome, lines_max: usize) -> Option<String> {
    let of_tool = match tool {
        "shell_exec" => of_command,
        "file_search" => of_search,
        _ => return None,
    };
    if outcome.fate != Fate::Ran || outcome.part.is_some() {
        return None;
    }
    let Ok(Value::Object(mut fields)) = serde_json::from_str(&outcome.text) else { return None };
    of_tool(&mut fields, lines_max).then(|| Value::Object(fields).to_string())
}

/// Was there something to shorten?
fn of_command(fields: &mut Map<String, Value>, lines_max: usize) -> bool {
    if fields.get("exitCode").and_then(Value::as_i64) != Some(0) {
        return false;
    }
    let mut is_shorter = false;
    for name in ["stdout", "stderr"] {
        let Some(text) = fields.get(name).and_then(Value::as_str) else { continue };
        let lines: Vec<&str> = text.lines().collect();
        let hidden = lines.len().saturating_sub(2 * LINES_SHOWN);
        if lines.len() <= lines_max || hidden == 0 {
            continue;
        }
        let first = lines.iter().take(LINES_SHOWN).copied();
        let last = lines.iter().skip(LINES_SHOWN.saturating_add(hidden)).copied();
        let note = format!("[{hidden} lines are not shown here]");
        let shown: Vec<&str> = first.chain([note.as_str()]).chain(last).collect();
        let shown = shown.join("\n");
        fields.insert(name.to_owned(), shown.into());
        is_shorter = true;
    }
    is_shorter
}

fn of_search(fields: &mut Map<String, Value>, lines_max: usize) -> bool {
    let Some(Value::Array(results)) = fields.get_mut("results") else { return false };
    let hidden = results.len().saturating_sub(MATCHES_SHOWN);
    if results.len() <= lines_max || hidden == 0 {
        return false;
    }
    results.truncate(MATCHES_SHOWN);
    fields.insert("resultsNotShownHere".to_owned(), json!(hidden));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_outputs_of_what_went_well_are_shortened() {
        let lines = |count: usize| (0..count).map(|it| format!("line {it}\n")).collect::<String>();
        let ran = |value: Value| Outcome { fate: Fate::Ran, text: value.to_string(), part: None };
        let command = |code: i64, count: usize| {
            ran(json!({"exitCode": code, "stdout": lines(count), "stderr": ""}))
        };
        let short = shorter("shell_exec", &command(0, 60), 50).unwrap();
        for part in ["line 4\\n[50 lines are not shown here]\\nline 55", "line 59", "exitCode"] {
            assert!(short.contains(part), "{part}: {short}");
        }
        for whole in [command(0, 50), command(1, 60), Outcome::failed("x")] {
            assert!(shorter("shell_exec", &whole, 50).is_none(), "{whole:?}");
        }
        assert!(shorter("file_read", &command(0, 60), 50).is_none());
        assert!(shorter("shell_exec", &command(0, 9), 1).is_none(), "nothing would be gained");
        let found = |count: usize| ran(json!({"results": vec![json!({"line": 1}); count]}));
        let short = shorter("file_search", &found(60), 50).unwrap();
        assert_eq!(short.matches("line").count(), 10);
        assert!(short.contains("\"resultsNotShownHere\":50"));
        assert!(shorter("file_search", &found(50), 50).is_none());
    }
}
