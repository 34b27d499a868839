//! Maps may keep their keys sorted or in the order of insertion, as the features of serde_json have
//! it: ids, stored lines and verdicts are the same.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use aegx::bundle::Builder;
use aegx::record::{Draft, Payload, Principal, RecordType};
use aegx::{Code, Manifest, Progress, Record, Rules, Sorted, Source, canon, fuzzing, verify};
use serde_json::{Map, Value, json};

const LINE: &str = concat!(
    r#"{"recordId":"3efae9f074cdcbde04917ddea48c7c56793ee4ca254f606d39f54079f9087371","#,
    r#""type":"Snapshot","principal":"SYS","taint":[],"parents":[],"#,
    r#""meta":{"a":{"Z":0,"b":[{"x":1,"y":2}]},"ts":"2026-02-15T00:00:00Z","z":1},"#,
    r#""payload":{"inline":{"":3,"B":1,"a":2,"é":{"k":null,"l":true}}},"schema":"0.1"}"#,
);

/// The value with the keys of each object inserted from some place on, or backwards.
fn reinserted(value: &Value, from: usize, backwards: bool) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
        Value::Array(items) => items.iter().map(|it| reinserted(it, from, backwards)).collect(),
        Value::Object(map) => {
            let mut pairs: Vec<_> = map.iter().collect();
            let count = pairs.len().max(1);
            pairs.rotate_left(from % count);
            if backwards {
                pairs.reverse();
            }
            let pair =
                |(key, value): (&String, &Value)| (key.clone(), reinserted(value, from, backwards));
            Value::Object(pairs.into_iter().map(pair).collect())
        }
    }
}

fn orders(value: &Value) -> impl Iterator<Item = Value> {
    let orders = (0..4).flat_map(|from| [(from, false), (from, true)]);
    orders.map(|(from, backwards)| reinserted(value, from, backwards))
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { return Map::new() };
    map
}

/// What is found in a bundle of this one line.
fn codes_of_bundle_with(line: &str, rules: Rules) -> Vec<Code> {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("bundle");
    let ts = "2026-02-15T00:00:00Z";
    let id = serde_json::from_str::<Record>(line).unwrap().compute_id();
    let mut builder = Builder::create(&dir, ts).unwrap();
    builder.add_line(line.as_bytes(), &id, ts, true).unwrap();
    builder.finish_directory(&dir).unwrap();
    let report = verify(&Source::open(&dir, rules).unwrap(), rules, &Progress::default());
    assert_eq!(report.records, 1);
    report.findings.into_iter().map(|it| it.code).collect()
}

#[test]
fn a_record_has_one_line_and_one_id_however_it_was_put_together() {
    let meta =
        json!({"ts": "2026-02-15T00:00:00Z", "z": 1, "a": {"b": [{"y": 2, "x": 1}], "Z": 0}});
    let inline = json!({"é": {"l": true, "k": null}, "a": 2, "B": 1, "": 3});
    for (meta, inline) in orders(&meta).zip(orders(&inline)) {
        let draft = Draft {
            record_type: RecordType::Snapshot,
            principal: Principal::Sys,
            taint: Vec::new(),
            parents: Vec::new(),
            meta: object(meta),
            payload: Payload::Inline { inline },
        };
        let record = draft.seal().unwrap();
        assert_eq!(record.to_line().unwrap(), LINE);
        let read: Record = serde_json::from_str(LINE).unwrap();
        assert_eq!((read.compute_id(), &read), (record.compute_id(), &record));
        assert!(fuzzing::record_line(LINE.as_bytes()));
    }
}

#[test]
fn canonical_and_stored_form_are_sorted_at_every_depth() {
    let value = json!({"b": [{"d": 1, "c": {"f": "\u{8}", "e": 2}}], "a": {}, "B": 0});
    for value in orders(&value) {
        let stored = r#"{"B":0,"a":{},"b":[{"c":{"e":2,"f":"\b"},"d":1}]}"#;
        assert_eq!(Sorted(&value).to_string(), stored);
        let canonical = stored.replace(r"\b", r"\u0008");
        assert_eq!(canon::canonical(&value), canonical.as_bytes());
        let read: Value = serde_json::from_str(stored).unwrap();
        assert_eq!(format!("{:#}", Sorted(&value)), format!("{read:#}"));
    }
}

#[test]
fn a_manifest_keeps_what_others_wrote_and_sorts_it() {
    let stored = br#"{
  "aegx_version": "0.1",
  "audit_head": "0000000000000000000000000000000000000000000000000000000000000000",
  "blob_count": 0,
  "canonicalization": "AEGX_CANON_0_1",
  "created_at": "2026-02-15T00:00:00Z",
  "extensions": {
    "a": 2,
    "b": 1
  },
  "hash_alg": "sha256",
  "meta": {
    "c": 4,
    "d": 3
  },
  "record_count": 0,
  "root_records": []
}"#;
    let extensions = json!({"b": 1, "a": 2});
    let meta = json!({"d": 3, "c": 4});
    for (extensions, meta) in orders(&extensions).zip(orders(&meta)) {
        let manifest = Manifest {
            extensions: Some(extensions),
            meta: Some(meta),
            ..Manifest::empty("2026-02-15T00:00:00Z")
        };
        assert_eq!(manifest.to_bytes().unwrap(), stored);
    }
}

#[test]
fn the_last_of_equal_keys_wins() {
    let value: Value = serde_json::from_str(r#"{"b":1,"a":2,"b":3,"a":4,"c":5}"#).unwrap();
    assert_eq!(canon::canonical(&value), br#"{"a":4,"b":3,"c":5}"#);
    assert_eq!(Sorted(&value).to_string(), r#"{"a":4,"b":3,"c":5}"#);
}

#[test]
fn a_stored_line_with_unsorted_keys_has_its_id_but_not_its_form() {
    let swapped = [
        (r#""x":1,"y":2"#, r#""y":2,"x":1"#),
        (r#""B":1,"a":2"#, r#""a":2,"B":1"#),
        (r#""k":null,"l":true"#, r#""l":true,"k":null"#),
    ];
    assert_eq!(codes_of_bundle_with(LINE, Rules::Strict), []);
    for (from, to) in swapped {
        let line = LINE.replace(from, to);
        assert_ne!(line, LINE);
        let codes = |rules| codes_of_bundle_with(&line, rules);
        assert_eq!(codes(Rules::Strict), [Code::KeyOrder], "{to}");
        assert_eq!(codes(Rules::Compat), [], "{to}");
        let record: Record = serde_json::from_str(&line).unwrap();
        assert_eq!(record.compute_id().to_string(), record.record_id);
        assert_eq!(record.to_line().unwrap(), LINE);
    }
}
