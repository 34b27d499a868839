//! Manifests, users files and settings, one defect each, in `corpus/policy`.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use std::fs;
use std::path::{Path, PathBuf};

use model::AgentId;
use policy::access::{
    Access, Agents, Budget, Domain, FileError, Global, KnownTools, Manifest, ToolFilter, Unit,
    Users,
};

fn corpus(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/policy").join(kind)
}

fn manifest(text: &str) -> Result<Manifest, FileError> {
    Manifest::parse(&AgentId::parse("billing").unwrap(), text)
}

fn users(text: &str) -> Result<Users, FileError> {
    Users::parse(text, &KnownTools::default())
}

/// Every good file is read, every bad one is refused on its line for its reason.
fn hold<T>(kind: &str, read: impl Fn(&str) -> Result<T, FileError>) {
    let dir = corpus(kind);
    for entry in fs::read_dir(dir.join("good")).unwrap() {
        let path = entry.unwrap().path();
        let found = read(&fs::read_to_string(&path).unwrap());
        assert!(found.is_ok(), "{}: {}", path.display(), found.err().unwrap());
    }
    let claims = fs::read_to_string(dir.join("bad.txt")).unwrap();
    let claims: Vec<_> = claims.lines().filter(|it| !it.starts_with('#')).collect();
    let mut missed = Vec::new();
    for claim in &claims {
        let [name, line, words] = claim.splitn(3, " | ").collect::<Vec<_>>()[..] else {
            missed.push(format!("no claim: {claim}"));
            continue;
        };
        let text = fs::read_to_string(dir.join("bad").join(name)).unwrap();
        match read(&text) {
            Ok(_) => missed.push(format!("{name}: accepted")),
            Err(error) => {
                let at = error.line.map_or("-".to_owned(), |it| it.to_string());
                if !error.what.contains(words) || (line != "-" && line != at) {
                    missed.push(format!(
                        "{name}: wanted {line} `{words}`, found {at} `{}`",
                        error.what
                    ));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    let files = fs::read_dir(dir.join("bad")).unwrap().count();
    assert_eq!(files, claims.len(), "each file of bad/ is claimed once");
}

#[test]
fn manifests() {
    hold("manifests", manifest);
}

#[test]
fn users_files() {
    hold("users", users);
}

#[test]
fn settings() {
    hold("config", Global::parse);
}

#[test]
fn a_manifest_is_read_whole() {
    let text = fs::read_to_string(corpus("manifests/good/everything.md")).unwrap();
    let found = manifest(&text).unwrap();
    assert_eq!(found.tools, ToolFilter::Allow(vec![Domain::Web, Domain::Memory, Domain::Shell]));
    assert!(matches!(&found.access, Access::Users(users) if users.len() == 2));
    assert_eq!(found.sandbox.allowed_domains.unwrap(), ["api.example.com", "*.example.org"]);
    assert_eq!(found.sandbox.blocked_domains.unwrap(), ["ads.example.org"]);
    assert_eq!(found.agents["researcher"].max_turns, Some(30));
    assert_eq!(found.grants.unwrap().len(), 2);
    assert_eq!(found.operations.len(), 2);
    assert_eq!(found.body, "\n# Billing\n");
    assert_eq!(found.mcp.unwrap().len(), 2);
}

#[test]
fn a_users_file_is_read_whole() {
    let text = fs::read_to_string(corpus("users/good/seed.yaml")).unwrap();
    let found = users(&text).unwrap();
    let alice = found.get("alice").unwrap();
    assert_eq!(alice.agents, Agents::All);
    assert!(!alice.admin, "`*` is no administrator");
    assert_eq!(alice.tools_deny, ["shell_exec", "shell"]);
    let Budget::Limited(limits) = alice.budget else { panic!("{alice:?}") };
    assert_eq!((limits.unit, limits.session, limits.monthly), (Unit::Usd, 5.0, 500.0));
    assert_eq!(found.get("bob").unwrap().budget, Budget::Unlimited);
    assert_eq!(found.get("Bob"), None);
}

#[test]
fn a_tool_of_a_server_can_be_denied_once_it_is_known() {
    let text = fs::read_to_string(corpus("users/bad/denied-tool-misspelt.yaml")).unwrap();
    let known = KnownTools::default().with(["mcp__crm__shel_exec"]);
    assert!(Users::parse(&text, &known).is_ok());
}
