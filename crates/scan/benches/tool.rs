//! How many definitions of tools are flagged, rightly or not, and how fast that is.
//!
//! `cargo bench -p scan --bench tool -- [--show] FILE.jsonl …`. Each line of a file is an object with `label` (`malicious` or
//! `benign`), `surface` and `text`; those of the surface `mcp_tool` are read as descriptions.

#![expect(clippy::unwrap_used, reason = "a bench for developers")]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::time::{Duration, Instant};

use scan::tool;
use serde_json::{Value, json};

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let show = args.iter().position(|it| it == "--show").map(|at| args.remove(at)).is_some();
    let mut out = std::io::stdout().lock();
    for path in &args {
        let mut counts: BTreeMap<(String, &str), usize> = BTreeMap::new();
        let (mut bytes, mut time) = (0, Duration::ZERO);
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let field = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default();
            if field("surface") != "mcp_tool" {
                continue;
            }
            let definition = json!({ "name": "tool", "description": field("text") });
            let begun = Instant::now();
            let scanned = tool::scan(&definition);
            time += begun.elapsed();
            bytes += field("text").len();
            let verdict = scanned.verdict.as_str();
            *counts.entry((field("label").to_owned(), verdict)).or_default() += 1;
            if show && (verdict == "clean") == (field("label") == "malicious") {
                let rules: Vec<&str> = scanned.findings.iter().map(|it| it.rule.as_str()).collect();
                writeln!(out, "    {verdict} {rules:?} {:.300}", format!("{:?}", field("text")))
                    .unwrap();
            }
        }
        let rate = bytes as f64 / 1e6 / time.as_secs_f64().max(1e-9);
        writeln!(out, "{path}: {counts:?} {rate:.0} MB/s").unwrap();
    }
}
