//! `lazaret status`: what stands guard now, in one look.

mod agent;
mod head;
mod hooks;
mod risks;

use evidence::{Clock as _, SystemClock};
use host::doors::mcp::servers::Servers;
use host::notices::{Level, Notices};
use host::observe::Observe;
use host::trust::Trust;
use model::AgentId;
use monitor::risk;
use serde_json::{Value, json};
use store::{Oversight, SessionRow};

use crate::daemon;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::notifications;
use crate::observe;
use crate::output::{self, Paint};
use crate::sessions;

use self::agent::OfAgent;
use self::head::Head;
use self::risks::Risks;

/// Show what stands guard now.
///
/// Which doors are open and what goes through them, which agents' hooks are wired and when each called last, the newest
/// sessions, what waits for an answer of yours, how risky the riskiest session is, which folders you trust, whether
/// somebody only watches, and the newest record of the journal and up to where it is signed. With an agent: its
/// sessions, what was stopped there, its last turns and jobs, what was spent with it, and its keys.
///
/// Exit codes: 0 shown, 2 there is no such agent, 3 something does not answer.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// Look at this agent.
    #[arg(value_parser = |it: &str| AgentId::parse(it))]
    agent: Option<AgentId>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// What one door saw and another did not, where the daemon counts it.
const ALARMS: &[(&str, &str)] = &[
    ("/hooks/missed", "results of calls that no hook announced"),
    ("/hooks/past_gateway", "calls that went past the gateway to a server behind it"),
    ("/hooks/unannounced", "calls at the gateway that the agent's hook had not announced"),
    (
        "/hooks/changed",
        "files changed between calls that no door saw written (yours, if you edited them)",
    ),
    ("/proxies/strangers", "requests to a proxy by programs that no door announced"),
];
/// Sessions that are shown.
const SESSIONS_MAX: usize = 10;
/// Sessions that are looked at for an agent, the newest.
const SESSIONS_LOOKED_AT_MAX: u32 = 1000;

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    let doors = daemon::said(&home)?;
    let now = SystemClock.unix_seconds();
    let store = sessions::open(&args.home)?;
    let (mut sessions, waiting) = match &store {
        None => (Vec::new(), 0),
        Some(store) => {
            let sessions = store.sessions(SESSIONS_LOOKED_AT_MAX).map_err(Failure::unable)?;
            (sessions, store.count_waiting(now).map_err(Failure::unable)?)
        }
    };
    let oversight = store.as_ref().map(|it| it as &dyn Oversight);
    let named = args.agent.as_ref();
    let risks = Risks::new(&home, oversight)?;
    let agent = named.map(|it| OfAgent::of(&home, it, &sessions, &risks)).transpose()?;
    let risk = risks.highest(&sessions)?;
    sessions.retain(|it| args.agent.as_ref().is_none_or(|agent| it.agent == *agent));
    sessions.truncate(SESSIONS_MAX);
    let journal = args.home.journal()?;
    let head = Head::of(&journal)?;
    let bytes = head.as_ref().map(Head::bytes);
    let notices = notifications::found(&args.home, Level::Warn, false)?.unwrap_or_default();
    let trust = Trust::of(&home).map_err(Failure::usage)?;
    let servers = Servers::of(&home).map_err(Failure::usage)?;
    let uncaged = not_caged(&servers);
    let watch = Observe::of(&home).map_err(Failure::usage)?.filter(|it| it.holds(now));
    let hooks = hooks::all(&args.home, doors.as_ref());
    if args.json {
        let trusted = trust.folders().iter().map(|it| it.path.display().to_string());
        output::json(&json!({
            "doors": doors,
            "hooks": hooks.iter().map(hooks::OfHost::to_json).collect::<Vec<_>>(),
            "version": env!("CARGO_PKG_VERSION"),
            "process": process(doors.as_ref()),
            "risk": risk.as_str(),
            "sessions": valued(&sessions, &risks)?,
            "agent": agent.as_ref().map(OfAgent::to_json),
            "approvals": waiting,
            "checkpoint": head.as_ref().map(Head::checkpoint),
            "journal": {
                "bytes": bytes.unwrap_or(0), "dir": journal.display().to_string(),
                "head": head.as_ref().map(Head::head),
            },
            "trusted": trusted.collect::<Vec<_>>(),
            "observing": watch.as_ref().map(Observe::to_json),
            "servers": { "not_caged": uncaged },
            "notifications": counted(&notices),
        }));
        return Ok(Exit::Done);
    }
    show(doors.as_ref(), waiting, bytes, &trust);
    hooks.iter().for_each(hooks::OfHost::show);
    if let Some(head) = &head {
        head.show();
    }
    tell_risk(risk);
    if let Some(agent) = &agent {
        agent.show();
    }
    tell_notices(&notices);
    tell_what_is_open(watch.as_ref(), &uncaged);
    for it in sessions.iter().filter(|_| !output::is_quiet()) {
        sessions::line(it);
    }
    Ok(Exit::Done)
}

/// The process that has the gate, if one has it.
fn process(doors: Option<&Value>) -> Value {
    let Some(doors) = doors else { return Value::Null };
    json!({ "pid": doors.get("pid"), "version": doors.get("version"), "uptime": doors.get("uptime") })
}

