//! MCP between a client and its servers: every call passes a gate, everything else goes on as it came.
//!
//! [`Session`] is the core: messages in, messages out, no threads, no clock, no pipes. [`stdio`] drives it over pipes;
//! [`http`] for clients that come by HTTP, and makes servers with an address look like servers on pipes.
//! Nothing here decides: a [`Gate`] does, and what the gate does not answer is denied.
//!
//! **Invariants** (cited where they are upheld): `OneReading` (a message that could be read in two ways is refused),
//! `TicketsComeBack` (whatever the gate allowed is reported back once), `OneAnswer` (an approval is good once, for the
//! very call that was asked about), `TrustNotContent` (nothing that a server says raises its trust).

mod approvals;
pub mod canonical;
mod catalogue;
pub mod era;
pub mod frame;
mod gate;
pub mod http;
pub mod limits;
pub mod message;
mod method;
pub mod names;
mod parameter_headers;
pub mod pins;
mod reply;
pub mod schema;
mod session;
pub mod shown;
pub mod stdio;
mod strict;
pub mod trust;

pub use frame::Frame;
pub use gate::{
    Answered, Begun, Call, Delivery, Gate, GateError, Kind, Listed, Listing, Offer, Then, Ticket,
};
pub use pins::{Change, Compared, Pin, Pins};
pub use reply::META_DECISION;
pub use session::{Outgoing, Peer, Question, Reply, Session, SessionError};
