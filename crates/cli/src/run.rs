//! The commands. Nothing but `main` imports this file: what commands share stands in files of its own.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::{
    access, approvals, catalogue, check, credentials, daemon, demo, doctor, evidence, exec, gate,
    help, ipc, mcp, models, notifications, observe, output, plugins, policy, preflight, prompt,
    providers, proxy, replay, say, scheduler, schema, send, serve, sessions, shells, skills,
    status, taint, talk, trust, vault, wire, workers,
};

use crate::failure::Exit;
use crate::output::{Color, Manner};

/// A security runtime for AI agents.
///
/// Lazaret stands between an agent and everything that the agent can touch. Every call passes one
/// gate: policy grants, guards object, the strictest wins. What came from outside stays marked
/// wherever it goes, through memory, files and other sessions. Every decision is durable before
/// anything happens, in a journal that an outsider can verify.
///
/// Try `lazaret demo`, then `lazaret replay --help`. State lives in LAZARET_HOME, by default
/// ~/.lazaret.
///
/// Exit codes: 0 done or verified, 1 verification failed or refused, 2 wrong usage, 3 could not
/// work (a full disk, a journal that another process has open).
#[derive(Parser)]
#[command(name = "lazaret", version, propagate_version = true)]
struct Cli {
    #[command(flatten)]
    speaking: Speaking,
    #[command(subcommand)]
    command: Command,
}

/// How the program speaks, whatever it does.
#[derive(clap::Args)]
struct Speaking {
    /// When colours are used.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t)]
    color: Color,
    /// Say nothing where all is well: results and exit codes alone.
    #[arg(long, global = true)]
    quiet: bool,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::Args),
    Run(Box<talk::once::Args>),
    Chat(talk::chat::Args),
    Agents(talk::agents::Args),
    Exec(Box<exec::Args>),
    Init(wire::init::Args),
    Verify(wire::verify::Args),
    Uninstall(wire::uninstall::Args),
    Mcp(Box<mcp::Args>),
    Status(status::Args),
    Trust(trust::Args),
    Observe(observe::Args),
    Daemon(daemon::Args),
    Serve(serve::Args),
    Send(send::Args),
    Workers(workers::Args),
    Preflight(preflight::Args),
    Doctor(doctor::Args),
    Check(check::Args),
    Schema(schema::Args),
    Evidence(Box<evidence::Args>),
    Ipc(ipc::Args),
    Approvals(approvals::Args),
    Say(say::Args),
    Prompt(prompt::Args),
    Notifications(notifications::Args),
    Proxy(proxy::Args),
    Replay(replay::Args),
    Policy(policy::Args),
    Providers(providers::Args),
    Models(models::Args),
    Plugins(plugins::Args),
    Skills(skills::Args),
    Scheduler(scheduler::Args),
    Gate(gate::Args),
    Catalogue(catalogue::Args),
    Sessions(sessions::Args),
    Taint(taint::Args),
    Vault(vault::Args),
    Credentials(credentials::Args),
    Access(access::Args),
    Completions(shells::CompletionsArgs),
    Man(shells::ManArgs),
}

// `lazaret exec` alone: to read the options of all commands takes half as long as to make a cage. What it says of itself
// is what its arguments say.
#[derive(Parser)]
#[command(name = "lazaret exec", version)]
struct ExecOnly {
    #[command(flatten)]
    speaking: Speaking,
    #[command(flatten)]
    args: exec::Args,
}

fn parse() -> Command {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    if words.first().is_some_and(|it| it == "exec") {
        let only: ExecOnly = parsed("lazaret exec", words.into_iter().skip(1).collect());
        only.speaking.apply();
        return Command::Exec(Box::new(only.args));
    }
    let all: Cli = parsed("lazaret", words);
    all.speaking.apply();
    all.command
}

impl Speaking {
    fn apply(&self) {
        output::speak(Manner { color: self.color, quiet: self.quiet });
    }
}

