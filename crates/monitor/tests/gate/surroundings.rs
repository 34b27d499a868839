//! Every session says how the process is confined; a person is alerted once.

use monitor::{Confinement, Surroundings};
use serde_json::{Value, json};

use crate::gate::world::{World, content, id, kind, opening, who};

fn found(confinement: Confinement) -> Surroundings {
    Surroundings { confinement, score: 35, report: json!({ "findings": ["x"] }) }
}

fn of_kind<'a>(records: &'a [Value], wanted: &str) -> Vec<&'a Value> {
    records.iter().filter(|it| kind(it) == wanted).collect()
}

#[test]
fn the_first_session_has_the_report_and_later_ones_point_at_it() {
    let world = World::new();
    let gate = world.open();
    let monitor = gate.monitor.with_surroundings(found(Confinement::None));
    for session in ["a", "b", "a"] {
        monitor.open_session(opening(&who(session))).unwrap();
    }
    drop(monitor);
    drop(gate.journal);
    let records = world.records();
    let audits = of_kind(&records, "sandbox_audit");
    assert_eq!(audits.len(), 3, "one for each session that begins or goes on");
    for audit in &audits {
        assert_eq!(content(audit, "surface"), "SandboxCompliance");
        assert_eq!(content(audit, "compliance"), "None");
        assert_eq!(content(audit, "score"), 35);
        assert_eq!(audit["type"], "GuardDecision");
    }
    assert_eq!(content(audits[0], "report"), &json!({ "findings": ["x"] }));
    assert!(content(audits[1], "report").is_null());
    for later in &audits[1..] {
        assert_eq!(later["parents"], json!([id(audits[0])]));
    }
    let alerts = of_kind(&records, "alert");
    assert_eq!(alerts.len(), 1, "and not one per session");
    assert_eq!(content(alerts[0], "severity"), "CRITICAL");
    assert_eq!(alerts[0]["parents"], json!([id(audits[0])]));
}

#[test]
fn a_part_of_the_walls_is_a_high_alert_and_all_of_them_are_none() {
    for (confinement, severity) in [(Confinement::Partial, Some("HIGH")), (Confinement::Full, None)]
    {
        let world = World::new();
        let gate = world.open();
        let monitor = gate.monitor.with_surroundings(found(confinement));
        monitor.open_session(opening(&who("a"))).unwrap();
        drop(monitor);
        drop(gate.journal);
        let records = world.records();
        assert_eq!(of_kind(&records, "sandbox_audit").len(), 1);
        let alerts = of_kind(&records, "alert");
        assert_eq!(
            alerts.first().map(|it| content(it, "severity")),
            severity.map(Value::from).as_ref()
        );
    }
}
