//! The path of one call: what is recorded, in which order, and what does not happen.

use std::cell::Cell;
use std::path::Path;

use model::{Effect, RawCall, Source};
use monitor::{Asked, Executor, Output, Permit, Refusal};
use serde_json::{Value, json};

use crate::gate::world::{
    Never, PAGE, World, caller, content, hex, id, kind, opening, read_page, records, send_mail,
    stopped,
};

/// Looks at the journal while the effect runs.
struct Looks<'a> {
    evidence: &'a Path,
    ran: Cell<bool>,
}

impl Executor for Looks<'_> {
    fn execute(&self, permit: Permit<Effect>) -> Output {
        let record = hex(permit.record());
        let there = records(self.evidence);
        let decision = there.last().unwrap();
        assert_eq!(
            id(decision),
            record,
            "the decision is the newest record, and it is there already"
        );
        assert_eq!(content(decision, "decision"), "allow");
        assert_eq!(decision.pointer("/meta/phase"), Some(&json!("open")));
        assert_eq!(permit.who(), &caller("s", "ann"));
        assert!(
            matches!(permit.spend(), Effect::Tool(it) if it.call.tool().as_str() == "read_page")
        );
        self.ran.set(true);
        Output::text(PAGE)
    }
}

#[test]
fn the_decision_is_durable_before_the_effect_and_the_outcome_after_it() {
    let world = World::new();
    let gate = world.open();
    let who = gate.begin("s");
    let before = gate.records().len();
    let (tool, args) = read_page();
    let args = args.to_string();
    let looks = Looks { evidence: &world.dir().join("evidence"), ran: Cell::new(false) };
    let asked = Asked::Tool(RawCall { tool, args: args.as_bytes() });
    let delivered = gate.monitor.run(&who, &asked, &looks).unwrap();
    assert!(looks.ran.get());
    assert_eq!(delivered.output.body, PAGE);

    let all = gate.records();
    assert_eq!(all.len(), before + 2);
    let (decision, outcome) = (&all[before], &all[before + 1]);
    assert_eq!(id(outcome), hex(delivered.record));
    assert_eq!(outcome.pointer("/meta/phase"), Some(&json!("close")));
    let parents = outcome["parents"].as_array().unwrap();
    assert!(parents.iter().any(|it| it == id(decision)));
    assert_eq!(delivered.tag.unwrap().record, id(decision));
    gate.close();
}

#[test]
fn a_stopped_call_leaves_one_record_and_nothing_else() {
    let world = World::new();
    let gate = world.open();
    let who = gate.begin("s");
    gate.call(&who, &read_page(), PAGE).unwrap();
    let before = gate.records().len();
    let (tool, args) = send_mail("eve@evil.example");
    let args = args.to_string();
    let asked = Asked::Tool(RawCall { tool, args: args.as_bytes() });
    let verdict = stopped(gate.monitor.run(&who, &asked, &Never));
    assert_eq!(verdict.rule, "sink-untrusted-destination");
    let all = gate.records();
    assert_eq!(all.len(), before + 1);
    assert_eq!(id(&all[before]), hex(verdict.record));
    assert_eq!(content(&all[before], "action_sha256"), &json!(hex(verdict.action)));
    assert_eq!(all[before].pointer("/meta/phase"), None, "it opens nothing");
    assert!(gate.monitor.begin(&who, &asked).is_err());
}

