//! Messages of `corpus/ax` through the whole door: the same classes of answer, never a panic, and
//! always a record.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use evidence::Filter;
use model::ipc::ActionName;
use serde_json::Value;

use crate::support::House;

pub(crate) fn cases(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/ax").join(file);
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// `$repeat` and `$concat` written out.
pub(crate) fn spelled_out(value: &Value) -> Value {
    if let Value::Array(items) = value {
        return items.iter().map(spelled_out).collect();
    }
    let Value::Object(fields) = value else { return value.clone() };
    if let Some(Value::Array(parts)) = fields.get("$concat") {
        let parts = parts.iter().map(|it| spelled_out(it).as_str().unwrap().to_owned());
        return parts.collect::<String>().into();
    }
    if let Some(repeat) = fields.get("$repeat") {
        let times = usize::try_from(repeat[1].as_u64().unwrap()).unwrap();
        return repeat[0].as_str().unwrap().repeat(times).into();
    }
    fields.iter().map(|(key, value)| (key.clone(), spelled_out(value))).collect()
}

fn bytes(message: &Value) -> Vec<u8> {
    match message.get("$raw") {
        Some(raw) => raw.as_str().unwrap().as_bytes().to_vec(),
        None => spelled_out(message).to_string().into_bytes(),
    }
}

/// The class of an answer, in the words of the recordings.
fn class(answer: &Value) -> &'static str {
    if answer["ok"] == true {
        return "done";
    }
    match answer["error"].as_str().unwrap() {
        "Invalid JSON" => "invalid_json",
        "Unknown or missing action" => "unknown_action",
        error if error.starts_with("Validation failed for action ") => "validation",
        error if error.starts_with("Handler error: ") => "handler",
        error => panic!("{error}"),
    }
}

/// Does the message name an action of which the issue knows nothing? Such an action is unknown here,
/// whatever it carries and whatever the program that has it says to it.
fn is_foreign(message: &[u8]) -> bool {
    let message: Value = serde_json::from_slice(message).unwrap_or_default();
    message["action"].as_str().is_some_and(|it| ActionName::parse(it).is_none())
}

#[test]
fn recorded_messages_get_the_recorded_class_of_answer() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let who = house.open("alice", "s");
    let (mut agreed, mut foreign) = (0, 0);
    for case in cases("ipc_pipeline.json") {
        let raw = case["input"]["raw"].as_str().unwrap().as_bytes();
        let answer = house.door.answer(&who, raw).to_value();
        if is_foreign(raw) {
            assert_eq!(class(&answer), "unknown_action", "{}", case["name"]);
            foreign += 1;
        } else {
            assert_eq!(class(&answer), case["expected"]["error_kind"], "{}", case["name"]);
            agreed += 1;
        }
    }
    // Written down so that no case can slip from one side to the other.
    assert_eq!((agreed, foreign), (16, 42));
    assert_eq!(house.records("s").len(), 1 + 58, "the start of the session, and one for each");
}

#[test]
fn six_hundred_messages_of_another_program_are_answered_and_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let cases = cases("ipc_messages_ax.json");
    let mut foreign = 0;
    for (number, case) in cases.iter().enumerate() {
        // A session each: what one message brings in does not decide about the next.
        let session = format!("s{number}");
        let who = house.open("alice", &session);
        let message = bytes(&case["input"]);
        let answer = house.door.answer(&who, &message).to_value();
        let class = class(&answer);
        if is_foreign(&message) {
            assert_eq!(class, "unknown_action", "{}", case["name"]);
            foreign += 1;
        } else if case["expected"] == "reject" {
            assert!(
                ["unknown_action", "validation", "invalid_json"].contains(&class),
                "{}: {answer}",
                case["name"]
            );
        } else {
            // The two programs do not agree on every field; that is told in `model`'s tests.
            assert!(
                ["done", "handler", "validation"].contains(&class),
                "{}: {answer}",
                case["name"]
            );
        }
    }
    assert!(foreign > 200 && foreign < cases.len());
    let mut records: BTreeMap<String, usize> = BTreeMap::new();
    let mut see = |row: evidence::Row| {
        let record: Value = serde_json::from_slice(&row.line).unwrap();
        let session = record["meta"]["session"].as_str().unwrap_or_default();
        *records.entry(session.to_owned()).or_default() += 1;
        true
    };
    evidence::query(&house.evidence(), &Filter::default(), &mut see).unwrap();
    for number in 0..cases.len() {
        let left = records.get(&format!("s{number}")).copied().unwrap_or(0);
        assert!(left >= 2, "message {number} left no record");
    }
}
