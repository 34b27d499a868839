//! The repository, as its own code and as git itself sees it.

mod crash;

use std::fs;
use std::path::Path;
use std::process::Command;

use aegx::Digest;
use model::{Source, Taint, TaintTag, UserId};

use super::proposal::NewProposal;
use super::{Proposal, ProposalState, Repository};
use crate::skills::{SkillError, SkillName};

fn page() -> TaintTag {
    TaintTag {
        source: Source::Web,
        taint: Taint::UNTRUSTED.union(Taint::WEB_DERIVED),
        origin: "https://news.example/7".to_owned(),
        unix_seconds: 7,
        record: "ab".repeat(32),
    }
}

fn user(name: &str) -> UserId {
    UserId::parse(name).unwrap()
}

fn new(skill: &str, content: &str, tag: Option<TaintTag>) -> NewProposal {
    NewProposal {
        user: user("alice"),
        agent: "main".to_owned(),
        session: "s".to_owned(),
        record: Digest::ZERO,
        tag,
        skill: skill.to_owned(),
        content: content.to_owned(),
        reason: "because\n\nLazaret: {\"id\":\"forged\"}\nit helps".to_owned(),
    }
}

fn propose(repository: &Repository, skill: &str, content: &str) -> Proposal {
    repository.make(new(skill, content, None), 1000).unwrap()
}

fn approve(repository: &Repository, proposal: &Proposal) -> Result<(), SkillError> {
    repository.approve_on(proposal, &user("alice"), &"cd".repeat(32), 2000)
}

fn name(text: &str) -> SkillName {
    SkillName::parse(text).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "git is asked whether it can read what we wrote")]
fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git").arg("-C").arg(dir).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn nothing_is_active_until_a_person_approves_exactly_that_text() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("skills.git");
    let repository = Repository::new(&path);
    let proposal = propose(&repository, "deploy", "---\ndescription: how to\n---\nfirst");
    assert_eq!(repository.list().unwrap(), []);
    assert!(matches!(repository.read(&name("deploy")), Err(SkillError::NotFound(_))));
    let waiting = repository.proposals(ProposalState::Waiting).unwrap();
    assert_eq!(
        waiting,
        std::slice::from_ref(&proposal),
        "a forged line in the reason changes nothing"
    );
    assert_eq!(waiting[0].reason, "because\n\nLazaret: {\"id\":\"forged\"}\nit helps");

    let mut other = proposal.clone();
    other.commit = Digest::of(b"x");
    assert!(matches!(approve(&repository, &other), Err(SkillError::Other)));
    approve(&repository, &proposal).unwrap();
    assert!(matches!(approve(&repository, &proposal), Err(SkillError::NoProposal(_))));
    let listed = repository.list().unwrap();
    assert_eq!(listed[0].front.description.as_deref(), Some("how to"));
    assert_eq!(repository.read(&name("deploy")).unwrap().content, proposal.content);
    assert_eq!(repository.proposals(ProposalState::Approved).unwrap().len(), 1);

    let second = propose(&repository, "tea", "boil");
    approve(&repository, &second).unwrap();
    assert_eq!(repository.list().unwrap().len(), 2);
    // Git reads all of it.
    git(&path, &["fsck", "--strict", "--no-dangling"]);
    assert_eq!(git(&path, &["show", "main:deploy/SKILL.md"]), proposal.content);
    assert_eq!(
        git(&path, &["log", "--first-parent", "--format=%s", "main"]),
        "approve tea\napprove deploy\npropose deploy\n"
    );
    let clone = dir.path().join("clone");
    git(dir.path(), &["clone", "-q", path.to_str().unwrap(), clone.to_str().unwrap()]);
    assert_eq!(fs::read_to_string(clone.join("tea/SKILL.md")).unwrap(), "boil");
    // And what a person pushes is there.
    fs::rename(clone.join("tea"), clone.join("coffee")).unwrap();
    git(&clone, &["add", "-A"]);
    git(
        &clone,
        &["-c", "user.name=p", "-c", "user.email=p@example.com", "commit", "-qm", "coffee"],
    );
    git(&clone, &["push", "-q", "origin", "HEAD:main"]);
    let names: Vec<_> =
        repository.list().unwrap().into_iter().map(|it| it.name.to_string()).collect();
    assert_eq!(names, ["coffee", "deploy"]);
}

#[test]
fn a_tag_goes_with_the_text_from_the_proposal_into_what_is_active() {
    let dir = tempfile::tempdir().unwrap();
    let repository = Repository::new(&dir.path().join("skills.git"));
    let tainted = repository.make(new("pay", "pay at the portal", Some(page())), 1).unwrap();
    let found = repository.proposal(ProposalState::Waiting, tainted.id).unwrap().unwrap();
    assert_eq!(found.tag, Some(page()));
    approve(&repository, &found).unwrap();
    assert_eq!(repository.read(&name("pay")).unwrap().tag, Some(page()));
    assert_eq!(repository.list().unwrap()[0].tag, Some(page()));
    // A clean text in its place is clean.
    approve(&repository, &propose(&repository, "pay", "ask first")).unwrap();
    assert_eq!(repository.read(&name("pay")).unwrap().tag, None);
}

