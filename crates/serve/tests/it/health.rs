//! What the server says of itself: to everybody how much is open, to administrators whether agents can work.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::world::{ANN, BOB, ROOT, WIDE, World, users};

const PATIENCE: Duration = Duration::from_secs(20);

/// Waits until so many sessions are open.
fn are_open(world: &World, wanted: u64) -> bool {
    let until = Instant::now() + PATIENCE;
    let open = || world.get("/health", None).json()["sessions"] == wanted;
    while !open() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    open()
}

#[test]
fn sessions_are_counted_as_long_as_they_are_open() {
    let world = World::wide();
    assert!(are_open(&world, 0));
    let (mut ann, _) = world.subscribed(ANN, "main");
    let (bob, _) = world.subscribed(BOB, "main");
    assert!(are_open(&world, 2));
    // A turn that runs keeps its session open, whoever listens; more of it does not make it more.
    ann.message("sleep 2000");
    ann.until("status");
    drop((ann, bob));
    assert!(are_open(&world, 1));
    assert!(are_open(&world, 0));
}

fn deep(world: &World) -> Value {
    world.get("/health/deep", Some(ROOT)).json()
}

const CHOSEN: &str = "providers: {llm: anthropic}\nmodels: {default: anthropic/m}\n";

#[test]
fn nothing_can_be_asked_where_no_model_is_chosen_or_the_last_one_did_not_answer() {
    for config in
        ["", "providers: {llm: mock}\n", "providers: {llm: mock}\nmodels: {default: mock/a}\n"]
    {
        let world = World::with(&format!("{config}serve: {{}}\n"), &users("unlimited"));
        let found = deep(&world);
        let model = json!({ "chosen": false, "last": null, "canBeAsked": false });
        assert_eq!((&found["status"], &found["model"]), (&json!("degraded"), &model), "{config}");
    }
    // One that is chosen and that nobody has asked yet is not dialled only to see.
    let world = World::with(&format!("{CHOSEN}{WIDE}"), &users("unlimited")).agree();
    let found = deep(&world);
    assert_eq!(
        (&found["status"], &found["model"]["canBeAsked"]),
        (&json!("ok"), &json!(true)),
        "{found}"
    );
    for (said, status, last) in [
        ("unreachable", "degraded", "unreachable"),
        // What is wrong with a worker tells nothing of models.
        ("fail", "ok", ""),
        ("hello", "ok", "ok"),
    ] {
        let world = World::with(&format!("{CHOSEN}{WIDE}"), &users("unlimited")).agree();
        let (mut client, _) = world.subscribed(ANN, "main");
        client.message(said);
        while client.until("status")["status"] != "idle" {}
        let found = deep(&world);
        assert_eq!(found["status"], status, "{said}: {found}");
        assert_eq!(found["model"]["last"].as_str().unwrap_or_default(), last, "{said}: {found}");
    }
}
