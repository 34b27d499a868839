//! How many dangerous commands are stopped, how many ordinary ones are not, and how long it takes.
//!
//! `cargo bench -p shell --bench shell -- [FILE …]`. Each line of a file is a JSON object with `text`,
//! `expect` (`allow` or `flag`) and `tier`; without files, `commands.jsonl`, `everyday.jsonl` and
//! `agent.jsonl` of `corpus/shell` are taken.
//! What was judged wrongly is listed.

#![expect(clippy::unwrap_used, reason = "a bench for developers")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use shell::{Decision, Reading, read};

/// That of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Of the commands of attackers, in percent.
const STOPPED_TARGET: f64 = 96.0;
/// Of ordinary commands that do not erase, format, switch off or raise privileges, in percent.
const ALLOWED_TARGET: f64 = 96.0;
/// For a command of 1 KB.
const TIME_TARGET: Duration = Duration::from_millis(1);
/// For any text.
const WORST_TARGET: Duration = Duration::from_millis(100);
/// Commands per second on one core.
const RATE_TARGET: f64 = 20_000.0;

struct Case {
    text: String,
    expect: String,
    tier: String,
}

fn main() {
    let files: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/shell");
    let own = ["commands.jsonl", "everyday.jsonl", "agent.jsonl"]
        .map(|it| corpus.join(it).display().to_string());
    let files = if files.is_empty() { own.to_vec() } else { files };
    let cases: Vec<Case> = files.iter().flat_map(|it| cases(it)).collect();
    let mut out = std::io::stdout().lock();
    stopped(&cases, &mut out);
    allowed(&cases, &mut out);
    time(&cases, &mut out);
}

fn cases(file: &str) -> Vec<Case> {
    let text = std::fs::read_to_string(file).unwrap();
    let word = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    text.lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|it| Case {
            text: word(&it, "text"),
            expect: word(&it, "expect"),
            tier: word(&it, "tier"),
        })
        .collect()
}

fn share(part: usize, all: usize) -> f64 {
    part as f64 * 100.0 / all.max(1) as f64
}

fn brief(text: &str) -> String {
    text.replace('\n', "⏎").chars().take(160).collect()
}

fn stopped(cases: &[Case], out: &mut impl std::io::Write) {
    for tier in ["high", "low", "argument"] {
        let of_tier: Vec<&Case> = cases.iter().filter(|it| it.tier == tier).collect();
        let missed: Vec<&&Case> =
            of_tier.iter().filter(|it| read(&it.text).decision == Decision::Allow).collect();
        let denied = of_tier.iter().filter(|it| read(&it.text).decision == Decision::Deny).count();
        let stopped = share(of_tier.len() - missed.len(), of_tier.len());
        let denied = share(denied, of_tier.len());
        let target =
            if tier == "high" { format!("; target {STOPPED_TARGET} %") } else { String::new() };
        let all = of_tier.len();
        writeln!(out, "tier {tier}: {all} commands, {stopped:.2} % refused or asked about, {denied:.2} % refused{target}").unwrap();
        for it in missed.iter().filter(|_| tier == "high") {
            writeln!(out, "    missed: {}", brief(&it.text)).unwrap();
        }
    }
}

/// They do what nobody should be surprised to be asked about.
fn truly_dangerous(reading: &Reading) -> bool {
    let rules = [
        "shell-privilege",
        "shell-power",
        "shell-format",
        "shell-raw-device",
        "shell-erase-root",
        "shell-erase",
    ];
    reading.findings.iter().any(|it| rules.contains(&it.rule.as_str()))
}

fn allowed(cases: &[Case], out: &mut impl std::io::Write) {
    let benign: Vec<&Case> = cases.iter().filter(|it| it.expect == "allow").collect();
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = 0;
    let mut counted = 0;
    for case in &benign {
        let reading = read(&case.text);
        if truly_dangerous(&reading) {
            continue;
        }
        counted += 1;
        if let Some(finding) = &reading.decisive {
            wrong += 1;
            *rules.entry(finding.rule.as_str()).or_default() += 1;
            writeln!(out, "    {}: {}", finding.rule, brief(&case.text)).unwrap();
        }
    }
    for (rule, count) in rules {
        writeln!(out, "    {count:5} {rule}").unwrap();
    }
    let (all, percent) = (benign.len(), share(counted - wrong, counted));
    writeln!(out, "ordinary: {all} commands, {counted} that do not erase, format, switch off or raise privileges, {percent:.2} % of these allowed; target {ALLOWED_TARGET} %").unwrap();
}

