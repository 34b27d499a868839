//! The `aegx` program: write, verify and exchange evidence bundles.

mod commands;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::run()
}
