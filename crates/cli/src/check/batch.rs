//! The loop that all kinds of check share: a request in, an answer out, in bounded memory.

use std::io;
use std::time::Instant;

use aegx::Sorted;
use scan::Allowed;
use serde_json::{Map, Value, json};

use super::lines::{Line, Lines};
use super::timing::Timing;
use crate::failure::{Exit, Failure};
use crate::output;

/// What every kind of check can be told.
#[derive(Clone, Copy, clap::Args)]
pub(crate) struct Options {
    /// Print one JSON object per value and nothing else.
    #[arg(long)]
    json: bool,
    /// At the end, print count, p50, p99 and MB/s to stderr.
    #[arg(long)]
    stats: bool,
}

impl Options {
    /// Prints JSON if it was asked for, or if `json` says so.
    pub(crate) const fn or_json(self, json: bool) -> Self {
        Self { json: self.json || json, ..self }
    }

    /// Returns whether JSON is printed.
    pub(crate) const fn is_json(self) -> bool {
        self.json
    }
}

/// The answer to one value.
pub(crate) struct Answer {
    /// Allowed, clean, in order?
    pub(crate) passed: bool,
    /// The fields of the JSON object besides `id`.
    pub(crate) fields: Vec<(&'static str, Value)>,
    /// The same for people, on one line.
    pub(crate) text: String,
}

/// The longest request, in bytes: the longest message with every character written as `\u0000`,
/// and some room for other fields.
const REQUEST_BYTES_MAX: usize = 64 << 20;

/// Answers the values of the command line.
pub(crate) fn from_arguments<'a>(
    options: Options,
    values: impl Iterator<Item = &'a str>,
    judge: impl Fn(&str) -> Answer,
) -> Exit {
    let mut timing = Timing::default();
    let mut exit = Exit::Done;
    for value in values {
        let begun = Instant::now();
        let answer = judge(value);
        timing.record(begun.elapsed(), value.len());
        if !answer.passed {
            exit = Exit::Refused;
        }
        print(options, Value::Null, Ok(answer));
    }
    finish(options, &timing);
    exit
}

/// Answers requests from stdin, one JSON object per line, until they end or nobody reads the
/// answers. `judge` says what is wrong with a request that it cannot answer.
pub(crate) fn from_stdin(
    options: Options,
    judge: impl Fn(&Map<String, Value>) -> Result<Answer, String>,
) -> Result<Exit, Failure> {
    let mut lines = Lines::new(io::stdin().lock(), REQUEST_BYTES_MAX);
    let mut timing = Timing::default();
    loop {
        let line = lines.next().map_err(|error| Failure::unable(format!("stdin: {error}")))?;
        let begun = Instant::now();
        let (bytes, request) = match line {
            Line::End => break,
            Line::TooLong => (0, Err(format!("a request has at most {REQUEST_BYTES_MAX} bytes"))),
            Line::Whole(bytes) => (bytes.len(), read(bytes)),
        };
        let (id, answer) = match request {
            Ok(mut fields) => (fields.remove("id").unwrap_or_default(), judge(&fields)),
            Err(error) => (Value::Null, Err(error)),
        };
        timing.record(begun.elapsed(), bytes);
        if !print(options, id, answer) {
            break;
        }
    }
    finish(options, &timing);
    Ok(Exit::Done)
}

/// The answer of a reader that finds values: what passes has none. `redacted` is the text without them.
pub(crate) fn told_of_values(rules: &[&str], findings: &[Value], redacted: &str) -> Answer {
    let word = if rules.is_empty() { "allow" } else { "deny" };
    let fields = vec![
        ("decision", json!(word)),
        ("findings", json!(findings)),
        ("redacted", json!(redacted)),
    ];
    let text = format!("{word:8}  {}", rules.join(" "));
    Answer { passed: rules.is_empty(), fields, text: text.trim_end().to_owned() }
}

/// Returns the text of a request that has one.
pub(crate) fn text(fields: &Map<String, Value>) -> Result<&str, String> {
    match fields.get("text") {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err("`text` must be a string".to_owned()),
        None => Err("`text` is missing".to_owned()),
    }
}

/// Returns the values that a request allows.
pub(crate) fn allowed(fields: &Map<String, Value>) -> Result<Allowed, String> {
    match fields.get("allow") {
        Some(Value::String(list)) => Allowed::parse(list).map_err(|error| error.to_string()),
        Some(Value::Null) | None => Ok(Allowed::default()),
        Some(_) => Err("`allow` must be a string of lines".to_owned()),
    }
}

fn read(bytes: &[u8]) -> Result<Map<String, Value>, String> {
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err("a request is a JSON object".to_owned()),
        Err(error) => Err(format!("not JSON: {error}")),
    }
}

/// Prints an answer. Returns whether anybody is still reading.
pub(crate) fn print(options: Options, id: Value, answer: Result<Answer, String>) -> bool {
    if options.json {
        let fields = answer.map_or_else(|error| vec![("error", error.into())], |it| it.fields);
        let all = fields.into_iter().chain([("id", id)]);
        return output::json(&all.map(|(name, value)| (name.to_owned(), value)).collect());
    }
    let text = answer.map_or_else(|error| format!("error     {error}"), |it| it.text);
    let text = if id.is_null() { text } else { format!("{}  {text}", Sorted(&id)) };
    output::line(&aegx::verify::printable(&text))
}

fn finish(options: Options, timing: &Timing) {
    if options.stats {
        output::note(&timing.to_string());
    }
}
