//! How long it takes to look at a large workspace: for the first time, again at once, and again when all of
//! its files have settled.
//!
//! `cargo bench -p store --bench workspace -- [FILES]`. It waits a minute for the files to settle.

#![expect(clippy::unwrap_used, reason = "a bench for developers")]
#![expect(clippy::disallowed_methods, reason = "files of the bench's own")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use model::SessionId;
use store::workspace::Registry;

const FILES: usize = 50_000;
const FILES_IN_A_FOLDER: usize = 100;
const COLD_TARGET_SECONDS: f64 = 3.0;
const SAME_TARGET_SECONDS: f64 = 0.5;
/// Longer than it takes a file to count as settled.
const SETTLED: Duration = Duration::from_secs(62);

fn main() {
    let files = std::env::args().skip(1).find_map(|it| it.parse().ok()).unwrap_or(FILES);
    let dir = tempfile::tempdir().unwrap();
    let workspace = dir.path().join("workspace");
    make(&workspace, files);
    let registry = Registry::open(&dir.path().join("host")).unwrap();
    let mut out = std::io::stdout().lock();
    let cores = thread::available_parallelism().map_or(1, |it| it.get());
    writeln!(out, "{files} files, {cores} cores").unwrap();
    writeln!(out, "{:32} {:>10} {:>10}", "look", "seconds", "target").unwrap();
    let mut look = |kind: &str, number: i64, target: Option<f64>| {
        let session = SessionId::parse(&format!("s-{number}")).unwrap();
        let begun = Instant::now();
        registry.before(&workspace, &session, number).unwrap();
        let before = begun.elapsed();
        let begun = Instant::now();
        registry.after(&workspace, &session, None, number).unwrap();
        let after = begun.elapsed();
        let target = target.map(|it| format!("{it:.1}")).unwrap_or_default();
        writeln!(out, "{kind:32} {:10.3} {target:>10}", before.as_secs_f64()).unwrap();
        writeln!(out, "{:32} {:10.3} {target:>10}", "  at the session's end", after.as_secs_f64())
            .unwrap();
    };
    look("for the first time", 1, Some(COLD_TARGET_SECONDS));
    look("again, just written", 2, None);
    thread::sleep(SETTLED);
    look("again, settled since", 3, Some(COLD_TARGET_SECONDS));
    look("again, nothing changed", 4, Some(SAME_TARGET_SECONDS));
}

fn make(workspace: &Path, files: usize) {
    for number in 0..files {
        let folder = workspace.join(format!("f{:04}", number / FILES_IN_A_FOLDER));
        if number % FILES_IN_A_FOLDER == 0 {
            fs::create_dir_all(&folder).unwrap();
        }
        let line = format!("line {number} of some source file, with a few words in it\n");
        let text = line.repeat(10 + number % 90);
        fs::write(folder.join(format!("file{number}.rs")), text).unwrap();
    }
}
