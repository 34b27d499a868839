//! How long a decision takes with the default packs.
//!
//! `cargo bench -p policy --bench decide`; the target is 25 µs.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints its figures and has nobody to report an error to"
)]

use std::time::Instant;

use policy::{FactSheet, Policy};

const ROUNDS: usize = 20_000;

fn main() {
    let start = Instant::now();
    let policy = Policy::embedded().unwrap();
    let loaded = start.elapsed();
    println!("load: {} rules in {:.1} ms", policy.rules().len(), loaded.as_secs_f64() * 1e3);
    for words in [
        "tool_read taint=UNTRUSTED",
        "tool_send taint=UNTRUSTED,TOOL_OUTPUT sinks=untrusted_destination",
        "shell_exec taint=UNTRUSTED over_budget=true",
        "file_write targets=durable_memory taint=WEB_DERIVED",
        "message_in principal=CHANNEL taint=UNTRUSTED",
    ] {
        measure(&policy, words);
    }
}

fn measure(policy: &Policy, words: &str) {
    let sheet = FactSheet::from_words(words).unwrap();
    let mut nanos: Vec<u128> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(policy.decide(std::hint::black_box(&sheet.facts())));
            start.elapsed().as_nanos()
        })
        .collect();
    nanos.sort_unstable();
    let at = |share: f64| nanos[(ROUNDS as f64 * share) as usize] as f64 / 1e3;
    println!("{words}: p50 {:.1} µs, p99 {:.1} µs", at(0.50), at(0.99));
}
