//! The `lazaret` program.

mod check;
mod demo;
mod evidence;
mod gate;
mod home;
mod ipc;
mod machine;
mod output;
mod policy;
mod providers;
mod replay;
mod run;
mod schema;
mod sessions;
mod taint;
mod visit;

use std::process::ExitCode;

fn main() -> ExitCode {
    run::run()
}
