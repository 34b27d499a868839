//! The commands. Nothing but `main` imports this file: what commands share stands in files of its own.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::{
    access, approvals, check, credentials, demo, doctor, evidence, exec, gate, ipc, output,
    plugins, policy, providers, proxy, replay, say, scheduler, schema, sessions, skills, taint,
    vault,
};

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
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::Args),
    Exec(Box<exec::Args>),
    Doctor(doctor::Args),
    Check(check::Args),
    Schema(schema::Args),
    Evidence(Box<evidence::Args>),
    Ipc(ipc::Args),
    Approvals(approvals::Args),
    Say(say::Args),
    Proxy(proxy::Args),
    Replay(replay::Args),
    Policy(policy::Args),
    Providers(providers::Args),
    Plugins(plugins::Args),
    Skills(skills::Args),
    Scheduler(scheduler::Args),
    Gate(gate::Args),
    Sessions(sessions::Args),
    Taint(taint::Args),
    Vault(vault::Args),
    Credentials(credentials::Args),
    Access(access::Args),
}

// `lazaret exec` alone: to read the options of all commands takes half as long as to make a cage. What it says of itself
// is what its arguments say.
#[derive(Parser)]
#[command(name = "lazaret exec", version)]
struct ExecOnly {
    #[command(flatten)]
    args: exec::Args,
}

fn parse() -> Command {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|it| it == "exec") {
        let words = std::iter::once("lazaret exec".into()).chain(words);
        return Command::Exec(Box::new(ExecOnly::parse_from(words).args));
    }
    Cli::parse().command
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
        Command::Doctor(args) => doctor::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Evidence(args) => evidence::run(*args),
        Command::Ipc(args) => ipc::run(&args),
        Command::Approvals(args) => approvals::run(&args),
        Command::Say(args) => say::run(&args),
        Command::Proxy(args) => proxy::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Policy(args) => policy::run(&args),
        Command::Providers(args) => providers::run(&args),
        Command::Plugins(args) => plugins::run(&args),
        Command::Skills(args) => match skills::run(&args) {
            Ok(code) => return ExitCode::from(code),
            Err(failure) => Err(failure),
        },
        Command::Scheduler(args) => scheduler::run(&args),
        Command::Gate(args) => gate::run(&args),
        Command::Sessions(args) => sessions::run(&args),
        Command::Taint(args) => taint::run(&args),
        Command::Vault(args) => vault::run(&args),
        Command::Credentials(args) => credentials::run(&args),
        Command::Access(args) => access::run(&args),
    };
    let exit = outcome.unwrap_or_else(|failure| {
        output::error(failure.message());
        failure.exit()
    });
    ExitCode::from(exit as u8)
}