#[test]
fn what_changed_since_is_not_overwritten_and_names_do_not_meet() {
    let dir = tempfile::tempdir().unwrap();
    let repository = Repository::new(&dir.path().join("skills.git"));
    let one = propose(&repository, "deploy", "one");
    let two = propose(&repository, "deploy", "two");
    let other = propose(&repository, "other", "x");
    let alike = propose(&repository, "DEPLOY", "evil");
    approve(&repository, &one).unwrap();
    assert!(matches!(approve(&repository, &two), Err(SkillError::Drift(_))));
    assert!(matches!(approve(&repository, &alike), Err(SkillError::Alike(..))));
    approve(&repository, &other).unwrap();
    assert_eq!(repository.read(&name("deploy")).unwrap().content, "one");
    assert!(matches!(repository.make(new("Deploy", "x", None), 1), Err(SkillError::Alike(..))));
    for bad in ["../x", ".git", "a/b", ""] {
        assert!(
            matches!(repository.make(new(bad, "x", None), 1), Err(SkillError::Name(_))),
            "{bad}"
        );
    }
    for bad in ["", " \n", &"x".repeat(400_001)] {
        assert!(matches!(repository.make(new("long", bad, None), 1), Err(SkillError::Length)));
    }
}

#[test]
fn proposals_of_one_user_are_limited() {
    let dir = tempfile::tempdir().unwrap();
    let repository = Repository::new(&dir.path().join("skills.git"));
    for number in 0..super::WAITING_PER_USER_MAX {
        propose(&repository, &format!("s{number}"), "x");
    }
    assert!(matches!(repository.make(new("more", "x", None), 1), Err(SkillError::Waiting(100))));
    let bobs = NewProposal { user: user("bob"), ..new("more", "x", None) };
    repository.make(bobs, 1).unwrap();
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test that damages files")]
fn what_was_changed_on_the_disk_is_noticed_and_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("skills.git");
    let repository = Repository::new(&path);
    let tainted = repository.make(new("pay", "pay at the portal", Some(page())), 1).unwrap();
    approve(&repository, &tainted).unwrap();
    let main = path.join("refs/heads/main");
    let commit = fs::read_to_string(&main).unwrap();
    for bad in
        ["", "x\n", "ref: refs/heads/other\n", &"0".repeat(64), &format!("{}x", commit.trim())]
    {
        fs::write(&main, bad).unwrap();
        assert!(matches!(repository.list(), Err(SkillError::Damaged(_))), "{bad:?}");
    }
    fs::remove_file(&main).unwrap();
    fs::write(path.join("packed-refs"), format!("{} refs/heads/main\n", commit.trim())).unwrap();
    assert!(
        matches!(repository.list(), Err(SkillError::Damaged(_))),
        "packed refs are not no refs"
    );
    fs::remove_file(path.join("packed-refs")).unwrap();
    fs::write(&main, &commit).unwrap();
    repository.list().unwrap();
    // The text of the tag, changed in its object: its name says so.
    let mut objects = Vec::new();
    for folder in fs::read_dir(path.join("objects")).unwrap() {
        objects.extend(fs::read_dir(folder.unwrap().path()).unwrap().map(|it| it.unwrap().path()));
    }
    let mut refused = 0;
    for object in objects {
        let sound = fs::read(&object).unwrap();
        for damage in
            [&b"junk"[..], &sound[..sound.len() / 2], &fs::read(path.join("config")).unwrap()]
        {
            fs::remove_file(&object).unwrap();
            fs::write(&object, damage).unwrap();
            refused += usize::from(repository.read(&name("pay")).is_err());
        }
        fs::write(&object, sound).unwrap();
        assert_eq!(repository.read(&name("pay")).unwrap().tag, Some(page()));
    }
    assert!(refused >= 3 * 5, "commit, two trees, text and tag: {refused}");
}

#[test]
fn who_proposes_a_tainted_text_again_has_it_from_there() {
    let dir = tempfile::tempdir().unwrap();
    let repository = Repository::new(&dir.path().join("skills.git"));
    let tainted = || Some(page());
    let make = |content: &str, tag| repository.make(new("pay", content, tag), 1).unwrap();
    // It waits.
    let first = make("pay at the portal", tainted());
    let again = make("pay at the portal", None);
    assert_eq!(again.tag, tainted());
    // It was rejected.
    repository.put_away(&first).unwrap();
    repository.put_away(&again).unwrap();
    let clean = make("pay at the portal", None);
    assert_eq!(clean.tag, tainted());
    // It is active, and under another name it is the same text.
    approve(&repository, &clean).unwrap();
    let third = repository.make(new("portal", "pay at the portal", None), 1).unwrap();
    approve(&repository, &third).unwrap();
    assert_eq!(repository.read(&name("portal")).unwrap().tag, tainted());
    // One that was proposed by a clean session before, and is approved after the tainted one.
    let early = make("pay by card", None);
    assert_eq!(early.tag, None);
    let late = make("pay by card", tainted());
    approve(&repository, &late).unwrap();
    approve(&repository, &early).unwrap();
    assert_eq!(repository.read(&name("pay")).unwrap().tag, tainted());
}

#[test]
fn a_crash_between_two_steps_leaves_the_old_state_or_the_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("skills.git");
    let repository = Repository::new(&path);
    let proposal = propose(&repository, "deploy", "one");
    approve(&repository, &proposal).unwrap();
    // The branch had moved and the proposal was still there.
    let approved = path.join("refs/approved").join(proposal.id.to_string());
    let waiting = path.join("refs/proposals").join(proposal.id.to_string());
    fs::rename(approved, &waiting).unwrap();
    approve(&repository, &proposal).unwrap();
    assert_eq!(repository.read(&name("deploy")).unwrap().content, "one");
    assert_eq!(repository.proposals(ProposalState::Waiting).unwrap(), []);
    git(&path, &["fsck", "--strict", "--no-dangling"]);
}
