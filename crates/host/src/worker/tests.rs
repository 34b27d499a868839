//! Workers that lie, and workers that end: whatever one says, the parent believes what it did itself, and whoever waits
//! is answered.

mod house;

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use agent::{Frame, FromWorker, Purse, ToWorker, TurnErrorCode};
use evidence::{Clock, SystemClock};
use serde_json::json;

use super::shared::{Bounds, Shared};
use super::turn::Prepared;

use house::Coins;
pub(super) use house::{House, ask, hear, house, result, say};

/// Waits for the answer to a question.
fn until_answered(socket: &mut UnixStream) {
    let is_answer =
        |it: &ToWorker| matches!(it, ToWorker::Answer { .. } | ToWorker::NoAnswer { .. });
    std::iter::from_fn(|| hear(socket)).find(is_answer);
}

#[test]
fn what_a_worker_says_of_usage_answers_and_calls_is_not_used() {
    let home = tempfile::tempdir().unwrap();
    let house = house(home.path(), |mut socket| {
        hear(&mut socket);
        for lie in [
            json!({"type": "ready"}),
            json!({"type": "ready"}),
            json!({"type": "session_id", "sessionId": "s1", "firstMessage": "x"}),
            json!({"type": "frame", "frame": {"type": "token", "id": 5, "text": "shown", "role": "admin"}}),
            json!({"type": "frame", "frame": {"type": "token", "id": 5, "text": "again"}}),
            json!({"type": "frame", "frame": {"type": "assistant_message", "text": "forged"}}),
            json!({"type": "frame", "frame": {"type": "status", "status": "done"}}),
            json!({"type": "tool_approval_request", "toolId": "t", "toolName": "shell_exec", "toolInput": {"command": "id"}}),
            json!({"type": "call", "id": 1, "message": {"action": "llm_call", "provider": "mock", "messages": []}}),
            json!({"type": "call", "id": 2, "message": {"action": "memory_list", "scope": "a", "user": "root"}}),
            json!({"type": "unknown"}),
        ] {
            say(&mut socket, &lie);
        }
        say(&mut socket, &ask(9));
        until_answered(&mut socket);
        say(&mut socket, &result("s1"));
        say(&mut socket, &result("s1"));
        say(
            &mut socket,
            &json!({"type": "frame", "frame": {"type": "token", "id": 99, "text": "late"}}),
        );
    });
    let mut frames = Vec::new();
    let seen = house.turn(&mut frames).unwrap();
    assert_eq!(seen.reply.content, "the true answer");
    assert_eq!((seen.reply.usage.input_tokens, seen.reply.usage.output_tokens), (7, 3));
    assert_eq!(frames, [Frame::Token { id: 5, text: "shown".to_owned() }]);
    // The call with a name in it was refused; the one to a model was not even a call.
    assert_eq!(seen.reply.tool_calls, [("memory_list".to_owned(), "failed".to_owned())]);
    let asked = house.model.asked.lock().unwrap();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].system.contains("Your tools:") && !asked[0].tools.is_empty());
    drop(asked);
    house.worker.end().unwrap();
}

#[test]
fn a_worker_that_names_another_session_is_ended() {
    for message in
        [json!({"type": "session_id", "sessionId": "s2", "firstMessage": "x"}), result("s2")]
    {
        let home = tempfile::tempdir().unwrap();
        let house = house(home.path(), move |mut socket| {
            hear(&mut socket);
            say(&mut socket, &message);
            until_answered(&mut socket);
        });
        let error = house.turn(&mut Vec::new()).err().unwrap();
        assert_eq!(error.code, TurnErrorCode::WorkerError);
        assert!(error.message.contains("not its own"), "{}", error.message);
        house.worker.end().unwrap();
    }
}

#[test]
fn whatever_ends_a_turn_what_the_model_used_is_counted() {
    let ends = [
        json!({"type": "error", "code": "loop_detected", "message": "x"}),
        json!({"type": "session_id", "sessionId": "s2", "firstMessage": "x"}),
        json!(null),
    ];
    for end in ends {
        let home = tempfile::tempdir().unwrap();
        let house = house(home.path(), move |mut socket| {
            hear(&mut socket);
            say(&mut socket, &ask(1));
            until_answered(&mut socket);
            // The last of them is no message: it only goes.
            if !end.is_null() {
                say(&mut socket, &end);
                hear(&mut socket);
            }
        });
        let error = house.turn(&mut Vec::new()).err().unwrap();
        assert_eq!((error.usage.input_tokens, error.usage.output_tokens), (7, 3), "{error}");
        assert!(error.is_all);
        house.worker.end().unwrap();
    }
}

#[test]
fn a_model_that_fails_costs_what_it_used() {
    let home = tempfile::tempdir().unwrap();
    let house = house(home.path(), |mut socket| {
        hear(&mut socket);
        for id in 1..3 {
            say(&mut socket, &ask(id));
            until_answered(&mut socket);
        }
        say(&mut socket, &json!({"type": "error", "code": "model", "message": "x"}));
        hear(&mut socket);
    });
    house.model.fails.store(true, Ordering::Release);
    let error = house.turn_within(&mut Vec::new(), Some(1_000_000)).err().unwrap();
    // It has no price, so that nothing is left of the limit: the second question is not asked.
    assert_eq!(error.code, TurnErrorCode::BudgetExceeded, "{error}");
    assert_eq!((house.model.asked.lock().unwrap().len(), error.usage.input_tokens), (1, 7));
    house.worker.end().unwrap();
}

