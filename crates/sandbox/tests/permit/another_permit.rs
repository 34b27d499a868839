//! A permit for something else is no permit for a command.

use sandbox::runner::{Beside, Runner, Surroundings};

fn run(permit: monitor::Permit<model::ipc::FileRead>) {
    let _ran = Runner::default().run(permit, Surroundings::default(), Beside::default());
}

fn main() {}
