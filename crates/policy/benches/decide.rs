//! How long a decision takes with the default packs: the first time, and when the same facts were
//! judged before.
//!
//! `cargo bench -p policy --bench decide`; the target is 25 µs.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints its figures and has nobody to report an error to"
)]

use std::time::Instant;

use aegx::Principal;
use model::{EffectKind, Profile, Taint};
use policy::{FactSheet, Policy};

fn main() {
    let start = Instant::now();
    let policy = Policy::embedded().unwrap();
    let loaded = start.elapsed();
    println!("load: {} rules in {:.1} ms", policy.rules().len(), loaded.as_secs_f64() * 1e3);

    let sheets = sheets();
    let first = sheets.iter().map(|sheet| nanos(&policy, sheet)).collect();
    print("first time", first);
    let usual: Vec<_> = sheets.iter().take(500).collect();
    usual.iter().for_each(|sheet| _ = nanos(&policy, sheet));
    let again = (0..40).flat_map(|_| usual.iter().map(|sheet| nanos(&policy, sheet))).collect();
    print("again", again);
}

/// More different facts than the policy remembers, over all effects.
fn sheets() -> Vec<FactSheet> {
    let flags = Taint::names();
    let mut found = Vec::new();
    for kind in EffectKind::ALL {
        for (principal, flag) in
            Principal::ALL.iter().flat_map(|it| flags.iter().map(move |flag| (it, flag)))
        {
            for profile in Profile::ALL {
                let mut sheet = FactSheet::new(*kind).unwrap();
                sheet.principal = *principal;
                sheet.profile = *profile;
                sheet.taint = Taint::parse(flag).unwrap();
                found.push(sheet);
            }
        }
    }
    found
}

fn nanos(policy: &Policy, sheet: &FactSheet) -> u128 {
    let facts = sheet.facts();
    let start = Instant::now();
    std::hint::black_box(policy.decide(std::hint::black_box(&facts)));
    start.elapsed().as_nanos()
}

fn print(what: &str, mut nanos: Vec<u128>) {
    nanos.sort_unstable();
    let at = |percent: usize| *nanos.get(nanos.len() * percent / 100).unwrap() as f64 / 1e3;
    println!("{what}: {} decisions, p50 {:.1} µs, p99 {:.1} µs", nanos.len(), at(50), at(99));
}
