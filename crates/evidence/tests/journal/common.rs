//! What the tests share.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use aegx::{Principal, RecordType};
use evidence::{
    Against, Clock, Config, Content, Disk, Journal, NewRecord, Reader, RealDisk, SEGMENT_BYTES_MIN,
};
use model::{AgentId, Kind, SessionId, Taint};
use serde_json::{Map, Value, json};

/// A clock that tests set.
pub(crate) struct TestClock(AtomicU64);

impl TestClock {
    pub(crate) fn at(unix_seconds: u64) -> Arc<Self> {
        Arc::new(Self(AtomicU64::new(unix_seconds * 1_000_000)))
    }

    pub(crate) fn advance(&self, seconds: u64) {
        self.0.fetch_add(seconds * 1_000_000, Ordering::Relaxed);
    }
}

impl Clock for TestClock {
    fn unix_micros(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Writes like the real one and waits for nothing: what a test reads back is what was written,
/// synced or not. What becomes of what was not is for `power.rs`; `crash.rs` waits.
pub(crate) struct QuickDisk;

impl Disk for QuickDisk {
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        RealDisk.write_at(file, bytes, offset)
    }

    fn sync(&self, _: &File) -> io::Result<()> {
        Ok(())
    }

    fn sync_all(&self, _: &File) -> io::Result<()> {
        Ok(())
    }

    fn sync_room(&self, _: &File) -> io::Result<()> {
        Ok(())
    }
}

/// Small segments, so that a test sees many of them.
pub(crate) fn config(dir: &Path) -> Config {
    Config { segment_bytes: SEGMENT_BYTES_MIN, disk: Arc::new(QuickDisk), ..Config::new(dir) }
}

pub(crate) fn open(dir: &Path) -> Journal {
    Journal::open(&config(dir)).unwrap().0
}

pub(crate) fn record(session: &str, content: Value) -> NewRecord {
    NewRecord {
        record_type: RecordType::ToolCall,
        kind: Kind::parse("test").unwrap(),
        principal: Principal::Tool,
        taint: Taint::NONE,
        parents: Vec::new(),
        session: Some(SessionId::parse(session).unwrap()),
        agent: Some(AgentId::parse("agent").unwrap()),
        meta: Map::new(),
        content: Content::Json(content),
    }
}

pub(crate) fn numbered(number: u64) -> NewRecord {
    record("s", json!({ "n": number }))
}

/// Does `work` for each, several at a time: most of it waits for the disk.
pub(crate) fn for_each_of<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    const AT_ONCE: usize = 4;
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(item);
                }
            });
        }
    });
}

/// An open journal of `count` records, some hundred in a segment.
pub(crate) fn fill(dir: &Path, count: u64) -> Journal {
    let journal = open(dir);
    for number in 0..count {
        journal.append(record("s", json!({ "n": number, "t": "x".repeat(3000) }))).unwrap();
    }
    journal
}

/// The lines of all records, in order.
pub(crate) fn lines(dir: &Path) -> Vec<Value> {
    let reader = Reader::open(dir).unwrap();
    let mut lines = Vec::new();
    let see = |entry: evidence::Entry<'_>| {
        lines.push(serde_json::from_slice(entry.record).unwrap());
        ControlFlow::<()>::Continue(())
    };
    reader.read(reader.start().unwrap(), see).unwrap();
    lines
}

/// `payload.inline.n` of all records that have one, in order.
pub(crate) fn numbers(dir: &Path) -> Vec<u64> {
    lines(dir).iter().filter_map(|it| it.pointer("/payload/inline/n")?.as_u64()).collect()
}

pub(crate) fn kinds(dir: &Path) -> Vec<String> {
    let text = |it: &Value| it.pointer("/meta/kind").and_then(Value::as_str).map(str::to_owned);
    lines(dir).iter().filter_map(text).collect()
}

/// What is wrong with a journal, as text.
pub(crate) fn damages(dir: &Path, against: &Against) -> Vec<String> {
    let verified = evidence::verify(&Reader::open(dir).unwrap(), against).unwrap();
    verified.damages.iter().map(ToString::to_string).collect()
}

pub(crate) fn assert_sound(dir: &Path) {
    assert_eq!(damages(dir, &Against::default()), Vec::<String>::new());
}

pub(crate) fn segment(dir: &Path, number: u64) -> PathBuf {
    dir.join("segments").join(format!("{number:012}.seg"))
}

pub(crate) fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Every file below `dir` with its bytes.
pub(crate) fn snapshot(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(snapshot(&path));
        } else {
            files.push((path.clone(), std::fs::read(&path).unwrap()));
        }
    }
    files.sort();
    files
}

/// Where a blob lies.
pub(crate) fn blob_path(dir: &Path, content: &[u8]) -> PathBuf {
    let name = aegx::Digest::of(content).to_string();
    dir.join("blobs").join(name.get(..2).unwrap()).join(name)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test that damages a file need not do so atomically"
)]
pub(crate) fn overwrite(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}
