//! The recorded and required behaviour of another harness's manifests, users and tool gates, from
//! `corpus/policy/masters`. A case that this crate has no say in is named in a list, with the reason.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use std::fs;
use std::path::Path;

use model::{AgentId, EffectKind, Objection};
use policy::access::{
    Domain, Global, KnownTools, Layers, Manifest, Origin, Request, Tool, ToolFilter, User, Users,
    decide,
};
use serde_json::{Map, Value};

fn cases(name: &str) -> Vec<Value> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/policy/masters");
    serde_json::from_str(&fs::read_to_string(dir.join(name)).unwrap()).unwrap()
}

fn name(case: &Value) -> &str {
    case["name"].as_str().unwrap()
}

fn manifest(agent: &str, text: &str) -> Result<Manifest, String> {
    Manifest::parse(&AgentId::parse(agent).unwrap(), text).map_err(|it| it.to_string())
}

/// Text of a manifest with this front matter, given as JSON, which is YAML.
fn with_front(front: &Value) -> String {
    format!("---\n{front}\n---\nbody\n")
}

const HASH: &str = "4c5dc9b7708905f77f5e5d16316b5dfb425e68cb326dcd55a860e90a7707031e";

fn users(entry: &Value) -> Result<Users, String> {
    let file = serde_json::json!({ "users": [entry] });
    Users::parse(&file.to_string(), &KnownTools::default()).map_err(|it| it.to_string())
}

/// What the case does not say of an entry, filled in.
fn filled(entry: &Value) -> Value {
    let mut entry = entry.as_object().unwrap().clone();
    let defaults =
        [("token_hash", HASH.into()), ("name", "bob".into()), ("budget", "unlimited".into())];
    for (key, value) in defaults {
        entry.entry(key).or_insert(value);
    }
    entry.into()
}

#[test]
fn manifests() {
    for case in cases("manifest.json") {
        let text = case["input"]["identity_md"].as_str().unwrap();
        let found = manifest("billing", text);
        let expected = &case["expected"];
        if let Some(words) = expected.as_str() {
            assert_eq!(found.is_ok(), words == "accept", "{}: {found:?}", name(&case));
            if let Err(why) = found {
                assert!(why.starts_with("line "), "{}: {why}", name(&case));
            }
            continue;
        }
        let found = found.unwrap_or_else(|why| panic!("{}: {why}", name(&case)));
        if let Some(allow) = expected.pointer("/tools/allow") {
            let ToolFilter::Allow(domains) = &found.tools else { panic!("{}", name(&case)) };
            let names: Vec<_> = domains.iter().map(|it| it.as_str()).collect();
            assert_eq!(serde_json::json!(names), *allow);
        }
        if expected.get("tools") == Some(&Value::Null) {
            assert_eq!(found.tools, ToolFilter::All);
        }
        if expected["body_is_whole_file"] == true {
            assert_eq!(found.body, text);
        }
        if let Some(description) = expected["description"].as_str() {
            assert_eq!(found.about(), Some(description));
            assert_eq!(found.display_name(), "Billing");
        }
    }
}

/// Cases of tokens, sockets and commands: other parts have their say in them.
const NOT_OURS: &[&str] = &[
    // Tokens are made, hashed and compared in the vault.
    "token is 64 hex",
    "hash is sha256 hex of token",
    "tokens unique",
    "compare equal",
    "compare different",
    "compare lengths differ",
    // The server reads files and answers requests.
    "access.yaml unreadable at reload",
    "access.yaml world-readable",
    "access create without --agents",
    "token in query",
    "REST sessions for an agent the user cannot access",
    "WS Origin not in list",
    "auth failures 6 per minute per IP",
];

#[test]
fn who_may_use_which_agent() {
    for case in cases("access.json") {
        let (input, expected) = (&case["input"], &case["expected"]);
        if NOT_OURS.contains(&name(&case)) {
            continue;
        }
        if let (Some(user), Some(agent)) = (input.get("user"), input.get("agent")) {
            let front = serde_json::json!({ "access": agent["access"], "users": agent["users"] });
            let manifest = manifest(agent["id"].as_str().unwrap(), &with_front(&front)).unwrap();
            // `"*"` in a list is no agent's name: such a file is refused, and nobody gets in.
            let may = users(&filled(user))
                .is_ok_and(|it| it.iter().all(|user| user.may_use(&manifest).is_ok()));
            assert_eq!(expected.as_bool().unwrap(), may, "{}", name(&case));
            continue;
        }
        match (name(&case), expected.as_str().unwrap()) {
            ("agents missing in access.yaml", "config rejected") => {
                let mut entry = filled(&input["entry"]);
                entry["token_hash"] = HASH.into();
                assert!(users(&entry).unwrap_err().contains("agents"));
            }
            ("user name differs by case on case-insensitive fs", "config rejected") => {
                let entry = |name: &Value, hash: char| {
                    let hash = hash.to_string().repeat(64);
                    serde_json::json!({"token_hash": hash, "name": name, "agents": [], "budget": "unlimited"})
                };
                let file = serde_json::json!({"users": [entry(&input["entries"][0], 'a'), entry(&input["entries"][1], 'b')]});
                let found = Users::parse(&file.to_string(), &KnownTools::default());
                assert!(found.unwrap_err().to_string().contains("taken for one"));
            }
            ("token_hash upper case", "normalised") => {
                let entry = serde_json::json!({"token_hash": HASH.to_uppercase(), "agents": "*"});
                let found = users(&filled(&entry)).unwrap();
                assert_eq!(found.get("bob").unwrap().token_hash, HASH);
            }
            ("plaintext token field", _) => {
                let mut entry = filled(&input["entry"]);
                entry["agents"] = "*".into();
                assert!(users(&entry).unwrap_err().contains("token_hash"));
            }
            (_, "config rejected") => {
                let mut entry = filled(&input["entry"]);
                entry.as_object_mut().unwrap().entry("agents").or_insert("*".into());
                assert!(users(&entry).is_err(), "{}", name(&case));
            }
            (name, expected) => panic!("{name}: {expected}"),
        }
    }
}

