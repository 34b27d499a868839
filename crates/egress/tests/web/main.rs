//! The way out as a whole: the real gate on a real journal, the real client, and servers on this machine that
//! misbehave in every way that the web knows.
//!
//! Nothing but loopback is dialled: names resolve by a table of the test, and where it says something else the
//! test shows that nobody goes there.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

mod bodies;
mod dns;
mod fields;
mod frames;
mod heads;
mod hostile;
mod inner;
mod kept;
mod limits;
mod models;
mod named;
mod names;
mod origin;
mod pages;
mod records;
mod redirects;
mod search;
mod secure;
mod tls;
mod vectors;
mod world;
