//! The guard `layered-access` in the gate: what one of the five layers closes stays closed.

use std::sync::Arc;

use model::{AgentId, Decision};
use monitor::Admission;
use policy::access::{Global, KnownTools, Manifest, Origin, Users};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::gate::world::{World, opening, who};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/guards/layered-access");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    global: String,
    manifest: String,
    user: String,
    tool: String,
    args: Map<String, Value>,
    decision: String,
    rule: Option<String>,
}

#[test]
fn every_case_of_the_corpus() {
    let mut decisions = Vec::new();
    let mut files: Vec<_> =
        std::fs::read_dir(CASES).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    for file in files {
        let case: Case = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let at = file.display();
        let world = World::new();
        let gate = world.open_unsynced();
        let who = who("s");
        let mut opening = opening(&who);
        opening.admission = Admission::Layered {
            global: Arc::new(Global::parse(&case.global).unwrap()),
            manifest: Arc::new(
                Manifest::parse(
                    &AgentId::parse("main").unwrap(),
                    &format!("---\n{}\n---\nbody\n", case.manifest),
                )
                .unwrap(),
            ),
            user: Arc::new(user(&case.user)),
            origin: Origin::Local,
            sub_agents: Vec::new(),
        };
        gate.monitor.open_session(opening).unwrap();
        // Who may not use the agent may not speak to it either.
        let heard = gate.hear(&who, model::Source::User, crate::gate::world::TASK);
        let call = (case.tool.as_str(), Value::Object(case.args));
        let result = heard.and_then(|_| gate.call(&who, &call, "").map(|_| ()));
        let (decision, rule) = match &result {
            Ok(_) => (Decision::Allow, None),
            Err(refusal) => (refusal.decision(), Some(refusal.rule().to_owned())),
        };
        assert_eq!((decision.as_str(), &rule), (case.decision.as_str(), &case.rule), "{at}");
        decisions.push(decision);
    }
    assert!(decisions.contains(&Decision::Allow) && decisions.contains(&Decision::Deny));
}

#[test]
fn a_session_of_sub_agents_has_at_most_what_each_of_them_has() {
    let world = World::new();
    let gate = world.open_unsynced();
    let manifest = "---\nagents: {wide: {tools: [web, memory]}, narrow: {tools: [memory]}}\n---\n";
    let manifest = Manifest::parse(&AgentId::parse("main").unwrap(), manifest).unwrap();
    let admission = |names: &[&str]| {
        let layered = Admission::Layered {
            global: Arc::new(Global::parse("tools: {}").unwrap()),
            manifest: Arc::new(manifest.clone()),
            user: Arc::new(user("agents: '*'")),
            origin: Origin::Local,
            sub_agents: Vec::new(),
        };
        layered.of_sub_agents(names.iter().map(|it| (*it).to_owned()).collect())
    };
    assert!(admission(&["wide", "gone"]).is_none());
    let fetch = br#"{"action":"web_fetch","url":"https://a.example/"}"#;
    for (session, names, rule) in [
        ("s1", &[][..], None),
        ("s2", &["wide"], None),
        ("s3", &["wide", "narrow"], Some("layer-agent")),
        // Whoever was handed a task by a narrow one has no more, whatever its own entry says.
        ("s4", &["narrow", "wide"], Some("layer-agent")),
    ] {
        let who = who(session);
        let opening = monitor::Opening { admission: admission(names).unwrap(), ..opening(&who) };
        gate.monitor.open_session(opening).unwrap();
        let stopped = gate.monitor.begin(&who, &monitor::Asked::Message(fetch)).err();
        assert_eq!(stopped.as_ref().map(|it| it.rule()), rule, "{names:?}");
    }
}

fn user(entry: &str) -> policy::access::User {
    let hash = "ab".repeat(32);
    let entry = entry.replace('\n', "\n    ");
    let text = format!(
        "users:\n  - token_hash: {hash}\n    name: ann\n    budget: unlimited\n    {entry}\n"
    );
    let known = KnownTools::default().with(["list_notes", "send_mail"]);
    Users::parse(&text, &known).unwrap().get("ann").unwrap().clone()
}
