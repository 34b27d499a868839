//! A real browser for agents: headless Chromium, on a leash.
//!
//! Each browser is a process of its own with a profile of its own, which is gone when it ends. It is
//! driven through one pair of sockets that it inherits, so that there is no port by which anybody else
//! could drive it. Whatever it loads goes through a proxy of ours, which judges every connection.
//!
//! INVARIANT (OneGate): whatever a browser does for an agent it does by spending a permit, and whatever a
//! page asks of the network is a call at the gate.
//!
//! INVARIANT (WrittenOutside): no byte that a page wrote reaches the agent by an action whose output does
//! not count as coming from the web.

mod act;
mod browser;
mod confinement;
mod element;
mod fault;
mod flags;
mod limits;
mod page;
mod pages;
mod pool;
mod process;
mod profile;
mod program;
mod snapshot;
mod tree;
mod watch;
mod way;
mod wire;

pub use confinement::Confinement;
pub use limits::{BROWSERS_MAX, IDLE_DEFAULT, Limits, PAGES_MAX, PER_SESSION_DEFAULT};
pub use pool::{Admits, Browsers, Setup};
pub use program::{KNOWN, Program, ProgramError};
