//! All of a user is taken along and deleted, and nothing of anybody else.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use aegx::RecordType;
use evidence::{Durability, NewRecord};
use llm::Role;
use model::{AgentId, SessionId};
use monitor::Approver;
use monitor::provenance::Catalogue;
use policy::Policy;
use policy::access::Origin;
use store::Notes as _;

use super::*;
use crate::ipc::Stop;
use crate::worker::Spoken;
use crate::{AgentSession, SessionOptions, Starter};

fn caller(user: &str, session: &str) -> Caller {
    Caller {
        session: SessionId::parse(session).unwrap(),
        user: UserId::parse(user).unwrap(),
        agent: AgentId::parse("main").unwrap(),
        door: model::Kind::of_static("serve"),
    }
}

fn remember(gate: &Gate, home: &Path, who: &Caller, text: &str) {
    let options = SessionOptions {
        profile: None,
        approver: Approver::Reachable,
        workspace: None,
        own_workspace: true,
        ephemeral: false,
        origin: Origin::Local,
        starter: Starter::Person,
    };
    let (_stopper, stop) = Stop::pair().unwrap();
    let session = AgentSession::open(gate, home, who, &options, &stop).unwrap();
    for message in [
        json!({ "action": "memory_write", "scope": "notes", "content": text, "type": "knowledge" }),
        json!({ "action": "task_add", "text": format!("{text} to do") }),
        json!({ "action": "scratch_write", "name": "n", "content": format!("{text} noted") }),
    ] {
        let answer = session.door().answer(who, message.to_string().as_bytes()).to_value();
        assert_eq!(answer["ok"], true, "{answer}");
    }
    session.end(gate).unwrap();
}

#[test]
#[expect(clippy::disallowed_methods, reason = "files of the test's own")]
fn everything_of_a_user_goes_along_and_away_and_nothing_of_others() {
    let home = tempfile::tempdir().unwrap();
    let unsynced = Durability::DangerouslyUnsynced;
    let policy = Policy::embedded().unwrap();
    let gate = Arc::new(Gate::open(home.path(), unsynced, policy, Catalogue::default()).unwrap());
    remember(&gate, home.path(), &caller("ann", "a"), "anns own words");
    remember(&gate, home.path(), &caller("bob", "b"), "bobs own words");
    let belongings = Belongings::new(&gate, home.path());
    let ann = UserId::parse("ann").unwrap();
    let (_, own) = belongings.workspaces(&ann).unwrap().remove(0);
    fs::write(own.join("letter"), "dear").unwrap();
    symlink("/etc", own.join("away")).unwrap();
    fs::create_dir_all(own.join("d/e")).unwrap();
    fs::set_permissions(own.join("d"), fs::Permissions::from_mode(0o0)).unwrap();
    let kind = model::Kind::of_static("privacy_deletion");
    let record = NewRecord::of_host(RecordType::GuardDecision, kind, json!({}));
    let receipt = gate.journal.append(record).unwrap();
    let mut all = String::new();
    let mut put = |name: &str, bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        writeln!(all, "{name}: {text}").map_err(|error| error.to_string())
    };
    belongings.export(&ann, &receipt, &mut put).unwrap();
    for wanted in ["anns own words to do", "anns own words noted", "letter: dear", "jobs.json"] {
        assert!(all.contains(wanted), "{wanted}: {all}");
    }
    assert!(all.contains("main/away") && !all.contains("bobs") && !all.contains("passwd"), "{all}");
    let gone = belongings.delete(&ann, &receipt).unwrap();
    assert_eq!((gone.memory, gone.jobs, gone.proposals), (3, 0, 0));
    assert!(gone.workspace_entries >= 4 && !own.exists(), "{gone:?}");
    assert_eq!(belongings.delete(&ann, &receipt).unwrap(), Gone::default());
    // Nothing says who they are: no file lists users.
    let bobs = caller("bob", "b2");
    remember(&gate, home.path(), &bobs, "more of bobs");
    let spoken = Spoken { role: Role::User, text: "said".to_owned() };
    let history = History::of(home.path(), &bobs).unwrap();
    history.add(gate.store.as_ref(), &bobs, &spoken, None).unwrap();
    assert_eq!(belongings.forget_quiet(Duration::from_secs(3600)).unwrap(), 0);
    assert_eq!(belongings.forget_quiet(Duration::ZERO).unwrap(), 1);
    assert!(history.lines().unwrap().is_none());
    let notes = gate.store.forget_notes(&bobs.user, &bobs.session).unwrap();
    assert_eq!((notes, belongings.all_workspaces().unwrap().len()), (0, 1));
    // The notes of a session go without the rest.
    belongings.forget_session(&caller("bob", "b")).unwrap();
    assert_eq!(belongings.delete(&UserId::parse("bob").unwrap(), &receipt).unwrap().memory, 4);
    assert!(belongings.wipe().unwrap());
}
