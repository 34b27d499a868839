//! Budgets: set aside before, settled after, kept over restarts.

use serde_json::json;

use crate::world::{ANN, ROOT, WIDE, World, users};

fn world(budget: &str) -> World {
    World::with(WIDE, &users(budget)).agree()
}

const TOKENS: &str =
    "{unit: tokens, sessionLimit: 1000000, dailyLimit: 1000, monthlyLimit: 100000}";

#[test]
fn a_budget_warns_then_ends_then_is_reset_by_an_administrator() {
    let world = world(TOKENS);
    let (mut client, _) = world.subscribed(ANN, "main");
    client.message("spend 790");
    let frames = client.all_until("result");
    assert!(frames.iter().all(|it| it["type"] != "budget_warning"), "{frames:?}");
    client.message("spend 20");
    let warned = client.until("budget_warning");
    assert_eq!(warned["warnings"][0]["budget"], "daily");
    assert_eq!(warned["warnings"][0]["percentage"], 81);
    // What the cache gives counts.
    client.message("spend 0 5000");
    client.until("result");
    client.message("hello");
    let exceeded = client.until("budget_exceeded");
    assert_eq!((&exceeded["reason"], &exceeded["limit"]), (&json!("daily"), &json!(1000.0)));
    assert!(exceeded["resetsAt"].is_string() && exceeded["used"].as_f64().unwrap() >= 5810.0);
    // A new session is no way around it, nor is a restart.
    let world = world.restart();
    let (mut client, _) = world.subscribed(ANN, "main");
    client.message("hello");
    client.until("budget_exceeded");
    let path = "/api/admin/users/ann/budget/reset";
    assert_eq!(world.post(path, Some(ANN), "{\"scope\":\"all\"}").status, 403);
    assert_eq!(world.post(path, Some(ROOT), "{\"scope\":\"everything\"}").status, 400);
    assert_eq!(world.post(path, Some(ROOT), "{\"scope\":\"monthly\"}").status, 200);
    client.message("hello");
    client.until("budget_exceeded");
    assert_eq!(world.post(path, Some(ROOT), "{\"scope\":\"daily\"}").status, 200);
    client.message("hello");
    client.until("assistant_message");
    assert!(world.records().contains("budget_reset"));
    let usage = world.get("/api/usage", Some(ANN)).json();
    assert_eq!(usage["budget"]["daily"]["used"], 30.0);
    assert!(usage.get("summary").is_none());
    let all = world.get("/api/usage", Some(ROOT)).json();
    assert_eq!(all["summary"][0]["user"], "ann");
}

#[test]
fn messages_at_once_do_not_overshoot() {
    let world = world(TOKENS);
    let mut clients: Vec<_> = (0..5).map(|_| world.subscribed(ANN, "main").0).collect();
    for client in &mut clients {
        client.message("sleep 500");
    }
    let exceeded = clients.iter_mut().map(|client| {
        let frames = loop {
            match client.next() {
                crate::socket::Next::Frame(it) if it["type"] == "budget_exceeded" => break true,
                crate::socket::Next::Frame(it) if it["type"] == "result" => break false,
                crate::socket::Next::Frame(_) => {}
                other @ (crate::socket::Next::Closed(_) | crate::socket::Next::Silence) => {
                    panic!("{other:?}")
                }
            }
        };
        usize::from(frames)
    });
    // The first has set aside all that is left.
    assert_eq!(exceeded.sum::<usize>(), 4);
}

#[test]
fn a_budget_for_two_questions_is_not_enough_for_a_third() {
    let world = world(TOKENS);
    let (mut client, _) = world.subscribed(ANN, "main");
    client.message("calls 50");
    let exceeded = client.until("budget_exceeded");
    assert_eq!((&exceeded["reason"], &exceeded["used"]), (&json!("daily"), &json!(800.0)));
    assert_eq!(world.desk.calls(), 2);
    let used = world.get("/api/usage", Some(ANN)).json()["budget"]["daily"]["used"].clone();
    assert_eq!(used, 800.0, "what was refused is not spent");
    // A smaller one fits, and an administrator clears what a turn has spent in many questions.
    client.message("hello");
    client.until("result");
    let path = "/api/admin/users/ann/budget/reset";
    assert_eq!(world.post(path, Some(ROOT), "{\"scope\":\"all\"}").status, 200);
    client.message("calls 2");
    client.until("result");
    assert_eq!(world.desk.calls(), 4);
}

#[test]
fn a_budget_in_dollars_needs_prices() {
    let dollars = "{unit: usd, sessionLimit: 1, dailyLimit: 1, monthlyLimit: 1}";
    let refused = world(dollars);
    let (mut client, _) = refused.subscribed(ANN, "main");
    client.message("hello");
    assert_eq!(client.until("error")["code"], "model_unpriced");
    let prices = "  prices: {input: 1, output: 10, cacheRead: 0.1, cacheCreation: 2}\n";
    let priced = World::with(&format!("{WIDE}{prices}"), &users(dollars)).agree();
    let (mut client, _) = priced.subscribed(ANN, "main");
    client.message("spend 100000");
    let result = client.until("result");
    assert_eq!(result["usage"]["totalCostUsd"], 1.0);
    client.message("hello");
    client.until("budget_exceeded");
}

#[test]
fn a_turn_that_fails_costs_what_it_used_and_is_settled() {
    let world = world(TOKENS);
    let (mut client, _) = world.subscribed(ANN, "main");
    let used =
        || world.get("/api/usage", Some(ANN)).json()["budget"]["daily"]["used"].as_f64().unwrap();
    client.message("fail");
    client.until("error");
    assert_eq!(used(), 30.0);
    client.message("waste 400");
    assert_eq!(client.until("error")["code"], "busy");
    assert_eq!(used(), 430.0);
    // Where nobody knows how much it was, what was set aside stays spent: all that was left.
    client.message("waste 5 perhaps");
    client.until("error");
    assert_eq!(used(), 1000.0);
    client.message("hello");
    client.until("budget_exceeded");
    // Each of them is settled: an administrator can clear it.
    let path = "/api/admin/users/ann/budget/reset";
    assert_eq!(world.post(path, Some(ROOT), "{\"scope\":\"all\"}").status, 200);
    assert_eq!(used(), 0.0);
    client.message("panic");
    client.until("error");
    assert!(used() > 0.0);
    assert_eq!(world.post(path, Some(ROOT), "{\"scope\":\"all\"}").status, 200);
    assert_eq!(used(), 0.0);
}
