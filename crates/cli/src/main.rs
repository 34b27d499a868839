//! The `lazaret` program.

mod demo;
mod evidence;
mod home;
mod output;
mod run;

use std::process::ExitCode;

fn main() -> ExitCode {
    run::run()
}
