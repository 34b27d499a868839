//! Sessions: what was appended comes back, in order, for their owner alone.

use model::{AgentId, Caller, Profile, UserId};
use monitor::{State, StateError, Summary, Talked as _};
use store::{CHANGE_BYTES_MAX, Oversight, SessionState};

use crate::store::common::{caller, database, open, session, summary};

#[test]
fn a_session_comes_back_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let who = caller("s-1");
    let store = open(dir.path());
    let opened = store.open(&who, Profile::Paranoid).unwrap();
    assert_eq!((opened.changes, opened.profile), (Vec::new(), Profile::Paranoid));
    for change in [&b"one"[..], b"", b"\0\xff"] {
        store.append(&who.session, change, &summary(1)).unwrap();
    }
    drop(store);

    let store = open(dir.path());
    // A caller cannot loosen the profile by asking for another.
    let opened = store.open(&who, Profile::Yolo).unwrap();
    assert_eq!(opened.changes, [&b"one"[..], b"", b"\0\xff"]);
    assert_eq!(opened.profile, Profile::Paranoid);
}

#[test]
fn changes_of_different_sessions_stay_apart() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let all = ["a", "b", "c"].map(caller);
    for who in &all {
        store.open(who, Profile::Standard).unwrap();
    }
    for step in 0..10_u8 {
        for (number, who) in (0_u8..).zip(&all) {
            store.append(&who.session, &[number, step], &summary(1)).unwrap();
        }
    }
    for (number, who) in (0_u8..).zip(&all) {
        let expected: Vec<_> = (0..10).map(|step| vec![number, step]).collect();
        assert_eq!(store.open(who, Profile::Standard).unwrap().changes, expected);
    }
}

#[test]
fn a_snapshot_takes_the_place_of_what_was_before() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let (who, other) = (caller("a"), caller("b"));
    for who in [&who, &other] {
        store.open(who, Profile::Standard).unwrap();
        store.append(&who.session, b"old", &summary(1)).unwrap();
    }
    store.compact(&who.session, b"snapshot", &summary(2)).unwrap();
    store.append(&who.session, b"new", &summary(3)).unwrap();
    store.compact(&who.session, b"snapshot 2", &summary(4)).unwrap();
    store.append(&who.session, b"newer", &summary(5)).unwrap();
    let changes = store.open(&who, Profile::Standard).unwrap().changes;
    assert_eq!(changes, [&b"snapshot 2"[..], b"newer"]);
    assert_eq!(store.open(&other, Profile::Standard).unwrap().changes, [b"old"]);
}

#[test]
fn an_ended_session_that_comes_back_is_as_tainted_as_before() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let who = caller("s");
    store.open(&who, Profile::Standard).unwrap();
    store.append(&who.session, b"taint", &summary(1)).unwrap();
    store.end(&who.session).unwrap();
    assert_eq!(store.session(&who.session).unwrap().unwrap().state, SessionState::Ended);
    assert_eq!(store.open(&who, Profile::Standard).unwrap().changes, [b"taint"]);
    let row = store.session(&who.session).unwrap().unwrap();
    assert_eq!((row.state, row.summary), (SessionState::Open, summary(1)));
}

#[test]
fn a_session_of_another_user_or_agent_is_refused_open_or_ended() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let who = caller("s");
    store.open(&who, Profile::Standard).unwrap();
    let others = [
        Caller { user: UserId::parse("bob").unwrap(), ..who.clone() },
        Caller { agent: AgentId::parse("other").unwrap(), ..who.clone() },
    ];
    let refused = StateError::NotYours { session: session("s") };
    for _ in 0..2 {
        for other in &others {
            assert_eq!(store.open(other, Profile::Standard), Err(refused.clone()));
        }
        store.end(&who.session).unwrap();
    }
}

#[test]
fn what_nobody_opened_is_unknown() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let id = session("nobody");
    let unknown = Err(StateError::Unknown { session: id.clone() });
    // Nobody waits for this one, and it harms nobody who does.
    assert_eq!(store.append_soon(&id, b"x", &Summary::default()), Ok(()));
    assert_eq!(store.append(&id, b"x", &Summary::default()), unknown);
    assert_eq!(store.compact(&id, b"x", &Summary::default()), unknown);
    assert_eq!(store.end(&id), unknown);
    assert_eq!(store.session(&id).unwrap(), None);
}

#[test]
fn a_change_that_is_too_long_is_refused_and_harms_nobody_else() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let who = caller("s");
    store.open(&who, Profile::Standard).unwrap();
    let long = vec![0; CHANGE_BYTES_MAX + 1];
    let outcome = store.append(&who.session, &long, &summary(1));
    assert!(matches!(outcome, Err(StateError::Broken { .. })));
    store.append(&who.session, b"x", &summary(1)).unwrap();
    assert_eq!(store.open(&who, Profile::Standard).unwrap().changes, [b"x"]);
}

