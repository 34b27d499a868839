//! Messages of agents: frames over a connection, each answered by the door.
//!
//! INVARIANT (NoIdentityInMessages): who asks is fixed when a connection is made, and no byte that
//! arrives by it can change that.

mod door;
mod frame;
pub(crate) mod serve;
pub(crate) mod socket;
mod stop;
mod wire;

pub use door::Door;
pub use frame::{
    ANSWER_SECONDS_MAX, FRAME_SECONDS_MAX, FrameError, HEADER_BYTES, IDLE_SECONDS_MAX, Limits,
    read, write,
};
pub use serve::{CONNECTIONS_MAX, serve_socket, serve_wire};
pub use socket::{Socket, SocketError, pid_of_peer};
pub use stop::{Stop, Stopper};
pub use wire::{Ends, Unwaited, Wire, WireError};
