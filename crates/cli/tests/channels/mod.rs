//! `lazaret serve` with messengers, which here are servers of the tests: who is heard, as whom, and what is said back.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

mod hooks;
mod jobs;
mod messenger;
mod poisoned;
mod polled;
mod telegram;

#[expect(clippy::disallowed_methods, reason = "files of a test need not be atomic")]
fn put(home: &std::path::Path, name: &str, text: &str) {
    let path = home.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
