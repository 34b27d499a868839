//! The launcher: a process with one thread, which makes a cage, follows the command in it and ends with the host.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use super::aside::Aside;
use super::form::Order;
use super::wire::{self, Ended, Go, Report};
use crate::cage::{CageError, Ending, Leave, SetAside, Waiting};

/// The first descriptor after stdin, stdout and stderr.
const FIRST_AFTER_STDERR: i32 = 3;
/// Nobody told what to do.
const NOT_A_LAUNCHER: u8 = 2;

/// Does everything in a cage end if its launcher is ended by force? Where there are no namespaces for that, it must be let
/// to do so itself.
pub(super) const CAGE_ENDS_WITH_IT: bool = cfg!(target_os = "linux");

/// Is the launcher: takes its order from the socket at stdin, and reports there. Call it first of all, while there is
/// one thread.
#[must_use]
pub fn launcher() -> ExitCode {
    let Ok((mut outside, order)) = take_order() else { return ExitCode::from(NOT_A_LAUNCHER) };
    let report = carry_out(order, &mut outside);
    // If the host is gone, nobody needs to be told.
    let _gone = wire::say(&mut outside, &report);
    ExitCode::SUCCESS
}

fn take_order() -> std::io::Result<(UnixStream, Order)> {
    end_with_the_host()?;
    let stdin = std::io::stdin();
    let ours: OwnedFd = rustix::io::fcntl_dupfd_cloexec(stdin.as_fd(), FIRST_AFTER_STDERR)?;
    // The command gets nothing to read, and has no way to speak in our place.
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    let mut outside = UnixStream::from(ours);
    let order: Order = wire::hear(&mut outside)?;
    if order.speaks() {
        rustix::stdio::dup2_stdin(std::io::stdout().as_fd())?;
    }
    Ok((outside, order))
}

/// With the host everything ends: the kernel ends this process, and the cage ends with it.
#[cfg(target_os = "linux")]
fn end_with_the_host() -> std::io::Result<()> {
    use rustix::process::{Signal, set_parent_process_death_signal};
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// Elsewhere the kernel tells nobody. That the host is gone is heard at the socket.
#[cfg(not(target_os = "linux"))]
fn end_with_the_host() -> std::io::Result<()> {
    Ok(())
}

fn carry_out(order: Order, outside: &mut UnixStream) -> Report {
    let (cage, inmate) = order.read();
    let mut waiting = match cage.put(&inmate, || Ok(Leave::of_host(&inmate))) {
        Ok(waiting) => waiting,
        Err(error) => return Report::Refused(error.to_string()),
    };
    let held = Report::Held(waiting.held().clone());
    let said = match waiting.take_listener() {
        Some(listener) => wire::say_with(outside, &held, listener.as_fd()),
        None => wire::say(outside, &held),
    };
    // Nothing runs before the host knows what holds and somebody answers for the network.
    if said.and_then(|()| wire::hear::<Go>(outside)).is_err() {
        return Report::Refused("nobody lets it begin".to_owned());
    }
    let (ending, aside) = follow(waiting, outside);
    let ending = ending.map_err(|error| error.to_string());
    Report::Ended(Ended { ending, aside: Aside::of(aside) })
}

fn follow(waiting: Waiting, outside: &UnixStream) -> (Result<Ending, CageError>, Vec<SetAside>) {
    // The host says nothing more. When it says that it is done, it wants an end.
    let stop = outside.try_clone().map_err(|error| CageError::step("listen to the host", error));
    match stop.and_then(|stop| Ok(waiting.begin()?.ending_with(stop.into()))) {
        Ok(running) => running.wait(),
        Err(error) => (Err(error), Vec::new()),
    }
}
