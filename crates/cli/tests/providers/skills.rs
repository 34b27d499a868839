//! `lazaret skills`: what agents propose, and what a person says to it.

use serde_json::json;

use crate::providers::support::{agent, good, home, kinds, put, run};

#[test]
fn a_person_approves_one_proposal_and_rejects_another() {
    let home = home("providers:\n  skills: git\n");
    let home = home.path();
    let propose = |name: &str| json!({"action": "skill_propose", "skill": name, "content": "---\ndescription: how\n---\nDo it.\n", "reason": "it \u{1b}[2J helps"});
    let made =
        agent(home, "s", &[propose("deploy"), propose("evil"), json!({"action": "skill_list"})]);
    assert_eq!(made[2]["skills"], json!([]), "{made:?}");
    let (one, other) = (made[0]["id"].as_str().unwrap(), made[1]["id"].as_str().unwrap());
    let waiting = good(home, &["skills", "list"]);
    assert!(waiting.len() == 2 && waiting.iter().all(|it| it["state"] == "waiting"), "{waiting:?}");

    let (code, shown, _) = run(home, &["skills", "show", one]);
    assert!(code == 0 && shown.contains("Do it.") && !shown.contains('\u{1b}'), "{shown}");
    let (code, _, stderr) = run(home, &["skills", "approve", one]);
    assert_eq!(code, 2, "nobody is at a terminal: {stderr}");
    assert_eq!(good(home, &["skills", "approve", one, "--yes"])[0]["state"], "approved");
    let rejected = good(home, &["skills", "reject", other, "--reason", "no"]);
    assert_eq!(rejected[0]["state"], "rejected");
    let (code, _, stderr) = run(home, &["skills", "approve", other, "--yes"]);
    assert!(code == 1 && stderr.contains("no proposal"), "{stderr}");

    let answers = agent(
        home,
        "t",
        &[json!({"action": "skill_list"}), json!({"action": "skill_read", "name": "deploy"})],
    );
    assert_eq!(answers[0]["skills"], json!([{"name": "deploy", "description": "how"}]));
    assert!(answers[1]["content"].as_str().unwrap().ends_with("Do it.\n"));
    let kinds = kinds(home);
    for kind in ["skill_approved", "skill_rejected"] {
        assert!(kinds.iter().any(|it| it == kind), "{kinds:?}");
    }
}

#[test]
fn skills_in_a_folder_are_only_read() {
    let home = home("providers:\n  skills: readonly\n");
    let home = home.path();
    put(
        home,
        "skills/tea/SKILL.md",
        "---\nname: tea\ndescription: how to make tea\n---\nBoil water.\n",
    );
    let propose = json!({"action": "skill_propose", "skill": "evil", "content": "x"});
    let answers = agent(home, "s", &[json!({"action": "skill_list"}), propose]);
    assert_eq!(answers[0]["skills"][0]["description"], "how to make tea");
    assert!(answers[1]["error"].as_str().unwrap().contains("read-only"), "{answers:?}");
    assert_eq!(good(home, &["skills", "list"])[0]["skill"], "tea");
    let (code, _, stderr) = run(tempfile::tempdir().unwrap().path(), &["skills", "list"]);
    assert!(code == 2 && stderr.contains("skills: git"), "{stderr}");
}
