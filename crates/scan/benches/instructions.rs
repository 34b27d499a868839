//! How much the instruction detector finds, how often it cries wolf, and how fast it is.
//!
//! `cargo bench -p scan --bench instructions -- [--show RULE|missed|false] FILE.jsonl …`. Each line of
//! a file is an object with `label` (`malicious` or `benign`) and `text`.

#![expect(clippy::unwrap_used, reason = "a bench for developers")]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use scan::{Finding, Verdict, instructions, verdict};
use serde_json::Value;

#[derive(Default)]
struct Tally {
    rows: usize,
    suspicious: usize,
    injection: usize,
    bytes: usize,
    time: Duration,
}

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let show = args.iter().position(|it| it == "--show").map(|at| {
        args.remove(at);
        args.remove(at)
    });
    let mut out = std::io::stdout().lock();
    let mut rules: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    writeln!(
        out,
        "{:32} {:9} {:>6} {:>8} {:>8} {:>7}",
        "file", "label", "rows", "flagged", "certain", "MB/s"
    )
    .unwrap();
    for path in &args {
        let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let field = |name: &str| row.get(name).and_then(Value::as_str).unwrap();
            let (label, text) = (field("label"), field("text"));
            let findings = instructions(text);
            let time = fastest(text);
            let tally = tallies.entry(label.to_owned()).or_default();
            tally.add(text, time, verdict(&findings));
            let label = if label == "benign" { "benign" } else { "malicious" };
            let mut seen: Vec<&str> = findings.iter().map(|it| it.rule).collect();
            seen.sort_unstable();
            seen.dedup();
            seen.iter().for_each(|it| *rules.entry((it, label)).or_default() += 1);
            if show.as_deref().is_some_and(|it| wanted(it, label, &findings)) {
                writeln!(out, "    {}", shown(text, &findings)).unwrap();
            }
        }
        let name = Path::new(path).file_stem().unwrap().to_string_lossy();
        for (label, tally) in &tallies {
            tally.print(&mut out, &name, label);
        }
    }
    let kilobyte = "The quick brown fox jumps over the lazy dog and goes home. ".repeat(18);
    writeln!(out, "one clean KB: {:?}", fastest(kilobyte.get(..1024).unwrap())).unwrap();
    for ((rule, label), count) in rules {
        writeln!(out, "{rule:28} {label:9} {count:6}").unwrap();
    }
}

/// The best of a few runs: what the code takes, not what else the machine does.
fn fastest(text: &str) -> Duration {
    let once = || {
        let started = Instant::now();
        std::hint::black_box(instructions(std::hint::black_box(text)));
        started.elapsed()
    };
    (0..5).map(|_| once()).min().unwrap_or_default()
}

fn wanted(show: &str, label: &str, findings: &[Finding]) -> bool {
    let clean = verdict(findings) == Verdict::Clean;
    match show {
        "missed" => label == "malicious" && clean,
        "false" => label == "benign" && !clean,
        rule => findings.iter().any(|it| it.rule == rule),
    }
}

fn shown(text: &str, findings: &[Finding]) -> String {
    if findings.is_empty() {
        return format!("{:.300}", format!("{text:?}"));
    }
    let one = |it: &Finding| format!("{} {:?}", it.rule, text.get(it.start..it.end).unwrap_or("?"));
    findings.iter().take(6).map(one).collect::<Vec<_>>().join(" | ")
}

impl Tally {
    fn add(&mut self, text: &str, time: Duration, verdict: Verdict) {
        self.rows += 1;
        self.suspicious += usize::from(verdict >= Verdict::Suspicious);
        self.injection += usize::from(verdict >= Verdict::Injection);
        self.bytes += text.len();
        self.time += time;
    }

    fn print(&self, out: &mut impl std::io::Write, name: &str, label: &str) {
        let share = |count: usize| 100.0 * count as f64 / self.rows as f64;
        let speed = self.bytes as f64 / 1e6 / self.time.as_secs_f64();
        writeln!(
            out,
            "{name:32} {label:9} {:6} {:7.1}% {:7.1}% {speed:7.0}",
            self.rows,
            share(self.suspicious),
            share(self.injection)
        )
        .unwrap();
    }
}
