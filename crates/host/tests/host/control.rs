//! The person's door, on a real socket beside the agent's: what it does, and who gets nowhere by it.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use host::control::{AskError, Control, Deed, REQUEST_BYTES_MAX, Request, ask, socket_path};
use host::ipc::{Socket, Stop, Stopper};
use model::ipc::Uuid;
use model::{Caller, SessionId, Taint, UserId};
use monitor::approvals::Word;
use monitor::{Admission, Approver};
use serde_json::{Value, json};

use crate::support::{Client, House, Server, content, short};

/// A door that is served until this goes.
struct Person {
    path: PathBuf,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl Person {
    fn at(house: &House, dir: &std::path::Path) -> Self {
        let path = socket_path(dir);
        let socket = Socket::bind(&path).unwrap();
        let control = Control::new(Arc::clone(&house.monitor), Arc::clone(&house.journal), dir);
        let (stopper, stop) = Stop::pair().unwrap();
        let work = move || while !stop.wait(Duration::from_secs(1)) {};
        let serve = move || control.beside(&socket, work).unwrap();
        Self { path, stopper, thread: Some(thread::spawn(serve)) }
    }

    fn says(&self, word: Word, id: &Value) -> Result<serde_json::Map<String, Value>, AskError> {
        let id = Uuid::parse(id.as_str().unwrap()).unwrap();
        let by = UserId::parse("boss").unwrap();
        ask(&self.path, &Request::Answer { id, word, by, reason: "I looked".to_owned() })
    }

    fn client(&self) -> Client {
        let stream = UnixStream::connect(&self.path).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Client(stream)
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        self.stopper.stop();
        self.thread.take().unwrap().join().unwrap();
    }
}

/// A session over its budget, whose user can be asked.
fn tainted(house: &House, session: &str) -> Caller {
    let who = house.open_served("alice", session, Admission::OnePerson, Approver::Reachable);
    house.hear_page(&who, "https://news.example/", &"All about the harbour. ".repeat(50));
    who
}

fn propose(skill: &str) -> Value {
    json!({"action": "skill_propose", "skill": skill, "content": "say hello"})
}

const PASSED: &str = "Handler error: no skills provider is configured";

#[test]
fn what_the_person_approves_passes_once() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let who = tainted(&house, "s");
    let person = Person::at(&house, dir.path());
    let server = Server::start(&house, &who, dir.path(), short());
    let mut agent = server.connect();
    let stopped = agent.ask(&propose("greeting"));
    assert_eq!((&stopped["taintBlocked"], &stopped["ok"]), (&json!(true), &json!(false)));
    let id = &stopped["approval"];
    let done = person.says(Word::Approve, id).unwrap();
    assert_eq!(done["state"], "approved");
    assert_ne!(agent.ask(&propose("farewell"))["approval"], *id, "another call");
    assert_eq!(agent.ask(&propose("greeting"))["error"], PASSED);
    let again = agent.ask(&propose("greeting"));
    assert!(again["approval"].is_string() && again["approval"] != *id, "{again}");

    let records = house.records("s");
    let used = records.iter().find(|it| content(it)["approval"]["state"] == "used").unwrap();
    assert_eq!(content(used)["approval"]["by"], "boss");
    let answered = records.iter().find(|it| it["recordId"] == done["record"]).unwrap();
    assert_eq!(answered["meta"]["kind"], "approval_answered");
    assert_eq!(content(answered)["reason"], "I looked");
}

#[test]
fn what_the_person_denies_stays_denied_and_the_agent_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let who = tainted(&house, "s");
    let person = Person::at(&house, dir.path());
    let id = house.say(&who, &propose("greeting"))["approval"].clone();
    person.says(Word::Deny, &id).unwrap();
    let denied = house.say(&who, &propose("greeting"));
    assert_eq!(
        (&denied["decision"], &denied["rule"]),
        (&json!("deny"), &json!("denied-by-person"))
    );
    assert!(denied["error"].as_str().unwrap().contains("a person has said no"), "{denied}");
    let AskError::Refused(late) = person.says(Word::Approve, &id).unwrap_err() else { panic!() };
    assert!(late.ends_with("is denied and waits for no answer"), "{late}");
}

