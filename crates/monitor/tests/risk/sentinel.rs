//! The sentinel: signals that weigh, and fade.

use model::{Decision, EffectKind};
use monitor::risk::{
    Classes, Flag, Level, Observation, Opener, Outcome, Risk, Signal, Suspicion, Tuning,
};
use serde_json::Value;

use crate::risk::support::{decision, flagged, go, plain, read, send};

const SENTINEL: &str = include_str!("../../../../corpus/risk/trajectory_sentinel.json");

#[test]
fn recorded_signals_weigh_and_decay_alike() {
    let cases: Vec<Value> = serde_json::from_str(SENTINEL).unwrap();
    let (mut weights, mut sequences, mut settings) = (0, 0, 0);
    for case in &cases {
        let (name, input) = (case["name"].as_str().unwrap(), &case["input"]);
        if let Some(word) = input["signal"].as_str() {
            let signal = signal(word);
            assert_eq!(f64::from(signal.tenths()) / 10.0, case["expected"].as_f64().unwrap());
            weights += 1;
        } else if let Some(steps) = input["steps"].as_array() {
            sequence(name, steps, &input["config"], case["expected"].as_array().unwrap());
            sequences += 1;
        } else if let Some(decay) = input["decay_per_turn"].as_f64() {
            assert_eq!(Tuning::new(8, decay, 16).is_ok(), case["expected"] == "ok", "{name}");
            settings += 1;
        } else {
            // `child_*`: there a child gets half of the score, rounded down, which forgives; ours
            // inherits all (see below). `code_*`: numbers of a queue that does not exist here.
            assert!(name.starts_with("child_") || name.starts_with("code_"), "{name}");
        }
    }
    assert_eq!((weights, sequences, settings), (9, 8, 3));
}

fn signal(word: &str) -> Signal {
    *Signal::ALL.iter().find(|it| it.as_str() == word).unwrap()
}

fn sequence(name: &str, steps: &[Value], config: &Value, expected: &[Value]) {
    let window = usize::try_from(config["window_turns"].as_u64().unwrap()).unwrap();
    let recover = u32::try_from(config["auto_recover_after_turns"].as_u64().unwrap()).unwrap();
    let decay = config["decay_per_turn"].as_f64().unwrap();
    let mut risk = Risk::new(Tuning::new(window, decay, recover).unwrap());
    assert_eq!(risk.level(), Level::Calm);
    for (at, (step, expected)) in steps.iter().zip(expected).enumerate() {
        match step.as_str().unwrap() {
            "<turn>" => {
                let recovered = risk.begin_turn(Opener::Person);
                assert_eq!(recovered, expected["recovered"] == true, "{name} {at}");
            }
            word => risk.report(signal(word)),
        }
        let score = expected["score"].as_f64().unwrap();
        assert!((risk.score() - score).abs() < 1e-4, "{name} {at}: {} {score}", risk.score());
        let level = expected["level"].as_str().unwrap();
        assert!(risk.level().as_str().eq_ignore_ascii_case(level), "{name} {at}");
    }
}

#[test]
fn the_sentinel_only_asks_and_never_about_looking() {
    let mut risk = Risk::default();
    for _ in 0..6 {
        risk.observe(&send().with_outcome(Outcome::Stopped));
    }
    assert_eq!(risk.level(), Level::Critical);
    assert_eq!(decision(&risk, &send()), Some(Decision::StepUp));
    assert_eq!(decision(&risk, &read()), None);
    for kind in [EffectKind::ToolWrite, EffectKind::ToolSend, EffectKind::ToolDestroy] {
        let tool = plain(kind, Classes::NONE);
        assert_eq!(decision(&risk, &tool), None, "somebody's tool is judged by its arguments");
        let led = Observation { from_flagged: true, ..tool };
        assert_eq!(decision(&risk, &led), Some(Decision::StepUp));
    }
    for _ in 0..8 {
        risk.begin_turn(Opener::Person);
    }
    assert_eq!(risk.level(), Level::Calm);
}

/// The score after `count` calls of a kind that end well, and after one more.
fn scores_after(kind: EffectKind, count: usize, turns: usize) -> (f64, f64) {
    let mut risk = Risk::new(Tuning::new(8, 1.0, 16).unwrap());
    let call = plain(kind, Classes::NONE).with_outcome(Outcome::Done);
    for number in 0..count {
        if number > 0 && number % count.div_ceil(turns) == 0 {
            risk.begin_turn(Opener::Person);
        }
        risk.observe(&call);
    }
    let before = risk.score();
    for _ in 0..5 {
        risk.observe(&call);
    }
    (before, risk.score())
}

#[test]
fn unusually_many_calls_weigh_once() {
    for turns in [1, 3] {
        assert_eq!(scores_after(EffectKind::ToolWrite, 12, turns), (0.0, 1.5), "{turns} turns");
        assert_eq!(scores_after(EffectKind::ToolRead, 24, turns), (0.0, 1.5), "{turns} turns");
        assert_eq!(scores_after(EffectKind::ToolWrite, 13, turns), (1.5, 1.5), "{turns} turns");
        assert_eq!(scores_after(EffectKind::ToolRead, 25, turns), (1.5, 1.5), "{turns} turns");
    }
    assert_eq!(scores_after(EffectKind::ToolWrite, 12, 6), (0.0, 0.0), "over many turns");
}

#[test]
fn of_one_turn_two_outputs_that_give_orders_weigh() {
    let mut risk = Risk::new(Tuning::new(8, 1.0, 16).unwrap());
    let mut scores = Vec::new();
    for content in [1, 1, 2, 3] {
        go(&mut risk, flagged(content));
        scores.push(risk.score());
    }
    assert_eq!(scores, [1.0, 1.0, 2.0, 2.0]);
    risk.begin_turn(Opener::Person);
    go(&mut risk, flagged(4));
    assert!((risk.score() - 3.0).abs() < 1e-9);
}

#[test]
fn what_is_read_alone_makes_no_session_critical() {
    let mut risk = Risk::default();
    for content in 0..100 {
        let flag = Flag { suspicion: Suspicion::High, content };
        let output = plain(EffectKind::ToolRead, Classes::NONE).with_flag(Some(flag));
        risk.observe(&output.with_outcome(Outcome::Done));
    }
    assert!(risk.level() < Level::Critical, "{}", risk.score());
}
