//! Nobody sees a secret without a permit.

fn main() {}

fn see(secret: &vault::Secret) -> &str {
    secret.reveal()
}
