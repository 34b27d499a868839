//! The vectors about skills and installations, each under its name, with what differs and why.

use skill::install::{InstallRefused, judge};
use skill::{Index, verify};

use crate::support::{Verdict, package, rows, told, tree, verdict};

/// Nobody can tell from `pip install malicious-pkg` that it is: most skills say so of honest packages. It is a finding, and no
/// denial.
const MILDER: &[&str] = &["pip_install_md"];

#[test]
fn the_cases_of_the_seed_get_their_verdicts() {
    for row in rows("skill_cases.jsonl") {
        let id = row["id"].as_str().unwrap();
        let report = package(&row["package"]);
        let found = verdict(&report);
        match row["expected"].as_str().unwrap() {
            _ if MILDER.contains(&id) => assert!(!report.findings.is_empty(), "{id}"),
            "deny" => assert_eq!(found, Verdict::Deny, "{id}\n{}", told(&report)),
            "require_approval" => {
                assert_eq!(found, Verdict::Review, "{id}\n{}", told(&report));
            }
            "allow" => assert_eq!(found, Verdict::Allow, "{id}\n{}", told(&report)),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn what_went_around_the_verifier_of_the_seed_does_not_pass_unseen() {
    let mut wrong = Vec::new();
    for row in rows("evasions.jsonl") {
        let report = package(&row["package"]);
        let passes = verdict(&report) == Verdict::Allow;
        if passes != (row["expected"] == "allow") {
            wrong.push(format!("{}\n{}", row["id"], told(&report)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What another screener rejects or reviews for a word in a text that runs nothing: `eval(userInput)`, `process.env`, `fetch(…)`.
/// A text that names a function is no program, and skills about security name all of them.
const NO_PROGRAM: &[&str] = &[
    "exec(",
    "eval(",
    "child_process",
    "fetch(",
    "atob(",
    "new Function",
    "process.env",
    "\u{200b}",
    "echo \"data\" | bash",
    "Ignore previous",
    "/log?data=",
];

#[test]
fn the_screener_of_the_other_seed_is_matched_where_something_would_happen() {
    let mut differs = 0;
    let all = rows("skill_screening.jsonl");
    for row in &all {
        let (id, content) = (row["id"].as_str().unwrap(), row["content"].as_str().unwrap());
        let report = verify(&tree(&[("SKILL.md", content)]), None, &Index::default());
        let found = verdict(&report);
        match row["expected"].as_str().unwrap() {
            "APPROVE" | "AUTO_APPROVE" => {
                assert_eq!(found, Verdict::Allow, "{id}: {content}\n{}", told(&report));
            }
            _ if found > Verdict::Allow => {}
            _ => {
                let is_known = NO_PROGRAM.iter().any(|it| content.contains(it));
                assert!(is_known, "{id}: {content}\n{}", told(&report));
                differs += 1;
            }
        }
    }
    // It may only become fewer.
    assert!(differs <= 19, "{differs} of {}", all.len());
}

#[test]
fn installations_are_words_of_exact_versions_or_refused() {
    for row in rows("install_commands_required.jsonl") {
        let command = row["command"].as_str().unwrap();
        let found = judge(command);
        match row["expected"].as_str().unwrap() {
            "reject" => assert!(found.is_err(), "{command:?}: {found:?}"),
            _ => assert!(
                matches!(found, Ok(_) | Err(InstallRefused::Unpinned | InstallRefused::Unpinnable)),
                "{command:?}: {found:?}"
            ),
        }
    }
    let exact = [
        "npm install -g prettier@3.1.0",
        "pip install requests==2.31.0",
        "go install example.com/tool@v1.2.3",
    ];
    for command in exact {
        assert!(judge(command).is_ok(), "{command}");
    }
}

#[test]
fn what_the_other_seed_accepts_is_refused_for_its_version_alone() {
    for row in rows("install_commands.jsonl") {
        let command = row["command"].as_str().unwrap();
        let found = judge(command);
        match row["expected"].as_str().unwrap() {
            "accept" => assert!(
                matches!(found, Ok(_) | Err(InstallRefused::Unpinned | InstallRefused::Unpinnable)),
                "{command:?}: {found:?}"
            ),
            _ => assert!(found.is_err(), "{command:?}: {found:?}"),
        }
    }
}
