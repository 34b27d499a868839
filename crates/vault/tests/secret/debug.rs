//! A secret does not print.

fn main() {}

fn show(secret: &vault::Secret) -> String {
    format!("{secret:?}")
}
