//! The forward proxy as programs see it: a real gate, a real journal, a real store, real sockets. Nothing but
//! loopback is ever dialled: names resolve by a table of the test.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "test helpers; the `-in-tests` settings cover only `#[test]` functions"
)]

mod accounts;
mod attacks;
mod clients;
mod commands;
mod inner;
mod limits;
mod origin;
mod passing;
mod records;
mod refusals;
mod shares;
mod support;
mod tunnels;
