//! `corpus/ax/authority_required.json` through the real door: whatever a message or a frame claims,
//! it gets no more than the connection has.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Client, House, Server, content, short};

/// What must hold, by the name of the case.
enum Claim {
    /// The action has no such field.
    UnknownField(&'static str),
    /// The action is none of ours. What the case asks of it (limits of children, a cleared environment,
    /// a review) is met because there is no way to ask for it at all.
    NoSuchAction,
    /// Only agents that the host runs itself have sub-agents; what these may is tested where they run.
    NobodyToHandTo,
    /// It is somebody else's, and so not there.
    NotFound,
    /// The frame ends the connection, at once or when its time is up, and that is recorded.
    Closed,
    /// The frame gets an answer, and the connection goes on.
    InvalidJson,
    /// One byte at a time, for ever.
    Drip,
    /// No message: it is about commands in a sandbox, and no action of ours runs one.
    NoCommands,
}

const CLAIMS: &[(&str, Claim)] = &[
    ("_sessionId in message", Claim::UnknownField("_sessionId")),
    ("_userId in message", Claim::NoSuchAction),
    ("proposal_review by agent", Claim::NoSuchAction),
    ("memory_read of another user's entry by id", Claim::NotFound),
    ("memory_delete of another user's entry by id", Claim::NotFound),
    ("delegation raises own limits", Claim::NobodyToHandTo),
    ("sandbox_bash", Claim::NoSuchAction),
    ("sandbox_read_file through symlink", Claim::NoSuchAction),
    ("skill_import autoApprove", Claim::NoSuchAction),
    ("IPC frame length 0xFFFFFFFF", Claim::Closed),
    ("IPC frame length 0", Claim::InvalidJson),
    ("IPC partial frame never completed", Claim::Closed),
    ("IPC 1-byte drip", Claim::Drip),
    ("IPC deep nesting 100k", Claim::InvalidJson),
    ("IPC invalid utf-8", Claim::InvalidJson),
    ("credential env visible in sandbox", Claim::NoCommands),
    ("empty _userId writes another user's USER.md", Claim::NoSuchAction),
    ("no authenticated user on the connection", Claim::NoSuchAction),
    ("delegated child loses the user id", Claim::NobodyToHandTo),
];

#[test]
fn every_required_case_of_authority_holds() {
    let cases = crate::corpus::cases("authority_required.json");
    assert_eq!(cases.len(), CLAIMS.len());
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let bob = house.open("bob", "bobs");
    let write = json!({"action": "memory_write", "scope": "a", "content": "x", "type": "context"});
    let row = house.say(&bob, &write)["id"].clone();
    let who = house.open("alice", "s");
    let server = Server::start(&house, &who, dir.path(), short());
    for case in &cases {
        let claim = CLAIMS.iter().find(|(name, _)| case["name"] == *name);
        let (name, claim) = claim.unwrap_or_else(|| panic!("{}: no claim", case["name"]));
        let before = house.records("s").len();
        hold(claim, &case["input"], &row, &mut server.connect());
        let records = house.records("s");
        assert!(records.len() > before, "{name}: it left no record");
        if matches!(claim, Claim::Closed | Claim::Drip) {
            let last = records.last().unwrap();
            assert_eq!(last["meta"]["kind"], "malformed_frame", "{name}");
            assert_eq!(content(last)["decision"], "deny");
        }
    }
    let own = house.say(&bob, &json!({"action": "memory_read", "id": row}));
    assert_eq!(own["ok"], true, "what is Bob's is still there");
}

fn hold(claim: &Claim, input: &Value, row: &Value, client: &mut Client) {
    match claim {
        Claim::UnknownField(field) => {
            let answer = client.ask(&input["message"]);
            let told = format!("unknown field `{field}`");
            let details = answer["details"].as_array().unwrap();
            assert!(details.iter().any(|it| it["message"] == told), "{answer}");
        }
        Claim::NoSuchAction => {
            let answer = client.ask(&input["message"]);
            assert_eq!(answer["error"], "Unknown or missing action", "{answer}");
        }
        Claim::NobodyToHandTo => {
            let error = client.ask(&input["message"])["error"].as_str().unwrap().to_owned();
            assert!(error.contains("sub-agents"), "{error}");
        }
        Claim::NotFound => {
            let mut message = input["message"].clone();
            message["id"] = row.clone();
            let error = client.ask(&message)["error"].as_str().unwrap().to_owned();
            assert!(error.starts_with("Handler error: there is no memory entry"), "{error}");
        }
        Claim::Closed => {
            client.send_raw(&hex(&input["frame_hex"]));
            assert!(client.is_closed(), "{input}");
        }
        Claim::InvalidJson => {
            match input.get("frame_hex") {
                Some(frame) => client.send_raw(&hex(frame)),
                None => client
                    .send(crate::corpus::spelled_out(&input["raw"]).as_str().unwrap().as_bytes()),
            }
            assert_eq!(client.answer(), json!({"ok": false, "error": "Invalid JSON"}));
            assert_eq!(client.ask(&json!({"action": "audit_query"}))["ok"], true, "it goes on");
        }
        Claim::Drip => {
            for byte in b"\0\0\0\x40{\"action\":\"skill_list\"".iter().cycle().take(64) {
                if std::io::Write::write_all(&mut client.0, &[*byte]).is_err() {
                    return;
                }
                thread::sleep(Duration::from_millis(50));
            }
            panic!("three seconds of single bytes, and still connected");
        }
        Claim::NoCommands => {
            let message = json!({"action": "shell_exec", "command": input["command"]});
            assert_eq!(client.ask(&message)["ok"], false, "nobody has chosen a shell");
            for action in ["sandbox_bash", "bash", "exec"] {
                let message = json!({"action": action, "command": input["command"]});
                assert_eq!(client.ask(&message)["error"], "Unknown or missing action");
            }
        }
    }
}

fn hex(text: &Value) -> Vec<u8> {
    data_encoding::HEXLOWER.decode(text.as_str().unwrap().as_bytes()).unwrap()
}