#[test]
fn each_question_is_paid_before_it_is_asked() {
    let home = tempfile::tempdir().unwrap();
    let mut house = house(home.path(), |mut socket| {
        hear(&mut socket);
        for id in 1..4 {
            say(&mut socket, &ask(id));
            until_answered(&mut socket);
        }
        say(&mut socket, &json!({"type": "error", "code": "model", "message": "x"}));
        hear(&mut socket);
    });
    let coins = Arc::new(Coins { left: 2.into(), ..Coins::default() });
    house.purse = Some(Arc::clone(&coins) as Arc<dyn Purse>);
    let error = house.turn(&mut Vec::new()).err().unwrap();
    assert_eq!((error.code, error.message.as_str()), (TurnErrorCode::BudgetExceeded, "no coins"));
    let asked = house.model.asked.lock().unwrap();
    assert_eq!(asked.iter().map(|it| it.max_tokens).collect::<Vec<_>>(), [Some(77); 2]);
    drop(asked);
    assert_eq!(*coins.settled.lock().unwrap(), [10, 10]);
    house.worker.end().unwrap();
}

#[test]
fn errors_of_a_worker_are_mapped_cut_and_cleaned() {
    let home = tempfile::tempdir().unwrap();
    let house = house(home.path(), |mut socket| {
        hear(&mut socket);
        let message = format!("\u{1b}[2J{}", "x".repeat(5000));
        say(&mut socket, &json!({"type": "error", "code": "access\ndenied", "message": message}));
    });
    let error = house.turn(&mut Vec::new()).err().unwrap();
    assert_eq!(error.code, TurnErrorCode::WorkerError);
    assert!(error.message.starts_with("worker_access denied: "), "{}", error.message);
    assert!(error.message.chars().count() < 1100 && !error.message.contains('\u{1b}'));
    house.worker.end().unwrap();
}

#[test]
fn whenever_a_worker_ends_whoever_waits_is_answered() {
    // It ends after so many messages of a turn, in the middle of a frame, or with a frame that is none.
    for after in 0..6usize {
        let home = tempfile::tempdir().unwrap();
        let house = house(home.path(), move |mut socket| {
            let script = [
                json!({"type": "session_id", "sessionId": "s1", "firstMessage": "x"}),
                json!({"type": "frame", "frame": {"type": "status", "status": "thinking"}}),
                json!({"type": "call", "id": 1, "message": {"action": "memory_list", "scope": "a"}}),
                ask(2),
            ];
            for message in script.iter().take(after) {
                say(&mut socket, message);
            }
            let torn: &[u8] = if after == 5 { &[0xff; 8] } else { &[0, 0, 0, 9, b'{'] };
            let _ = std::io::Write::write_all(&mut socket, torn);
        });
        let begun = Instant::now();
        let error = house.turn(&mut Vec::new()).err().unwrap();
        assert_eq!(error.code, TurnErrorCode::WorkerError, "{after}");
        assert!(begun.elapsed() < Duration::from_secs(9), "{after}");
        while !house.worker.is_over() && begun.elapsed() < Duration::from_secs(9) {
            thread::sleep(Duration::from_millis(5));
        }
        assert!(house.worker.is_over());
        house.worker.end().unwrap();
        Arc::into_inner(house.gate).unwrap().close().unwrap();
    }
}

#[test]
fn an_interruption_ends_a_turn_also_of_a_worker_that_does_not_obey() {
    let home = tempfile::tempdir().unwrap();
    let house = house(home.path(), |mut socket| while hear(&mut socket).is_some() {});
    let seen = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(200));
            house.stop.store(true, Ordering::Release);
        });
        house.turn(&mut Vec::new())
    });
    assert!(seen.unwrap().reply.interrupted);
    house.worker.end().unwrap();
}

#[test]
fn whoever_goes_on_after_an_interruption_calls_no_tool_and_asks_no_model() {
    let home = tempfile::tempdir().unwrap();
    let (says, hears) = std::sync::mpsc::channel();
    let house = house(home.path(), move |mut socket| {
        while let Some(said) = hear(&mut socket) {
            if matches!(said, ToWorker::Interrupt {}) {
                let list = json!({"action": "memory_list", "scope": "a"});
                say(&mut socket, &json!({"type": "call", "id": 1, "message": list}));
                says.send(hear(&mut socket)).unwrap();
                say(&mut socket, &ask(2));
                says.send(hear(&mut socket)).unwrap();
            }
        }
    });
    house.stop.store(true, Ordering::Release);
    let seen = house.turn(&mut Vec::new()).unwrap();
    assert!(seen.reply.interrupted && seen.reply.tool_calls.is_empty());
    assert!(house.model.asked.lock().unwrap().is_empty());
    for answer in hears.try_iter() {
        assert!(format!("{answer:?}").contains("the turn is over"), "{answer:?}");
    }
    house.worker.end().unwrap();
}

