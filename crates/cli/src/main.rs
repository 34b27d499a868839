//! The `lazaret` program.

mod access;
mod act;
mod approvals;
mod catalogue;
mod check;
mod credentials;
mod demo;
mod doctor;
mod door;
mod evidence;
mod exec;
mod failure;
mod gate;
mod help;
mod home;
mod ipc;
mod machine;
mod memory;
mod output;
mod person;
mod plugins;
mod policy;
mod providers;
mod proxy;
mod replay;
mod run;
mod say;
mod scheduler;
mod schema;
mod sessions;
mod skills;
mod taint;
mod vault;
mod visit;

use std::process::ExitCode;

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    // Before anything else, while there is one thread: a cage is made by a process of its own.
    if std::env::args_os().nth(1).is_some_and(|it| it == sandbox::runner::LAUNCHER) {
        return sandbox::runner::launcher();
    }
    run::run()
}
