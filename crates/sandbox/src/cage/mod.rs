//! A cage: a program runs in it, and what it can reach is what it was given.
//!
//! What a cage is asked to be, what may be given and what is told of it are the same on every system. On Linux three
//! processes make one. The one outside makes the cage, says when to begin, and passes signals on. The first one inside
//! puts the file tree together and is there until the end. The last one gives up what is left and becomes the program.
//! Elsewhere it is [`crate::seatbelt`] that makes one, or says that there is nothing to make it of.
//! Nothing of the program runs before everything holds, and what holds is told to whoever asked for the cage.

pub(crate) mod ending;
mod entries;
pub(crate) mod environment;
pub(crate) mod error;
pub(crate) mod fresh;
pub(crate) mod git;
pub(crate) mod given;
pub(crate) mod kept;
pub(crate) mod ladder;
mod leads;
mod leave;
pub(crate) mod limits;
pub(crate) mod made;
pub(crate) mod nested;
mod reach;
mod rebase;
mod repository;
mod settings;
pub(crate) mod signals;
mod way;

// How Linux makes one.
#[cfg(target_os = "linux")]
mod belongings;
#[cfg(target_os = "linux")]
mod bubblewrap;
#[cfg(target_os = "linux")]
mod cgroup;
#[cfg(target_os = "linux")]
mod channel;
#[cfg(target_os = "linux")]
mod closed;
#[cfg(target_os = "linux")]
mod first;
#[cfg(target_os = "linux")]
mod hosts;
#[cfg(target_os = "linux")]
mod inmate;
#[cfg(target_os = "linux")]
mod kernel_limits;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod listing;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod running;
#[cfg(target_os = "linux")]
mod seccomp;
#[cfg(target_os = "linux")]
mod start;
#[cfg(target_os = "linux")]
mod stdio;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(target_os = "linux")]
mod toolchains;
#[cfg(target_os = "linux")]
mod view;

pub use ending::Ending;
pub use environment::FOR_PROGRAMS;
pub use error::CageError;
pub use fresh::Fresh;
pub use given::SYSTEM;
pub(crate) use given::real as real_file;
pub use kept::SetAside;
pub use ladder::{Held, Hold, Rung};
pub use leave::Leave;
pub use settings::{Access, Belonging, Cage, Inmate, Limits, Line, Maker, Network, PROXY_PORT};
#[cfg(target_os = "linux")]
pub(crate) use sys::has_clone3;

#[cfg(target_os = "linux")]
pub use {running::Running, seccomp::DENIED_SYSCALLS, start::Waiting};

/// Calls of the kernel that are refused: none, for only Linux filters them.
#[cfg(not(target_os = "linux"))]
pub const DENIED_SYSCALLS: &[(&str, libc::c_long)] = &[];
#[cfg(not(target_os = "linux"))]
pub use crate::seatbelt::{Running, Waiting};
