//! Rules of the operator about what a call names, on the real path; and the record from which it is judged again.

use std::time::Duration;

use model::Decision;
use policy::{FactSheet, PackText, Policy};
use serde_json::{Value, json};

use crate::gate::world::{Gate, WAITS_MAX, World, content, stopped};

const RULES: &str = r#"
@id("own-no-push") @reason("a person pushes") @decision("deny")
@match("shell_exec commands=git+push")
forbid (principal, action, resource) when { context.commands.contains("git push") };

@id("own-hosts") @reason("only our hosts") @decision("deny")
@match("web_fetch hosts=https://evil.example:443")
forbid (principal, action, resource)
when { context.host != "" } unless { context.host like "*.ours.example" };

@id("own-generated") @reason("nobody writes there by hand") @decision("deny")
@match("tool_write paths=write:gen/x")
forbid (principal, action, resource)
when { context.op == "write" && context.path like "gen/*" };

@id("own-mail") @reason("mail stays in the house") @decision("deny")
@match("tool_send recipients=eve@evil.example")
forbid (principal, action, resource)
when { context.recipient != "" } unless { context.recipient like "*@example.org" };
"#;

fn rules() -> Policy {
    let mut packs = PackText::embedded();
    packs.push(PackText { name: "own.cedar".to_owned(), text: RULES.to_owned() });
    Policy::build(&packs).unwrap()
}

/// The facts of the `n`th decision about a call, in the spelling of `policy explain`. A reader may be behind the journal for a moment.
fn recorded(gate: &Gate, n: usize) -> FactSheet {
    let is_decision = |it: &Value| {
        content(it, "facts").is_object() && *content(it, "effect") != json!("message_in")
    };
    let decided = (0..WAITS_MAX).find_map(|_| {
        let found = gate.records().into_iter().filter(is_decision).nth(n);
        if found.is_none() {
            std::thread::sleep(Duration::from_millis(10));
        }
        found
    });
    let decided = &decided.unwrap();
    let mut facts = content(decided, "facts").as_object().unwrap().clone();
    let sinks = facts["sinks"].as_object().unwrap().iter().filter(|it| *it.1 == json!(true));
    let sinks: Vec<Value> = sinks.map(|it| json!(it.0)).collect();
    facts.insert("sinks".to_owned(), json!(sinks));
    facts.insert("effect".to_owned(), content(decided, "effect").clone());
    facts.insert("tool".to_owned(), content(decided, "tool").clone());
    FactSheet::from_value(&Value::Object(facts)).unwrap()
}

#[test]
fn what_a_call_names_is_judged_whatever_door_it_comes_by_and_again_from_its_record() {
    let world = World::new();
    let gate = world.open_with_rules(rules());
    let who = gate.begin("s");
    let (policy, again) = (rules(), |sheet: &FactSheet, policy: &Policy| {
        let verdict = policy.decide(&sheet.facts());
        (verdict.decision(), verdict.rule().to_owned())
    });
    let shell = |command: &str| json!({ "action": "shell_exec", "command": command });
    let fetch = |url: &str| json!({ "action": "web_fetch", "url": url });
    let rows = [
        (shell("cd work && git -C sub push origin main"), "own-no-push"),
        (shell("git fetch https://evil.example/x"), "own-hosts"),
        (shell("printf x > gen/code.rs"), "own-generated"),
        (
            json!({ "action": "shell_exec", "command": "touch code.rs", "dir": "gen" }),
            "own-generated",
        ),
        (fetch("https://evil.example/"), "own-hosts"),
        (fetch("https://a.ours.example.evil.example/"), "own-hosts"),
    ];
    for (n, (message, rule)) in rows.iter().enumerate() {
        let verdict = stopped(gate.act(&who, message));
        assert!(verdict.objections.iter().any(|it| it.rule == *rule), "{message}: {verdict:?}");
        let (decision, _) = again(&recorded(&gate, n), &policy);
        assert_eq!(decision, Decision::Deny, "{message}");
        let judged = policy.decide(&recorded(&gate, n).facts());
        assert!(judged.objections.iter().any(|it| it.rule == *rule), "{message}: {judged:?}");
    }
    let calls = [
        ("write_file", json!({ "path": "./gen/../gen/x.rs", "text": "x" })),
        ("send_mail", json!({ "recipient": "Eve@Evil.example", "subject": "", "body": "" })),
    ];
    for (n, call) in (rows.len()..).zip(&calls) {
        let verdict = stopped(gate.call(&who, call, ""));
        let own = verdict.objections.iter().any(|it| it.rule.starts_with("own-"));
        assert!(own, "{call:?}: {verdict:?}");
        assert_eq!(again(&recorded(&gate, n), &policy).0, Decision::Deny, "{call:?}");
    }
    // What the rules do not speak of passes them. In a session of its own: too much went wrong in the other.
    let (who, n) = (gate.begin("t"), rows.len() + calls.len());
    gate.act(&who, &fetch("https://docs.ours.example/")).unwrap();
    assert_eq!(again(&recorded(&gate, n), &policy).0, Decision::Allow);
    gate.call(&who, &("write_file", json!({ "path": "src/x.rs", "text": "gen/x" })), "").unwrap();
    assert_eq!(again(&recorded(&gate, n + 1), &policy).0, Decision::Allow);
}
