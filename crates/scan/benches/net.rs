//! How many URLs are judged in a second on one core, and how often an ordinary one raises suspicion.
//!
//! `cargo bench -p scan --bench net -- [FILE …]`. Each line of a file is a URL that is ordinary; without
//! files, those of `corpus/net` are taken.

#![expect(clippy::unwrap_used, reason = "a bench for developers")]

use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use scan::net::{Domains, Host, Target, blocked, exfiltration, vet};
use serde_json::Value;

/// That of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Judged URLs per second on one core.
const TARGET_PER_SECOND: f64 = 300_000.0;
const FALSE_ALARMS_TARGET_PERCENT: f64 = 0.5;

fn main() {
    let files: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let public = if files.is_empty() { corpus() } else { lines(&files) };
    let mut out = std::io::stdout().lock();
    let literals: Vec<String> = (0..256_u32)
        .flat_map(|it| {
            let (a, b) = (it % 224, it * 7 % 256);
            [format!("http://{a}.{b}.3.4/x"), format!("https://[2606:4700:{a:x}::{b:x}]/x")]
        })
        .collect();
    let exotic: Vec<String> = (0..256_u32).map(|it| format!("http://0x7f.{it}/")).collect();
    writeln!(out, "{:28} {:>12} {:>12}", "kind", "per second", "target").unwrap();
    for (kind, urls) in [("address", &literals), ("unusual address", &exotic), ("name", &public)] {
        let rate = rate(urls, |url| Target::parse(url).is_ok());
        writeln!(out, "{kind:28} {rate:12.0} {TARGET_PER_SECOND:12.0}").unwrap();
    }
    let all = rate(&public, |url| {
        Target::parse(url)
            .is_ok_and(|it| blocked(it.host()).is_ok() && exfiltration(&it).is_empty())
    });
    writeln!(out, "{:28} {all:12.0} {TARGET_PER_SECOND:12.0}", "name, with all heuristics")
        .unwrap();
    let patterns: Vec<String> = (0..10_000).map(|it| format!("*.domain-{it}.example")).collect();
    let list = Domains::parse(&patterns).unwrap();
    let host = Host::Name("a.b.domain-777.example".to_owned());
    let listed = rate(&[String::new()], |_| list.contains(black_box(&host)));
    writeln!(out, "{:28} {listed:12.0}", "in a list of 10,000 domains").unwrap();
    let address = "2606:4700::1111".parse().unwrap();
    let vetted = rate(&[String::new()], |_| vet(black_box(address)).is_ok());
    writeln!(out, "{:28} {vetted:12.0}", "address from DNS").unwrap();
    false_alarms(&public, &mut out);
}

fn false_alarms(public: &[String], out: &mut impl std::io::Write) {
    let mut refused = 0;
    let mut suspicious = 0;
    for url in public {
        match Target::parse(url).and_then(|it| blocked(it.host()).map(|()| it)) {
            Ok(target) => {
                let found = exfiltration(&target);
                suspicious += usize::from(!found.is_empty());
                for it in found {
                    writeln!(out, "    {}: {url}", it.rule).unwrap();
                }
            }
            Err(error) => {
                refused += 1;
                writeln!(out, "    {}: {url}", error.rule).unwrap();
            }
        }
    }
    let percent = |count: usize| count as f64 * 100.0 / public.len().max(1) as f64;
    let (no, ask, all) = (percent(refused), percent(suspicious), public.len());
    let aim = FALSE_ALARMS_TARGET_PERCENT;
    writeln!(
        out,
        "of {all} ordinary URLs: {no:.2} % refused, {ask:.2} % suspicious; target {aim} %"
    )
    .unwrap();
}

/// Calls per second: the best of a few rounds, what the code takes and not what else the machine does.
fn rate(urls: &[String], judge: impl Fn(&str) -> bool) -> f64 {
    let calls = 20_000_usize.div_ceil(urls.len()) * urls.len();
    let round = || {
        let begun = Instant::now();
        for url in urls.iter().cycle().take(calls) {
            black_box(judge(black_box(url)));
        }
        begun.elapsed()
    };
    let best: Duration = (0..7).map(|_| round()).min().unwrap_or_default();
    calls as f64 / best.as_secs_f64()
}

fn corpus() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/net/ssrf.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
    rows.filter(|it| it.get("source").unwrap() == "public_urls")
        .map(|it| it.get("text").unwrap().as_str().unwrap().to_owned())
        .collect()
}

fn lines(files: &[String]) -> Vec<String> {
    let read = |path: &String| std::fs::read_to_string(path).unwrap();
    files.iter().flat_map(|it| read(it).lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}
