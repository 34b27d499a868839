//! The verdicts of `corpus/ax`, and every case where ours is another, with its reason.

use std::collections::BTreeSet;

use model::ipc::{self, ActionName, IpcError};
use serde_json::Value;

use crate::ipc::support::{bytes, cases};

/// Where the schemas of the issue accept what the issue says must not get through.
const STRICTER: &[(&str, &str)] = &[
    ("web_fetch: url javascript:alert(1)", "only http and https lead to the web"),
    ("web_fetch: url data:text/html,x", "only http and https lead to the web"),
];

#[test]
fn every_verdict_on_the_actions_of_the_issue_holds() {
    let mut exempt = BTreeSet::new();
    for case in cases("ipc_messages_seed000.json") {
        let verdict = ipc::parse(&bytes(&case.input));
        if STRICTER.iter().any(|(name, _)| *name == case.name) {
            assert_eq!(case.expected, "accept", "{}: no exemption needed", case.name);
            assert!(verdict.is_err(), "{}", case.name);
            exempt.insert(case.name);
        } else {
            assert_eq!(verdict.is_ok(), case.expected == "accept", "{}: {verdict:?}", case.name);
        }
    }
    assert_eq!(exempt.len(), STRICTER.len(), "an exemption names a case that is not there");
}

/// Why a recorded message that its own program accepts is refused here.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Exemption {
    /// An action that the issue does not have.
    LaterAction,
    /// A field that the issue does not have, or lacks one that it requires.
    LaterForm,
    /// The envelope alone was judged there; the rest of the message is wrong there too, or later.
    EnvelopeOnly,
}

/// The fields in which the recorded program departs from the issue.
const LATER_FIELDS: &[(ActionName, &[&str])] = &[
    (ActionName::LlmCall, &["provider", "tools", "messages.0.content"]),
    (ActionName::MemoryWrite, &["type", "tags"]),
    (ActionName::SchedulerRemoveCron, &["id", "jobId"]),
];

fn exemption(input: &Value, error: &IpcError) -> Exemption {
    if input["layer"] == "envelope" {
        return Exemption::EnvelopeOnly;
    }
    match error {
        IpcError::UnknownAction { .. } => Exemption::LaterAction,
        IpcError::Malformed(_) => panic!("{error:?}"),
        IpcError::Invalid { action, issues } => {
            let known = LATER_FIELDS.iter().find(|(it, _)| it == action);
            let fields = known.unwrap_or_else(|| panic!("{issues:?}")).1;
            for issue in issues {
                let named = |it: &&&str| issue.message == format!("unknown field `{it}`");
                let explained = fields.contains(&issue.path.as_str())
                    || fields.iter().any(|field| named(&field));
                assert!(explained, "{action:?}: {issue:?}");
            }
            Exemption::LaterForm
        }
    }
}

#[test]
fn every_recorded_refusal_holds_and_every_recorded_acceptance_has_its_reason() {
    let (mut agreed, mut later_actions, mut later_forms, mut envelopes) = (0, 0, 0, 0);
    for case in cases("ipc_messages_recorded.json") {
        let verdict = ipc::parse(&bytes(&case.input["message"]));
        match (case.expected == "accept", verdict) {
            (false, Ok(action)) => panic!("{}: {action:?}", case.name),
            (false, Err(_)) | (true, Ok(_)) => agreed += 1,
            (true, Err(error)) => match exemption(&case.input, &error) {
                Exemption::LaterAction => later_actions += 1,
                Exemption::LaterForm => later_forms += 1,
                Exemption::EnvelopeOnly => envelopes += 1,
            },
        }
    }
    // Written down so that an exemption cannot come in unseen.
    assert_eq!((agreed, later_actions, later_forms, envelopes), (144, 26, 6, 7));
}

#[test]
fn every_verdict_on_sub_agents_holds() {
    let cases = cases("ipc_messages_ax.json");
    let of_sub_agents = cases.iter().filter(|it| it.name.starts_with("agent_"));
    let of_ours = of_sub_agents.filter(|it| {
        let named = it.name.split([':', ' ']).next().unwrap_or_default();
        ActionName::parse(named).is_some()
    });
    let mut seen = 0;
    for case in of_ours {
        let verdict = ipc::parse(&bytes(&case.input));
        assert_eq!(verdict.is_ok(), case.expected == "accept", "{}: {verdict:?}", case.name);
        seen += 1;
    }
    assert!(seen > 25, "{seen}");
}

#[test]
fn a_raw_message_gets_the_recorded_class_of_error() {
    let (mut agreed, mut later) = (0, 0);
    for case in cases("ipc_pipeline.json") {
        let raw = case.input["raw"].as_str().unwrap();
        let class = match ipc::parse(raw.as_bytes()) {
            Ok(_) => "none",
            Err(IpcError::Malformed(_)) => "invalid_json",
            Err(IpcError::UnknownAction { .. }) => "unknown_action",
            Err(IpcError::Invalid { .. }) => "validation",
        };
        let message: Value = serde_json::from_str(raw).unwrap_or_default();
        let name = message["action"].as_str().unwrap_or_default();
        let later_action = ActionName::parse(name).is_none() && name != "nonexistent_action";
        if later_action && message.is_object() {
            // An action that the issue does not have is unknown here, whatever it carries.
            assert_eq!(class, "unknown_action", "{}", case.name);
            later += 1;
        } else {
            let expected = case.expected["error_kind"].as_str().unwrap_or("none");
            assert_eq!(class, expected, "{}", case.name);
            agreed += 1;
        }
    }
    assert_eq!((agreed, later), (17, 41));
}

#[test]
fn authority_that_a_message_claims_is_refused() {
    let mut refused = 0;
    for case in cases("authority_required.json") {
        let message = &case.input["message"];
        let expected = case.expected.as_str().unwrap();
        if message.is_object() && expected.starts_with("reject") {
            assert!(ipc::parse(&bytes(message)).is_err(), "{}", case.name);
            refused += 1;
        }
    }
    assert_eq!(refused, 6);
    for identity in ["_sessionId", "_userId", "_sessionScope", "sessionId", "userId", "tainted"] {
        for name in ActionName::ALL {
            let message = serde_json::json!({"action": name.as_str(), identity: "root"});
            let error = ipc::parse(message.to_string().as_bytes()).unwrap_err();
            let IpcError::Invalid { issues, .. } = error else { panic!("{error:?}") };
            let told = issues.iter().any(|it| it.message == format!("unknown field `{identity}`"));
            assert!(told, "{name:?}: {issues:?}");
        }
    }
}
