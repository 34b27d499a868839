//! `lazaret verify`: proof that the hooks of an agent reach the gate, by a canary that executes nothing.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use evidence::{Clock as _, SystemClock};
use host::doors::hook::{self, CANARY_SESSION as SESSION, Called};
use serde_json::{Value, json};
use setup::{Host, PastGateway, Surroundings, Wiring, find, past_gateway, wiring};
use store::Oversight as _;

use super::{project_here, surroundings};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output::{self, Paint};
use crate::sessions;

/// Prove that the hooks of the coding agents reach the gate.
///
/// For each agent: is the hook in its configuration, and does it deny a call that must never run? The call is only
/// described to the hook, by us; nothing runs it. `verified`: that, and the agent itself has called the hook since the
/// file that has the hook was changed last. `adapter only`: our side works, and the agent has not called since.
/// `not verified`: why. MCP servers of its configuration, or of the project that you stand in, that do not go through the
/// gateway, or by one that is not there, are named.
///
/// Exit codes: 0 every agent that is wired is verified or answers, 1 one does not, or one that was named is not wired.
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
/// How long a hook may take: ours gives up after a few seconds by itself.
const ANSWER_WITHIN: Duration = Duration::from_secs(15);

/// What was found of an agent.
pub(crate) struct Row {
    host: Host,
    outcome: Result<Heard, String>,
    /// Is it wired here, well or not?
    counts: bool,
    /// Its servers that no gateway is before.
    servers: Vec<PastGateway>,
}

/// Whether an agent itself has called its hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Last at this time, in seconds since 1970, as it is wired now.
    Since(i64),
    /// Last at this time, if that is known, before the file that has the hook was changed.
    Before(Option<i64>),
    /// It has not.
    Never,
}

impl Row {
    /// Does our side work?
    pub(crate) fn answers(&self) -> bool {
        self.outcome.is_ok()
    }

    /// For programs.
    pub(crate) fn to_json(&self) -> Value {
        let last = self.outcome.as_ref().ok().and_then(|it| it.last());
        json!({
            "agent": self.host.as_str(), "state": self.word(), "why": self.why(),
            "last_called": last, "past_gateway": servers_json(&self.servers),
        })
    }

    fn word(&self) -> &'static str {
        match self.outcome {
            Ok(Heard::Since(_)) => "verified",
            Ok(Heard::Before(_) | Heard::Never) => "adapter only",
            Err(_) => "not verified",
        }
    }

    fn why(&self) -> String {
        let denies = "its hook denies what must never run";
        match &self.outcome {
            Ok(Heard::Since(at)) => format!("{denies}, and the agent has called it {}", ago(*at)),
            Ok(Heard::Before(Some(at))) => format!(
                "{denies}; the agent has called it {}, and not since its configuration was changed",
                ago(*at)
            ),
            Ok(Heard::Before(None)) => {
                format!("{denies}; the agent has called it, and it is not known when")
            }
            Ok(Heard::Never) => format!("{denies}; the agent has not called it yet"),
            Err(why) => why.clone(),
        }
    }
}

impl Heard {
    /// What is known of a host: when it called last, when its configuration was changed, and whether there is a session of its own.
    fn of(last: Option<i64>, changed: Option<i64>, has_session: bool) -> Self {
        match last {
            Some(at) if changed.is_none_or(|it| at >= it) => Self::Since(at),
            None if !has_session => Self::Never,
            Some(_) | None => Self::Before(last),
        }
    }

    fn last(self) -> Option<i64> {
        match self {
            Self::Since(at) => Some(at),
            Self::Before(at) => at,
            Self::Never => None,
        }
    }
}

fn ago(at: i64) -> String {
    format!("{} ago", output::ago(SystemClock.unix_seconds().saturating_sub(at)))
}

/// Servers that no gateway is before, for programs.
pub(crate) fn servers_json(servers: &[PastGateway]) -> Vec<Value> {
    let one = |it: &PastGateway| json!({ "server": it.name, "file": it.file, "why": it.why });
    servers.iter().map(one).collect()
}

/// Such a server, in a line.
pub(crate) fn server_line(host: Host, it: &PastGateway) -> String {
    let file = it.file.display();
    let line = match &it.name {
        Some(name) => format!("{}: MCP server `{name}` in `{file}`: {}", host.title(), it.why),
        None => format!("{}: MCP servers in `{file}`: {}", host.title(), it.why),
    };
    aegx::verify::printable(&line).to_string()
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let around = surroundings(&args.home, project_here())?;
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
        let paint = Paint::for_stdout();
        for (host, it) in rows.iter().flat_map(|row| row.servers.iter().map(|it| (row.host, it))) {
            output::line(&paint.bad(&server_line(host, it)));
        }
    }
    let counts = |it: &&Row| it.counts || !args.agents.is_empty();
    let is_good = rows.iter().filter(counts).all(Row::answers);
    Ok(if is_good { Exit::Done } else { Exit::Refused })
}

