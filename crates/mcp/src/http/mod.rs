//! Streamable HTTP, towards clients and towards servers.

pub mod client;
pub mod server;
