//! Who is admitted: without files everybody of one machine, with files only whom they name.

use std::fs;
use std::path::Path;

use host::{AdmissionError, admission};
use model::Caller;
use monitor::Admission;
use serde_json::json;

use crate::support::{House, caller};

const SETTINGS: &str = "tools:\n  web:\n    enabled: true\n";
const USERS: &str = concat!(
    "users:\n  - name: alice\n    token_hash: \"",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "\"\n    agents: [main]\n    budget: unlimited\n    tools_deny: [memory_delete]\n"
);
const MANIFEST: &str = "---\ntools:\n  allow: [memory]\n---\n\n# Main\n";

#[expect(clippy::disallowed_methods, reason = "a file of a test")]
fn put(home: &Path, name: &str, text: impl AsRef<[u8]>) {
    let path = home.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn furnished() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    put(home.path(), "config.yaml", SETTINGS);
    put(home.path(), "users.yaml", USERS);
    put(home.path(), "agents/main/IDENTITY.md", MANIFEST);
    home
}

fn refusal(home: &Path, who: &Caller) -> String {
    admission(home, who, &[]).unwrap_err().to_string()
}

#[test]
fn without_files_it_is_one_persons_machine() {
    let home = tempfile::tempdir().unwrap();
    let alice = caller("alice", "s");
    assert!(matches!(admission(home.path(), &alice, &[]), Ok(Admission::OnePerson)));
    let nowhere = home.path().join("nowhere");
    assert!(matches!(admission(&nowhere, &alice, &[]), Ok(Admission::OnePerson)));
}