/// Looks at each of these agents.
pub(crate) fn all(home: &Home, around: &Surroundings, which: &[Host]) -> Vec<Row> {
    let row = |it: &Host| Row {
        host: *it,
        outcome: one(home, around, *it),
        counts: wiring(around, *it) != Wiring::NotInstalled,
        servers: past_gateway(around, *it),
    };
    which.iter().map(row).collect()
}

pub(crate) fn show(rows: &[Row]) {
    let paint = Paint::for_stdout();
    for it in rows.iter().filter(|it| !output::is_quiet() || !it.answers()) {
        let word = match it.outcome {
            Ok(Heard::Since(_)) => paint.good(it.word()),
            Ok(Heard::Before(_) | Heard::Never) => paint.strong(it.word()),
            Err(_) => paint.bad(it.word()),
        };
        output::line(&format!("{}: {word}: {}", it.host.title(), it.why()));
    }
    if rows.is_empty() {
        output::hint("no coding agent was found");
    }
}

fn one(home: &Home, around: &Surroundings, host: Host) -> Result<Heard, String> {
    match wiring(around, host) {
        Wiring::Wired => {}
        Wiring::NotInstalled => return Err("it is not wired: `lazaret init`".to_owned()),
        Wiring::Broken { why } => return Err(why),
    }
    let said = canary(around, host)?;
    if !said.contains(DENIED) {
        return Err(format!("its hook did not deny what must never run, it said: {said}"));
    }
    let called = called(home, crate::daemon::said(&around.state).ok().flatten().as_ref());
    heard(home, around, &called, host)
}

/// Describes a call that must never run to the hook, as the host would, and gives what it says.
fn canary(around: &Surroundings, host: Host) -> Result<String, String> {
    let text = |it: &dyn std::fmt::Display| it.to_string();
    let (event, input) = described(host);
    let state = around.state.as_os_str();
    let args = [host.as_str(), event, "--home"].map(OsStr::new).into_iter().chain([state]);
    let args: Vec<OsString> = args.map(OsStr::to_owned).collect();
    let env = [("HOME".to_owned(), around.home.clone().into_os_string())];
    // What it says to people is not for whoever asks this; and what it leaves behind must not keep our own end open.
    let started =
        sandbox::Piped::start(around.hook.as_os_str(), &args, &env, sandbox::Said::Nowhere);
    let (hook, pipes) = started.map_err(|it| format!("`{}`: {it}", around.hook.display()))?;
    let sandbox::Pipes { input: mut to, output: from } = pipes;
    let (say, said) = mpsc::channel();
    // It may neither read nor say anything; and what it has started may keep its pipes open. Nobody waits for the thread.
    let speaking = thread::Builder::new().name("canary".to_owned()).spawn(move || {
        let mut text = String::new();
        let spoken = to.write_all(input.to_string().as_bytes());
        drop(to);
        let read = spoken.and_then(|()| from.take(ANSWER_BYTES_MAX).read_to_string(&mut text));
        let _ = say.send(read.map(|_| text));
    });
    speaking.map_err(|it| text(&it))?;
    match said.recv_timeout(ANSWER_WITHIN) {
        Ok(said) => {
            hook.end();
            said.map_err(|it| text(&it))
        }
        Err(_) => {
            // Dropped, it is ended.
            drop(hook);
            let (path, seconds) = (around.hook.display(), ANSWER_WITHIN.as_secs());
            Err(format!("its hook `{path}` did not answer within {seconds} seconds"))
        }
    }
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

/// When hosts called last: by what is kept, and by what the daemon that runs says of itself.
pub(crate) fn called(home: &Home, doors: Option<&Value>) -> Called {
    let mut called = home.dir().map(|it| hook::called(&it)).unwrap_or_default();
    let now = doors.and_then(|it| it.pointer("/hooks/called")?.as_object());
    for (host, at) in now.into_iter().flatten() {
        let at = at.as_i64().unwrap_or_default();
        let known = called.entry(host.clone()).or_insert(at);
        *known = at.max(*known);
    }
    called
}

/// Has the agent itself called the hook, as it is wired now?
pub(crate) fn heard(
    home: &Home,
    around: &Surroundings,
    called: &Called,
    host: Host,
) -> Result<Heard, String> {
    let last = called.get(host.as_str()).copied();
    let has_session = last.is_none() && has_session(home, host)?;
    Ok(Heard::of(last, setup::changed(around, host), has_session))
}

/// Is there a session of the agent's own?
fn has_session(home: &Home, host: Host) -> Result<bool, String> {
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

    #[test]
    fn an_agent_counts_as_verified_by_what_it_called_since_it_was_wired_so() {
        assert_eq!(Heard::of(Some(7), Some(7), true), Heard::Since(7));
        assert_eq!(Heard::of(Some(7), None, false), Heard::Since(7));
        assert_eq!(Heard::of(Some(6), Some(7), true), Heard::Before(Some(6)));
        assert_eq!(Heard::of(None, Some(7), true), Heard::Before(None));
        assert_eq!(Heard::of(None, Some(7), false), Heard::Never);
    }
}
