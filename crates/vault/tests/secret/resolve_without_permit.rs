//! Nobody is given a secret without a permit.

fn main() {}

fn get(keeper: &vault::Keeper, want: &vault::Want<'_>) {
    let _ = keeper.resolve(&(), &vault::Scope::Host, want);
}
