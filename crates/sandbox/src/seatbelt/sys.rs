//! What a process does between its making and becoming what confines it.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Resource, getrlimit, setsid};

use crate::cage::Limits;
use crate::cage::limits;

/// The first descriptor after stdin, stdout and stderr.
const FIRST_AFTER_STDERR: i32 = 3;
/// No descriptor of ours has a higher number.
const DESCRIPTORS_MAX: u64 = 1 << 16;

/// In a session of its own, which no terminal belongs to and whose group of processes can be ended as one; without any
/// descriptor but the first three; and within these limits.
// JUSTIFICATION: between fork and exec there is nothing but this to run code in, and a session and limits are set there.
#[expect(unsafe_code, reason = "std lets nothing be done between fork and exec otherwise")]
pub(super) fn apart(command: &mut Command, limits: Option<Limits>) {
    let prepare = move || -> io::Result<()> {
        setsid()?;
        close_on_exec();
        limits.map_or(Ok(()), |it| limits::apply(&it, true))
    };
    // SAFETY: only system calls are made: a session, flags of descriptors, limits. Nothing allocates on the way to success,
    // takes a lock or unwinds.
    unsafe { command.pre_exec(prepare) };
}

/// Marks every descriptor but the first three as one that ends with `exec`.
#[expect(unsafe_code, reason = "whose these descriptors are is not known here")]
fn close_on_exec() {
    let most =
        getrlimit(Resource::Nofile).current.map_or(DESCRIPTORS_MAX, |it| it.min(DESCRIPTORS_MAX));
    for number in FIRST_AFTER_STDERR..i32::try_from(most).unwrap_or(i32::MAX) {
        // SAFETY: only sets a flag on a descriptor of this process, which is about to become another program; of a number
        // that is none, the kernel says so.
        unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}
