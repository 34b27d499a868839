//! The server, driven over real sockets.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "helpers of tests"
)]

mod access;
mod attacks;
mod budgets;
mod chat;
mod desk;
mod events;
mod health;
mod http;
mod kill;
mod limits;
mod log;
mod messages;
mod reload;
mod required;
mod socket;
mod sockets;
mod stop;
mod surface;
mod two_users;
mod world;
