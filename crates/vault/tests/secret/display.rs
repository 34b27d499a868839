//! A secret is no text.

fn main() {}

fn show(secret: &vault::Secret) -> String {
    secret.to_string()
}
