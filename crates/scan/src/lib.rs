//! Text in, findings out. No I/O, no sessions, no decisions.
