//! How many secrets and how much personal data are found, how often something else is taken for them, and how fast.
//!
//! `cargo bench -p scan --bench secret -- [--show missed|false] SECRETS.jsonl PII.jsonl`. A row has `expect`, `text`, and
//! `rule` or `entity`.

#![expect(clippy::unwrap_used, reason = "a bench for developers")]
#![expect(clippy::print_stdout, reason = "a bench for developers")]
#![expect(clippy::indexing_slicing, reason = "a bench for developers")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use serde_json::Value;

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let show = args.iter().position(|it| it == "--show").map(|at| {
        args.remove(at);
        args.remove(at)
    });
    for path in &args {
        let mut tallies: BTreeMap<(String, String), [usize; 2]> = BTreeMap::new();
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let field = |name: &str| row[name].as_str().unwrap_or_default();
            let (expect, text) = (field("expect"), field("text"));
            let found: Vec<&str> = if expect.ends_with("secret") {
                scan::secret::find(text).iter().map(|it| it.rule).collect()
            } else {
                scan::pii::find(text).iter().map(|it| it.rule).collect()
            };
            let hit = usize::from(!found.is_empty());
            let name = if field("rule").is_empty() { field("entity") } else { field("rule") };
            let name = if name.is_empty() { field("source") } else { name };
            for key in [name, "= all"] {
                tallies.entry((expect.to_owned(), key.to_owned())).or_default()[hit] += 1;
            }
            let wrong = expect.starts_with("not_") == (hit == 1);
            if wrong && show.as_deref() == Some(if hit == 1 { "false" } else { "missed" }) {
                println!("  {name} {found:?} {:.150}", format!("{text:?}"));
            }
        }
        for ((expect, name), [missed, found]) in tallies {
            println!("{expect:10} {name:48} {found:5} of {:5}", missed + found);
        }
    }
    let prose = "The committee met on Tuesday to talk about the plans for the new library. Most members liked the idea of a garden \
        between the two buildings, but some asked who would take care of it in winter, and nobody had an answer yet. ";
    let prose = prose.repeat((1 << 20) / prose.len());
    let fastest = |run: &dyn Fn(&str) -> usize| {
        let once = || {
            let started = Instant::now();
            black_box(run(black_box(&prose)));
            started.elapsed().as_secs_f64()
        };
        prose.len() as f64 / 1e6 / (0..9).map(|_| once()).fold(f64::MAX, f64::min)
    };
    println!("secrets in English prose: {:.0} MB/s", fastest(&|it| scan::secret::find(it).len()));
    println!(
        "personal data in English prose: {:.0} MB/s",
        fastest(&|it| scan::pii::find(it).len())
    );
}
