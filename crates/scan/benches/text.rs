//! How much the text scanner finds, how often it cries wolf, and how fast it is.
//!
//! `cargo bench -p scan --bench text -- [--rules DIR] [--show SOURCE|missed|false] [--only PART] CORPUS-DIR`. Each file of the
//! directory is a source; each line an object with `label`, `kind`, `surface` and `text`. Speed is measured on one paragraph, on
//! files of skills, and on the sources of [`PROSE`], each as one text.

#![expect(clippy::unwrap_used, reason = "a bench for developers")]
#![expect(clippy::print_stdout, reason = "a bench for developers")]
#![expect(clippy::indexing_slicing, reason = "a bench for developers")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use scan::text::{Author, Reading, Scanner, Verdict};
use serde_json::Value;

/// Sources of which the name hashes so are looked at only at the end.
fn is_held_out(source: &str) -> bool {
    HELD_OUT.contains(&source)
}

/// A third of the sources, by the hash of their names; no rule was written with a look at them.
const HELD_OUT: &[&str] = &[
    "advbench",
    "agent_threat_bench",
    "agentdojo_clean",
    "agentdojo_prompts",
    "bipia_code_clean",
    "bipia_email",
    "bipia_table",
    "bipia_table_clean",
    "cisco_skill_evals",
    "docs_html",
    "gandalf",
    "garak_latent",
    "mcp_registry",
    "mitre_frr",
    "owasp_cheatsheets",
    "prompt_armor_benign",
    "promptfoo_redteam",
    "tldr_pages",
    "writingbench",
];

const CORE: &[&str] =
    &["injection_indirect", "injection_direct", "jailbreak", "tool_poisoning", "malicious_skill"];

/// Sources of honest prose on which speed is measured.
const PROSE: &[&str] = &["pypi_readmes", "spamassassin_ham", "writingbench"];
/// How much of each, in bytes.
const PROSE_BYTES: usize = 4 << 20;

#[derive(Default)]
struct Tally {
    rows: usize,
    flagged: usize,
    certain: usize,
}

impl Tally {
    fn add(&mut self, verdict: Verdict) {
        self.rows += 1;
        self.flagged += usize::from(verdict != Verdict::Clean);
        self.certain += usize::from(verdict == Verdict::Injection);
    }

    fn columns(&self) -> String {
        if self.rows == 0 {
            return format!("{:>6} {:>8} {:>8}", "-", "-", "-");
        }
        let certain = 100.0 * self.certain as f64 / self.rows as f64;
        format!("{:6} {:7.1}% {certain:7.1}%", self.rows, self.share())
    }

    fn share(&self) -> f64 {
        100.0 * self.flagged as f64 / self.rows.max(1) as f64
    }
}

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let mut option = |name: &str| {
        let at = args.iter().position(|it| it == name)?;
        args.remove(at);
        Some(args.remove(at))
    };
    let (rules, show, part) = (option("--rules"), option("--show"), option("--only"));
    let mut score = Score { scanner: rules.map(|it| scanner(&it)), show, ..Score::default() };
    let part = part.unwrap_or_else(|| "seen".to_owned());
    let wants = |source: &str| match part.as_str() {
        "seen" => !is_held_out(source),
        "held-out" => is_held_out(source),
        "all" => true,
        other => source.starts_with(other),
    };
    let mut files: Vec<_> =
        std::fs::read_dir(&args[0]).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    let started = Instant::now();
    for path in files {
        let source = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if wants(&source) && path.extension().is_some_and(|it| it == "jsonl") {
            for line in std::fs::read_to_string(&path).unwrap().lines() {
                score.add(&source, &serde_json::from_str(line).unwrap());
            }
        }
    }
    println!("{} bytes in {:?}", score.bytes, started.elapsed());
    score.print();
    speed(&score.clean, std::path::Path::new(&args[0]));
}

/// The texts of a source as one.
fn prose(dir: &std::path::Path, source: &str) -> String {
    let lines = std::fs::read_to_string(dir.join(source).with_extension("jsonl"));
    let mut all = String::new();
    for line in lines.unwrap_or_default().lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        if all.len() < PROSE_BYTES && row["label"] == "benign" {
            all.push_str(row["text"].as_str().unwrap_or_default());
            all.push('\n');
        }
    }
    all
}

/// Rule files of a directory, in place of those that were built in.
fn scanner(dir: &str) -> Scanner {
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    let read = |it: std::path::PathBuf| &*std::fs::read_to_string(it).unwrap().leak();
    Scanner::new(&files.into_iter().map(read).collect::<Vec<_>>()).unwrap()
}

#[derive(Default)]
struct Score {
    scanner: Option<Scanner>,
    show: Option<String>,
    all: BTreeMap<String, Tally>,
    /// What is malicious and what is benign of each source.
    by_source: BTreeMap<String, [Tally; 2]>,
    by_rule: BTreeMap<&'static str, [usize; 2]>,
    bytes: usize,
    clean: String,
}

