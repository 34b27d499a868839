//! What holds for every value, every record and every damaged bundle.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use aegx::record::{Draft, Payload, Principal, RecordType};
use aegx::{Digest, Progress, Record, Report, Rules, Source, canon, fuzzing, verify};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value};

/// Text with everything that has more than one spelling.
fn text() -> impl Strategy<Value = String> {
    let char = prop_oneof![
        6 => proptest::char::range('a', 'f'),
        2 => proptest::char::range('\u{0}', '\u{7f}'),
        1 => Just('\u{301}'),
        1 => Just('é'),
        1 => Just('\u{1e9b}'),
        1 => Just('\u{323}'),
        1 => Just('\u{ac00}'),
        1 => Just('\u{11a8}'),
        1 => any::<char>(),
    ];
    vec(char, 0..8).prop_map(String::from_iter)
}

fn value(doubles: bool) -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-9_i64..9).prop_map(Value::from),
    ];
    let double = prop_oneof![any::<f64>(), Just(-0.0), Just(0.1), Just(1e16)];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number,
        text().prop_map(Value::String),
        double.prop_map(move |it| if doubles { Value::from(it) } else { Value::Null }),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::Array),
            btree_map(text(), inner, 0..5).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// JSON as somebody might spell it: also twice the same key, or what no writer of ours would print.
fn spelled() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "b",
        "\\b",
        "\\f",
        "\\n",
        "\\u000a",
        "\\u0001",
        "\\u001F",
        "\\u001f",
        "\\u0008",
        "\\u0061",
        "\\/",
        "\\\"",
        "\\\\",
        "é",
        "e\u{301}",
        "\u{301}",
        "\u{7f}",
        "\\ud83d\\ude00",
        "😀",
    ]);
    let string = vec(piece, 0..3).prop_map(|pieces| format!("\"{}\"", pieces.concat()));
    let other = prop::sample::select(vec![
        "0",
        "-0",
        "1",
        "-1",
        "10",
        "01",
        "1e2",
        "1E2",
        "1.0",
        "-0.0",
        "123456789012345678",
        "1234567890123456789",
        "18446744073709551616",
        "true",
        "false",
        "null",
        "nul",
        "",
    ]);
    let leaf = prop_oneof![string.clone(), other.prop_map(str::to_owned)];
    leaf.prop_recursive(3, 16, 3, move |inner| {
        let pair =
            (string.clone(), inner.clone()).prop_map(|(key, value)| format!("{key}:{value}"));
        prop_oneof![
            vec(inner, 0..3).prop_map(|items| format!("[{}]", items.join(","))),
            vec(pair.clone(), 0..4).prop_map(|pairs| format!("{{{}}}", pairs.join(","))),
            vec(pair, 0..4).prop_map(|mut pairs| {
                pairs.sort();
                format!("{{{}}}", pairs.join(","))
            }),
        ]
    })
}

