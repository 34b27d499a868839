//! What opens a vault does not print either.

fn main() {}

fn show(key: &vault::Key) -> String {
    format!("{key:?}")
}
