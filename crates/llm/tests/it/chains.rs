//! Chains fall through where another model may do better, and nowhere else.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use llm::router::{REST_MAX, REST_MIN};
use llm::{
    Answer, Attempt, Chain, Cooldowns, Dialect, Failure, Flow, HttpProvider, Link, Mock, Piece,
    Provider, Request, Usage,
};

use crate::support::{Replay, request};

fn fails(status: u16) -> Replay {
    Replay { status, content_type: "application/json", ..Replay::stream(b"{}".to_vec(), 9) }
}

fn ask(first: &dyn Attempt, second: &dyn Attempt, cooldowns: &Cooldowns) -> Result<Answer, String> {
    let link = |provider, attempt| Link { provider, model: "m", attempt };
    let chain = Chain { links: vec![link("first", first), link("second", second)], cooldowns };
    chain.ask(&request(), &mut |_| Flow::Continue).map_err(|it| it.kind.to_string())
}

#[test]
fn some_failures_pass_on_and_others_are_the_answer() {
    let mock = Mock::parse(r#"{"otherwise": {"say": "from the second"}}"#).unwrap();
    for (status, passes) in [
        (408, true),
        (409, true),
        (429, true),
        (500, true),
        (503, true),
        (529, true),
        (400, false),
        (401, false),
        (403, false),
        (404, false),
        (413, false),
        (422, false),
    ] {
        let wire = fails(status);
        let first = HttpProvider { dialect: Dialect::Chat, wire: &wire };
        let answer = ask(&first, &mock, &Cooldowns::default());
        assert_eq!(answer.is_ok(), passes, "{status}");
        if let Ok(answer) = answer {
            assert_eq!(answer.model, "second/m");
        }
    }
}

#[test]
fn a_provider_that_failed_is_left_alone_and_an_only_one_is_asked_all_the_same() {
    let mock = Mock::parse(r#"{"otherwise": {"say": "hi"}}"#).unwrap();
    let (wire, cooldowns) = (fails(500), Cooldowns::default());
    let first = HttpProvider { dialect: Dialect::Chat, wire: &wire };
    for _ in 0..3 {
        ask(&first, &mock, &cooldowns).unwrap();
    }
    assert_eq!(wire.asked.lock().unwrap().len(), 1, "asked once, then left alone");
    let only = Link { provider: "first", model: "m", attempt: &first };
    let chain = Chain { links: vec![only], cooldowns: &cooldowns };
    assert!(chain.ask(&request(), &mut |_| Flow::Continue).is_err());
    assert_eq!(wire.asked.lock().unwrap().len(), 2, "there is nobody else");
}

#[test]
fn whoever_says_when_to_come_again_is_not_asked_before() {
    let wire = Replay { retry_after: Some("20".into()), ..fails(429) };
    let cooldowns = Cooldowns::default();
    let first = HttpProvider { dialect: Dialect::Chat, wire: &wire };
    let link = || Link { provider: "first", model: "m", attempt: &first };
    let chain = Chain { links: vec![link()], cooldowns: &cooldowns };
    for expected in ["rate_limited", "overloaded"] {
        let error = chain.ask(&request(), &mut |_| Flow::Continue).unwrap_err();
        assert_eq!(error.kind.as_str(), expected);
    }
    assert_eq!(wire.asked.lock().unwrap().len(), 1);
}

#[test]
fn a_rest_doubles_up_to_its_longest_and_ends_with_an_answer() {
    let (cooldowns, now) = (Cooldowns::default(), Instant::now());
    let left = |at| cooldowns.rest("p", at).map(|it| it.left);
    let mut expected = REST_MIN;
    for _ in 0..8 {
        cooldowns.failed("p", None, now);
        assert_eq!(left(now), Some(expected));
        assert_eq!(left(now + expected), None);
        expected = (expected * 2).min(REST_MAX);
    }
    cooldowns.failed("p", Some(Duration::from_secs(1)), now);
    assert_eq!(left(now), Some(Duration::from_secs(1)));
    cooldowns.failed("p", Some(Duration::MAX), now);
    assert_eq!(left(now), Some(REST_MAX));
    cooldowns.answered("p");
    assert_eq!(left(now), None);
    cooldowns.failed("p", None, now);
    assert_eq!(left(now), Some(REST_MIN));
}

/// Says something and then breaks.
struct Breaks(AtomicUsize);

impl Attempt for Breaks {
    fn attempt(
        &self,
        _: &Request,
        on_piece: &mut dyn FnMut(Piece) -> Flow,
    ) -> Result<Answer, Failure> {
        self.0.fetch_add(1, Ordering::Relaxed);
        on_piece(Piece::Text("half".into()));
        Err(Failure::unreachable("broke off"))
    }
}

#[test]
fn after_the_first_word_nobody_else_answers() {
    let breaks = Breaks(AtomicUsize::new(0));
    let mock = Mock::default();
    assert_eq!(ask(&breaks, &mock, &Cooldowns::default()).unwrap_err(), "unreachable");
    assert_eq!(breaks.0.load(Ordering::Relaxed), 1);
}

/// Uses something, and gives nothing for it.
struct Wastes(u64);

impl Attempt for Wastes {
    fn attempt(&self, _: &Request, _: &mut dyn FnMut(Piece) -> Flow) -> Result<Answer, Failure> {
        let usage = Usage { input_tokens: self.0, estimated: true, ..Usage::default() };
        let failure = Failure::unreachable("broke off");
        Err(Failure { error: failure.error.after(usage), ..failure })
    }
}

#[test]
fn what_models_used_that_failed_is_counted_with_the_answer_and_with_the_error() {
    let mock = Mock::parse(
        r#"{"otherwise": {"say": "hi", "usage": {"inputTokens": 1, "outputTokens": 2}}}"#,
    );
    let answer = ask(&Wastes(100), &mock.unwrap(), &Cooldowns::default()).unwrap();
    let used = Usage { input_tokens: 101, output_tokens: 2, estimated: true, ..Usage::default() };
    assert_eq!(answer.usage, used);
    assert_eq!(answer.models().collect::<Vec<_>>(), ["first/m", "second/m"]);
    let cooldowns = Cooldowns::default();
    let link = |provider, attempt| Link { provider, model: "m", attempt };
    let links = vec![link("first", &Wastes(100) as &dyn Attempt), link("second", &Wastes(10))];
    let chain = Chain { links, cooldowns: &cooldowns };
    let error = chain.ask(&request(), &mut |_| Flow::Continue).unwrap_err();
    assert_eq!(error.usage.input_tokens, 110);
}