/// A record as somebody might ask for it.
fn draft(doubles: bool) -> impl Strategy<Value = Draft> {
    let payload = prop_oneof![
        3 => value(doubles).prop_map(|inline| Payload::Inline { inline }),
        1 => (text(), any::<u64>()).prop_map(|(mime, size)| {
            Payload::Blob { blob: Digest::of(mime.as_bytes()).to_string(), mime, size }
        }),
    ];
    let meta = btree_map(text(), value(doubles), 0..4);
    let parents = vec(any::<u8>().prop_map(|it| Digest::of(&[it])), 0..3);
    let ts = -62_167_219_200_i64..253_402_300_800;
    let kind = (0..RecordType::ALL.len(), 0..Principal::ALL.len());
    (kind, vec(text(), 0..3), parents, meta, payload, ts).prop_map(
        |((record_type, principal), taint, parents, meta, payload, ts)| {
            let mut meta: Map<String, Value> = meta.into_iter().collect();
            meta.insert("ts".to_owned(), Value::String(aegx::timestamp::from_unix(ts)));
            Draft {
                record_type: RecordType::ALL[record_type],
                principal: Principal::ALL[principal],
                taint,
                parents,
                meta,
                payload,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn values_round_trip(value in value(false)) {
        prop_assert!(fuzzing::json_line(value.to_string().as_bytes()));
        prop_assert!(fuzzing::json_line(&canon::canonical(&value)));
    }

    #[test]
    fn plain_values_are_canonical(value in value(true)) {
        let _ = fuzzing::plain(value.to_string().as_bytes());
        let _ = fuzzing::plain(&canon::canonical(&value));
    }

    #[test]
    fn however_it_is_spelled_both_ways_agree(inline in spelled(), more in spelled()) {
        let _ = fuzzing::plain(inline.as_bytes());
        let _ = fuzzing::json_line(inline.as_bytes());
        let ts = "\"ts\":\"2026-02-15T00:00:00Z\"";
        let id = Digest::of(inline.as_bytes());
        let line = format!(
            "{{\"recordId\":\"{id}\",\"type\":\"Snapshot\",\"principal\":\"SYS\",\"taint\":[],\
             \"parents\":[],\"meta\":{{\"more\":{more},{ts}}},\"payload\":{{\"inline\":{inline}}},\
             \"schema\":\"0.1\"}}"
        );
        let _ = fuzzing::record_line(line.as_bytes());
    }

    #[test]
    fn key_order_does_not_matter(map in btree_map(text(), value(false), 0..6)) {
        let shuffled = |pairs: &mut dyn Iterator<Item = (&String, &Value)>| {
            let pairs: Vec<_> = pairs
                .map(|(key, value)| format!("{}:{value}", Value::String(key.clone())))
                .collect();
            let value: Value = serde_json::from_str(&format!("{{{}}}", pairs.join(","))).unwrap();
            canon::canonical(&value)
        };
        prop_assert_eq!(shuffled(&mut map.iter()), shuffled(&mut map.iter().rev()));
    }

    #[test]
    fn what_is_sealed_is_beyond_reproach(draft in draft(true)) {
        if let Ok(record) = draft.seal() {
            let line = record.to_line().unwrap();
            prop_assert!(fuzzing::record_line(line.as_bytes()));
            let again: Record = serde_json::from_str(&line).unwrap();
            prop_assert_eq!(&again, &record);
            let facts = aegx::verify::check_record_line(line.as_bytes());
            prop_assert_eq!(facts.unwrap().id.to_string(), record.record_id);
        }
    }

    #[test]
    fn a_damaged_line_is_judged_alike_both_ways(
        draft in draft(false), at in any::<prop::sample::Index>(), byte in any::<u8>(),
        insert in any::<bool>(),
    ) {
        // Keys that read alike in their hashed form are refused.
        let Ok(record) = draft.seal() else { return Ok(()) };
        let mut line = record.to_line().unwrap().into_bytes();
        let at = at.index(line.len());
        if insert { line.insert(at, byte) } else { line[at] = byte }
        let _ = fuzzing::record_line(&line);
        let _ = fuzzing::audit_line(&line);
        let _ = fuzzing::manifest(&line);
    }
}

/// What somebody may do to a file.
#[derive(Clone, Debug)]
enum Damage {
    Set(prop::sample::Index, u8),
    Insert(prop::sample::Index, u8),
    Delete(prop::sample::Index),
    SwapLines(prop::sample::Index, prop::sample::Index),
    DoubleLine(prop::sample::Index),
    DropLine(prop::sample::Index),
    Append(Vec<u8>),
}

fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<prop::sample::Index>;
    let json = prop::sample::select(b" \t\r\n\"\\{}[],:0123456789eE+-.\0\xc3\xef".to_vec());
    let byte = prop_oneof![json, any::<u8>()];
    prop_oneof![
        4 => (index(), byte.clone()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        4 => (index(), byte.clone()).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        2 => index().prop_map(Damage::Delete),
        1 => (index(), index()).prop_map(|(a, b)| Damage::SwapLines(a, b)),
        1 => index().prop_map(Damage::DoubleLine),
        1 => index().prop_map(Damage::DropLine),
        1 => vec(byte, 1..4).prop_map(Damage::Append),
    ]
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let mut lines: Vec<Vec<u8>> =
            bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        match self {
            Self::Set(at, byte) => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Self::Insert(at, byte) => bytes.insert(at.index(bytes.len() + 1), *byte),
            Self::Delete(at) => drop(bytes.remove(at.index(bytes.len()))),
            Self::Append(more) => bytes.extend(more),
            Self::SwapLines(a, b) => {
                let (a, b) = (a.index(lines.len()), b.index(lines.len()));
                lines.swap(a, b);
                *bytes = lines.concat();
            }
            Self::DoubleLine(at) => {
                let at = at.index(lines.len());
                lines.insert(at, lines[at].clone());
                *bytes = lines.concat();
            }
            Self::DropLine(at) => {
                lines.remove(at.index(lines.len()));
                *bytes = lines.concat();
            }
        }
    }
}

fn corpus(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/aegx").join(path)
}

fn judge(dir: &Path, rules: Rules) -> Report {
    verify(&Source::open(dir, rules).unwrap(), rules, &Progress::default())
}

/// The bundle without what nothing in it pins: when it was begun, and by the format's design the
/// normal form of text and the sign of a zero.
fn meaning(name: &str, bytes: &[u8]) -> Vec<u8> {
    if name == "manifest.json" {
        let mut manifest: aegx::Manifest = serde_json::from_slice(bytes).unwrap();
        manifest.created_at = String::new();
        return manifest.to_bytes().unwrap();
    }
    let mut out = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match serde_json::from_slice::<Record>(line) {
            Ok(record) => out.extend_from_slice(record.compute_id().to_string().as_bytes()),
            Err(_) => out.extend_from_slice(line),
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_damage_passes(
        file in prop::sample::select(vec![
            "manifest.json",
            "records.jsonl",
            "audit-log.jsonl",
            "blobs/fcfeeb3dc4dffb4fbd7ba71c9f727f9ce2bf0d387b53787f34c28386d5b8b319",
        ]),
        damage in vec(damage(), 1..3),
    ) {
        let home = tempfile::tempdir().unwrap();
        let bundle = home.path().join("bundle");
        copy(&corpus("interop/valid/blobs"), &bundle);
        let path = bundle.join(file);
        let before = fs::read(&path).unwrap();
        let mut after = before.clone();
        for damage in damage.iter().take_while(|_| !before.is_empty()) {
            if !after.is_empty() {
                damage.apply(&mut after);
            }
        }
        File::create(&path).unwrap().write_all(&after).unwrap();
        judge(&bundle, Rules::Compat);
        if judge(&bundle, Rules::Strict).ok() {
            prop_assert_eq!(meaning(file, &after), meaning(file, &before));
        } else {
            prop_assert_ne!(after, before);
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
