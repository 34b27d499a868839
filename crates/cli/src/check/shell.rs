//! `lazaret check shell`.

use serde_json::{Map, Value, json};
use shell::{Decision, Reading, read};

use super::batch::{self, Answer};
use crate::failure::{Exit, Failure};

/// Judge shell commands as the gate does, without running them.
///
/// A command is read as the shell will read it: quotes, escapes, expansions, encodings and wrappers
/// are followed until the commands inside are known, and these are judged. A request on stdin has
/// `command`. An answer has `decision` (`allow`, `step_up` or `deny`), `rule`, `reason`, `normalized`
/// (what would run), `class` (what it does), `fix` (a safer way, for the model), `paths` and `hosts`.
///
/// A command that begins with a dash stands behind `--`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    batch: batch::Options,
    /// Commands, each one argument; without any, requests are read from stdin.
    #[arg(value_name = "COMMAND")]
    commands: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    if args.commands.is_empty() {
        return batch::from_stdin(args.batch, request);
    }
    let values = args.commands.iter().map(String::as_str);
    Ok(batch::from_arguments(args.batch, values, judge))
}

fn request(fields: &Map<String, Value>) -> Result<Answer, String> {
    match fields.get("command") {
        Some(Value::String(command)) => Ok(judge(command)),
        Some(_) => Err("`command` must be a string".to_owned()),
        None => Err("`command` is missing".to_owned()),
    }
}

fn judge(command: &str) -> Answer {
    told(&read(command))
}

fn told(reading: &Reading) -> Answer {
    let word = match reading.decision {
        Decision::Allow => "allow",
        Decision::StepUp => "step_up",
        Decision::Deny => "deny",
    };
    let why = reading.decisive.as_ref();
    let text = match why {
        None => format!("allow     {}", reading.normalized),
        Some(it) => format!("{word:8}  {}: {}: {}", it.rule, it.reason, reading.normalized),
    };
    let fix = reading.fix.filter(|_| reading.decision > Decision::Allow);
    let fix = fix.map(|it| json!({ "reason": it.reason, "alternative": it.alternative }));
    let paths: Vec<&str> = reading.places.iter().map(|it| it.path.as_str()).collect();
    let classes: Vec<&str> = reading.classes.iter().map(|it| it.as_str()).collect();
    let fields = [
        ("decision", json!(word)),
        ("rule", json!(why.map(|it| it.rule.as_str()))),
        ("reason", json!(why.map(|it| it.reason.as_str()))),
        ("normalized", json!(reading.normalized)),
        ("class", json!(classes)),
        ("fix", fix.unwrap_or(Value::Null)),
        ("paths", json!(paths)),
        ("hosts", json!(reading.hosts)),
    ];
    let passed = reading.decision == Decision::Allow;
    Answer { passed, fields: Vec::from(fields), text }
}
