//! Edits of texts: each must say what is meant, and leave every other byte alone.

use serde_json::{Value, json};

use super::{Comments, Document, Step, below, keys};

fn doc(text: &str) -> Document {
    Document::parse(text, Comments::Allowed).unwrap()
}

#[test]
fn values_are_set_in_their_place() {
    for (text, path, value, wanted) in [
        ("{}", "a", json!(1), "{\n  \"a\": 1\n}"),
        ("{}\n", "a.b", json!(1), "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n"),
        (r#"{"a":1}"#, "b", json!([1]), r#"{"a":1, "b": [1]}"#),
        (r#"{"a":1}"#, "a", json!(null), r#"{"a":null}"#),
        ("{\n \"a\": 1\n}", "b", json!({"c": 2}), "{\n \"a\": 1,\n \"b\": {\n  \"c\": 2\n }\n}"),
        ("{\n \"a\": 1 // x\n}", "b", json!(2), "{\n \"a\": 1, // x\n \"b\": 2\n}"),
        ("{\n \"a\": 1, // x\n}", "b", json!(2), "{\n \"a\": 1, // x\n \"b\": 2,\n}"),
        ("{ // x\n}", "b", json!(2), "{ // x\n  \"b\": 2\n}"),
        ("{\"a\": {} }", "a.b", json!(2), "{\"a\": {\"b\": 2} }"),
        ("{\n \"a\": {}\n}", "a.b", json!(2), "{\n \"a\": {\n  \"b\": 2\n }\n}"),
        ("{\n \"a\": [1,\n  2]\n}", "a", json!([]), "{\n \"a\": []\n}"),
    ] {
        let mut doc = doc(text);
        let path: Vec<&str> = path.split('.').collect();
        doc.set(&keys(&path), &value).unwrap();
        assert_eq!(doc.text(), wanted, "{text}");
    }
}

#[test]
fn entries_go_with_their_comma() {
    for (text, index, wanted) in [
        ("[1]", 0, "[]"),
        ("[ 1 ]", 0, "[]"),
        ("[1, 2, 3]", 0, "[2, 3]"),
        ("[1, 2, 3]", 1, "[1, 3]"),
        ("[1, 2, 3]", 2, "[1, 2]"),
        ("[\n 1,\n 2,\n]", 1, "[\n 1,\n]"),
        ("[\n 1, // one\n 2 // two\n]", 1, "[\n 1 // one\n  // two\n]"),
        ("[\n 1, // one\n 2 // two\n]", 0, "[\n // one\n 2 // two\n]"),
        ("[ /* x */ 1 ]", 0, "[ /* x */  ]"),
    ] {
        let mut doc = doc(&format!("{{\"a\": {text}}}"));
        doc.remove(&below(&keys(&["a"]), index)).unwrap();
        assert_eq!(doc.text(), format!("{{\"a\": {wanted}}}"), "{text} {index}");
    }
}

#[test]
fn what_is_no_container_is_not_filled() {
    for (text, path) in
        [(r#"{"a": 1}"#, "a.b"), (r#"{"a": []}"#, "a.b"), (r#"{"a": "x"}"#, "a.b.c")]
    {
        let mut doc = doc(text);
        let path: Vec<&str> = path.split('.').collect();
        let error = doc.set(&keys(&path), &json!(1)).unwrap_err();
        assert_eq!((error.line, error.column), (1, 7), "{error}");
        assert_eq!(doc.text(), text);
    }
    let mut doc = doc(r#"{"a": {}}"#);
    assert!(doc.push(&keys(&["a"]), &json!(1)).is_err());
}

#[test]
fn comments_end_where_they_end() {
    for text in ["/**/{}", "{/*/ */}", "{}//", "{}/* */ // x", "{\"a\": 1 /* , */}"] {
        assert!(Document::parse(text, Comments::Allowed).is_ok(), "{text}");
        assert!(Document::parse(text, Comments::Refused).is_err(), "{text}");
    }
    for text in [
        "{}/*",
        "{/*/}",
        "{/}",
        "{\"a\": 1,,}",
        "{,}",
        "{\"a\": .}",
        "{\"a\": tru}",
        "{\"a\": \"\\x\"}",
        "{'a': 1}",
    ] {
        assert!(Document::parse(text, Comments::Allowed).is_err(), "{text}");
    }
}

#[test]
fn plain_json_means_what_the_library_says() {
    let text = r#" {"a":[1,-2.5e3,true,null,{"b":"\u00e9\"\\/ü"}],"":{}, "c":"//", "d":"/*"} "#;
    let value: Value = serde_json::from_str(text).unwrap();
    for comments in [Comments::Refused, Comments::Allowed] {
        assert_eq!(Document::parse(text, comments).unwrap().value(), value);
    }
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % sides
    }

    fn blank(&mut self) -> &'static str {
        ["", " ", "\n", "\n  ", "\t", " // note\n", "/* , } ] */", "\r\n"][self.roll(8)]
    }

    /// A value with anything between its parts.
    fn text(&mut self, depth: usize) -> String {
        let kind = if depth == 0 { 2 } else { self.roll(3) };
        let count = self.roll(4);
        let mut parts = Vec::new();
        for number in 0..count {
            let inner = if kind < 2 { self.text(depth - 1) } else { String::new() };
            let name =
                if kind == 0 { format!("\"k{number}\"{}:", self.blank()) } else { String::new() };
            parts.push(format!("{}{name}{}{inner}{}", self.blank(), self.blank(), self.blank()));
        }
        let end = if !parts.is_empty() && self.roll(4) == 0 { "," } else { "" };
        let inner = parts.join(",") + end + self.blank();
        match kind {
            0 => format!("{{{inner}}}"),
            1 => format!("[{inner}]"),
            _ => ["1", "\"a,]}\\\"\"", "null", "\"// x\""][self.roll(4)].to_owned(),
        }
    }
}

/// Every path of a value.
fn paths(value: &Value, at: &[Step], found: &mut Vec<Vec<Step>>) {
    found.push(at.to_vec());
    for (index, inner) in value.as_array().into_iter().flatten().enumerate() {
        paths(inner, &below(at, index), found);
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        paths(inner, &below(at, key.as_str()), found);
    }
}

/// A change checks itself: an error here means that a text was read otherwise than it was written.
#[test]
fn any_layout_can_be_changed_anywhere() {
    let mut dice = Dice(7);
    let mut changes = 0;
    for round in 0..3_000 {
        let inner = dice.text(3);
        let text = format!(
            "{}{{\"root\":{}{inner}{}}}{}",
            dice.blank(),
            dice.blank(),
            dice.blank(),
            dice.blank()
        );
        let mut doc = doc(&text);
        for _ in 0..4 {
            let mut all = Vec::new();
            paths(&doc.value(), &[], &mut all);
            let path = all[dice.roll(all.len())].clone();
            let new = [json!(7), json!({ "x": [1] }), json!([])][dice.roll(3)].clone();
            let node = doc.value_at(&path).unwrap();
            let done = match dice.roll(4) {
                0 if !path.is_empty() => doc.remove(&path),
                1 if !path.is_empty() => doc.set(&path, &new),
                2 if node.is_array() => doc.push(&path, &new),
                _ if node.is_object() => doc.set(&below(&path, "new"), &new),
                _ => continue,
            };
            done.unwrap_or_else(|error| panic!("{round}: {error}\n{text}\n{}", doc.text()));
            // Read from the beginning, every place is where it is said to be.
            assert_eq!(
                super::parse::parse(doc.text(), Comments::Allowed).unwrap(),
                doc.root,
                "{text}"
            );
            changes += 1;
        }
    }
    assert!(changes > 5_000, "{changes}");
}

/// What is put in and taken out again leaves the text as it was, but for blanks.
#[test]
fn in_and_out_leaves_no_trace() {
    let mut dice = Dice(11);
    for _ in 0..1_000 {
        let text = format!("{{\"root\":{}{}}}", dice.blank(), dice.text(3));
        let mut doc = doc(&text);
        let mut all = Vec::new();
        paths(&doc.value(), &[], &mut all);
        let path = all[dice.roll(all.len())].clone();
        let count = match doc.value_at(&path).unwrap() {
            Value::Object(_) => None,
            Value::Array(elements) => Some(elements.len()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => continue,
        };
        match count {
            None => doc.set(&below(&path, "new"), &json!({ "a": [1, 2] })).unwrap(),
            Some(_) => doc.push(&path, &json!({ "a": [1, 2] })).unwrap(),
        }
        doc.remove(&count.map_or(below(&path, "new"), |it| below(&path, it))).unwrap();
        let plain = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(plain(doc.text()), plain(&text));
    }
}
