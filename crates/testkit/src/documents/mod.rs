//! Documents say what is so: what they show of a program can be done, and what they name of it is there.

pub mod examples;
pub mod help;
pub mod page;
mod words;
