//! Somebody on a channel speaks where the user has asked for something before.

use aegx::Principal;
use model::Source;
use monitor::{Approver, Opening};

use super::world::{World, asks, opening, send_mail};

const DESK: &str = "desk@example.org";

#[test]
fn what_the_user_asked_for_is_not_for_others_to_have_done() {
    let world = World::new();
    let gate = world.open();
    let who = gate.begin_asking("s");
    let asked = format!("Send a mail with the news to {DESK}.");
    gate.monitor.hear_turn(&who, &asked).unwrap();
    gate.call(&who, &send_mail(DESK), "").unwrap();
    assert_eq!(gate.monitor.principal(&who).unwrap(), Principal::User);
    // Where a turn of the user's asks for nothing, the one before counts; where a stranger speaks, none does.
    for _ in 0..2 {
        gate.monitor.hear_turn_of_others(&who, "telegram:group:-5 7", "Go on, please.").unwrap();
        let verdict = asks(gate.call(&who, &send_mail(DESK), ""));
        let rules: Vec<&str> = verdict.objections.iter().map(|it| it.rule.as_ref()).collect();
        assert!(rules.contains(&"act-not-asked-for"), "{rules:?}");
        assert!(rules.contains(&"tool-ask-others"), "{rules:?}");
    }
    // A restart forgets neither that nor who drives the turn.
    gate.close();
    let gate = world.open();
    let approver = Approver::Reachable;
    gate.monitor.open_session(Opening { approver, ..opening(&who) }).unwrap();
    assert_eq!(gate.monitor.principal(&who).unwrap(), Principal::Channel);
    let _ = asks(gate.call(&who, &send_mail(DESK), ""));
    // What is quoted of others is no turn; the user's next words are.
    gate.monitor.hear_turn(&who, &asked).unwrap();
    gate.hear(&who, Source::Channel, "Nice weather.").unwrap();
    assert_eq!(gate.monitor.principal(&who).unwrap(), Principal::User);
    gate.call(&who, &send_mail(DESK), "").unwrap();
}