#[test]
fn with_settings_alone_it_is_one_persons_machine_and_the_settings_count() {
    let home = tempfile::tempdir().unwrap();
    put(home.path(), "config.yaml", "tools:\n  web:\n    enabled: false\n");
    let admitted = admission(home.path(), &caller("alice", "s"), &[]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let who = house.open_as("alice", "s", admitted);
    assert_eq!(house.say(&who, &json!({"action": "memory_list", "scope": "a"}))["ok"], true);
    let fetch = house.say(&who, &json!({"action": "web_fetch", "url": "https://a.example/"}));
    assert_eq!((&fetch["decision"], &fetch["rule"]), (&json!("deny"), &json!("layer-global")));
    // What is not understood admits nobody.
    put(home.path(), "config.yaml", "tools:\n  web:\n    enabled: perhaps\n");
    assert!(refusal(home.path(), &caller("alice", "s")).contains("line 3"));
    // Neither does a link that leads nowhere: something is there.
    fs::remove_file(home.path().join("config.yaml")).unwrap();
    std::os::unix::fs::symlink("nowhere", home.path().join("config.yaml")).unwrap();
    assert!(admission(home.path(), &caller("alice", "s"), &[]).is_err());
}

#[test]
fn commands_reach_out_only_where_the_settings_name_the_agent_and_its_manifest_agrees() {
    let home = tempfile::tempdir().unwrap();
    let reach_out = || {
        let admitted = admission(home.path(), &caller("alice", "s"), &[]).unwrap();
        admitted.commands_reach_out()
    };
    assert!(!reach_out());
    for (settings, expected) in [
        ("shell:\n  required: [seccomp]\n", false),
        ("shell:\n  network: [other]\n", false),
        ("shell:\n  network: [main]\n", true),
        ("shell:\n  network: \"*\"\n", true),
    ] {
        put(home.path(), "config.yaml", settings);
        assert_eq!(reach_out(), expected, "{settings}");
    }
    put(home.path(), "users.yaml", USERS);
    for (manifest, expected) in [
        ("# Main\n", true),
        ("---\nsandbox: {network: host}\n---\n", true),
        ("---\nsandbox: {network: none}\n---\n", false),
    ] {
        put(home.path(), "agents/main/IDENTITY.md", manifest);
        assert_eq!(reach_out(), expected, "{manifest}");
    }
}

#[test]
fn a_file_of_users_or_agents_is_enough_to_need_all() {
    let alice = caller("alice", "s");
    for (name, text) in
        [("config.yaml", SETTINGS), ("users.yaml", USERS), ("agents/main/IDENTITY.md", MANIFEST)]
    {
        let alone = tempfile::tempdir().unwrap();
        put(alone.path(), name, text);
        if name != "config.yaml" {
            assert!(refusal(alone.path(), &alice).contains("is missing; `"), "only {name}");
        }
        let lacking = furnished();
        fs::remove_file(lacking.path().join(name)).unwrap();
        let error = refusal(lacking.path(), &alice);
        assert!(error.contains(&format!("{name}` is missing")), "{error}");
    }
    // Another agent's manifest: agents are admitted by files here, and this one has none.
    let other = tempfile::tempdir().unwrap();
    put(other.path(), "agents/billing/IDENTITY.md", MANIFEST);
    assert!(refusal(other.path(), &alice).contains("config.yaml` is missing"));
}

#[test]
fn a_broken_file_is_named_with_its_line() {
    let alice = caller("alice", "s");
    for (name, text, line) in [
        ("config.yaml", "tools:\n  web:\n    enabled: perhaps\n", "line 3"),
        ("users.yaml", "users:\n  - name: alice\n    token: secret\n", "line 3"),
        ("agents/main/IDENTITY.md", "---\naccess: public\nsurprise: 1\n---\n", "line 3"),
    ] {
        let home = furnished();
        put(home.path(), name, text);
        let error = refusal(home.path(), &alice);
        assert!(error.contains(&format!("{name}`: ")) && error.contains(line), "{error}");
        put(home.path(), name, b"a: b\n\xff\n");
        assert!(refusal(home.path(), &alice).contains("line 2: not UTF-8"));
        put(home.path(), name, "x".repeat(300_000));
        assert!(refusal(home.path(), &alice).contains("at most 262144 are read"));
        fs::remove_file(home.path().join(name)).unwrap();
        std::os::unix::fs::symlink("/dev/zero", home.path().join(name)).unwrap();
        assert!(refusal(home.path(), &alice).contains("should be a plain file"));
    }
}

#[test]
fn only_whom_the_files_name_is_admitted() {
    let home = furnished();
    assert!(matches!(
        admission(home.path(), &caller("alice", "s"), &[]),
        Ok(Admission::Layered { .. })
    ));
    let error = admission(home.path(), &caller("mallory", "s"), &[]).unwrap_err();
    assert!(matches!(error, AdmissionError::UnknownUser { .. }) && error.is_refusal(), "{error}");
    put(home.path(), "agents/main/IDENTITY.md", "---\naccess: private\n---\n");
    let error = admission(home.path(), &caller("alice", "s"), &[]).unwrap_err();
    assert!(matches!(error, AdmissionError::NotOpen(_)) && error.is_refusal(), "{error}");
}

#[test]
fn a_session_has_what_all_five_layers_leave_it() {
    let home = furnished();
    let admitted = admission(home.path(), &caller("alice", "s"), &[]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let who = house.open_as("alice", "s", admitted);
    assert_eq!(house.say(&who, &json!({"action": "memory_list", "scope": "a"}))["ok"], true);
    let fetch = house.say(&who, &json!({"action": "web_fetch", "url": "https://a.example/"}));
    assert_eq!((&fetch["decision"], &fetch["rule"]), (&json!("deny"), &json!("layer-agent")));
    let id = "123e4567-e89b-12d3-a456-426614174000";
    let delete = house.say(&who, &json!({"action": "memory_delete", "id": id}));
    assert_eq!((&delete["decision"], &delete["rule"]), (&json!("deny"), &json!("layer-user")));
}

#[test]
fn the_settings_say_what_the_way_out_is_like() {
    let home = furnished();
    let egress = "egress:\n  ports: [443]\n  methods: [GET, CONNECT]\n  payloadBytes: 1000\n";
    let rules = |settings: &str| {
        put(home.path(), "config.yaml", settings);
        host::reach(&admission(home.path(), &caller("alice", "s"), &[]).unwrap()).unwrap()
    };
    let narrow = rules(&format!("{SETTINGS}{egress}"));
    assert_eq!(narrow.ports, Some(vec![443]));
    assert_eq!(narrow.methods, Some(vec![hyper::Method::GET, hyper::Method::CONNECT]));
    assert_eq!(narrow.payload_bytes_max, 1000);
    let blocks = |rules: &egress::Rules, name: &str| {
        rules.block.contains(&scan::net::Host::Name(name.to_owned()))
    };
    let usual = rules(SETTINGS);
    assert!(!blocks(&usual, "ads.example"));
    put(
        home.path(),
        "agents/main/IDENTITY.md",
        "---\nsandbox:\n  blockedDomains: [ads.example]\n---\n",
    );
    let own = rules(&format!("{SETTINGS}egress:\n  blockedDomains: [b.example]\n"));
    assert!(blocks(&own, "ads.example") && blocks(&own, "b.example") && !blocks(&own, "c.example"));
    assert_eq!((usual.ports, usual.methods), (None, None));
    assert_eq!(usual.payload_bytes_max, egress::PAYLOAD_BYTES_MAX);
}

#[test]
fn settings_of_how_careful_a_host_is_refuse_what_they_do_not_understand_and_a_manifest_only_tightens()
 {
    let home = furnished();
    let who = caller("alice", "s");
    for (wrong, key) in [
        ("securityProfile: lax\n", "securityProfile"),
        ("taintBudget: {threshold: 2}\n", "taintBudget.threshold"),
        ("capabilityScopes: {scopes: {a: {patterns: [\"*\"]}}}\n", "capabilityScopes.scopes.a"),
    ] {
        put(home.path(), "config.yaml", wrong);
        let why = refusal(home.path(), &who);
        assert!(
            why.contains("config.yaml") && why.contains("line 1") && why.contains(key),
            "{why}"
        );
    }
    for (settings, manifest, expected) in [
        ("securityProfile: yolo", "standard", model::Profile::Standard),
        ("securityProfile: standard", "yolo", model::Profile::Standard),
        ("tools: {}", "paranoid", model::Profile::Paranoid),
        ("tools: {}", "yolo", model::Profile::Standard),
    ] {
        put(home.path(), "config.yaml", format!("{settings}\n"));
        put(
            home.path(),
            "agents/main/IDENTITY.md",
            format!("---\nsecurityProfile: {manifest}\n---\n"),
        );
        let admitted = admission(home.path(), &who, &[]).unwrap();
        assert_eq!(admitted.profile(), expected, "{settings} {manifest}");
    }
}

#[test]
fn a_tool_that_is_out_of_scope_is_denied_whatever_else_is_open() {
    let home = furnished();
    let scopes = "capabilityScopes: {default: rows, scopes: {rows: {patterns: [\"memory_l*\", \"memory_q*\"]}}}\n";
    put(home.path(), "config.yaml", scopes);
    let who = caller("alice", "s");
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let who_is = house.open_as("alice", "s", admission(home.path(), &who, &[]).unwrap());
    assert_eq!(house.say(&who_is, &json!({"action": "memory_list", "scope": "a"}))["ok"], true);
    let write =
        json!({"action": "memory_write", "scope": "a", "type": "knowledge", "content": "x"});
    let told = house.say(&who_is, &write);
    assert_eq!((&told["decision"], &told["rule"]), (&json!("deny"), &json!("layer-scope")));
    // Both must hold a tool; a name that is not there holds nothing.
    let manifest = "---\ncapabilityScope: gone\n---\n";
    put(home.path(), "agents/main/IDENTITY.md", manifest);
    let who_is =
        house.open_as("alice", "t", admission(home.path(), &caller("alice", "t"), &[]).unwrap());
    let told = house.say(&who_is, &json!({"action": "memory_list", "scope": "a"}));
    assert_eq!(told["rule"], "layer-scope");
}
