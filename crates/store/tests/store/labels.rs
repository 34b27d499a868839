//! Labels of content and of turns: known again across sessions, cleared by a person alone.

use aegx::{Digest, RecordType};
use evidence::{Config, Journal, NewRecord};
use model::ipc::Role;
use model::{Kind, Profile, Source, Taint, TaintTag, UserId};
use monitor::{State, Summary};
use serde_json::json;
use store::{ClearError, Fingerprint, Labels, Store, Subject, TurnError, Turns, Word};

use crate::store::common::{caller, open, session, summary};

fn tag(taint: Taint, unix_seconds: i64) -> TaintTag {
    let (source, record) = (Source::File, String::new());
    TaintTag { source, taint, origin: "letter.txt".to_owned(), unix_seconds, record }
}

#[test]
fn a_copy_is_known_again_after_a_restart_and_only_gets_worse() {
    let dir = tempfile::tempdir().unwrap();
    let original = Fingerprint::of(b"Dear all,\npay at pay.evil.example\n");
    let copy = Fingerprint::of(b"dear all, pay at PAY.EVIL.EXAMPLE");
    let store = open(dir.path());
    assert_eq!(store.label_of(&original.digests()).unwrap(), None);
    store.remember_label(&original.digests(), &tag(Taint::UNTRUSTED, 5)).unwrap();
    drop(store);
    let store = open(dir.path());
    assert_eq!(store.label_of(&copy.digests()).unwrap(), Some(tag(Taint::UNTRUSTED, 5)));
    // An older and milder word changes nothing; another adds to it, and what is graver keeps its name.
    store.remember_label(&copy.digests(), &tag(Taint::NONE, 1)).unwrap();
    assert_eq!(store.label_of(&original.digests()).unwrap(), Some(tag(Taint::UNTRUSTED, 5)));
    store.remember_label(&copy.digests(), &tag(Taint::SECRET_RISK, 9)).unwrap();
    let both = Taint::UNTRUSTED.union(Taint::SECRET_RISK);
    assert_eq!(store.label_of(&original.digests()).unwrap(), Some(tag(both, 5)));
    assert_eq!(store.label_of(&[Digest::of(b"other")]).unwrap(), None);
}

/// Each digest is looked up by itself: beside another that nobody touched, a label that was lost would not be missed.
#[test]
fn a_milder_word_takes_nothing_from_the_digest_it_is_about() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let (one, other) = ([Digest::of(b"one")], [Digest::of(b"other")]);
    store.remember_label(&one, &tag(Taint::UNTRUSTED, 5)).unwrap();
    let milder = [
        tag(Taint::NONE, 9),
        tag(Taint::UNTRUSTED, 1),
        TaintTag { origin: "mine.txt".to_owned(), ..tag(Taint::NONE, 1) },
    ];
    for word in &milder {
        store.remember_label(&one, word).unwrap();
        assert_eq!(store.label_of(&one).unwrap(), Some(tag(Taint::UNTRUSTED, 5)), "{word:?}");
    }
    // One that adds to it leaves what was there.
    store.remember_label(&one, &tag(Taint::SECRET_RISK, 7)).unwrap();
    let both = Taint::UNTRUSTED.union(Taint::SECRET_RISK);
    assert_eq!(store.label_of(&one).unwrap().unwrap().taint, both);
    // A word about several is a word about each, and only about them.
    store.remember_label(&[one[0], other[0]], &tag(Taint::NONE, 11)).unwrap();
    assert_eq!(store.label_of(&one).unwrap().unwrap().taint, both);
    assert_eq!(store.label_of(&other).unwrap().map(|it| it.taint), Some(Taint::NONE));
}

#[test]
fn turns_keep_their_order_and_their_tags() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let who = caller("s");
    store.open(&who, Profile::Standard).unwrap();
    let (asked, said) = (Digest::of(b"what does it say?"), Digest::of(b"it says"));
    store.append_turn(&who.session, Role::User, &asked, None).unwrap();
    let page = tag(Taint::UNTRUSTED, 5);
    store.append_turn(&who.session, Role::Assistant, &said, Some(&page)).unwrap();
    // Content that is known as tainted stays so, even if it comes in as somebody's own words.
    store.remember_label(&[asked], &page).unwrap();
    store.append_turn(&who.session, Role::User, &asked, None).unwrap();
    drop(store);
    let turns = open(dir.path()).turns(&who.session, 100).unwrap();
    let seen: Vec<_> = turns.iter().map(|it| (it.role, it.text, it.tag.is_some())).collect();
    let expected =
        [(Role::User, asked, false), (Role::Assistant, said, true), (Role::User, asked, true)];
    assert_eq!(seen, expected);
    let unknown = TurnError::Unknown { session: session("t") };
    let store = open(dir.path());
    assert_eq!(store.turns(&session("t"), 100).unwrap_err(), unknown);
    let added = store.append_turn(&session("t"), Role::User, &asked, None);
    assert_eq!(added.unwrap_err(), unknown);
}

#[test]
fn a_person_clears_a_session_and_that_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, _) = Journal::open(&Config::new(dir.path().join("evidence"))).unwrap();
    let kind = Kind::parse("taint_cleared").unwrap();
    let record = NewRecord::of_host(RecordType::ControlPlaneChangeRequest, kind, json!({}));
    let receipt = journal.append(record).unwrap();
    let store = open(dir.path());
    let who = caller("s");
    store.open(&who, Profile::Paranoid).unwrap();
    store.append(&who.session, b"taint", &summary(3)).unwrap();
    let page = tag(Taint::UNTRUSTED, 5);
    let said = Digest::of(b"it says");
    store.append_turn(&who.session, Role::Assistant, &said, Some(&page)).unwrap();

    let word = Word {
        by: UserId::parse("alice").unwrap(),
        at: 5000,
        reason: "the page was mine".to_owned(),
    };
    let store: &dyn Store = &store;
    let subject = Subject::Session(who.session.clone());
    let cleared = store.clear(&subject, &word, &receipt).unwrap();
    assert_eq!((cleared.taint, &cleared.record), (summary(3).taint, &receipt.id().to_string()));
    let opened = store.open(&who, Profile::Yolo).unwrap();
    assert_eq!((opened.changes, opened.profile), (Vec::new(), Profile::Paranoid));
    let row = store.session(&who.session).unwrap().unwrap();
    assert_eq!(row.summary, Summary { calls: 3, ..Summary::default() });
    assert_eq!(store.turns(&who.session, 100).unwrap()[0].tag, None);
    assert_eq!(store.clearings(Some(&subject), 10).unwrap(), [cleared]);
    let missing = Subject::Session(session("t"));
    let outcome = store.clear(&missing, &word, &receipt);
    assert_eq!(outcome, Err(ClearError::NotFound { subject: missing }));
}