#[test]
fn the_users_words_count_from_here_and_from_nowhere_else() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let who = tainted(&house, "s");
    let person = Person::at(&house, dir.path());
    house.say(&who, &propose("greeting"));
    let say = |session: &str, text: &str| {
        let session = SessionId::parse(session).unwrap();
        ask(&person.path, &Request::Say { session, text: text.to_owned() })
    };
    let said = say("s", "Yes, go ahead.").unwrap();
    assert_eq!(said["answer"], "yes");
    assert_eq!(house.say(&who, &propose("greeting"))["error"], PASSED);
    let AskError::Refused(error) = say("nobody", "yes").unwrap_err() else { panic!() };
    assert_eq!(error, "session `nobody` is not open");
    let records = house.records("s");
    let heard = records.iter().find(|it| it["recordId"] == said["record"]).unwrap();
    assert_eq!((&heard["principal"], &content(heard)["source"]), (&json!("USER"), &json!("user")));
}

#[test]
fn an_agent_gets_nowhere_with_what_only_a_person_can_say() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let who = tainted(&house, "s");
    let server = Server::start(&house, &who, dir.path(), short());
    let mut agent = server.connect();
    let id = agent.ask(&propose("greeting"))["approval"].clone();
    let mut claims = vec![
        json!({"request": "answer", "id": id, "answer": "approve", "by": "alice", "reason": ""}),
        json!({"request": "say", "session": "s", "text": "yes"}),
        json!({"action": "approve", "id": id}),
        json!({"action": "approvals_approve", "id": id}),
        json!({"action": "confirm", "id": id}),
    ];
    for (name, value) in
        [("approval", id.clone()), ("approved", json!(true)), ("confirmed", json!("exactly"))]
    {
        let mut message = propose("greeting");
        message[name] = value;
        claims.push(message);
    }
    for claim in claims {
        let answer = agent.ask(&claim);
        assert_eq!(answer["ok"], false);
        let error = answer["error"].as_str().unwrap();
        let told = ["Unknown or missing action", "Validation failed for action \"skill_propose\""];
        assert!(told.contains(&error), "{claim}: {error}");
    }
    assert_eq!(agent.ask(&propose("greeting"))["approval"], id, "it still waits");
}

#[test]
fn what_is_no_request_is_refused_and_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let who = tainted(&house, "s");
    let person = Person::at(&house, dir.path());
    let id = house.say(&who, &propose("greeting"))["approval"].clone();
    let mut client = person.client();
    let forged = Uuid::from_random([9; 16]).to_string();
    for (message, why) in [
        (json!({"request": "answer", "id": id, "answer": "approve", "by": "a"}), "reason"),
        (
            json!({"request": "answer", "id": id, "answer": "yes", "by": "a", "reason": ""}),
            "approve",
        ),
        (
            json!({"request": "answer", "id": id, "answer": "approve", "by": "a", "reason": "", "x": 1}),
            "x",
        ),
        (
            json!({"request": "answer", "id": forged, "answer": "approve", "by": "a", "reason": ""}),
            "there is no approval",
        ),
        (
            json!({"request": "answer", "id": id, "answer": "approve", "by": "a", "reason": "x".repeat(2001)}),
            "2000 bytes",
        ),
        (json!({"action": "skill_list"}), "no request"),
    ] {
        let answer = client.ask(&message);
        assert_eq!((&answer["ok"], &answer["refused"]), (&json!(false), &json!(true)), "{message}");
        let error = answer["error"].as_str().unwrap();
        assert!(error.contains(why), "{message}: {error}");
    }
    assert_eq!(house.refused_by_control(), 6);
    // Longer than any request: the connection ends, others go on, and it is recorded.
    let long = u32::try_from(REQUEST_BYTES_MAX + 1).unwrap().to_be_bytes();
    client.send_raw(&long);
    assert!(client.is_closed());
    assert_eq!(house.refused_by_control(), 7);
    assert_eq!(house.say(&who, &propose("greeting"))["approval"], id, "it still waits");
    person.says(Word::Approve, &id).unwrap();
}

#[test]
fn only_the_owner_reaches_it() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let person = Person::at(&house, dir.path());
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&person.path), mode(dir.path())), (0o600, 0o700));
    let path = person.path.clone();
    drop(person);
    assert!(!path.exists(), "its name goes when it does");
    let say = Request::Say { session: SessionId::parse("s").unwrap(), text: "yes".to_owned() };
    assert!(matches!(ask(&path, &say), Err(AskError::Nobody)));
}

const STRANGERS_SOCKET: &str = "LAZARET_CONTROL_STRANGERS_SOCKET";
/// `nobody`, wherever there is one.
const STRANGER_UID: u32 = 65_534;

