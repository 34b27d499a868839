//! The `lazaret` program.

mod access;
mod approvals;
mod check;
mod credentials;
mod demo;
mod evidence;
mod gate;
mod home;
mod ipc;
mod machine;
mod output;
mod person;
mod policy;
mod providers;
mod proxy;
mod replay;
mod run;
mod say;
mod schema;
mod sessions;
mod taint;
mod vault;
mod visit;

use std::process::ExitCode;

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    run::run()
}
