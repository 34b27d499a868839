//! Approvals: durable, bound to one call of one session, used once, over when their time is over.

use aegx::{Digest, RecordType};
use evidence::{Config, Journal, NewRecord, Receipt};
use model::{AgentId, EffectKind, Kind, UserId};
use monitor::approvals::{
    Answer, ApprovalError, ApprovalState, Approvals, ExactCall, LIFE_SECONDS_MAX,
    PENDING_PER_SESSION_MAX, Question, SETTLED_SECONDS_KEPT, SHOWN_BYTES_MAX, Word,
};
use monitor::confirm::CALL_GRANT_SECONDS;
use monitor::{Grounds, Reason, Shown};
use serde_json::json;
use store::SqliteStore;

use crate::store::common::{open, session};

fn question(id: &str, call: &str) -> Question {
    Question {
        call: exact(id, call),
        user: UserId::parse("alice").unwrap(),
        agent: AgentId::parse("main").unwrap(),
        shown: Shown { tool: call.to_owned(), ..Shown::default() },
        created: 1000,
        expires: 1600,
    }
}

fn exact(id: &str, call: &str) -> ExactCall {
    let digest = Digest::of(call.as_bytes());
    ExactCall { session: session(id), action: EffectKind::MemoryWrite, digest }
}

fn says(word: Word, at: i64) -> Answer {
    Answer { word, by: UserId::parse("alice").unwrap(), reason: "so be it".to_owned(), at }
}

/// A record, as every answer needs one.
fn receipt(dir: &std::path::Path) -> Receipt {
    let (journal, _) = Journal::open(&Config::new(dir.join("evidence"))).unwrap();
    let kind = Kind::parse("approval_answered").unwrap();
    journal.append(NewRecord::of_host(RecordType::GuardDecision, kind, json!({}))).unwrap()
}

fn take(store: &SqliteStore, id: &str, call: &str, now: i64) -> Option<ApprovalState> {
    store.take(&exact(id, call), &Grounds::default(), now).unwrap().map(|it| it.state)
}

#[test]
fn an_approval_is_good_for_one_use_of_its_own_call() {
    let dir = tempfile::tempdir().unwrap();
    let receipt = receipt(dir.path());
    let store = open(dir.path());
    let id = store.ask(&question("s", "send")).unwrap();
    assert_eq!(take(&store, "s", "send", 1001), None, "nobody answered");
    let answer = says(Word::Approve, 1002);
    store.answer(id, &answer, &receipt).unwrap();
    drop(store);
    let store = open(dir.path());
    assert_eq!(take(&store, "s", "send more", 1003), None);
    assert_eq!(take(&store, "t", "send", 1003), None);
    let other = ExactCall { action: EffectKind::WebFetch, ..exact("s", "send") };
    assert_eq!(store.take(&other, &Grounds::default(), 1003).unwrap(), None);
    assert_eq!(take(&store, "s", "send", 1003), Some(ApprovalState::Used));
    assert_eq!(take(&store, "s", "send", 1003), None);
    let used = store.approval(id, 1004).unwrap();
    assert_eq!(used.state, ApprovalState::Used);
    assert_eq!(used.answered, Some((answer, receipt.id().to_string())));
    let expires = 1002 + CALL_GRANT_SECONDS;
    assert_eq!(used.question, Question { expires, ..question("s", "send") });
}

#[test]
fn sixteen_takers_get_it_once() {
    let dir = tempfile::tempdir().unwrap();
    let receipt = receipt(dir.path());
    let store = open(dir.path());
    let id = store.ask(&question("s", "send")).unwrap();
    store.answer(id, &says(Word::Approve, 1002), &receipt).unwrap();
    let other = open(dir.path());
    let taken: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|it| if it % 2 == 0 { &store } else { &other })
            .map(|store| scope.spawn(move || take(store, "s", "send", 1003).iter().count()))
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).sum()
    });
    assert_eq!(taken, 1);
}

