//! `lazaret init`.

use std::path::PathBuf;

use evidence::{Clock as _, SystemClock};
use host::trust::Trust;
use serde_json::json;
use setup::{CanCage, Found, Host, Options, Plan, Unguarded, find, plan, unguarded};

use super::{surroundings, verify};
use crate::act::{Act, By};
use crate::daemon;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::observe;
use crate::output::{self, Paint};
use crate::person;

/// Wire the coding agents of this machine to the gate.
///
/// Finds Claude Code, Codex, Cursor, Gemini CLI, Copilot CLI and OpenCode and their MCP servers, shows what it
/// would change as a diff, asks, keeps a copy of every file, wires hooks and gateway, and proves that they
/// answer. Run it again at any time: what is wired stays as it is. `lazaret uninstall` puts every file back.
///
/// Try it:
///   lazaret init --dry-run
///   lazaret init
///
/// Exit codes: 0 wired, 1 not agreed to, 2 a file is not understood, 3 could not be done.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// Only these agents: claude, codex, cursor, gemini, copilot, opencode.
    #[arg(long = "agent", value_name = "AGENT", value_parser = super::host)]
    agents: Vec<Host>,
    /// Look at this project's own MCP configuration, too.
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Leave MCP servers as they are.
    #[arg(long)]
    no_mcp: bool,
    /// Run all MCP servers in a cage: with the directory that they start in, and without a network. One that needs more is
    /// told so in its line (`lazaret mcp --help`). Without it those run in one that npm or uv have fetched already, and that
    /// are given no variables and no places.
    #[arg(long, conflicts_with = "no_mcp")]
    cage_servers: bool,
    /// Put hooks into the machine's managed settings where an agent has them (Claude Code, Codex, Gemini CLI, Cursor): users
    /// cannot switch them off, or not as easily (needs root, and is for agents that run as root).
    #[arg(long)]
    managed: bool,
    /// Show what would change, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    /// Print one JSON object; it asks nobody, so that a change needs --yes.
    #[arg(long)]
    json: bool,
    /// Only watch for so many days: what would be asked passes, and is on record; see `lazaret observe`.
    #[arg(long, value_name = "DAYS", value_parser = observe::days)]
    observe: Option<u16>,
    #[command(flatten)]
    by: By,
}

/// Where the file system begins, beneath which agents look for managed settings.
const ROOT: &str = "/";

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let project = args.project.as_deref().map(files::resolved).transpose();
    let around = surroundings(&args.home, project.map_err(Failure::usage)?)?;
    let found = find(&around);
    let open = if args.no_mcp { Vec::new() } else { unguarded(&around) };
    // Whoever is to agree sees to what.
    let is_silent = output::is_quiet() && args.yes;
    let shows = !(args.json || is_silent);
    if shows {
        show_found(&found);
        show_unguarded(&open);
    }
    let found = (found.as_slice(), open.as_slice());
    let which: Vec<Host> = match args.agents.as_slice() {
        [] => found.0.iter().map(|it| it.host).collect(),
        some => some.to_vec(),
    };
    if which.is_empty() {
        output::hint(
            "no coding agent was found; name one with --agent, or see `lazaret mcp --help`",
        );
        tell_json(args, found, None, &[]);
        return Ok(Exit::Done);
    }
    let managed = args.managed.then(|| PathBuf::from(ROOT));
    let (mcp, cage) = (!args.no_mcp, args.cage_servers);
    let can_cage: Option<CanCage> = Some(crate::mcp::seen_in_cage);
    let options = Options { hooks: true, mcp, cage, can_cage, managed };
    let planned = plan(&around, &which, &options).map_err(Failure::usage)?;
    if shows {
        show_plan(&planned);
    }
    if planned.is_empty() {
        output::told(args.json, "everything is wired already");
    } else if args.dry_run {
        tell_json(args, found, Some(&planned), &[]);
        return Ok(Exit::Done);
    } else {
        if !args.yes && !person::says_yes(&[], "change these files; a copy of each is kept")? {
            return Err(Failure::refused("nothing was changed"));
        }
        apply(args, &planned)?;
    }
    if let Some(days) = args.observe.filter(|_| !args.dry_run) {
        observe::start(&args.home, &args.by, days, args.json)?;
    }
    daemon::start(&args.home.dir()?)?;
    let verified = verify::all(&args.home, &around, &which);
    tell_json(args, found, Some(&planned), &verified);
    if !args.json {
        verify::show(&verified);
        tell_trust(args)?;
    }
    Ok(if verified.iter().all(verify::Row::answers) { Exit::Done } else { Exit::Unable })
}

