//! The `aegx` program.

fn main() {}
