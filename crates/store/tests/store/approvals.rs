//! Approvals: durable, bound to one call of one session, used once, over when their time is over.

use aegx::Digest;
use model::{EffectKind, UserId};
use store::{
    ApprovalError, ApprovalState, Approvals, LIFE_SECONDS_MAX, PENDING_PER_SESSION_MAX, Question,
    SETTLED_SECONDS_KEPT, SHOWN_BYTES_MAX, SqliteStore, Verdict,
};

use crate::common::{open, session};

fn question(id: &str, call: &str) -> Question {
    Question {
        session: session(id),
        user: UserId::parse("alice").unwrap(),
        action: EffectKind::MemoryWrite,
        call: Digest::of(call.as_bytes()),
        shown: format!("The agent wants to {call}."),
        created: 1000,
        expires: 1600,
    }
}

fn alice() -> UserId {
    UserId::parse("alice").unwrap()
}

fn take(store: &SqliteStore, id: &str, call: &str, now: i64) -> bool {
    store.take(&session(id), &Digest::of(call.as_bytes()), now).unwrap().is_some()
}

#[test]
fn an_approval_is_good_for_one_use_of_its_own_call() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let id = store.ask(&question("s", "send")).unwrap();
    assert!(!take(&store, "s", "send", 1001), "nobody answered");
    store.answer(id, Verdict::Approve, &alice(), 1002).unwrap();
    drop(store);
    let store = open(dir.path());
    assert!(!take(&store, "s", "send more", 1003));
    assert!(!take(&store, "t", "send", 1003));
    assert!(take(&store, "s", "send", 1003));
    assert!(!take(&store, "s", "send", 1003));
    let used = store.approval(id, 1004).unwrap();
    assert_eq!((used.state, used.answered_by), (ApprovalState::Used, Some(alice())));
    assert_eq!(used.question, question("s", "send"));
}

#[test]
fn sixteen_takers_get_it_once() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let id = store.ask(&question("s", "send")).unwrap();
    store.answer(id, Verdict::Approve, &alice(), 1002).unwrap();
    let other = open(dir.path());
    let taken: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|it| if it % 2 == 0 { &store } else { &other })
            .map(|store| scope.spawn(move || usize::from(take(store, "s", "send", 1003))))
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).sum()
    });
    assert_eq!(taken, 1);
}

#[test]
fn what_was_denied_or_answered_stays_so() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let id = store.ask(&question("s", "send")).unwrap();
    store.answer(id, Verdict::Deny, &alice(), 1002).unwrap();
    let again = store.answer(id, Verdict::Approve, &alice(), 1003);
    assert_eq!(again, Err(ApprovalError::Settled { id, state: ApprovalState::Denied }));
    assert!(!take(&store, "s", "send", 1003));
    let other = store.ask(&question("s", "send")).unwrap();
    assert_ne!(other, id, "a new question, which the old answer does not answer");
}

#[test]
fn time_runs_out_for_questions_and_answers_and_does_not_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let asked = store.ask(&question("s", "send")).unwrap();
    let late = store.answer(asked, Verdict::Approve, &alice(), 1600);
    assert_eq!(late, Err(ApprovalError::Settled { id: asked, state: ApprovalState::Expired }));
    let answered = store.ask(&question("s", "post")).unwrap();
    store.answer(answered, Verdict::Approve, &alice(), 1599).unwrap();
    assert_eq!(store.approval(answered, 1600).unwrap().state, ApprovalState::Expired);
    assert!(!take(&store, "s", "post", 1600));
    // A clock that is set back does not bring it back.
    assert!(!take(&store, "s", "post", 1001));
}

#[test]
fn the_same_question_is_asked_once_and_a_session_cannot_flood() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let first = store.ask(&question("s", "call 0")).unwrap();
    assert_eq!(store.ask(&question("s", "call 0")).unwrap(), first);
    for number in 1..PENDING_PER_SESSION_MAX {
        store.ask(&question("s", &format!("call {number}"))).unwrap();
    }
    let full = store.ask(&question("s", "one more"));
    assert_eq!(full, Err(ApprovalError::TooMany { session: session("s") }));
    store.ask(&question("t", "one more")).unwrap();
    let waiting = store.waiting(1001, 5).unwrap();
    assert_eq!(waiting.len(), 5);
    assert_eq!(waiting[0].id, first);
    assert_eq!(store.waiting(1600, 5).unwrap(), []);
    // What ran out makes room.
    let later = Question { created: 2000, expires: 2600, ..question("s", "one more") };
    store.ask(&later).unwrap();
}

#[test]
fn a_question_is_short_and_does_not_live_long() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let long = Question { shown: "x".repeat(SHOWN_BYTES_MAX + 1), ..question("s", "send") };
    assert!(matches!(store.ask(&long), Err(ApprovalError::TooLong { .. })));
    for expires in [i64::MIN, 0, 1000, 1001 + LIFE_SECONDS_MAX, i64::MAX] {
        let asked = store.ask(&Question { expires, ..question("s", "send") });
        assert!(matches!(asked, Err(ApprovalError::Life { .. })), "{expires}");
    }
}

#[test]
fn what_was_settled_long_ago_is_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let id = store.ask(&question("s", "send")).unwrap();
    let now = 1601 + SETTLED_SECONDS_KEPT;
    assert!(!take(&store, "s", "send", now));
    assert_eq!(store.approval(id, now), Err(ApprovalError::NotFound { id }));
    let answered = store.answer(id, Verdict::Approve, &alice(), now);
    assert_eq!(answered, Err(ApprovalError::NotFound { id }));
}