/// The same for programs.
fn tell_json(
    args: &Args,
    (found, open): (&[Found], &[Unguarded]),
    planned: Option<&Plan>,
    verified: &[verify::Row],
) {
    if !args.json {
        return;
    }
    let open = open.iter().map(|it| {
        json!({
            "program": it.program,
            "file": it.file.display().to_string(),
            "servers": it.servers.as_ref().ok(),
            "problem": it.servers.as_ref().err(),
        })
    });
    let found = found.iter().map(|it| {
        json!({ "agent": it.host.as_str(), "servers": it.servers.len(), "problems": it.problems })
    });
    let changes = planned.into_iter().flat_map(Plan::changes);
    let files: Vec<String> = changes.map(|it| it.path.display().to_string()).collect();
    let notes = planned.into_iter().flat_map(Plan::notes);
    let notes = notes.map(|it| json!({ "agent": it.host.as_str(), "note": it.text }));
    output::json(&json!({
        "found": found.collect::<Vec<_>>(),
        "not_guarded": open.collect::<Vec<_>>(),
        "files": files,
        "changed": !args.dry_run && !files.is_empty(),
        "notes": notes.collect::<Vec<_>>(),
        "verified": verified.iter().map(verify::Row::to_json).collect::<Vec<_>>(),
    }));
}

fn apply(args: &Args, planned: &Plan) -> Result<(), Failure> {
    let files: Vec<String> =
        planned.changes().iter().map(|it| it.path.display().to_string()).collect();
    let kinds = ("agents_wired", "agents_not_wired");
    let content = json!({ "files": files });
    let now = u64::try_from(SystemClock.unix_seconds()).unwrap_or_default();
    Act::around(&args.home, &args.by, kinds, content, || {
        planned.apply(now).map_err(Failure::unable)
    })?;
    let count = output::count(u64::try_from(files.len()).unwrap_or(u64::MAX), "file");
    let told = format!("{count} changed; `lazaret uninstall` puts everything back");
    output::told(args.json, &told);
    Ok(())
}

fn show_found(found: &[Found]) {
    let paint = Paint::for_stdout();
    for it in found {
        let servers = u64::try_from(it.servers.len()).unwrap_or(u64::MAX);
        let servers = output::count(servers, "MCP server");
        output::line(&format!("found {}, {servers}", paint.strong(it.host.title())));
        for problem in &it.problems {
            output::note(&format!("  {problem}"));
        }
    }
}

/// Servers of programs that we do not wire. Names are the user's own, and may be anything.
fn show_unguarded(open: &[Unguarded]) {
    let next = "to guard one, write `lazaret mcp --name NAME --` before its command";
    for it in open {
        let file = it.file.display();
        let text = match &it.servers {
            Ok(names) => format!(
                "{} reaches MCP servers that no gate guards: {} (`{file}`); {next}",
                it.program,
                names.join(", ")
            ),
            Err(why) => format!("what MCP servers {} reaches is not known: {why}", it.program),
        };
        output::note(&aegx::verify::printable(&text).to_string());
    }
}

fn show_plan(planned: &Plan) {
    let paint = Paint::for_stdout();
    for line in planned.diff().lines() {
        let shown = aegx::verify::printable(line).to_string();
        output::line(&match line.chars().next() {
            Some('+') => paint.good(&shown),
            Some('-') => paint.bad(&shown),
            Some('@') => paint.faint(&shown),
            Some(_) | None => shown,
        });
    }
    for note in planned.notes() {
        output::line(&format!("note: {}: {}", note.host.title(), note.text));
    }
}

fn tell_trust(args: &Args) -> Result<(), Failure> {
    let trust = Trust::of(&args.home.dir()?).map_err(Failure::usage)?;
    if trust.folders().is_empty() {
        output::told(
            false,
            "next: say which folders hold your own work, `lazaret trust DIR`; files elsewhere count as outside content",
        );
    }
    Ok(())
}
