//! Many writers at once, and writers that are killed: whatever was acknowledged is there, once, and
//! the bundle verifies.
//!
//! The writers are this test binary itself, started again with [`ROLE`] set.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use aegx::bundle;
use aegx::record::{Draft, Payload, Principal, RecordType};
use aegx::{Digest, Progress, Record, Rules, Source, verify};
use serde_json::{Map, Value, json};

/// Set for a writer: its directory, its name, and how many records each of how many threads adds.
const ROLE: &str = "AEGX_TEST_WRITER";
const PROCESSES: usize = 8;
const THREADS: usize = 4;
const RECORDS: usize = 8;
const KILLS: usize = 40;

#[derive(Clone, Copy)]
struct Job<'a> {
    dir: &'a Path,
    name: &'a str,
    threads: usize,
    records: usize,
}

#[expect(clippy::disallowed_methods, reason = "only another process can be killed")]
fn start(job: Job<'_>) -> Child {
    let role = json!([job.dir, job.name, job.threads, job.records]).to_string();
    std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "concurrent_writers::writer", "--nocapture"])
        .env(ROLE, role)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// What a started process does. In the run that starts them it does nothing.
#[test]
fn writer() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let (dir, name, threads, records): (PathBuf, String, usize, usize) =
        serde_json::from_str(&role).unwrap();
    thread::scope(|scope| {
        for thread in 0..threads {
            let (dir, name) = (&dir, &name);
            scope.spawn(move || {
                let mut acknowledged = acknowledged_file(dir, name);
                for number in 0..records {
                    let id = add(dir, &json!([name, thread, number]), number % 4 == 3);
                    // One write for each line, so that threads do not mix.
                    acknowledged.write_all(format!("{id}\n").as_bytes()).unwrap();
                }
            });
        }
    });
}

/// Adds a record that says `what`, inline or in a blob.
fn add(dir: &Path, what: &Value, in_blob: bool) -> Digest {
    let payload = if in_blob {
        let text = what.to_string();
        let blob = bundle::add_blob(dir, text.as_bytes()).unwrap().to_string();
        Payload::Blob { blob, mime: "application/json".to_owned(), size: text.len() as u64 }
    } else {
        Payload::Inline { inline: what.clone() }
    };
    let meta = Map::from_iter([("ts".to_owned(), json!("2026-02-15T00:00:00Z"))]);
    let draft = Draft {
        record_type: RecordType::ToolCall,
        principal: Principal::Tool,
        taint: Vec::new(),
        parents: Vec::new(),
        meta,
        payload,
    };
    bundle::add_record(dir, draft).unwrap()
}

fn acknowledged_path(dir: &Path, name: &str) -> PathBuf {
    dir.parent().unwrap().join(format!("{name}.acknowledged"))
}

fn acknowledged_file(dir: &Path, name: &str) -> File {
    let path = acknowledged_path(dir, name);
    OpenOptions::new().create(true).append(true).open(path).unwrap()
}

/// The ids that a writer reported; a line that was cut by its end does not count.
fn acknowledged(dir: &Path, name: &str) -> Vec<String> {
    let text = fs::read_to_string(acknowledged_path(dir, name)).unwrap_or_default();
    let whole = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    whole.map(str::to_owned).collect()
}

/// How often each id stands in the bundle.
fn present(dir: &Path) -> BTreeMap<String, usize> {
    let mut present = BTreeMap::new();
    for line in fs::read_to_string(dir.join("records.jsonl")).unwrap().lines() {
        let record: Record = serde_json::from_str(line).unwrap();
        *present.entry(record.record_id).or_default() += 1;
    }
    present
}

fn check(dir: &Path) {
    let source = Source::open(dir, Rules::Strict).unwrap();
    let report = verify(&source, Rules::Strict, &Progress::default());
    // A blob comes before its record, and stays without one if its writer is killed between.
    let wrong = |it: &&aegx::Finding| it.code != aegx::Code::BlobUnreferenced;
    let wrong: Vec<_> = report.findings.iter().filter(wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn many_processes_and_threads_add_to_one_bundle() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("bundle");
    bundle::init(&dir, "2026-02-15T00:00:00Z").unwrap();
    let names: Vec<_> = (0..PROCESSES).map(|it| format!("writer-{it}")).collect();
    let job = |name| Job { dir: &dir, name, threads: THREADS, records: RECORDS };
    let mut writers: Vec<_> = names.iter().map(|name| start(job(name))).collect();
    // Whoever looks meanwhile finds nothing half done.
    for _ in 0..20 {
        check(&dir);
        thread::sleep(Duration::from_millis(5));
    }
    for writer in &mut writers {
        assert!(writer.wait().unwrap().success());
    }
    check(&dir);
    let present = present(&dir);
    let acknowledged: Vec<_> = names.iter().flat_map(|name| acknowledged(&dir, name)).collect();
    assert_eq!(acknowledged.len(), PROCESSES * THREADS * RECORDS);
    assert_eq!(present.len(), acknowledged.len());
    assert!(present.values().all(|count| *count == 1));
    assert!(acknowledged.iter().all(|id| present.contains_key(id)));
}

#[test]
fn a_killed_writer_leaves_nothing_half_done() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("bundle");
    bundle::init(&dir, "2026-02-15T00:00:00Z").unwrap();
    let mut expected: Vec<String> = Vec::new();
    let mut interrupted = 0;
    for round in 0..KILLS {
        let name = format!("round-{round}");
        let mut writer = start(Job { dir: &dir, name: &name, threads: 1, records: usize::MAX });
        while acknowledged(&dir, &name).is_empty() {
            assert!(writer.try_wait().unwrap().is_none(), "the writer ended by itself");
            thread::sleep(Duration::from_micros(200));
        }
        thread::sleep(Duration::from_micros(RandomState::new().hash_one(round) % 8_000));
        writer.kill().unwrap();
        writer.wait().unwrap();
        interrupted += usize::from(dir.join(".aegx-pending").exists());

        expected.extend(acknowledged(&dir, &name));
        expected.push(add(&dir, &json!(["after", round]), round % 2 == 0).to_string());
        check(&dir);
        let present = present(&dir);
        assert!(present.values().all(|count| *count == 1));
        assert!(expected.iter().all(|id| present.contains_key(id)));
        // At most the one under way at each kill was done and not acknowledged.
        assert!(present.len() <= expected.len() + round + 1);
    }
    assert!(interrupted > 0, "no kill came at a bad moment; the test shows nothing");
}