#[test]
fn tool_gates() {
    for case in cases("tool_access.json") {
        let (input, expected) = (&case["input"], &case["expected"]);
        if let Some(domain) = input.get("domain") {
            let passed = domain_gate(input, domain.as_str().unwrap());
            assert_eq!(expected.as_bool().unwrap(), passed, "{}", name(&case));
        } else if let Some(mcp) = input.get("mcp") {
            let text = with_front(&serde_json::json!({ "mcp": mcp }));
            assert!(manifest("billing", &text).is_err(), "{}", name(&case));
        } else {
            let found = full_gate(input);
            let words = expected.as_str().unwrap();
            match words.split([' ', ':']).next().unwrap() {
                "allow" => assert!(found.is_ok(), "{}: {found:?}", name(&case)),
                "deny" => assert!(found.is_err(), "{}", name(&case)),
                "config" => assert!(found.unwrap_err().starts_with("config"), "{}", name(&case)),
                // The rule is about another tool, whose name only begins alike.
                "exact" => assert!(found.is_ok(), "{}: {found:?}", name(&case)),
                other => panic!("{}: {other}", name(&case)),
            }
        }
    }
}

fn domain_gate(input: &Value, domain: &str) -> bool {
    let off = input["global_disabled"].as_array().unwrap().iter();
    let off: Map<String, Value> = off
        .map(|it| (it.as_str().unwrap().to_owned(), serde_json::json!({ "enabled": false })))
        .collect();
    let global = Global::parse(&serde_json::json!({ "tools": off }).to_string()).unwrap();
    let filter = &input["filter"];
    let front = if filter.as_object().unwrap().is_empty() {
        serde_json::json!({ "name": "x" })
    } else {
        serde_json::json!({ "tools": filter })
    };
    let manifest = manifest("billing", &with_front(&front)).unwrap();
    let tool = format!(
        "mcp__billing-{domain}__{}",
        Domain::parse(domain).unwrap().tools().next().unwrap()
    );
    let user = user(&[]);
    pass(&global, &manifest, &user, &tool, &Value::Null, Origin::Local).is_ok()
}

fn user(deny: &[Value]) -> User {
    let entry = serde_json::json!({ "agents": "*", "tools_deny": deny });
    users(&filled(&entry)).unwrap().get("bob").unwrap().clone()
}

fn full_gate(input: &Value) -> Result<(), String> {
    let shell = input["sandbox_shell"].as_bool().unwrap();
    let mut front = serde_json::json!({ "toolOperations": input["operations"] });
    if shell {
        let allow: Vec<_> = Domain::ALL.iter().map(|it| it.as_str()).collect();
        front["tools"] = serde_json::json!({ "allow": allow });
        front["sandbox"] = serde_json::json!({ "enforce": true });
    }
    let manifest =
        manifest("billing", &with_front(&front)).map_err(|it| format!("config: {it}"))?;
    let user = user(input["user_deny"].as_array().unwrap());
    let origin = if input["remote"] == true { Origin::Remote } else { Origin::Local };
    let tool = input["tool"].as_str().unwrap();
    pass(&Global::default(), &manifest, &user, tool, &input["input"], origin)
        .map_err(|it| it.for_person)
}

fn pass(
    global: &Global,
    manifest: &Manifest,
    user: &User,
    tool: &str,
    args: &Value,
    origin: Origin,
) -> Result<(), Objection> {
    let args = args.as_object().cloned().unwrap_or_default();
    let tool = Tool::new(manifest.agent.as_str(), tool, EffectKind::ToolWrite);
    let layers = Layers { global, manifest, user };
    let request = Request { tool: &tool, args: &args, origin, sub_agent: Some("researcher") };
    decide(&layers, &request).map(drop)
}
