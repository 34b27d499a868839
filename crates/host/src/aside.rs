//! What a command made where git, editors or agents would obey it, in words for whoever looks after it.

use std::path::Path;

use aegx::verify::printable;
use sandbox::cage::SetAside;
use sandbox::runner::Aside;
use serde_json::{Map, Value, json};

/// Things that an agent is told.
const TOLD_MAX: usize = 16;
/// The longest path that an agent is told, in characters.
const PATH_CHARS_MAX: usize = 240;

/// What became of one thing, for the person.
#[must_use]
pub fn set_aside(it: &SetAside) -> String {
    in_words(it, |path| printable(&path.display().to_string()))
}

fn in_words(it: &SetAside, shown: impl Fn(&Path) -> String) -> String {
    let at = shown(&it.at);
    match &it.now {
        Some(now) => format!(
            "`{at}` was made by the command and would be obeyed: it is now `{}`",
            shown(now)
        ),
        None => {
            format!("`{at}` lay open to the command, which may have read or changed it: look at it")
        }
    }
}

/// All of it for an agent that works in `root`, a line each. The command chose some of these names.
pub(crate) fn listed(aside: &Aside, root: &Path) -> String {
    let shown = |path: &Path| -> String {
        let path = match path.strip_prefix(root).unwrap_or(path) {
            here if here.as_os_str().is_empty() => Path::new("."),
            path => path,
        };
        printable(&path.display().to_string()).chars().take(PATH_CHARS_MAX).collect()
    };
    let told = aside.first.iter().take(TOLD_MAX);
    let mut text: Vec<String> = told.map(|it| in_words(it, shown)).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_command_chose_are_few_and_short_and_stay_on_their_line() {
        let root = Path::new("/work");
        let one = |name: &str| SetAside { at: root.join(name), now: None };
        let long = "x".repeat(1000);
        let mut first = vec![one("a\nb\u{202e}"), one(&long), one("")];
        let text = listed(&Aside { first: first.clone(), more: 0 }, root);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[0].starts_with("`a\\u{a}b\\u{202e}` lay open"), "{text}");
        assert!(lines[1].len() < 400 && lines[2].starts_with("`.` lay"), "{text}");
        // A person is told all of it.
        assert!(set_aside(&one(&long)).contains(&long));
        first.extend(std::iter::repeat_n(one("c"), 40));
        let text = listed(&Aside { first, more: 100 }, root);
        assert!(text.lines().count() == 17 && text.ends_with("and 127 more"), "{text}");
    }
}