#[test]
fn a_no_stays_one_until_its_time_is_over() {
    let dir = tempfile::tempdir().unwrap();
    let receipt = receipt(dir.path());
    let store = open(dir.path());
    let id = store.ask(&question("s", "send")).unwrap();
    let no = says(Word::Deny, 1002);
    store.answer(id, &no, &receipt).unwrap();
    let again = store.answer(id, &says(Word::Approve, 1003), &receipt);
    assert_eq!(again, Err(ApprovalError::Settled { id, state: ApprovalState::Denied }));
    for _ in 0..3 {
        assert_eq!(take(&store, "s", "send", no.expires() - 1), Some(ApprovalState::Denied));
    }
    assert_eq!(take(&store, "s", "send", no.expires()), None);
    let later = Question { created: 9000, expires: 9600, ..question("s", "send") };
    assert_ne!(store.ask(&later).unwrap(), id, "a new question, not answered by the old answer");
}

#[test]
fn time_runs_out_for_questions_and_answers_and_does_not_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let receipt = receipt(dir.path());
    let store = open(dir.path());
    let asked = store.ask(&question("s", "send")).unwrap();
    let late = store.answer(asked, &says(Word::Approve, 1600), &receipt);
    assert_eq!(late, Err(ApprovalError::Settled { id: asked, state: ApprovalState::Expired }));
    let answered = store.ask(&question("s", "post")).unwrap();
    let yes = says(Word::Approve, 1599);
    store.answer(answered, &yes, &receipt).unwrap();
    let end = yes.expires();
    assert_eq!(end, 1599 + CALL_GRANT_SECONDS);
    assert_eq!(store.approval(answered, end - 1).unwrap().state, ApprovalState::Approved);
    assert_eq!(store.approval(answered, end).unwrap().state, ApprovalState::Expired);
    assert_eq!(take(&store, "s", "post", end), None);
    // A clock that is set back does not bring it back once somebody saw that it was over.
    store.ask(&Question { created: end, expires: end + 1, ..question("s", "other") }).unwrap();
    assert_eq!(take(&store, "s", "post", 1001), None);
}

#[test]
fn the_same_question_is_asked_once_and_a_session_cannot_flood() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let first = store.ask(&question("s", "call 0")).unwrap();
    // What the person may be looking at is not rewritten.
    let mut again = question("s", "call 0");
    again.shown.reasons.push(Reason { rule: "r".to_owned(), why: "worse".to_owned() });
    assert_eq!(store.ask(&again).unwrap(), first);
    assert_eq!(store.approval(first, 1001).unwrap().question, question("s", "call 0"));
    for number in 1..PENDING_PER_SESSION_MAX {
        store.ask(&question("s", &format!("call {number}"))).unwrap();
    }
    let full = store.ask(&question("s", "one more"));
    assert_eq!(full, Err(ApprovalError::TooMany { session: session("s") }));
    store.ask(&question("t", "one more")).unwrap();
    let waiting = store.waiting(1001, 5).unwrap();
    assert_eq!(waiting.len(), 5);
    assert_eq!((store.count_waiting(1001), store.count_waiting(1600)), (Ok(17), Ok(0)));
    assert_eq!(store.count_approvals(), Ok(17));
    assert_eq!(waiting[0].id, first);
    assert_eq!(store.waiting(1600, 5).unwrap(), []);
    let all = store.approvals(1600, 100).unwrap();
    assert_eq!(all.len(), 17);
    assert_eq!(
        (all[0].state, &all[0].question.call.session),
        (ApprovalState::Expired, &session("t"))
    );
    // What ran out makes room.
    let later = Question { created: 2000, expires: 2600, ..question("s", "one more") };
    store.ask(&later).unwrap();
}