/// Sessions for programs, with the risk of those that go on.
fn valued(sessions: &[SessionRow], risks: &Risks<'_>) -> Result<Vec<Value>, Failure> {
    let valued = sessions.iter().map(|it| {
        let mut value = sessions::value(it);
        if let (Some(risk), Some(fields)) = (risks.of(it)?, value.as_object_mut()) {
            fields.insert("risk".to_owned(), risk.as_str().into());
        }
        Ok(value)
    });
    valued.collect()
}

/// Servers that run without a cage.
fn not_caged(servers: &Servers) -> Vec<&str> {
    servers.caged.iter().filter(|it| !it.1).map(|it| it.0.as_str()).collect()
}

fn tell_risk(risk: risk::Level) {
    if risk == risk::Level::Calm {
        output::told(false, "risks      all sessions that go on are calm");
    } else {
        let level = Paint::for_stdout().bad(risk.as_str());
        output::line(&format!("risks      {level}, in the riskiest session that goes on"));
    }
}

/// What a person may want to close again.
fn tell_what_is_open(watch: Option<&Observe>, uncaged: &[&str]) {
    if let Some(watch) = watch {
        let what = Paint::for_stdout().bad("questions are passed over");
        output::line(&format!(
            "observing  {what} {}; see `lazaret observe`",
            observe::until(watch)
        ));
    }
    if !uncaged.is_empty() {
        let names = aegx::verify::printable(&uncaged.join(", ")).to_string();
        output::told(false, &format!("servers    not in a cage: {names}; see `lazaret mcp list`"));
    }
}

/// How many notifications nobody has seen yet, by level.
fn counted(notices: &Notices) -> Value {
    let count = |level: Level| notices.found.iter().filter(|it| it.level == level).count();
    let [_, levels @ ..] = Level::ALL;
    Value::Object(levels.map(|it| (it.as_str().to_owned(), json!(count(it)))).into_iter().collect())
}

fn tell_notices(notices: &Notices) {
    let worst = notices.found.iter().map(|it| it.level).max();
    let all = u64::try_from(notices.found.len()).unwrap_or(u64::MAX);
    let all = output::count(all.saturating_add(notices.left_out), "notification");
    match worst {
        None => output::told(false, "notices    nothing that you have not seen"),
        Some(worst) => {
            let text = format!("{all}, the worst is {}", worst.as_str());
            let text = if worst >= Level::Error { Paint::for_stdout().bad(&text) } else { text };
            output::told(false, &format!("notices    {text}; see `lazaret notifications`"));
        }
    }
}

fn show(doors: Option<&Value>, waiting: u64, bytes: Option<u64>, trust: &Trust) {
    let paint = Paint::for_stdout();
    let number = |path: &str| {
        doors.and_then(|it| it.pointer(path)).and_then(Value::as_u64).unwrap_or_default()
    };
    let said = |path: &str| {
        doors.and_then(|it| it.pointer(path)).and_then(Value::as_str).unwrap_or_default()
    };
    let daemon = match doors {
        Some(_) => format!(
            "{} (process {}, version {}, {}, {} under way)",
            paint.good("running"),
            number("/pid"),
            said("/version"),
            output::count(number("/hooks/sessions"), "session"),
            output::count(number("/hooks/waiting"), "call"),
        ),
        None => "not running; whoever needs it starts it".to_owned(),
    };
    output::told(false, &format!("daemon     {daemon}"));
    if let Some(address) = doors.and_then(|it| it.pointer("/serve/address")?.as_str()) {
        let served = format!(
            "{} (http://{address}, {}, {} of {} workers)",
            paint.good("serving"),
            output::count(number("/serve/sockets"), "socket"),
            number("/serve/workers/active"),
            number("/serve/workers/max"),
        );
        output::told(false, &format!("serve      {served}"));
        let waits = doors.and_then(|it| it.pointer("/serve/needsRestart")?.as_array());
        let waits: Vec<&str> = waits.into_iter().flatten().filter_map(Value::as_str).collect();
        if !waits.is_empty() {
            let what = format!("{} in config.yaml count after a restart alone", waits.join(", "));
            output::line(&format!("alarm      {}", paint.bad(&what)));
        }
    }
    let wrong = said("/jobs/wrong");
    if !wrong.is_empty() {
        let wrong = aegx::verify::printable(wrong).to_string();
        output::line(&format!("jobs       {}: {wrong}", paint.bad("none is carried out")));
    }
    let next = "`lazaret evidence query --kind door_missed`";
    for (path, what) in ALARMS {
        let count = number(path);
        if count > 0 {
            let what = format!("{count} {what}");
            output::line(&format!("alarm      {}; see {next}", paint.bad(&what)));
        }
    }
    let asked = match waiting {
        0 => "nothing waits for an answer".to_owned(),
        some => format!("{}; see `lazaret approvals`", output::count(some, "question")),
    };
    let approvals = format!("approvals  {asked}");
    // With --quiet what waits for a person is said, and nothing else.
    match waiting {
        0 => output::told(false, &approvals),
        _ => {
            output::line(&approvals);
        }
    }
    let journal =
        bytes.map_or("empty".to_owned(), |it| format!("{it} bytes; `lazaret evidence verify`"));
    output::told(false, &format!("journal    {journal}"));
    let folders = u64::try_from(trust.folders().len()).unwrap_or(u64::MAX);
    let folders = output::count(folders, "folder");
    output::told(false, &format!("trust      {folders}; see `lazaret trust --list`"));
}
