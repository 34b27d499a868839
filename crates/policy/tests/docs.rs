//! `docs/policy.md` says what is so: its table of rules, and its examples.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use std::fs;
use std::path::Path;

use model::AgentId;
use policy::access::{Domain, Global, KnownTools, Manifest, Users};
use policy::{Group, PackText, Policy, Target};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/policy.md");
    fs::read_to_string(path).unwrap()
}

/// The blocks of one language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let inside = page.split(&fence).skip(1);
    inside.map(|it| it.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn every_rule_is_in_the_table_as_it_is() {
    let page = page();
    for rule in Policy::embedded().unwrap().rules() {
        let row = format!("| `{}` | {} | {} |", rule.id(), rule.decision(), rule.reason());
        assert!(page.contains(&row), "{row}");
    }
}

#[test]
fn every_group_domain_and_kind_of_file_is_named() {
    let page = page();
    for group in Group::ALL {
        assert!(page.contains(&format!("`{}`", group.as_str())), "{}", group.as_str());
    }
    let domains: Vec<_> = Domain::ALL.iter().map(|it| it.as_str()).collect();
    assert!(page.contains(&domains.join(" ")));
    assert!(page.contains(Target::ControlPlane.as_str()));
}

#[test]
fn the_examples_are_read() {
    let page = page();
    let mut packs = PackText::embedded();
    let talk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/conversation.md");
    let of_talk = blocks(&fs::read_to_string(talk).unwrap(), "cedar");
    assert_eq!(of_talk.len(), 1);
    for (at, text) in blocks(&page, "cedar").into_iter().chain(of_talk).enumerate() {
        packs.push(PackText { name: format!("docs-{at}.cedar"), text });
    }
    assert!(packs.len() > PackText::embedded().len());
    Policy::build(&packs).unwrap();
    let agent = AgentId::parse("billing").unwrap();
    let mut seen = [0; 3];
    for text in blocks(&page, "yaml") {
        if text.starts_with("---") {
            Manifest::parse(&agent, &text).unwrap();
            seen[0] += 1;
        } else if text.starts_with("users:") {
            Users::parse(&text, &KnownTools::default()).unwrap();
            seen[1] += 1;
        } else {
            Global::parse(&text).unwrap();
            seen[2] += 1;
        }
    }
    assert_eq!(seen, [1, 1, 1]);
}

#[test]
fn the_settings_of_how_careful_a_host_is_are_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/security.md");
    let page = fs::read_to_string(path).unwrap();
    let read: Vec<Global> =
        blocks(&page, "yaml").iter().map(|it| Global::parse(it).unwrap()).collect();
    assert_eq!(read.len(), 1);
    assert!(read[0].security().profile.is_some() && read[0].scopes().has("money"));
}
