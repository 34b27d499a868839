//! A child proposes, approves and rejects, and reports; it is killed at random moments. What was acknowledged is there,
//! nothing is active that nobody approved, and nothing lost its tag.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::{approve, git, name, new, page};
use crate::skills::git::{ProposalState, Repository};

const CHILD_DIR: &str = "LAZARET_SKILLS_CRASH_CHILD_DIR";
const CHILD_ROUND: &str = "LAZARET_SKILLS_CRASH_CHILD_ROUND";
const KILLS: u64 = 20;
/// Skills that the child changes by turns.
const SKILLS: u64 = 4;

/// Not a test of its own: what the child does when the test below starts it.
#[test]
fn child() {
    let Ok(dir) = std::env::var(CHILD_DIR) else { return };
    let round: u64 = std::env::var(CHILD_ROUND).unwrap().parse().unwrap();
    let repository = Repository::new(Path::new(&dir));
    for step in 0.. {
        let number = round * 1_000_000 + step;
        let tag = number.is_multiple_of(2).then(page);
        let skill = format!("skill{}", number % SKILLS);
        let proposal = repository.make(new(&skill, &text(number), tag), 1000).unwrap();
        report("proposed", number);
        if step % 3 == 2 {
            repository.put_away(&proposal).unwrap();
            report("rejected", number);
        } else {
            approve(&repository, &proposal).unwrap();
            report("approved", number);
        }
    }
}

fn text(number: u64) -> String {
    format!("---\ndescription: how to {number}\n---\n{}", "word ".repeat(500))
}

#[expect(clippy::print_stdout, reason = "how the child tells the parent what it was promised")]
fn report(what: &str, number: u64) {
    println!("{what} {number}");
}

#[test]
fn whatever_is_killed_leaves_what_was_acknowledged_and_activates_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("skills.git");
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut answered = 0;
    for round in 0..KILLS {
        let mut child = spawn(&path, round);
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut lines = Vec::new();
        if round % 2 == 1 {
            let mut line = String::new();
            while !line.starts_with("approved ") {
                line.clear();
                assert!(output.read_line(&mut line).unwrap() > 0);
            }
            lines.push(line.trim().to_owned());
        }
        std::thread::sleep(Duration::from_micros(random % 40_000));
        child.kill().unwrap();
        lines.extend(output.lines().map_while(Result::ok));
        child.wait().unwrap();
        answered += check(&path, &lines);
    }
    assert!(answered >= KILLS / 2, "{answered}");
    git(&path, &["fsck", "--strict", "--no-dangling"]);
}

fn check(path: &Path, lines: &[String]) -> u64 {
    let repository = Repository::new(path);
    let of = |state| repository.proposals(state).unwrap();
    let waiting = of(ProposalState::Waiting);
    let (approved, rejected) = (of(ProposalState::Approved), of(ProposalState::Rejected));
    let mut answered = 0;
    for line in lines {
        let Some((what, number)) = line.split_once(' ') else { continue };
        let Ok(number) = number.parse::<u64>() else { continue };
        let text = text(number);
        let of_state = match what {
            "approved" => &approved,
            "rejected" => &rejected,
            // It may have been answered since, and that not told.
            "proposed" => {
                let mut all = waiting.iter().chain(&approved).chain(&rejected);
                let found = all.find(|it| it.content == text).unwrap();
                assert_eq!(found.tag, number.is_multiple_of(2).then(page), "{number}");
                continue;
            }
            _ => continue,
        };
        assert!(of_state.iter().any(|it| it.content == text), "{what} {number} is lost");
        answered += 1;
    }
    for listed in repository.list().unwrap() {
        let active = repository.read(&name(listed.name.as_str())).unwrap();
        // The branch may have moved and the proposal not have followed yet: then it still waits.
        let mut approved = approved.iter().chain(&waiting);
        let whose = approved.find(|it| it.content == active.content).unwrap();
        assert_eq!(active.tag, whose.tag, "{}", listed.name);
    }
    answered
}

#[expect(clippy::disallowed_methods, reason = "the test kills a process, so it must start one")]
fn spawn(dir: &Path, round: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["skills::git::tests::crash::child", "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD_DIR, dir)
        .env(CHILD_ROUND, round.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}
