//! Agents over the network: HTTP, WebSocket, and an OpenAI-shaped door; tokens, limits, budgets.
//!
//! Nothing here decides what an agent may do: a message becomes a turn of [`agent::Runtime`], whose every call goes
//! through the gate. Who may use which agent is asked of `policy`. Requests are answered by few threads that never
//! block; turns run on threads of their own, never more than the settings say.

mod admit;
mod app;
mod archive;
mod auth;
mod body;
mod books;
mod certificate;
mod changes;
mod channels;
mod deletion;
mod directory;
mod errors;
mod exports;
mod frame;
mod front;
mod holdback;
pub mod limits;
mod listen;
mod log;
mod lookout;
mod message;
mod metrics;
mod open;
mod opening;
mod purses;
mod reach;
mod refusal;
mod relay;
mod reload;
mod restart;
mod retention;
mod rooms;
mod routes;
mod rules;
mod server;
mod socket;
mod sockets;
mod tab;
mod taken;
mod tickets;
mod turn;
mod turns;
mod window;
mod workers;

pub use app::{Deleted, Parts, Personal, Put, StartError};
pub use books::{Account, Books, BooksError, Exceeded, Forgotten, Scope, Spent, Totals};
pub use directory::{Directory, Known};
pub use frame::{ErrorCode, ServerFrame};
pub use log::Log;
pub use message::{ClientMessage, MessageError};
pub use purses::Purses;
pub use reload::Reloaded;
pub use rules::{NewRules, Rules};
pub use server::{Handle, Sent, Server};
