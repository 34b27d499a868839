//! Reads the cases of `corpus/ax`.

use std::fs;
use std::path::Path;

use serde_json::Value;

pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) input: Value,
    pub(crate) expected: Value,
}

pub(crate) fn cases(file: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/ax").join(file);
    let cases: Vec<Value> = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let case = |mut it: Value| Case {
        name: it["name"].as_str().unwrap().to_owned(),
        input: it["input"].take(),
        expected: it["expected"].take(),
    };
    cases.into_iter().map(case).collect()
}

/// The bytes of a message in the corpus: `$raw` stands for itself, `$repeat` is spelled out.
pub(crate) fn bytes(message: &Value) -> Vec<u8> {
    match message.get("$raw") {
        Some(raw) => raw.as_str().unwrap().as_bytes().to_vec(),
        None => spelled_out(message).to_string().into_bytes(),
    }
}

fn spelled_out(value: &Value) -> Value {
    match value {
        Value::Object(fields) if fields.contains_key("$repeat") => {
            let text = fields["$repeat"][0].as_str().unwrap();
            let times = usize::try_from(fields["$repeat"][1].as_u64().unwrap()).unwrap();
            text.repeat(times).into()
        }
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), spelled_out(value))).collect()
        }
        Value::Array(items) => items.iter().map(spelled_out).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Every message of the corpus that was accepted there.
pub(crate) fn accepted() -> Vec<Vec<u8>> {
    let cases = cases("ipc_messages_seed000.json");
    let good = cases.iter().filter(|case| case.expected == "accept");
    good.map(|case| bytes(&case.input)).filter(|bytes| model::ipc::parse(bytes).is_ok()).collect()
}
