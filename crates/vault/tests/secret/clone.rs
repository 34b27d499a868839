//! There is one copy of a secret.

fn main() {}

fn again(secret: &vault::Secret) -> vault::Secret {
    secret.clone()
}