#[test]
fn lists_show_the_newest_first_and_the_largest_counts_saturate() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    for id in ["a", "b", "c"] {
        store.open(&caller(id), Profile::Standard).unwrap();
    }
    let large = Summary { tainted_tokens: u64::MAX, ..summary(7) };
    store.append(&session("b"), b"x", &large).unwrap();
    let rows = store.sessions(2).unwrap();
    let ids: Vec<_> = rows.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["c", "b"]);
    assert_eq!(store.tainted_sessions(2).unwrap(), rows[1..]);
    assert_eq!(rows[1].summary, Summary { tainted_tokens: i64::MAX as u64, ..summary(7) });
}

/// Numbers in which nothing repeats, as a snapshot has them: they cannot be packed to nothing.
fn numbers(seed: u64, bytes: usize) -> Vec<u8> {
    let mut state = seed;
    let mut next = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{state},")
    };
    let mut text = String::new();
    while text.len() < bytes {
        text.push_str(&next());
    }
    text.into_bytes()
}

#[test]
fn a_long_session_takes_little_room_and_what_is_free_is_given_back() {
    let dir = tempfile::tempdir().unwrap();
    let (store, who) = (open(dir.path()), caller("s"));
    store.open(&who, Profile::Standard).unwrap();
    let length = || std::fs::metadata(database(dir.path())).unwrap().len();
    let changes: Vec<_> = (0..24).map(|it| numbers(it, 2 << 20)).collect();
    for change in &changes {
        store.append(&who.session, change, &summary(1)).unwrap();
    }
    assert_eq!(store.open(&who, Profile::Standard).unwrap().changes, changes);
    drop(store);
    // Packed, it is shorter than what was kept.
    assert!(length() < 36 << 20, "{}", length());
    let store = open(dir.path());
    store.compact(&who.session, b"{}", &summary(2)).unwrap();
    drop(store);
    let store = open(dir.path());
    assert!(length() < 1 << 20, "{}", length());
    assert_eq!(store.open(&who, Profile::Standard).unwrap().changes, [b"{}".to_vec()]);
}

#[test]
fn what_is_kept_soon_is_seen_at_once_and_lasts() {
    let dir = tempfile::tempdir().unwrap();
    let (store, who) = (open(dir.path()), caller("a"));
    store.open(&who, Profile::Standard).unwrap();
    for number in 0..100_u8 {
        store.append_soon(&who.session, &[number, 0], &summary(1)).unwrap();
        if number % 7 == 0 {
            store.append(&who.session, &[number, 1], &summary(1)).unwrap();
        }
        store.keep_talk(&who.user, &who.agent, &[number]).unwrap();
        assert_eq!(store.talk(&who.user, &who.agent).unwrap(), Some(vec![number]));
    }
    // In order, with those that were waited for.
    let all: Vec<Vec<u8>> = store.open(&who, Profile::Standard).unwrap().changes;
    assert!(all.is_sorted() && all.len() == 115);
    store.append_soon(&who.session, b"last", &summary(1)).unwrap();
    // Nobody waits for it, and another process sees it all the same.
    let other = open(dir.path());
    while other.open(&who, Profile::Standard).unwrap().changes.len() < 116 {
        std::thread::yield_now();
    }
    store.append_soon(&who.session, b"the very last", &summary(1)).unwrap();
    drop(store);
    assert_eq!(other.open(&who, Profile::Standard).unwrap().changes.len(), 117);
}

#[test]
fn producers_that_wait_and_that_do_not_lose_nothing_beside_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    std::thread::scope(|scope| {
        for number in 0..6_u8 {
            let (store, who) = (&store, caller(&format!("s{number}")));
            scope.spawn(move || {
                store.open(&who, Profile::Standard).unwrap();
                for step in 0..60 {
                    let change = [step];
                    match (step + number) % 3 {
                        0 => store.append(&who.session, &change, &summary(1)).unwrap(),
                        _ => store.append_soon(&who.session, &change, &summary(1)).unwrap(),
                    }
                }
                let all = store.open(&who, Profile::Standard).unwrap().changes;
                assert!(all.into_iter().flatten().eq(0..60));
            });
        }
    });
}

/// Another process holds the file for longer than anybody waits: whoever waits is told, and what nobody waits for is kept
/// before whatever is kept after it.
#[test]
fn what_is_kept_soon_outlasts_another_process_that_is_in_the_way() {
    let dir = tempfile::tempdir().unwrap();
    let (store, who) = (open(dir.path()), caller("a"));
    store.open(&who, Profile::Standard).unwrap();
    let other = rusqlite::Connection::open(database(dir.path())).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    store.append_soon(&who.session, b"1", &summary(1)).unwrap();
    assert!(store.append(&who.session, b"refused", &summary(1)).is_err());
    store.append_soon(&who.session, b"2", &summary(1)).unwrap();
    other.execute_batch("COMMIT").unwrap();
    store.append(&who.session, b"3", &summary(1)).unwrap();
    let all = store.open(&who, Profile::Standard).unwrap().changes;
    assert_eq!(all, [b"1", b"2", b"3"]);
}
