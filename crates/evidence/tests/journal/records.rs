//! What is taken, how it is stored, what is refused.

use aegx::{Digest, RecordType};
use evidence::{AppendError, Content, INLINE_BYTES_MAX, NewRecord};
use model::Taint;
use serde_json::{Value, json};

use crate::common::{assert_sound, blob_path, lines, numbered, open, record};

#[test]
fn a_record_is_stored_as_the_format_says() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let first = journal.append(numbered(0)).unwrap();
    let new = NewRecord {
        parents: vec![Digest::of(b"z"), first.id(), first.id()],
        taint: Taint::WEB_DERIVED.union(Taint::UNTRUSTED),
        ..record("s", json!({ "b": 1, "a": "é\u{1}" }))
    };
    let second = journal.append(new).unwrap();
    assert_eq!((first.idx(), second.idx()), (0, 1));
    journal.close().unwrap();
    let stored = &lines(dir.path())[1];
    assert_eq!(stored["recordId"], second.id().to_string());
    assert_eq!(stored["taint"], json!(["UNTRUSTED", "WEB_DERIVED"]));
    let mut parents = [Digest::of(b"z").to_string(), first.id().to_string()];
    parents.sort();
    assert_eq!(stored["parents"], json!(parents));
    assert_eq!(stored["payload"], json!({ "inline": { "a": "é\u{1}", "b": 1 } }));
    assert_sound(dir.path());
}

#[test]
fn long_content_goes_to_a_blob_that_is_there_before_the_record() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    for bytes in [INLINE_BYTES_MAX - 2, INLINE_BYTES_MAX - 1, 100_000] {
        journal.append(record("s", Value::String("x".repeat(bytes)))).unwrap();
    }
    let content = Content::Bytes { mime: "text/plain".to_owned(), bytes: b"short".to_vec() };
    journal.append(NewRecord { content, ..numbered(0) }).unwrap();
    journal.close().unwrap();
    let shapes: Vec<bool> =
        lines(dir.path()).iter().map(|it| it.pointer("/payload/blob").is_some()).collect();
    assert_eq!(shapes, [false, true, true, true]);
    assert_sound(dir.path());

    let blob = Digest::of(b"short").to_string();
    std::fs::remove_file(blob_path(dir.path(), b"short")).unwrap();
    let damages = crate::common::damages(dir.path(), &evidence::Against::default());
    assert!(damages.len() == 1 && damages[0].contains(&blob), "{damages:?}");
}

#[test]
fn content_as_text_is_stored_like_the_value_that_it_prints() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let long = format!("{{\"b\":\"{}\",\"a\":1}}", "x".repeat(INLINE_BYTES_MAX));
    let texts = [r#"{"a":[1,"é"],"b":null}"#, r#"{"b":1, "a":2}"#, "\"e\u{301}\"", &long];
    for text in texts {
        let content = Content::Text(text.as_bytes().to_vec());
        journal.append(NewRecord { content, ..numbered(0) }).unwrap();
        journal.append(record("s", serde_json::from_str(text).unwrap())).unwrap();
    }
    for bad in ["{", "1.5", "", "[1] 2"] {
        let content = Content::Text(bad.as_bytes().to_vec());
        assert!(journal.append(NewRecord { content, ..numbered(0) }).is_err(), "{bad}");
    }
    journal.close().unwrap();
    let lines = lines(dir.path());
    assert_eq!(lines.len(), 2 * texts.len());
    for pair in lines.chunks(2) {
        assert_eq!(pair[0].pointer("/payload"), pair[1].pointer("/payload"));
    }
    assert_sound(dir.path());
}

#[test]
fn the_same_content_twice_gives_two_ids() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let ids =
        [journal.append(numbered(1)).unwrap().id(), journal.append(numbered(1)).unwrap().id()];
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn what_cannot_be_stored_faithfully_is_refused_and_nothing_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    let mut reserved = numbered(0);
    reserved.meta.insert("session".to_owned(), json!("somebody-else"));
    let mut long = numbered(0);
    long.meta.insert("note".to_owned(), json!("x".repeat(300_000)));
    let mut double = numbered(0);
    double.meta.insert("rate".to_owned(), json!([{ "a": 0.5 }]));
    let many = NewRecord {
        parents: (0..2000).map(|n: u32| Digest::of(&n.to_be_bytes())).collect(),
        ..numbered(0)
    };
    let refused =
        [record("s", json!({ "x": 1.5 })), record("s", deep), reserved, long, double, many];
    for new in refused {
        let error = journal.append(new).unwrap_err();
        assert!(matches!(error, AppendError::Record(_)), "{error}");
    }
    assert_eq!(journal.append(numbered(7)).unwrap().idx(), 0);
    journal.close().unwrap();
    assert_sound(dir.path());
}

#[test]
fn meta_of_the_caller_is_kept_and_found_beside_the_journals_own() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let mut new = numbered(0);
    new.record_type = RecordType::FileWrite;
    new.meta.insert("path".to_owned(), json!("/tmp/é\"\n"));
    journal.append(new).unwrap();
    journal.close().unwrap();
    let stored = &lines(dir.path())[0];
    assert_eq!(stored["meta"]["path"], "/tmp/é\"\n");
    assert_eq!(stored["meta"]["kind"], "test");
    assert_sound(dir.path());
}

#[test]
fn the_order_in_which_content_and_meta_were_put_together_is_not_stored() {
    let contents = [
        json!({ "b": [{ "y": 1, "x": 2 }], "a": "short" }),
        json!({ "a": "short", "b": [{ "x": 2, "y": 1 }] }),
        json!({ "b": { "y": 1, "x": 2 }, "a": "long".repeat(INLINE_BYTES_MAX) }),
        json!({ "a": "long".repeat(INLINE_BYTES_MAX), "b": { "x": 2, "y": 1 } }),
        json!({ "b": 1, "a": "e\u{301} takes the long way" }),
        json!({ "a": "e\u{301} takes the long way", "b": 1 }),
    ];
    let metas = [
        vec![("zone", json!({ "d": 1, "c": 2 })), ("area", json!(3))],
        vec![("area", json!(3)), ("zone", json!({ "c": 2, "d": 1 }))],
    ];
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    for (at, content) in contents.into_iter().enumerate() {
        let mut new = record("s", content);
        new.meta = metas[at % 2].iter().map(|(key, it)| ((*key).to_owned(), it.clone())).collect();
        journal.append(new).unwrap();
    }
    journal.close().unwrap();
    assert_sound(dir.path());
    // Each by itself has number, time and id; the rest of a pair is the same to the byte.
    let rest = |line: &Value| -> String {
        let mut line = line.clone();
        for (at, key) in [("", "recordId"), ("/meta", "seq"), ("/meta", "ts")] {
            line.pointer_mut(at).unwrap()[key] = Value::Null;
        }
        line.to_string()
    };
    let stored = lines(dir.path());
    assert_eq!(stored.len(), 6);
    for pair in stored.chunks(2) {
        assert_eq!(rest(&pair[0]), rest(&pair[1]));
    }
}
