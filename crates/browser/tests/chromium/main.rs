//! Browsers as agents use them: a real Chromium, a real gate, a real journal, real sockets. Nothing but
//! loopback is ever dialled: names resolve by a table of the test.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test helpers; the `-in-tests` settings cover only `#[test]` functions"
)]

mod acts;
mod endings;
mod hostile;
mod reach;
mod support;
mod tls;
