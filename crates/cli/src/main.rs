//! The `lazaret` program.

mod access;
mod act;
mod approvals;
mod carrying;
mod catalogue;
mod check;
mod credentials;
mod daemon;
mod demo;
mod doctor;
mod door;
mod evidence;
mod exec;
mod failure;
mod gate;
mod handed;
mod help;
mod home;
mod ipc;
mod machine;
mod mcp;
mod memory;
mod models;
mod notifications;
mod observe;
mod output;
mod person;
mod plugins;
mod policy;
mod preflight;
mod prompt;
mod providers;
mod proxy;
mod replay;
mod run;
mod say;
mod scheduler;
mod schema;
mod send;
mod serve;
mod sessions;
mod shells;
mod skills;
mod status;
mod taint;
mod talk;
mod trust;
mod vault;
mod visit;
mod way_out;
mod wire;
mod workers;

use std::process::ExitCode;

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    // Before anything else, while there is one thread: a cage is made by a process of its own.
    if std::env::args_os().nth(1).is_some_and(|it| it == sandbox::runner::LAUNCHER) {
        return sandbox::runner::launcher();
    }
    if std::env::args_os().nth(1).is_some_and(|it| it == agent::WORKER) {
        return agent::worker();
    }
    run::run()
}