fn time(cases: &[Case], out: &mut impl std::io::Write) {
    let begun = Instant::now();
    for case in cases {
        black_box(read(&case.text));
    }
    let rate = cases.len() as f64 / begun.elapsed().as_secs_f64();
    writeln!(out, "{rate:.0} commands of the corpus per second; target {RATE_TARGET:.0}").unwrap();
    let long: String = (0..)
        .map(|it| format!("grep -rn \"pattern {it}\" src/module_{it} | sort -u > out_{it}.txt && "))
        .scan(0, |bytes, it| {
            *bytes += it.len();
            (*bytes < 1024).then_some(it)
        })
        .collect::<String>()
        + "true";
    let wrapped = format!("bash -c \"$(echo {} | base64 -d)\"", data(&long));
    ordinary(cases, out);
    worst(out);
    for (kind, text) in [("plain", &long), ("encoded", &wrapped)] {
        let mut times: Vec<Duration> = (0..200)
            .map(|_| {
                let begun = Instant::now();
                black_box(read(black_box(text)));
                begun.elapsed()
            })
            .collect();
        times.sort_unstable();
        let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap();
        let (p50, p99) = (at(50), at(99));
        let bytes = text.len();
        writeln!(out, "{kind}, {bytes} bytes: p50 {p50:?}, p99 {p99:?}; target {TIME_TARGET:?}")
            .unwrap();
    }
}

fn ordinary(cases: &[Case], out: &mut impl std::io::Write) {
    let benign: Vec<&Case> = cases.iter().filter(|it| it.expect == "allow").collect();
    let begun = Instant::now();
    for case in &benign {
        black_box(read(&case.text));
    }
    let rate = benign.len() as f64 / begun.elapsed().as_secs_f64();
    writeln!(out, "{rate:.0} ordinary commands per second; target {RATE_TARGET:.0}").unwrap();
}

/// Texts that were made to take long.
fn worst(out: &mut impl std::io::Write) {
    const BYTES: usize = 60_000;
    let pieces = [
        "(",
        "$((",
        "{a,",
        "${x:-",
        "\"$(",
        "`",
        "a;",
        "a|",
        "eval ",
        "$a",
        "a ",
        "a<",
        "! ",
        "$(ls) ",
        "'a'",
        "\"$a\"",
        "if a; then ",
        "\\",
        "[[ ",
        "cat <<E\n",
        "x=$x$x;",
        "((",
        "a && ",
        "é",
        "nice ",
        "nice -x nice nice ",
        "sudo ",
        "env A=1 ",
        "xargs ",
        "find . -exec ",
    ];
    let mut texts: Vec<String> = pieces.iter().map(|it| it.repeat(BYTES / it.len())).collect();
    texts.push(format!("x=({}); {}", "a ".repeat(2_000), "echo ${x[@]};".repeat(400)));
    texts.push(format!("sed -E 's/(a*)*b/x/g' <<< {}", "a".repeat(BYTES)));
    texts.push(format!("python3 -c 'exec(b64decode(\"{}\"))'", "QUJD".repeat(BYTES / 4)));
    texts
        .push("for i in {1..500}; do for j in {1..500}; do echo $i$j | rev; done; done".to_owned());
    texts
        .push("for ((i=0;i<500;i++)); do for ((j=0;j<500;j++)); do ((x++)); done; done".to_owned());
    texts.push(
        "i=0; while ((i<500)); do j=0; while ((j<500)); do ((j++)); done; ((i++)); done".into(),
    );
    texts.extend(growing());
    let times = texts.iter().map(|it| {
        let begun = Instant::now();
        black_box(read(black_box(it)));
        (begun.elapsed(), it.chars().take(12).collect::<String>())
    });
    let (time, text) = times.max().unwrap();
    writeln!(
        out,
        "the slowest of {} texts, `{text}…`: {time:?}; target {WORST_TARGET:?}",
        texts.len()
    )
    .unwrap();
}

/// Short texts that make long ones, or compare what is long with much.
fn growing() -> Vec<String> {
    let long = "z".repeat(50_000);
    let arms = "*a*a*a*a*b) ls;; ".repeat(300);
    vec![
        format!("echo a | tr '{}' b", "\u{80}-\u{10fff0}".repeat(4_000)),
        format!("echo {} | cut -c {}1", "a".repeat(30_000), "-,".repeat(12_000)),
        format!("echo {{1..4000}}{long}"),
        format!("printf '{}'", "%4096s".repeat(10_000)),
        format!("echo {long} | xargs -I z echo {}", "z".repeat(5_000)),
        "gcloud --a b --a b --a b --a b --a b --a b --a b --a b\n".repeat(900),
        "for i in {1..500}; do x+=({1..4000}); done".to_owned(),
        format!("x={}; for i in {{1..60}}; do case $x in {arms} esac; done", "a".repeat(60)),
        format!(
            "echo {long} > f; for i in {{1..400}}; do cat f | grep -E '(z{{1,200}}){{1,4}}y'; done"
        ),
        format!("npm install {}", "a ".repeat(4_000)),
        format!("git {} push x", "-c a.b=c ".repeat(5_000)),
    ]
}

fn data(text: &str) -> String {
    data_encoding::BASE64.encode(text.as_bytes())
}
