//! Speaking with agents of our own: `lazaret run`, `lazaret chat`, `lazaret agents`.

pub(crate) mod agents;
mod bench;
pub(crate) mod chat;
mod editor;
pub(crate) mod host;
mod keys;
pub(crate) mod ledger;
pub(crate) mod once;
mod place;
mod screen;
mod speaks;
