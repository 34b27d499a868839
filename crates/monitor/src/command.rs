//! The commands that a call would run, read as the shell will read them.

use model::{Decision, Effect, Objection};
use policy::Targets;
use scan::shell::{self, Reading, read};
use serde_json::Value;

use crate::target::{class_of_host, class_of_path};
use crate::understood::Understood;

/// Arguments that hold command lines.
pub(crate) const LINES: &[&str] =
    &["command", "cmd", "commands", "script", "shell_command", "bash_command"];
/// Of these it is certain that a shell reads them.
const CERTAIN: &[&str] = &["command", "cmd", "shell_command", "bash_command"];
/// Command lines of one call that are read.
const COMMANDS_MAX: usize = 64;
/// What nobody can understand beforehand, a person has to look at.
const NOT_UNDERSTOOD: &[&str] =
    &["shell-unreadable", "shell-disagree", "shell-hidden", "shell-look-alike", "shell-too-large"];

/// A command of a call.
#[derive(Debug)]
pub(crate) struct Command {
    reading: Reading,
    is_certain: bool,
    /// It is not told to somebody else who may ask: it runs here.
    runs_here: bool,
}

/// Every command of the call.
pub(crate) fn of(asked: &Understood) -> Vec<Command> {
    let runs_here = matches!(asked.effect, Effect::Action(_));
    let mut commands = Vec::new();
    for (key, value) in asked.call.call.args().iter().filter(|it| LINES.contains(&it.0.as_str())) {
        let is_certain = CERTAIN.contains(&key.as_str());
        let mut see = |text: &str| {
            if commands.len() < COMMANDS_MAX {
                commands.push(Command { reading: read(text), is_certain, runs_here });
            }
        };
        match value {
            Value::String(text) => see(text),
            // An argument vector is one command.
            Value::Array(items) if key != "commands" => see(&joined(items)),
            Value::Array(items) => items.iter().filter_map(Value::as_str).for_each(&mut see),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
        }
    }
    commands
}

fn joined(items: &[Value]) -> String {
    let quoted = |it: &Value| {
        let text = it.as_str().map_or_else(|| it.to_string(), str::to_owned);
        format!("'{}'", text.replace('\'', r"'\''"))
    };
    items.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// What the commands touch that rules single out, however it is written.
pub(crate) fn targets(commands: &[Command]) -> Targets {
    commands.iter().fold(Targets::NONE, |sum, it| {
        let paths = it.reading.places.iter().map(|it| class_of_path(&it.path));
        let hosts = it.reading.hosts.iter().map(|it| class_of_host(it));
        paths.chain(hosts).fold(sum, Targets::union)
    })
}

/// What speaks against the commands: the blocklist, and what cannot be understood.
pub(crate) fn objections(commands: &[Command]) -> Vec<Objection> {
    let mut objections = Vec::new();
    for command in commands {
        for finding in &command.reading.findings {
            let not_understood = command.is_certain && NOT_UNDERSTOOD.contains(&finding.rule);
            let (decision, code) = match finding.decision {
                shell::Decision::Deny => (Decision::Deny, "command_blocked"),
                shell::Decision::StepUp if not_understood => {
                    (Decision::StepUp, "command_not_understood")
                }
                shell::Decision::StepUp if command.runs_here => {
                    (Decision::StepUp, "command_needs_a_person")
                }
                shell::Decision::StepUp | shell::Decision::Allow => continue,
            };
            objections.push(Objection::new(finding.rule, decision, code, finding.reason.clone()));
        }
    }
    objections
}