impl Score {
    fn add(&mut self, source: &str, row: &Value) {
        let field = |name: &str| row[name].as_str().unwrap_or_default();
        let text = field("text");
        let reading = match &self.scanner {
            Some(scanner) => scanner.read(text, Author::Outsider),
            None => scan::text::read(text, Author::Outsider),
        };
        let verdict = reading.verdict();
        let benign = field("label") == "benign";
        let core = CORE.contains(&field("kind"));
        let tool = if field("surface") == "user" { "user" } else { "tool" };
        let of_source = self.by_source.entry(source.to_owned()).or_default();
        of_source[usize::from(benign)].add(verdict);
        for key in groups(benign, core, field("kind"), tool, source) {
            self.all.entry(key).or_default().add(verdict);
        }
        if benign || core {
            let mut seen: Vec<&str> = reading.findings.iter().map(|it| it.rule).collect();
            seen.sort_unstable();
            seen.dedup();
            for rule in seen {
                self.by_rule.entry(rule).or_default()[usize::from(benign)] += 1;
            }
        }
        if self.show.as_deref().is_some_and(|it| wanted(it, source, benign, core, verdict)) {
            println!("    {source} {}", shown(text, &reading));
        }
        self.bytes += text.len();
        if self.clean.len() < 4 << 20 && source.starts_with("skills") {
            self.clean.push_str(text);
        }
    }

    fn print(&self) {
        println!(
            "{:32} {:>6} {:>8} {:>8}   {:>6} {:>8} {:>8}   {:>5}",
            "source", "bad", "recall", "certain", "honest", "alarms", "certain", "F1"
        );
        for (source, [bad, honest]) in &self.by_source {
            println!("{source:32} {}   {}   {}", bad.columns(), honest.columns(), f1(bad, honest));
        }
        for (name, tally) in &self.all {
            let certain = 100.0 * tally.certain as f64 / tally.rows as f64;
            println!("{name:44} {:6} {:6.1}% {certain:6.1}%", tally.rows, tally.share());
        }
        for (rule, [malicious, benign]) in &self.by_rule {
            println!("    {rule:32} {malicious:6} {benign:6}");
        }
        summary(&self.all);
    }
}

fn groups(benign: bool, core: bool, kind: &str, tool: &str, source: &str) -> Vec<String> {
    let mut all = Vec::new();
    if benign {
        all.extend(["= benign".to_owned(), format!("= benign {tool}")]);
        if kind == "hard_negative" {
            all.push("= hard negatives".to_owned());
        }
    } else if core {
        all.extend(["= core".to_owned(), format!("= core {tool}")]);
        if !source.starts_with("bipia") {
            all.push("= core without bipia".to_owned());
        }
    }
    all
}

fn summary(all: &BTreeMap<String, Tally>) {
    let of = |name: &str| all.get(name);
    if let (Some(core), Some(benign)) = (of("= core"), of("= benign")) {
        println!(
            "core recall {:.1} %, false alarms {:.2} %, F1 {}",
            core.share(),
            benign.share(),
            f1(core, benign)
        );
    }
}

/// Recall and precision in one; none where there is nothing to find.
fn f1(bad: &Tally, honest: &Tally) -> String {
    if bad.rows == 0 {
        return format!("{:>5}", "-");
    }
    let (found, missed) = (bad.flagged as f64, (bad.rows - bad.flagged) as f64);
    format!("{:5.3}", 2.0 * found / (2.0 * found + missed + honest.flagged as f64))
}

/// The shortest of some runs, in seconds.
fn fastest(times: usize, run: impl Fn()) -> f64 {
    let once = || {
        let started = Instant::now();
        run();
        started.elapsed().as_secs_f64()
    };
    (0..times).map(|_| once()).fold(f64::MAX, f64::min)
}

fn speed(clean: &str, dir: &std::path::Path) {
    let orders = |text: &str, times: usize| {
        fastest(times, || drop(black_box(scan::text::read(black_box(text), Author::Outsider))))
    };
    for source in PROSE {
        let text = prose(dir, source);
        if text.is_empty() {
            continue;
        }
        let megabytes = text.len() as f64 / 1e6;
        let secrets = fastest(5, || drop(black_box(scan::secret::find(black_box(&text)))));
        let personal = fastest(5, || drop(black_box(scan::pii::find(black_box(&text)))));
        println!(
            "{source}: orders {:.0} MB/s, secrets {:.0} MB/s, personal data {:.0} MB/s",
            megabytes / orders(&text, 5),
            megabytes / secrets,
            megabytes / personal
        );
    }
    if clean.is_empty() {
        return;
    }
    let prose = "The committee met on Tuesday to talk about the plans for the new library. Most members liked the idea of a garden \
        between the two buildings, but some asked who would take care of it in winter, and nobody had an answer yet. ";
    let prose = prose.repeat((1 << 20) / prose.len());
    for (name, text) in [("English prose", prose.as_str()), ("skill files", clean)] {
        println!("{name}: {:.0} MB/s", text.len() as f64 / 1e6 / orders(text, 9));
    }
    let ten = clean.get(..clean.floor_char_boundary(10_000)).unwrap_or_default();
    println!("10 KB of skill files: {:.1} µs", 1e6 * orders(ten, 200));
}

fn wanted(show: &str, source: &str, benign: bool, core: bool, verdict: Verdict) -> bool {
    let clean = verdict == Verdict::Clean;
    match show {
        "missed" => core && clean,
        "false" => benign && !clean,
        name => core && clean && source == name,
    }
}

fn shown(text: &str, reading: &Reading) -> String {
    let cut = |text: &str| format!("{:.160}", format!("{text:?}"));
    if reading.verdict() == Verdict::Clean {
        let signs: Vec<&str> = reading.findings.iter().map(|it| it.rule).collect();
        return format!("{signs:?} {:.300}", format!("{text:?}"));
    }
    let one = |it: &scan::text::Finding| {
        format!("{} {}", it.rule, cut(text.get(it.start..it.end).unwrap_or("?")))
    };
    reading
        .findings
        .iter()
        .filter(|it| it.weight > 0.1)
        .take(7)
        .map(one)
        .collect::<Vec<_>>()
        .join(" | ")
}
