//! A command of an agent does not run by what it says: a permit for it is needed.

use sandbox::runner::{Beside, Runner, Surroundings};

fn run(command: model::ipc::ShellExec) {
    let _ran = Runner::default().run(command, Surroundings::default(), Beside::default());
}

fn main() {}
