//! Attacks of our own, one a line: each must get at least its verdict by its check. And skills that are honest.

use model::skill::SkillCheck;

use crate::support::{Verdict, package, rows, told, verdict};

#[test]
fn every_attack_is_seen_for_what_it_is() {
    let mut missed = Vec::new();
    for row in rows("attacks.jsonl") {
        let report = package(&row["package"]);
        let check = SkillCheck::from_name(row["check"].as_str().unwrap()).unwrap();
        let least = Verdict::named(row["least"].as_str().unwrap());
        let is_seen = report.findings.iter().any(|it| it.check == check);
        if verdict(&report) < least || !is_seen {
            missed.push(format!("{}\n{}", row["id"], told(&report)));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn honest_skills_get_no_more_than_their_verdict() {
    let mut blamed = Vec::new();
    for row in rows("honest.jsonl") {
        let report = package(&row["package"]);
        let most = Verdict::named(row["most"].as_str().unwrap());
        if verdict(&report) > most {
            blamed.push(format!("{}\n{}", row["id"], told(&report)));
        }
    }
    assert!(blamed.is_empty(), "{}", blamed.join("\n"));
}

#[test]
fn findings_say_where_they_stand() {
    for row in rows("attacks.jsonl") {
        let report = package(&row["package"]);
        for it in &report.findings {
            assert!(it.line >= 1 && it.start <= it.end, "{it:?}");
            assert!(!it.why.is_empty() && !it.file.is_empty(), "{it:?}");
        }
    }
}