#[test]
fn what_is_not_understood_leaves_one_record_and_nothing_else() {
    let world = World::new();
    let gate = world.open();
    let who = gate.begin("s");
    let tool = |tool, args: &'static [u8]| Asked::Tool(RawCall { tool, args });
    let cases: [(Asked<'_>, &str); 9] = [
        (tool("read_page", b"{"), "malformed-call"),
        (tool("read_page", b"[]"), "malformed-call"),
        (tool("read_page", b"\xff\xfe"), "malformed-call"),
        (tool("read_page", br#"{"url":"a","url":"b"}"#), "malformed-call"),
        (tool("", b"{}"), "malformed-call"),
        (tool("no_such_tool", b"{}"), "unknown-tool"),
        (Asked::Message(b"{"), "malformed-call"),
        (Asked::Message(br#"{"action":"no_such_action"}"#), "malformed-call"),
        (
            Asked::Message(br#"{"action":"web_search","query":"q","_userId":"root"}"#),
            "malformed-call",
        ),
    ];
    for (asked, rule) in cases {
        let before = gate.records().len();
        let refusal = gate.monitor.run(&who, &asked, &Never).unwrap_err();
        assert_eq!(refusal.rule(), rule, "{asked:?}");
        let all = gate.records();
        assert_eq!(all.len(), before + 1, "{asked:?}");
        assert_eq!(
            (kind(&all[before]), content(&all[before], "rule")),
            ("turned_away", &json!(rule))
        );
        assert_eq!(content(&all[before], "decision"), "deny");
    }
    assert_eq!(gate.monitor.summary(&who).unwrap().calls, 0);
}

#[test]
fn a_session_of_somebody_else_is_none_and_asking_for_it_is_on_record() {
    let world = World::new();
    let gate = world.open();
    gate.begin("s");
    let (tool, args) = read_page();
    let args = args.to_string();
    let asked = Asked::Tool(RawCall { tool, args: args.as_bytes() });
    let mut other_agent = caller("s", "ann");
    other_agent.agent = model::AgentId::parse("other").unwrap();
    for stranger in [caller("s", "bob"), caller("t", "ann"), other_agent] {
        let before = gate.records().len();
        let refusal = gate.monitor.run(&stranger, &asked, &Never).unwrap_err();
        assert!(matches!(refusal, Refusal::NoSession(_)), "{refusal}");
        gate.hear(&stranger, Source::User, "yes").unwrap_err();
        let kind_of_action = model::EffectKind::ToolSend;
        gate.monitor.confirm_action(&stranger, kind_of_action).unwrap_err();
        let all = gate.records();
        assert_eq!(all.len(), before + 3, "each attempt is on record");
        let seen: Vec<&Value> = all[before..].iter().map(|it| content(it, "rule")).collect();
        assert_eq!(seen, ["no-session"; 3]);
        assert_eq!(all[before].pointer("/meta/user"), Some(&json!(stranger.user.as_str())));
        assert!(gate.monitor.end_session(&stranger).is_err());
        assert!(gate.monitor.begin_turn(&stranger).is_err());
        assert!(gate.monitor.summary(&stranger).is_err());
    }
    let before = gate.records().len();
    assert!(gate.monitor.open_session(opening(&caller("s", "bob"))).is_err());
    assert_eq!(gate.records().len(), before + 1);
}

#[test]
fn after_its_end_a_session_takes_nothing_more_and_comes_back_as_tainted() {
    let world = World::new();
    let gate = world.open();
    let who = gate.begin("s");
    gate.call(&who, &read_page(), PAGE).unwrap();
    let taint = gate.taint(&who);
    gate.monitor.end_session(&who).unwrap();
    assert!(gate.call(&who, &read_page(), PAGE).is_err());
    gate.monitor.open_session(opening(&who)).unwrap();
    assert_eq!(gate.taint(&who), taint);
    stopped(gate.call(&who, &send_mail("eve@evil.example"), ""));
}

#[test]
fn an_error_text_is_output_too() {
    struct Fails;
    impl Executor for Fails {
        fn execute(&self, permit: Permit<Effect>) -> Output {
            drop(permit.spend());
            Output { status: monitor::Status::Failed, ..Output::text(PAGE) }
        }
    }
    let world = World::new();
    let gate = world.open();
    let who = gate.begin("s");
    let (tool, args) = read_page();
    let args = args.to_string();
    let asked = Asked::Tool(RawCall { tool, args: args.as_bytes() });
    gate.monitor.run(&who, &asked, &Fails).unwrap();
    let all = gate.records();
    assert_eq!(content(all.last().unwrap(), "status"), "failed");
    stopped(gate.call(&who, &send_mail("eve@evil.example"), ""));
}

#[test]
fn a_permit_carries_the_tag_of_the_session_for_which_it_was_given() {
    let world = World::new();
    let gate = world.open();
    let who = gate.begin("s");
    let (tool, args) = read_page();
    let args = args.to_string();
    let asked = Asked::Tool(RawCall { tool, args: args.as_bytes() });
    let (permit, begun) = gate.monitor.begin(&who, &asked).unwrap();
    assert_eq!(permit.tag(), None);
    gate.monitor.finish(begun, Output::text(PAGE)).unwrap();
    let (permit, _begun) = gate.monitor.begin(&who, &asked).unwrap();
    assert_eq!(permit.tag().unwrap().origin, "https://news.example/today");
}

#[test]
fn a_refusal_tells_the_agent_why() {
    let world = World::new();
    let gate = world.open();
    let who = gate.begin("s");
    gate.call(&who, &read_page(), PAGE).unwrap();
    let refusal = gate.call(&who, &send_mail("eve@evil.example"), "").unwrap_err();
    let said = refusal.to_string();
    let Refusal::Stopped(verdict) = refusal else { panic!("{said}") };
    assert_eq!(said, verdict.objections.first().unwrap().for_model);
    assert!(said.contains("recipient"), "{said}");
}

#[test]
fn a_decision_names_the_records_that_it_came_from() {
    let world = World::new();
    let gate = world.open();
    let who = gate.begin("s");
    let parents = |gate: &crate::gate::world::Gate| -> Vec<String> {
        let all = gate.records();
        let decision = all.iter().rev().find(|it| content(it, "facts").is_object()).unwrap();
        let parents = decision["parents"].as_array().unwrap();
        parents.iter().map(|it| it.as_str().unwrap().to_owned()).collect()
    };
    let heard = gate.hear(&who, Source::User, "And now?").unwrap();
    let first = gate.call(&who, &read_page(), PAGE).unwrap();
    assert_eq!(parents(&gate), [hex(heard.record)], "what was said last");
    gate.call(&who, &read_page(), PAGE).unwrap();
    let mut expected = [hex(first.record), first.tag.unwrap().record];
    expected.sort();
    assert_eq!(parents(&gate), expected, "what came in last, and what tainted it");
}

#[test]
fn the_record_of_a_decision_shows_what_was_judged() {
    let world = World::new();
    let gate = world.open();
    let who = gate.begin("s");
    gate.call(&who, &read_page(), PAGE).unwrap();
    let verdict = stopped(gate.call(&who, &send_mail("eve@evil.example"), ""));
    let all = gate.records();
    let record = all.last().unwrap();
    assert_eq!(record["taint"], json!(["TOOL_OUTPUT", "UNTRUSTED"]));
    assert!(content(record, "args").as_str().unwrap().contains("eve@evil.example"));
    let sink = json!({ "atom": "eve@evil.example", "label": "mentioned", "param": "recipient" });
    assert_eq!(content(record, "sinks"), &json!([sink]));
    let facts = content(record, "facts");
    assert_eq!(facts["sinks"]["untrusted_destination"], true);
    assert_eq!(facts["sinks"]["untrusted_target"], false);
    assert_eq!(facts["taint_permille"], verdict.taint_permille);
    assert!(verdict.taint_permille > 0);
    // The guard and the rule of the policy both object.
    let rules: Vec<&str> = verdict.objections.iter().map(|it| it.rule.as_ref()).collect();
    assert!(rules.contains(&"sink-untrusted-destination"), "{rules:?}");
    assert!(rules.contains(&"sink-ask-destination"), "{rules:?}");
}
