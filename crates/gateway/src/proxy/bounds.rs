//! What a program may cost the proxy.

use std::time::Duration;

/// Connections of programs at once, tunnels included.
pub const CONNECTIONS_MAX: usize = 4096;
/// Connections of programs that have not said yet who they are.
const STRANGERS_MAX: usize = 256;
/// Into so many parts the room of an agent is divided: a token has at most one of them.
pub(crate) const TOKENS_SHARE_MIN: usize = 2;
/// Calls at the gate at once: each holds a thread.
pub(crate) const AT_THE_GATE_MAX: usize = 8;
/// The same of one agent, whose calls wait for each other anyway.
pub(crate) const AT_THE_GATE_PER_AGENT_MAX: usize = 2;
/// The head of a request, in bytes.
pub(crate) const HEAD_BYTES_MAX: usize = 64 << 10;
/// Header fields of a request.
pub(crate) const FIELDS_MAX: usize = 100;

/// What a program may cost the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Connections of programs with an account at once, tunnels included. Each agent has an equal part, and
    /// where access tokens are believed, one token at most half of its agent's. Who comes then waits.
    pub connections: usize,
    /// Connections of those who have not said yet who they are, or wait. When one more comes, the first goes.
    pub strangers: usize,
    /// How long a program may take to say who it is.
    pub greeting: Duration,
    /// How long those who have no account are counted before they are recorded together.
    pub counted: Duration,
    /// How long a program may take for the head of a request, and be silent between two.
    pub head: Duration,
    /// A connection through which nothing comes for so long is closed.
    pub silence: Duration,
    /// The same once one end has said that it is done.
    pub half_closed: Duration,
    /// How long a program that was refused may go on sending before its connection is closed. Closed at
    /// once, it might not get to read why.
    pub linger: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections: CONNECTIONS_MAX,
            strangers: STRANGERS_MAX,
            greeting: Duration::from_secs(10),
            counted: Duration::from_secs(60),
            head: Duration::from_secs(60),
            silence: Duration::from_secs(600),
            half_closed: Duration::from_secs(60),
            linger: Duration::from_secs(1),
        }
    }
}
