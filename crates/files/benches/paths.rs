//! How many paths are judged and how many files opened in a second on one core, and how many of the
//! corpus are judged as they should be.
//!
//! `cargo bench -p files --bench paths`

#![expect(clippy::unwrap_used, reason = "a bench for developers")]

use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use files::{Dir, Relative, safe_path};
use serde_json::Value;

/// Calls per second on one core.
const TARGET_PER_SECOND: f64 = 100_000.0;
const CALLS: usize = 20_000;

fn main() {
    let mut out = std::io::stdout().lock();
    let rows = corpus();
    let (allowed, hostile): (Vec<_>, Vec<_>) = rows.into_iter().partition(|it| it.0);
    writeln!(out, "{:32} {:>12} {:>12}", "kind", "per second", "target").unwrap();
    let mut show = |kind: &str, rate: f64| {
        writeln!(out, "{kind:32} {rate:12.0} {TARGET_PER_SECOND:12.0}").unwrap();
    };
    let base = Path::new("/base");
    show("safe_path", rate(&allowed, |it| safe_path(base, &[it]).is_ok()));
    show("relative path, ordinary", rate(&allowed, |it| Relative::parse(it).is_ok()));
    show("relative path, hostile", rate(&hostile, |it| Relative::parse(it).is_ok()));

    let dir = tempfile::tempdir().unwrap();
    let folder = Dir::open(dir.path()).unwrap();
    folder.create_folders(&Relative::parse("a/b/c").unwrap()).unwrap();
    let file = Relative::parse("a/b/c/file.txt").unwrap();
    folder.create(&file, b"hello\n").unwrap();
    let one = [(true, file.to_string())];
    show("confined open and close", rate(&one, |_| folder.open_file(&file).is_ok()));
    show("the same, path judged first", {
        rate(&one, |it| Relative::parse(it).is_ok_and(|it| folder.open_file(&it).is_ok()))
    });
    show("confined read of a small file", rate(&one, |_| folder.read(&file, 1024).is_ok()));

    let percent = |part: usize, all: usize| part as f64 * 100.0 / all.max(1) as f64;
    let taken = allowed.iter().filter(|it| Relative::parse(&it.1).is_ok()).count();
    let refused = hostile.iter().filter(|it| Relative::parse(&it.1).is_err()).count();
    writeln!(
        out,
        "of {} ordinary paths {:.2} % are allowed; of {} hostile ones {:.2} % are denied, the rest stays inside",
        allowed.len(),
        percent(taken, allowed.len()),
        hostile.len(),
        percent(refused, hostile.len()),
    )
    .unwrap();
}

/// What this thread has spent on a core, whatever else the machine does; the time that went by, where the
/// kernel does not say.
fn spent(begun: Instant) -> Duration {
    let said = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = said.and_then(|it| it.split(' ').next().and_then(|it| it.parse().ok()));
    nanos.map_or_else(|| begun.elapsed(), Duration::from_nanos)
}

/// Calls per second of one core: the best of a few rounds.
fn rate(texts: &[(bool, String)], judge: impl Fn(&str) -> bool) -> f64 {
    let round = || {
        let begun = Instant::now();
        let before = spent(begun);
        for (_, text) in texts.iter().cycle().take(CALLS) {
            black_box(judge(black_box(text)));
        }
        spent(begun).saturating_sub(before)
    };
    let best: Duration = (0..7).map(|_| round()).min().unwrap_or_default();
    CALLS as f64 / best.as_secs_f64()
}

fn corpus() -> Vec<(bool, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/paths/dev.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
    let field = |it: &Value, name: &str| it.get(name).unwrap().as_str().unwrap().to_owned();
    rows.map(|it| (field(&it, "expect") == "allow", field(&it, "text"))).collect()
}