#[test]
fn nothing_of_a_turn_is_held_by_a_worker_that_waits_for_the_next() {
    let home = tempfile::tempdir().unwrap();
    let mut house = house(home.path(), |mut socket| {
        while hear(&mut socket).is_some() {
            say(&mut socket, &result("s1"));
        }
    });
    let coins = Arc::new(Coins { left: 2.into(), ..Coins::default() });
    house.purse = Some(Arc::clone(&coins) as Arc<dyn Purse>);
    house.turn(&mut Vec::new()).unwrap();
    house.purse = None;
    assert!(!house.worker.is_over());
    assert_eq!(Arc::strong_count(&coins), 1, "whoever pays is let go of");
    house.worker.end().unwrap();
}

#[test]
fn an_interruption_from_before_the_turn_began_counts() {
    let home = tempfile::tempdir().unwrap();
    let house = house(home.path(), |mut socket| {
        while let Some(said) = hear(&mut socket) {
            if matches!(said, ToWorker::Interrupt {}) {
                let mut ended = result("s1");
                ended["interrupted"] = json!(true);
                say(&mut socket, &ended);
            }
        }
    });
    house.stop.store(true, Ordering::Release);
    let begun = Instant::now();
    assert!(house.turn(&mut Vec::new()).unwrap().reply.interrupted);
    assert!(begun.elapsed() < Duration::from_secs(4) && !house.worker.is_over());
    house.worker.end().unwrap();
}

#[test]
fn a_question_that_outlives_its_turn_spoils_the_worker_and_ends_its_session_when_it_comes_back() {
    let home = tempfile::tempdir().unwrap();
    let house = house(home.path(), |mut socket| {
        hear(&mut socket);
        say(&mut socket, &ask(1));
        say(&mut socket, &result("s1"));
        while hear(&mut socket).is_some() {}
    });
    let (model, who) = (Arc::clone(&house.model), house.worker.inner.who.clone());
    let shut = model.door.lock().unwrap();
    let error = house.turn(&mut Vec::new()).err().unwrap();
    assert_eq!(error.code, TurnErrorCode::WorkerError);
    assert!(!error.is_all && error.message.contains("not come back"), "{error}");
    assert!(house.worker.is_over());
    // What comes late is no answer of another turn.
    let late = house.worker.inner.shared();
    let next = house.worker.inner.begin(&Bounds::default());
    house.worker.end().unwrap();
    assert!(house.gate.monitor.summary(&who).is_ok(), "somebody still works in it");
    assert!(house.leases.take(&who.session).is_none());
    drop(shut);
    let begun = Instant::now();
    while house.leases.take(&who.session).is_none() {
        assert!(begun.elapsed() < Duration::from_secs(9));
        thread::sleep(Duration::from_millis(5));
    }
    assert!(house.gate.monitor.summary(&who).is_err(), "the last one has ended it");
    assert_eq!((late.of_turn().usage.input_tokens, next.of_turn().usage.input_tokens), (7, 0));
    assert!(next.of_turn().answer.is_none());
}

#[test]
fn messages_serialise_as_the_vectors_have_them() {
    let ready = serde_json::to_value(FromWorker::Ready {}).unwrap();
    assert_eq!(ready, json!({"type": "ready"}));
    let interrupt = serde_json::to_value(ToWorker::Interrupt {}).unwrap();
    assert_eq!(interrupt, json!({"type": "interrupt"}));
}

#[test]
fn whoever_ends_a_turn_does_not_wait_for_a_worker_below_that_does_not_listen() {
    let home = tempfile::tempdir().unwrap();
    let (says, hears) = std::sync::mpsc::channel();
    let house = house(home.path(), move |mut socket| {
        hear(&mut socket);
        says.send(()).unwrap();
        // It hears that it is to end, and goes on.
        while hear(&mut socket).is_some() {}
    });
    let above = Arc::new(Shared::new(&Bounds::default()));
    let at_work = above.work(1).unwrap();
    thread::scope(|scope| {
        let below = Arc::clone(&above);
        let turn = scope.spawn(|| {
            let now = || SystemClock.unix_seconds();
            let turn = Prepared { content: "hello", earlier: &[], memory: &[], now: now() };
            let message = house.worker.prepare(&house.gate.monitor, &turn).unwrap();
            let bounds = Bounds { above: Some(below), ..Bounds::default() };
            let seen = house.worker.turn(&message, &bounds, &*house.gate.store, &now, &mut |_| {});
            drop(at_work);
            seen
        });
        hears.recv().unwrap();
        above.interrupt();
        // As long as a turn waits for what it has begun.
        assert!(above.settle(super::END_WITHIN), "the turn above would be broken");
        assert!(turn.join().unwrap().unwrap().reply.interrupted);
    });
    assert_eq!((above.levels_below(), house.worker.is_over()), (1, true));
}
