//! One permit, one run.

use sandbox::runner::{Runner, Surroundings};

fn run(permit: monitor::Permit<model::ipc::ShellExec>) {
    let runner = Runner::default();
    let _once = runner.run(permit, Surroundings::default());
    let _again = runner.run(permit, Surroundings::default());
}

fn main() {}