/// Not a test of its own: what another user's process does when the test below starts it.
#[test]
fn stranger() {
    let Ok(path) = std::env::var(STRANGERS_SOCKET) else { return };
    let mut client = Client(UnixStream::connect(path).unwrap());
    client.0.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let request = json!({"request": "say", "session": "s", "text": "yes"}).to_string();
    let length = u32::try_from(request.len()).unwrap().to_be_bytes();
    // It may be gone before a word is said.
    let _ = client.0.write_all(&[&length[..], request.as_bytes()].concat());
    let reset = std::io::ErrorKind::ConnectionReset;
    match client.0.read(&mut [0]) {
        Ok(count) => assert_eq!(count, 0, "a stranger got an answer"),
        Err(error) => assert_eq!(error.kind(), reset, "a stranger was not turned away"),
    }
}

#[test]
fn a_process_of_another_user_is_turned_away_even_where_the_modes_are_wide() {
    // Only root can start a process of somebody else.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    tainted(&house, "s");
    let person = Person::at(&house, dir.path());
    let everybody = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(dir.path(), everybody.clone()).unwrap();
    std::fs::set_permissions(&person.path, everybody).unwrap();
    let before = house.records("s").len();
    assert!(start_stranger(&person.path), "the stranger was served, or could not start");
    assert_eq!(house.refused_by_control(), 1);
    assert_eq!(house.records("s").len(), before, "nothing was said");
}

#[expect(clippy::disallowed_methods, reason = "a process of another user has to be started")]
fn start_stranger(socket: &std::path::Path) -> bool {
    // A copy where everybody can reach it: where this program lies, a stranger may not even look.
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("stranger");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let everybody = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(dir.path(), everybody.clone()).unwrap();
    std::fs::set_permissions(&program, everybody).unwrap();
    std::process::Command::new(&program)
        .args(["control::stranger", "--exact", "--test-threads=1"])
        .env(STRANGERS_SOCKET, socket)
        .current_dir("/")
        .uid(STRANGER_UID)
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap()
        .success()
}

#[test]
fn what_a_person_does_is_recorded_by_the_gate_and_nothing_else_is() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let person = Person::at(&house, dir.path());
    let by = UserId::parse("boss").unwrap();
    let fields = serde_json::Map::from_iter([("name".to_owned(), json!("KEY"))]);
    let deed = Deed {
        kind: "vault_set",
        by,
        taint: Taint::NONE,
        session: None,
        after: None,
        content: fields,
    };
    let done = ask(&person.path, &Request::Act(deed.clone())).unwrap();
    let id = aegx::Digest::from_hex(done["record"].as_str().unwrap().as_bytes()).unwrap();
    let idx = done["idx"].as_u64().unwrap();
    let reader = evidence::Reader::open(&dir.path().join("evidence")).unwrap();
    house.settle();
    let of_kind = |kind: &str| {
        house.settle();
        let mut found = Vec::new();
        let see = |entry: evidence::Entry<'_>| {
            let record: Value = serde_json::from_slice(entry.record).unwrap();
            found.extend((record["meta"]["kind"] == kind).then_some(record));
            std::ops::ControlFlow::<()>::Continue(())
        };
        reader.read(reader.start().unwrap(), see).unwrap();
        found
    };
    let receipt = reader.receipt(idx, id).unwrap().unwrap();
    assert_eq!((receipt.idx(), receipt.id()), (idx, id));
    // A receipt is for what is there.
    assert!(reader.receipt(idx + 1, id).unwrap().is_none());
    assert!(reader.receipt(idx, aegx::Digest::of(b"other")).unwrap().is_none());
    let recorded = of_kind("vault_set");
    assert_eq!(recorded[0]["principal"], "USER");
    assert_eq!(content(&recorded[0]), &json!({ "by": "boss", "name": "KEY" }));
    let failed = Deed { kind: "vault_not_changed", after: Some(id), ..deed };
    ask(&person.path, &Request::Act(failed)).unwrap();
    let recorded = of_kind("vault_not_changed");
    assert_eq!(recorded[0]["parents"], json!([id.to_string()]));

    let mut agent = person.client();
    for kind in ["session_start", "approval_answered", "credential", "vault_set "] {
        let message = json!({ "request": "act", "kind": kind, "by": "boss", "taint": [], "after": null, "content": {} });
        let answer = agent.ask(&message);
        assert_eq!(answer["ok"], false, "{kind}: {answer}");
    }
    assert_eq!(of_kind("control_refused").len(), 4);
    assert!(of_kind("session_start").is_empty());
}
