//! How often the output guard cries wolf, what it finds, and how fast it is.
//!
//! `cargo bench -p scan --bench leak -- [--prompts FILE.jsonl] [--every N] [--show] FILE.jsonl …`. Each line of a file is an
//! object with `text`; every Nth text of the first file is taken as a prompt, and all texts of the others as answers to it.

#![expect(clippy::unwrap_used, reason = "a bench for developers")]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::time::{Duration, Instant};

use scan::leak::{Registry, scan};
use serde_json::Value;

/// The prompt that the speed is measured with, in bytes.
const PROMPT_BYTES: usize = 20_000;

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let mut option = |name: &str| {
        let at = args.iter().position(|it| it == name)?;
        args.remove(at);
        Some(args.remove(at))
    };
    let every: usize = option("--every").map_or(1, |it| it.parse().unwrap());
    let prompts = option("--prompts").map(|it| texts(&it)).unwrap_or_default();
    let show = args.iter().position(|it| it == "--show").map(|at| args.remove(at)).is_some();
    let registries: Vec<Registry> =
        prompts.iter().step_by(every).map(|it| Registry::of_prompt(it)).collect();
    let mut out = std::io::stdout().lock();
    for path in &args {
        let answers = texts(path);
        let mut rules: BTreeMap<(&str, bool), usize> = BTreeMap::new();
        let (mut flagged, mut denied) = (0, 0);
        for (registry, prompt) in registries.iter().zip(prompts.iter().step_by(every)) {
            for text in answers.iter().filter(|it| *it != prompt) {
                let leaks = scan(registry, text);
                flagged += usize::from(!leaks.is_empty());
                denied += usize::from(leaks.iter().any(|it| it.certain));
                for leak in leaks {
                    *rules.entry((leak.rule.as_str(), leak.certain)).or_default() += 1;
                    if show {
                        let said = text.get(leak.start..leak.end).unwrap_or("?");
                        writeln!(out, "    {} {:.240}", leak.rule, format!("{said:?}")).unwrap();
                    }
                }
            }
        }
        let pairs = registries.len() * answers.len();
        writeln!(
            out,
            "{path}: {pairs} answers, {flagged} flagged, {denied} of them denied {rules:?}"
        )
        .unwrap();
    }
    speed(&mut out);
}

fn texts(path: &str) -> Vec<String> {
    let text = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        row.get("text").and_then(Value::as_str).unwrap().to_owned()
    };
    std::fs::read_to_string(path).unwrap().lines().map(text).collect()
}

/// Sentences that differ, about the same few things.
fn prose(bytes: usize, seed: usize) -> String {
    let words = "guest room night offer price never always answer table garden ticket station morning coffee window letter \
                 river market doctor school winter summer engine signal border island planet mirror carpet bridge";
    let words: Vec<&str> = words.split_whitespace().collect();
    let mut text = String::new();
    let mut state = seed;
    while text.len() < bytes {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let word = words.get((state >> 33) % words.len()).unwrap();
        text.push_str(word);
        text.push_str(if (state >> 40).is_multiple_of(9) { ". The " } else { " " });
    }
    text
}

fn speed(out: &mut impl std::io::Write) {
    let prompt = prose(PROMPT_BYTES, 1);
    let begun = Instant::now();
    let registry = Registry::of_prompt(&prompt);
    writeln!(out, "registering {} bytes: {:?}", prompt.len(), begun.elapsed()).unwrap();
    let english =
        "The quick brown fox jumps over the lazy dog, and goes home late at night. ".repeat(14_000);
    for (name, text) in [
        ("ordinary English", english),
        ("words of the prompt in another order", prose(1_000_000, 2)),
        ("the prompt over and over", prompt.repeat(50)),
        ("accents", "Größe über Äpfel, café naïve. ".repeat(30_000)),
        ("key: value lines", "name: value\n".repeat(80_000)),
    ] {
        let time = fastest(&registry, &text);
        let rate = text.len() as f64 / 1e6 / time.as_secs_f64();
        writeln!(out, "{name:40} {rate:7.0} MB/s, {} leaks", scan(&registry, &text).len()).unwrap();
    }
    let kilobyte = "The quick brown fox jumps over the lazy dog and goes home. ".repeat(18);
    let kilobyte = kilobyte.get(..1024).unwrap();
    writeln!(out, "one clean KB: {:?}", fastest(&registry, kilobyte)).unwrap();
}

/// The best of a few runs: what the code takes, not what else the machine does.
fn fastest(registry: &Registry, text: &str) -> Duration {
    let once = || {
        let started = Instant::now();
        std::hint::black_box(scan(registry, std::hint::black_box(text)));
        started.elapsed()
    };
    (0..40).map(|_| once()).min().unwrap_or_default()
}