#[test]
fn an_answer_is_good_for_the_reasons_that_were_shown() {
    let dir = tempfile::tempdir().unwrap();
    let receipt = receipt(dir.path());
    let store = open(dir.path());
    let one = || Grounds::objection("one", "code");
    let both = || one().and(Grounds::objection("two", "code"));
    let asks = |grounds: Grounds| {
        let mut asked = question("s", "send");
        asked.shown.grounds = grounds;
        store.ask(&asked).unwrap()
    };
    let takes = |grounds: &Grounds| store.take(&exact("s", "send"), grounds, 1003).unwrap();
    let first = asks(one());
    let second = asks(both());
    assert_ne!(first, second);
    assert_eq!(asks(both()), second);
    let late = store.answer(first, &says(Word::Approve, 1002), &receipt);
    assert_eq!(late, Err(ApprovalError::Settled { id: first, state: ApprovalState::Expired }));
    // For fewer reasons it counts, and for another one it does not, then or later.
    store.answer(second, &says(Word::Approve, 1002), &receipt).unwrap();
    assert_eq!(takes(&one()).map(|it| it.id), Some(second));
    let third = asks(one());
    store.answer(third, &says(Word::Approve, 1002), &receipt).unwrap();
    assert_eq!(takes(&both()), None);
    assert_eq!(takes(&one()), None);
    assert_eq!(store.approval(third, 1003).unwrap().state, ApprovalState::Expired);
    // A no is one whatever comes up.
    let fourth = asks(one());
    store.answer(fourth, &says(Word::Deny, 1002), &receipt).unwrap();
    assert_eq!(takes(&both()).map(|it| it.id), Some(fourth));
}

#[test]
fn what_was_answered_elsewhere_is_withdrawn() {
    let dir = tempfile::tempdir().unwrap();
    let receipt = receipt(dir.path());
    let store = open(dir.path());
    let asked = store.ask(&question("s", "send")).unwrap();
    let approved = store.ask(&question("s", "post")).unwrap();
    let other = store.ask(&question("t", "send")).unwrap();
    store.answer(approved, &says(Word::Approve, 1001), &receipt).unwrap();
    store.withdraw(&exact("s", "send"), 1002).unwrap();
    store.withdraw(&exact("s", "post"), 1002).unwrap();
    let late = store.answer(asked, &says(Word::Approve, 1003), &receipt);
    assert_eq!(late, Err(ApprovalError::Settled { id: asked, state: ApprovalState::Expired }));
    assert_eq!(take(&store, "s", "post", 1003), None);
    assert_eq!(store.approval(other, 1003).unwrap().state, ApprovalState::Pending);
}

#[test]
fn a_question_is_short_and_does_not_live_long() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let long = Question {
        shown: Shown { tool: "x".repeat(SHOWN_BYTES_MAX + 1), ..Shown::default() },
        ..question("s", "send")
    };
    assert!(matches!(store.ask(&long), Err(ApprovalError::TooLong { .. })));
    for expires in [i64::MIN, 0, 1000, 1001 + LIFE_SECONDS_MAX, i64::MAX] {
        let asked = store.ask(&Question { expires, ..question("s", "send") });
        assert!(matches!(asked, Err(ApprovalError::Life { .. })), "{expires}");
    }
    let a_week = 7 * 24 * 3600;
    store.ask(&Question { expires: 1000 + a_week, ..question("s", "send") }).unwrap();
}

#[test]
fn what_was_settled_long_ago_is_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let receipt = receipt(dir.path());
    let store = open(dir.path());
    let id = store.ask(&question("s", "send")).unwrap();
    let ninety_days = 90 * 24 * 3600;
    let late = store.answer(id, &says(Word::Approve, 1600 + ninety_days), &receipt);
    assert_eq!(late, Err(ApprovalError::Settled { id, state: ApprovalState::Expired }));
    let now = 1601 + SETTLED_SECONDS_KEPT;
    let answered = store.answer(id, &says(Word::Approve, now), &receipt);
    assert_eq!(answered, Err(ApprovalError::NotFound { id }));
    assert_eq!(store.approval(id, now), Err(ApprovalError::NotFound { id }));
}
