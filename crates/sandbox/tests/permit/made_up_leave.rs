//! Leave is given for what was judged, and cannot be made up.

use std::ffi::OsString;

use monitor::terminal::Vetted;
use sandbox::cage::Leave;

fn by_nobody(words: Vec<OsString>) -> Leave {
    Leave { words }
}

fn not_judged(words: Vec<OsString>) -> Leave {
    Leave::of_person(Vetted { words })
}

fn main() {}
