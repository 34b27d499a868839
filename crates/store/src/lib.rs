//! What outlives a session: sessions, memory, approvals, and the labels of files.

pub mod workspace;
