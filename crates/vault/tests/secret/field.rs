//! What is in a secret is its own business.

fn main() {}

fn see(secret: &vault::Secret) -> &str {
    &secret.0
}
