//! How fast bundles verify, beside what this machine's cores can hash.
//!
//! `cargo bench -p aegx --bench verify -- [RECORDS]`; upstream verifies 2,600 records a second.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints its figures and has nobody to report an error to"
)]

use std::path::Path;
use std::time::Instant;

use aegx::bundle::Builder;
use aegx::record::{Draft, Payload, Principal, RecordType};
use aegx::{Digest, Progress, Rules, Source, verify};
use serde_json::json;

const RECORDS: u64 = 500_000;
const BLOBS: u64 = 16;
const BLOB_BYTES: usize = 16 << 20;
const LINE_BYTES: usize = 700;

fn main() {
    let records = std::env::args().filter_map(|it| it.parse().ok()).next().unwrap_or(RECORDS);
    let dir = tempfile::tempdir().unwrap();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let sha = sha_rate();
    println!("machine: {cores} cores, SHA-256 {:.2} GB/s on one of them", sha / 1e9);

    let bundle = dir.path().join("records");
    build_records(&bundle, records);
    let start = Instant::now();
    let report = verify(&Source::Directory(bundle.clone()), Rules::Strict, &Progress::default());
    let seconds = start.elapsed().as_secs_f64();
    assert!(report.ok() && report.records == records, "{:?}", report.findings.first());
    println!(
        "verify: {records} records of {LINE_BYTES} bytes in {seconds:.2} s = {:.0} records/s \
         (target 300000 on 2 cores, upstream 2600)",
        records as f64 / seconds
    );

    let bundle = dir.path().join("blobs");
    build_blobs(&bundle);
    let start = Instant::now();
    let report = verify(&Source::Directory(bundle), Rules::Strict, &Progress::default());
    let rate = report.blob_bytes as f64 / start.elapsed().as_secs_f64();
    assert!(report.ok(), "{:?}", report.findings.first());
    println!(
        "blobs: {:.2} GB/s = {:.0} % of one core's SHA-256 rate (target 80 %)",
        rate / 1e9,
        100.0 * rate / sha
    );
}

fn sha_rate() -> f64 {
    let buffer = vec![7_u8; 64 << 20];
    let start = Instant::now();
    std::hint::black_box(Digest::of(std::hint::black_box(&buffer)));
    buffer.len() as f64 / start.elapsed().as_secs_f64()
}

fn build_records(dir: &Path, records: u64) {
    let mut builder = Builder::create(dir, "2026-01-01T00:00:00Z").unwrap();
    let mut parents = Vec::new();
    for number in 0..records {
        let draft = draft(number, parents.clone(), 0);
        let filler =
            LINE_BYTES.saturating_sub(draft.clone().seal().unwrap().to_line().unwrap().len());
        let filler = if number == 0 { 0 } else { filler };
        let record = self::draft(number, parents, filler).seal().unwrap();
        parents = vec![record.compute_id()];
        builder.add_record(&record).unwrap();
    }
    builder.finish_directory(dir).unwrap();
}

fn draft(number: u64, parents: Vec<Digest>, filler: usize) -> Draft {
    let meta = json!({
        "agent": "bench", "kind": "tool_call", "seq": number, "session": "s-1",
        "ts": "2026-01-01T00:00:00Z",
    });
    let inline = json!({
        "args": { "path": "/tmp/file", "text": "x".repeat(filler) }, "call": number, "tool": "write",
    });
    Draft {
        record_type: RecordType::ToolCall,
        principal: Principal::Tool,
        taint: vec!["TOOL_OUTPUT".to_owned()],
        parents,
        meta: meta.as_object().cloned().unwrap_or_default(),
        payload: Payload::Inline { inline },
    }
}

fn build_blobs(dir: &Path) {
    let mut builder = Builder::create(dir, "2026-01-01T00:00:00Z").unwrap();
    for number in 0..BLOBS {
        let content = vec![u8::try_from(number).unwrap_or(0); BLOB_BYTES];
        let blob = Digest::of(&content);
        builder.add_blob(&blob, content.as_slice()).unwrap();
        let payload = Payload::Blob {
            blob: blob.to_string(),
            mime: "application/octet-stream".to_owned(),
            size: BLOB_BYTES as u64,
        };
        let record = Draft { payload, ..draft(number, Vec::new(), 0) }.seal().unwrap();
        builder.add_record(&record).unwrap();
    }
    builder.finish_directory(dir).unwrap();
}
