//! Which arguments of a call a shell would read: by their names, wherever they stand.

use model::ToolCall;
use serde_json::{Map, Value};

use crate::terminal::quoted;

/// A text that is run.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) text: String,
    /// A shell reads it, whatever the tool.
    pub(crate) is_certain: bool,
    /// The name of its argument says that the tool is there for running it.
    pub(crate) is_known: bool,
}

/// Those of one call.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pub(crate) lines: Vec<Line>,
    /// There are more than are looked at.
    pub(crate) too_many: bool,
}

/// Of these it is certain that a shell reads them; in small letters, without signs between words.
const CERTAIN: &[&str] =
    &["command", "cmd", "shellcommand", "bashcommand", "commandline", "cmdline", "argv"];
/// These are commands for most tools.
const KNOWN: &[&str] = &["commands", "cmds", "script", "shellscript", "bashscript", "bash"];
/// These may be commands.
const LIKELY: &[&str] = &["exec", "execute", "run", "shell", "sh", "oneliner", "entrypoint"];
/// A program whose arguments stand beside it.
const PROGRAM: &[&str] =
    &["program", "executable", "binary", "exe", "command", "cmd", "path", "file"];
const ARGUMENTS: &[&str] = &["args", "arguments", "argv", "params", "parameters", "commandargs"];
/// Texts of one call that are read as commands.
const LINES_MAX: usize = 64;
/// Values that are looked at.
const VALUES_MAX: usize = 10_000;

/// Every text of the call that is run.
pub(crate) fn of(call: &ToolCall) -> Lines {
    let runs_code = runs_code(call.call.tool().as_str());
    let mut lines = Lines::default();
    let mut open: Vec<&Map<String, Value>> = vec![call.call.args()];
    let mut left = VALUES_MAX;
    while let Some(fields) = open.pop() {
        lines.with_arguments(fields);
        for (key, value) in fields {
            let Some(rest) = left.checked_sub(1) else {
                lines.too_many = true;
                return lines;
            };
            left = rest;
            lines.see(&bare(key), value, runs_code);
            below(value, &mut open);
        }
    }
    lines
}

/// Objects inside, also those of lists, however deep these are.
fn below<'a>(value: &'a Value, open: &mut Vec<&'a Map<String, Value>>) {
    match value {
        Value::Object(fields) => open.push(fields),
        Value::Array(items) => items.iter().for_each(|it| below(it, open)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

impl Lines {
    fn see(&mut self, key: &str, value: &Value, runs_code: bool) {
        if key == "code" && runs_code {
            if let Value::String(code) = value {
                self.add(format!("python3 -c {}", quoted(code)), false, true);
            }
            return;
        }
        let is_certain = CERTAIN.contains(&key);
        let is_known = is_certain || KNOWN.contains(&key);
        if !is_known && !LIKELY.contains(&key) {
            return;
        }
        match value {
            Value::String(text) => self.add(text.clone(), is_certain, is_known),
            Value::Array(items)
                if matches!(key, "commands" | "cmds") || items.iter().any(Value::is_array) =>
            {
                for item in items {
                    match item {
                        Value::String(text) => self.add(text.clone(), is_certain, is_known),
                        // The words of one command, or lines.
                        Value::Array(words) => {
                            self.add(joined(words), is_certain, is_known);
                            for line in words.iter().filter_map(Value::as_str) {
                                self.add(line.to_owned(), false, is_known);
                            }
                        }
                        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
                    }
                }
            }
            // An argument vector is one command; of objects in it each is looked at by itself.
            Value::Array(items) => {
                let words: Vec<Value> =
                    items.iter().filter(|it| !it.is_object()).cloned().collect();
                if !words.is_empty() {
                    self.add(joined(&words), is_certain, is_known);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
        }
    }

    /// `{"command": "git", "args": ["push"]}`, or the arguments alone.
    fn with_arguments(&mut self, fields: &Map<String, Value>) {
        let of = |names: &[&str]| fields.iter().find(|it| names.contains(&bare(it.0).as_str()));
        let Some((_, arguments)) = of(ARGUMENTS) else { return };
        let arguments = match arguments {
            Value::Array(items) => joined(items),
            Value::String(text) => text.clone(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return,
        };
        let program = of(PROGRAM).and_then(|it| it.1.as_str().map(|text| (bare(it.0), text)));
        match program {
            Some((key, program)) => {
                let is_certain = CERTAIN.contains(&key.as_str());
                self.add(format!("{program} {arguments}"), is_certain, is_certain);
            }
            None => self.add(arguments, false, false),
        }
    }

    fn add(&mut self, text: String, is_certain: bool, is_known: bool) {
        if self.lines.len() < LINES_MAX {
            self.lines.push(Line { text, is_certain, is_known });
        } else {
            self.too_many = true;
        }
    }
}

/// `shellCommand`, `shell_command` and `Shell-Command` alike.
fn bare(key: &str) -> String {
    key.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Does a tool of this name run the code that it is given?
fn runs_code(tool: &str) -> bool {
    let tool = tool.to_lowercase();
    let runs = ["run", "exec", "eval", "python", "interpret", "repl", "shell", "notebook", "node"];
    let keeps = ["write", "create", "save", "edit", "update", "review", "format", "explain"];
    runs.iter().any(|it| tool.contains(it)) && !keeps.iter().any(|it| tool.contains(it))
}

fn joined(items: &[Value]) -> String {
    let word = |it: &Value| quoted(&it.as_str().map_or_else(|| it.to_string(), str::to_owned));
    items.iter().take(VALUES_MAX).map(word).collect::<Vec<_>>().join(" ")
}
