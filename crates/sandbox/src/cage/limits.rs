//! Limits of each process.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::settings::Limits;

/// Bytes of a memory image after a crash. Where the system pipes images to a program, it starts that program outside for
/// every bound, none at all included, but this one.
pub(crate) const CORE_BYTES: u64 = 1;

/// Bounds this process and whatever it starts. Nothing but system calls: it is done between fork and exec.
pub(crate) fn apply(limits: &Limits, and_memory: bool) -> io::Result<()> {
    lower(Resource::Core, CORE_BYTES)?;
    lower(Resource::Fsize, limits.file_bytes)?;
    lower(Resource::Nofile, limits.open_files)?;
    lower(Resource::Nproc, u64::from(limits.processes))?;
    match and_memory {
        // Of each process its private memory, and also what it reserves of that and never uses.
        true => lower(Resource::Data, limits.memory_bytes),
        // Who checks programs for wrong accesses reserves more than any machine has.
        false => Ok(()),
    }
}

/// Both limits, so that nobody raises them again.
fn lower(resource: Resource, to: u64) -> io::Result<()> {
    let now = getrlimit(resource);
    let to = now.maximum.map_or(to, |it| it.min(to));
    Ok(setrlimit(resource, Rlimit { current: Some(to), maximum: Some(to) })?)
}
