//! One permit, one run.

use sandbox::runner::{Beside, Runner, Surroundings};

fn run(permit: monitor::Permit<model::ipc::ShellExec>) {
    let runner = Runner::default();
    let _once = runner.run(permit, Surroundings::default(), Beside::default());
    let _again = runner.run(permit, Surroundings::default(), Beside::default());
}

fn main() {}
