//! The stored bytes are the hashed bytes: nothing can be spelled otherwise under the same id.

use std::path::Path;

use aegx::verify::check_record_line;
use aegx::{Digest, audit};
use evidence::{Against, Filter, NewRecord, Reader};
use model::Taint;
use serde_json::json;

use crate::common::{assert_sound, damages, open, overwrite, record, segment};

/// A journal of one record that may hold a secret and one that does not, and what it was kept with.
fn tainted(dir: &Path) -> Against {
    let journal = open(dir);
    let risky = NewRecord { taint: Taint::SECRET_RISK, ..record("s", json!("K")) };
    journal.append(risky).unwrap();
    journal.append(record("s", json!(1))).unwrap();
    let kept = journal.checkpoint().unwrap();
    journal.close().unwrap();
    let key = std::fs::read_to_string(dir.join("checkpoint.pub")).unwrap();
    let key = aegx::note::VerifierKey::parse(key.trim_end()).unwrap();
    Against { key: Some(key), checkpoint: Some(kept.note) }
}

/// Puts `to` in the place of the first `from` of the segment, whose length stays.
fn respell(dir: &Path, from: &str, to: &str) {
    let path = segment(dir, 0);
    let mut bytes = std::fs::read(&path).unwrap();
    let length = bytes.len();
    let at = memchr::memmem::find(&bytes, from.as_bytes()).unwrap();
    bytes.splice(at..at + from.len(), to.bytes());
    bytes.resize(length, 0);
    overwrite(&path, &bytes);
}

#[test]
fn text_in_another_normal_form_is_found_and_hides_nothing() {
    for (from, to) in [
        ("\"SECRET_RISK\"", "\"SECRET_RIS\u{212a}\""),
        ("\"inline\":\"K\"", "\"inline\":\"\u{212a}\""),
        ("\"inline\":\"K\"", "\"inline\":\"\\u212a\""),
        ("\"inline\":\"K\"", "\"inline\":\"\\u004b\""),
        ("\"taint\":[\"", "\"taint\": [\""),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let against = tainted(dir.path());
        assert_eq!(damages(dir.path(), &against), Vec::<String>::new());
        respell(dir.path(), from, to);
        let found = damages(dir.path(), &against);
        assert!(found.iter().any(|it| it.contains("record 0:")), "{to}: {found:?}");
        let reader = Reader::open(dir.path()).unwrap();
        let filter = Filter { taint: Some(Taint::SECRET_RISK), ..Filter::default() };
        assert!(evidence::query(&reader, &filter, &mut |_| true).is_err(), "{to}");
        assert!(evidence::Journal::open(&crate::common::config(dir.path())).is_err(), "{to}");
    }
}

#[test]
fn what_is_written_is_brought_into_its_one_form_first() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let mut new = record("s", json!({ "e\u{301}": "\u{212b}", "a": ["\u{212a}"] }));
    new.meta.insert("note".to_owned(), json!("\u{1f71}"));
    let id = journal.append(new).unwrap().id();
    let bytes = evidence::Content::Bytes { mime: "e\u{301}".to_owned(), bytes: vec![1] };
    journal.append(NewRecord { content: bytes, ..record("s", json!(0)) }).unwrap();
    journal.close().unwrap();
    assert_sound(dir.path());
    let reader = Reader::open(dir.path()).unwrap();
    let filter = Filter { id: Some(id), ..Filter::default() };
    let mut line = String::new();
    evidence::query(&reader, &filter, &mut |row| {
        line = String::from_utf8(row.line).unwrap();
        true
    })
    .unwrap();
    assert!(line.contains("{\"a\":[\"K\"],\"\u{e9}\":\"\u{c5}\"}"), "{line}");
    assert!(line.contains("\"note\":\"\u{3ac}\""), "{line}");
}

#[test]
fn a_code_point_that_nobody_knows_yet_is_replaced_before_it_is_hashed() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    // U+1ACF is a mark since Unicode 17: older tables leave it where it stands, newer ones move it.
    let mut new = record("s", json!({ "\u{378}": "a\u{1acf}\u{323}", "b": ["\u{2fff0}"] }));
    new.meta.insert("note".to_owned(), json!("\u{105d2}\u{307}"));
    journal.append(new).unwrap();
    let bytes = evidence::Content::Bytes { mime: "\u{378}".to_owned(), bytes: vec![1] };
    journal.append(NewRecord { content: bytes, ..record("s", json!(0)) }).unwrap();
    journal.close().unwrap();
    assert_sound(dir.path());
    let lines = crate::common::lines(dir.path());
    let inline = json!({ "\u{fffd}": "a\u{fffd}\u{323}", "b": ["\u{fffd}"] });
    assert_eq!(lines[0].pointer("/payload/inline"), Some(&inline));
    assert_eq!(lines[0].pointer("/meta/note"), Some(&json!("\u{105c9}")));
    assert_eq!(lines[1].pointer("/payload/mime"), Some(&json!("\u{fffd}")));
}

#[test]
fn a_code_point_that_nobody_knows_yet_is_refused_in_a_record_with_a_true_id() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/aegx/strict");
    let records = corpus.join("text_unassigned_mark/records.jsonl");
    let lines = std::fs::read_to_string(records).unwrap();
    let found: Vec<_> = lines.lines().map(|it| check_record_line(it.as_bytes()).err()).collect();
    assert!(found[0].is_none() && found[2].is_none(), "{found:?}");
    let why = found[1].as_deref().unwrap();
    assert!(why.len() == 1 && why[0].to_string().contains("U+1ACF"), "{why:?}");
}

#[test]
fn the_time_of_an_entry_is_that_of_its_record() {
    let dir = tempfile::tempdir().unwrap();
    let against = tainted(dir.path());
    let path = segment(dir.path(), 0);
    let bytes = std::fs::read(&path).unwrap();
    let text = String::from_utf8(bytes.clone()).unwrap();
    // The whole chain anew, an hour earlier: no signature covers it.
    let (mut head, mut idx, mut forged) = (Digest::ZERO, 0, Vec::new());
    let mut id = Digest::ZERO;
    for line in text.trim_end_matches('\0').lines() {
        if let Some(rest) = line.strip_prefix("{\"recordId\":\"") {
            id = Digest::from_hex(&rest.as_bytes()[..64]).unwrap();
        }
        if line.starts_with("{\"idx\":") {
            head = audit::write_entry(&mut forged, idx, b"2020-01-01T00:00:00Z", &id, &head);
            idx += 1;
        } else {
            forged.extend_from_slice(line.as_bytes());
        }
        forged.push(b'\n');
    }
    assert_eq!(idx, 2);
    forged.resize(bytes.len(), 0);
    overwrite(&path, &forged);
    std::fs::remove_file(dir.path().join("clean.json")).unwrap();
    assert!(!damages(dir.path(), &against).is_empty());
}
