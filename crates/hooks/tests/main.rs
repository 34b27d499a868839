//! The tests of `hooks`, in one program.

mod any_input;
mod captured;
mod denials;
mod measured;
mod obeyed;
mod rewritten;
mod tools_defined;
mod world;