/// Texts for people are prepared only where they are shown.
fn parsed<T: Parser>(program: &str, words: Vec<OsString>) -> T {
    let shows = |it: &OsString| it == "-h" || it == "--help" || it == "help";
    let shows_help = words.len() <= 1 || words.iter().any(shows);
    let words = std::iter::once(program.into()).chain(words);
    if !shows_help {
        return T::parse_from(words);
    }
    let matches = help::flowing(T::command()).get_matches_from(words);
    T::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// Runs the program.
pub(crate) fn run() -> ExitCode {
    let outcome = match parse() {
        // Ends as the command ended.
        Command::Exec(args) => match exec::run(&args) {
            Ok(code) => return ExitCode::from(code),
            Err(failure) => Err(failure),
        },
        Command::Demo(args) => demo::run(&args),
        Command::Run(args) => talk::once::run(&args),
        Command::Chat(args) => talk::chat::run(&args),
        Command::Agents(args) => talk::agents::run(&args),
        Command::Init(args) => wire::init::run(&args),
        Command::Verify(args) => wire::verify::run(&args),
        Command::Uninstall(args) => wire::uninstall::run(&args),
        Command::Mcp(args) => mcp::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Trust(args) => trust::run(&args),
        Command::Observe(args) => observe::run(&args),
        Command::Daemon(args) => daemon::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Send(args) => send::run(&args),
        Command::Workers(args) => workers::run(&args),
        Command::Preflight(args) => preflight::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Evidence(args) => evidence::run(*args),
        Command::Ipc(args) => ipc::run(&args),
        Command::Approvals(args) => approvals::run(&args),
        Command::Say(args) => say::run(&args),
        Command::Prompt(args) => prompt::run(&args),
        Command::Notifications(args) => notifications::run(&args),
        Command::Proxy(args) => proxy::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Policy(args) => policy::run(&args),
        Command::Providers(args) => providers::run(&args),
        Command::Models(args) => models::run(&args),
        Command::Plugins(args) => plugins::run(&args),
        Command::Skills(args) => match skills::run(&args) {
            Ok(code) => return ExitCode::from(code),
            Err(failure) => Err(failure),
        },
        Command::Scheduler(args) => scheduler::run(&args),
        Command::Gate(args) => gate::run(&args),
        Command::Catalogue(args) => catalogue::run(&args),
        Command::Sessions(args) => sessions::run(&args),
        Command::Taint(args) => taint::run(&args),
        Command::Vault(args) => vault::run(&args),
        Command::Credentials(args) => credentials::run(&args),
        Command::Access(args) => access::run(&args),
        Command::Completions(args) => shells::completions(&args, Cli::command()),
        Command::Man(args) => shells::man(&args, Cli::command()),
    };
    let exit = outcome.unwrap_or_else(|failure| {
        output::error(failure.message());
        failure.exit()
    });
    if matches!(exit, Exit::Done) && output::is_lost() {
        output::error("what was to be said could not be written to stdout");
        return ExitCode::from(Exit::Unable as u8);
    }
    ExitCode::from(exit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns of the terminal that the texts are looked at in.
    const WIDTH: usize = 72;

    /// The texts of a command and of all below it, as a terminal shows them.
    fn texts(command: &clap::Command, found: &mut Vec<(String, String)>) {
        let mut shown = command.clone().term_width(WIDTH);
        found.push((command.get_name().to_owned(), shown.render_long_help().to_string()));
        command.get_subcommands().for_each(|it| texts(it, found));
    }

    /// Commands that speak a protocol, a terminal or another program's language, or print one document.
    const WITHOUT_JSON: [&str; 12] = [
        "agents bench",
        "catalogue propose",
        "chat",
        "completions",
        "daemon run",
        "exec",
        "ipc",
        "man",
        "policy schema",
        "serve",
        "skills run",
        "vault export",
    ];

    /// Commands that tell something and know no `--json`.
    fn mute(command: &clap::Command, path: &str, found: &mut Vec<String>) {
        for it in command.get_subcommands().filter(|it| it.get_name() != "help") {
            let name = format!("{path} {}", it.get_name()).trim().to_owned();
            if it.has_subcommands() {
                mute(it, &name, found);
            } else if it.get_arguments().all(|it| it.get_id() != "json") {
                found.push(name);
            }
        }
    }

    #[test]
    fn whatever_tells_something_can_tell_it_to_a_program() {
        let mut found = Vec::new();
        mute(&Cli::command(), "", &mut found);
        found.sort();
        assert_eq!(found, WITHOUT_JSON);
    }

    #[test]
    fn help_is_wrapped_once() {
        let mut found = Vec::new();
        texts(&help::flowing(Cli::command()), &mut found);
        assert!(found.len() > 60, "{}", found.len());
        for (name, text) in found {
            let about: Vec<&str> =
                text.lines().take_while(|it| !it.starts_with("Usage:")).collect();
            for pair in about.windows(2) {
                let [line, next] = pair else { continue };
                let prose = |it: &str| !it.is_empty() && !it.starts_with([' ', '-', '*', '|']);
                if !prose(line) || !prose(next) {
                    continue;
                }
                let word = next.split(' ').next().unwrap();
                let with_it = line.chars().count() + 1 + word.chars().count();
                assert!(with_it > WIDTH, "{name}: wrapped before it is full: `{line}` / `{next}`");
            }
        }
    }
}
