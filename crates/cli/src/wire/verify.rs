//! `lazaret verify`: proof that the hooks of an agent reach the gate, by a canary that executes nothing.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};

use evidence::{Clock as _, SystemClock};
use host::doors::hook::CANARY_SESSION as SESSION;
use serde_json::{Value, json};
use setup::{Host, Surroundings, Wiring, find, wiring};
use store::Oversight as _;

use super::surroundings;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output::{self, Paint};
use crate::sessions;

/// Prove that the hooks of the coding agents reach the gate.
///
/// For each agent: is the hook in its configuration, and does it deny a call that must never run? The call is only
/// described to the hook, by us; nothing runs it. `verified`: that, and the agent itself has called the hook before.
/// `adapter only`: our side works, and the agent has not called yet. `not verified`: why.
///
/// Exit codes: 0 every agent that is wired is verified or answers, 1 one does not.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// Only these agents.
    #[arg(long = "agent", value_name = "AGENT", value_parser = super::host)]
    agents: Vec<Host>,
    /// Print one JSON object per agent.
    #[arg(long)]
    json: bool,
}

/// A command that no policy lets run. It goes to our own hook as text, and nowhere else.
const CANARY: &str = "rm -rf --no-preserve-root /";
/// What a denial of ours says.
const DENIED: &str = "Lazaret stopped this";
/// Sessions that are looked through for one of an agent's own.
const SESSIONS_MAX: u32 = 1000;
/// The longest answer of a hook, in bytes.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// What was found of an agent.
pub(crate) struct Row {
    host: Host,
    outcome: Result<bool, String>,
}

impl Row {
    /// Does our side work?
    pub(crate) fn answers(&self) -> bool {
        self.outcome.is_ok()
    }

    /// For programs.
    pub(crate) fn to_json(&self) -> Value {
        json!({ "agent": self.host.as_str(), "state": self.word(), "why": self.why() })
    }

    fn word(&self) -> &'static str {
        match self.outcome {
            Ok(true) => "verified",
            Ok(false) => "adapter only",
            Err(_) => "not verified",
        }
    }

    fn why(&self) -> &str {
        match &self.outcome {
            Ok(true) => "its hook denies what must never run, and the agent has called it",
            Ok(false) => "its hook denies what must never run; the agent has not called it yet",
            Err(why) => why,
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let around = surroundings(&args.home, None)?;
    let which: Vec<Host> = match args.agents.as_slice() {
        [] => find(&around).iter().map(|it| it.host).collect(),
        some => some.to_vec(),
    };
    let rows = all(&args.home, &around, &which);
    if args.json {
        for it in &rows {
            output::json(&it.to_json());
        }
    } else {
        show(&rows);
    }
    Ok(if rows.iter().all(Row::answers) { Exit::Done } else { Exit::Refused })
}

/// Looks at each of these agents.
pub(crate) fn all(home: &Home, around: &Surroundings, which: &[Host]) -> Vec<Row> {
    which.iter().map(|it| Row { host: *it, outcome: one(home, around, *it) }).collect()
}

pub(crate) fn show(rows: &[Row]) {
    let paint = Paint::for_stdout();
    for it in rows.iter().filter(|it| !output::is_quiet() || !it.answers()) {
        let word = match it.outcome {
            Ok(true) => paint.good(it.word()),
            Ok(false) => paint.strong(it.word()),
            Err(_) => paint.bad(it.word()),
        };
        output::line(&format!("{}: {word}: {}", it.host.title(), it.why()));
    }
    if rows.is_empty() {
        output::hint("no coding agent was found");
    }
}

fn one(home: &Home, around: &Surroundings, host: Host) -> Result<bool, String> {
    match wiring(around, host) {
        Wiring::Wired => {}
        Wiring::NotInstalled => return Err("it is not wired: `lazaret init`".to_owned()),
        Wiring::Broken { why } => return Err(why),
    }
    let said = canary(around, host)?;
    if !said.contains(DENIED) {
        return Err(format!("its hook did not deny what must never run, it said: {said}"));
    }
    has_called(home, host)
}

/// Describes a call that must never run to the hook, as the host would, and gives what it says.
fn canary(around: &Surroundings, host: Host) -> Result<String, String> {
    let text = |it: &dyn std::fmt::Display| it.to_string();
    let (event, input) = described(host);
    let state = around.state.as_os_str();
    let args = [host.as_str(), event, "--home"].map(OsStr::new).into_iter().chain([state]);
    let args: Vec<OsString> = args.map(OsStr::to_owned).collect();
    let env = [("HOME".to_owned(), around.home.clone().into_os_string())];
    let started =
        sandbox::Piped::start(around.hook.as_os_str(), &args, &env, sandbox::Said::WithOurs);
    let (hook, pipes) = started.map_err(|it| format!("`{}`: {it}", around.hook.display()))?;
    let sandbox::Pipes { input: mut to, output: from } = pipes;
    to.write_all(input.to_string().as_bytes()).map_err(|it| text(&it))?;
    drop(to);
    let mut said = String::new();
    from.take(ANSWER_BYTES_MAX).read_to_string(&mut said).map_err(|it| text(&it))?;
    hook.end();
    Ok(said)
}

/// The event before a tool runs, and its input, as each host has it.
fn described(host: Host) -> (&'static str, Value) {
    let id = format!("canary-{}", SystemClock.unix_seconds());
    let command = json!({ "command": CANARY });
    let (event, tool) = match host {
        Host::Claude | Host::Codex => ("PreToolUse", "Bash"),
        Host::Gemini => ("BeforeTool", "run_shell_command"),
        Host::Cursor => ("preToolUse", "Shell"),
        Host::Copilot => ("preToolUse", "bash"),
        Host::OpenCode => ("tool.execute.before", "bash"),
    };
    let input = match host {
        Host::Claude | Host::Codex | Host::Gemini => json!({
            "session_id": SESSION, "cwd": "/", "hook_event_name": event, "tool_name": tool,
            "tool_input": command, "tool_use_id": id, "transcript_path": null,
        }),
        Host::Cursor => json!({
            "conversation_id": SESSION, "generation_id": id, "hook_event_name": event,
            "tool_name": tool, "tool_input": command, "tool_use_id": id, "cwd": "/",
            "workspace_roots": ["/"],
        }),
        Host::Copilot => json!({
            "sessionId": SESSION, "cwd": "/", "timestamp": 0, "toolName": tool, "toolArgs": command,
        }),
        Host::OpenCode => json!({
            "session": SESSION, "cwd": "/", "tool": tool, "callID": id, "args": command,
        }),
    };
    (event, input)
}

/// Has the agent itself called the hook, in a session of its own?
pub(crate) fn has_called(home: &Home, host: Host) -> Result<bool, String> {
    let store = sessions::open(home).map_err(|it| it.message().to_owned())?;
    let Some(store) = store else { return Ok(false) };
    let rows = store.sessions(SESSIONS_MAX).map_err(|it| it.to_string())?;
    let canary = format!("{}:{SESSION}", host.as_str());
    Ok(rows.iter().any(|it| it.agent.as_str() == host.as_str() && it.id.as_str() != canary))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_canary_is_what_its_host_would_say() {
        for host in Host::ALL {
            let (event, input) = described(host);
            let seen = hooks::read(host, event, input.to_string().as_bytes()).unwrap();
            let hooks::Event::Before(tool) = seen.event else { panic!("{host}") };
            assert_eq!(tool.args.get("command"), Some(&CANARY.into()), "{host}");
        }
    }
}
