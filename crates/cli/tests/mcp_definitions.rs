//! Vectors of another system about MCP servers: names, ids, limits, lines of a log, commands and environments. What is about
//! the words of a definition is in `crates/scan/tests/vectors.rs`.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use ::mcp::limits::{SHOWN_LOG_CHARS_MAX, SHOWN_TEXT_BYTES_MAX};
use ::mcp::{names, shown};
use ::vault::environment::{environment, may_be_set};
use serde_json::Value;

/// The rows whose name begins so, as input and expectation.
fn rows(prefix: &str) -> Vec<(String, Value, Value)> {
    let file = include_str!("../../../corpus/vectors/zeph/mcp_definitions.json");
    let all: Vec<Value> = serde_json::from_str(file).unwrap();
    let row = |it: Value| {
        let field = |name: &str| it.get(name).unwrap().clone();
        (field("name").as_str().unwrap().to_owned(), field("input"), field("expected"))
    };
    all.into_iter().map(row).filter(|it| it.0.starts_with(prefix)).collect()
}

fn repeated(input: &Value) -> String {
    let count = input.get(1).and_then(Value::as_u64).unwrap();
    let piece = input.get(0).and_then(Value::as_str).unwrap();
    piece.repeat(usize::try_from(count).unwrap())
}

fn pairs(value: &Value) -> Vec<(&str, &str)> {
    let all = value.as_object().into_iter().flatten();
    all.map(|(name, value)| (name.as_str(), value.as_str().unwrap())).collect()
}

#[test]
fn names_and_lines_are_shown_as_zeph_asks() {
    let mut count = 0;
    for (name, input, expected) in rows("name_") {
        let asked = input["tool_name"].as_str().unwrap();
        let shown = shown::tool_name(asked);
        assert_eq!(shown, expected.as_str().unwrap(), "{name}");
        // A name that would be shown as another is no name of a tool here: the gateway leaves such a tool out.
        assert_eq!(names::is_tool_name(asked), shown == asked, "{name}");
        count += 1;
    }
    for (name, input, expected) in rows("server_id_") {
        let asked = input["server_id"].as_str().unwrap();
        assert_eq!(shown::server_id(asked), expected.as_str().unwrap(), "{name}");
        assert_eq!(names::check_server(asked).is_ok(), expected == asked, "{name}");
        count += 1;
    }
    for (name, input, expected) in rows("log_") {
        match input["log"].as_str() {
            Some(line) => assert_eq!(shown::log_value(line), expected.as_str().unwrap(), "{name}"),
            None => {
                assert_eq!(expected["max_len"], SHOWN_LOG_CHARS_MAX, "{name}");
                assert_eq!(shown::log_value(&repeated(&input["log_repeat"])).len(), 64, "{name}");
            }
        }
        count += 1;
    }
    for (name, input, expected) in rows("desc_trunc") {
        let text = repeated(&input["description_repeat"]);
        assert_eq!(shown::description(&text).len() as u64, expected["len"], "{name}");
        count += 1;
    }
    // Models are shown the whole of what is clean: half a schema is another one. People are shown so much.
    for (name, input, expected) in rows("schema_string_cap") {
        let text = repeated(&input["schema"]["description_repeat"]);
        let cut = shown::truncated(&text, SHOWN_TEXT_BYTES_MAX);
        assert_eq!(cut.len() as u64, expected["description_len"], "{name}");
        count += 1;
    }
    assert_eq!(count, 13);
}

#[test]
fn environments_of_servers_are_made_as_zeph_asks() {
    let mut count = 0;
    for (name, input, expected) in rows("env_") {
        for (variable, _) in pairs(&input["env"]) {
            // What the host gives every process, nobody else gives: it is there already.
            let is_hosts = ["PATH", "HOME"].contains(&variable);
            let allowed = expected == "allowed" && !is_hosts;
            assert_eq!(may_be_set(variable), allowed, "{name}: {variable}");
        }
        count += 1;
    }
    for (name, input, expected) in rows("isolated_") {
        let given = pairs(&input["server_env"]);
        let made = environment(pairs(&input["parent_env"]), given.iter().copied());
        let names = |key: &str| -> Vec<String> {
            let all = expected[key].as_array().into_iter().flatten();
            all.map(|it| it.as_str().unwrap().to_owned()).collect()
        };
        assert!(names("absent").iter().all(|it| !made.variables.contains_key(it)), "{name}");
        assert!(names("present").iter().all(|it| made.variables.contains_key(it)), "{name}");
        // It lets a server's settings say where programs are looked for; here that is the host's.
        assert_eq!(expected.get("PATH").is_some(), made.rejected == ["PATH"], "{name}");
        count += 1;
    }
    // Which program a server is, the person says who writes the line, and it is started in a cage, whatever it is called: a list of
    // names that may be started would stop `bash` and let `npx anything` pass. Who connects from elsewhere starts nothing without
    // `--allow-commands`.
    assert_eq!((count, rows("cmd_").len()), (22, 17));
    assert_eq!(rows("").len(), 60, "8 rows are about the words of definitions");
}
