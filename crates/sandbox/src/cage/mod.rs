//! A cage: a program runs in it, and what it can reach is what it was given.
//!
//! Three processes. The one outside makes the cage, says when to begin, and passes signals on. The first one inside
//! puts the file tree together and is there until the end. The last one gives up what is left and becomes the program.
//! Nothing of the program runs before everything holds, and what holds is told to whoever asked for the cage.

mod bubblewrap;
mod cgroup;
mod channel;
mod closed;
mod error;
mod first;
mod git;
mod inmate;
mod kept;
mod ladder;
mod landlock;
mod limits;
mod mounts;
mod nested;
mod running;
mod seccomp;
mod settings;
mod signals;
mod start;
mod sys;
mod terminal;
mod view;

pub use error::CageError;
pub use kept::SetAside;
pub use ladder::{Held, Hold, Rung};
pub use running::{Ending, Running};
pub use seccomp::DENIED_SYSCALLS;
pub use settings::{Cage, Inmate, Limits, Maker, Network, PROXY_PORT};
pub use start::{Fresh, Waiting};
pub use view::SYSTEM;
