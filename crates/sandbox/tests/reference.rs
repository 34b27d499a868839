//! The reference files say what is true of the cage, the audit and the kernel.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "test files need not be atomic")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use sandbox::audit::audit;
use sandbox::cage::DENIED_SYSCALLS;
use sandbox::oci::Profile;
use sandbox::skill::SkillExecutionConfig;

#[path = "../examples/landlock_policy.rs"]
#[expect(dead_code, reason = "what is printed is for people who run it")]
mod landlock_policy;

fn reference(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference").join(name);
    fs::read_to_string(path).unwrap()
}

#[test]
fn the_profile_refuses_exactly_what_the_cage_refuses() {
    let profile = Profile::parse(&reference("seccomp-skill-profile.json")).unwrap();
    let mut wanted: BTreeSet<String> = DENIED_SYSCALLS.iter().map(|it| it.0.to_owned()).collect();
    // The cage refuses them apart, as calls that are not there.
    wanted.extend(["clone3", "openat2"].map(str::to_owned));
    // Calls of other machines stand in the profile as well.
    let named = profile.denied.clone();
    let missing: Vec<_> = wanted.difference(&named).collect();
    assert!(missing.is_empty(), "the cage refuses more: {missing:?}");
    if cfg!(target_arch = "x86_64") {
        assert_eq!(named, wanted, "the profile refuses more");
    }
    let sometimes = ["clone", "ioctl", "socket"].map(str::to_owned);
    assert_eq!(profile.denied_sometimes, BTreeSet::from(sometimes));
    // Whole, as it is shipped: who names it in the settings of skills is not refused.
    SkillExecutionConfig::default().accept(&profile).unwrap();
}

#[test]
fn no_condition_of_the_profile_looks_at_bits_that_the_kernel_does_not() {
    let text = reference("seccomp-skill-profile.json");
    let profile: serde_json::Value = serde_json::from_str(&text).unwrap();
    for rule in profile["syscalls"].as_array().unwrap() {
        let Some(args) = rule["args"].as_array() else { continue };
        let indexes: BTreeSet<u64> = args.iter().map(|it| it["index"].as_u64().unwrap()).collect();
        // Engines read two conditions on one argument as one or the other.
        assert_eq!(indexes.len(), args.len(), "{rule}");
        if rule["names"][0] == "ioctl" {
            assert!(args.iter().all(|it| it["op"] == "SCMP_CMP_MASKED_EQ"), "{rule}");
        }
    }
}

/// The instructions of a container file, and its comments.
fn container() -> (Vec<String>, String) {
    let text = reference("Dockerfile.skill-runner").replace("\\\n", " ");
    let comment = |it: &&str| it.starts_with('#');
    let comments: Vec<&str> = text.lines().filter(comment).collect();
    let rest = text.lines().filter(|it| !it.starts_with('#') && !it.trim().is_empty());
    (rest.map(str::to_owned).collect(), comments.join("\n"))
}

#[test]
fn the_container_file_runs_as_nobody_and_fetches_nothing() {
    let (instructions, _) = container();
    let words: Vec<&str> =
        instructions.iter().map(|it| it.split_whitespace().next().unwrap()).collect();
    let known = ["ARG", "FROM", "RUN", "ENV", "WORKDIR", "USER", "ENTRYPOINT", "CMD"];
    assert!(words.iter().all(|it| known.contains(it)), "{words:?}");
    let of = |word: &str| instructions.iter().rfind(|it| it.starts_with(word)).unwrap();
    let user = of("USER").split_whitespace().nth(1).unwrap();
    let ids: Vec<u32> = user.split(':').map(|it| it.parse().unwrap()).collect();
    assert!(ids.len() == 2 && ids.iter().all(|it| *it != 0), "by number, and not root: {user}");
    let last = words.iter().rposition(|it| *it == "USER").unwrap();
    assert!(
        words.iter().rposition(|it| *it == "RUN").unwrap() < last,
        "nothing is run as that user"
    );
    assert_eq!(of("FROM"), "FROM ${BASE}", "the base is pinned by who builds it");
    assert_eq!(of("ARG"), "ARG BASE", "and has no default that moves");
    for instruction in &instructions {
        for word in ["http:", "https:", "curl", "wget", "latest", "sudo", "apt", "777"] {
            assert!(!instruction.contains(word), "{instruction}");
        }
    }
    for word in ["ENTRYPOINT", "CMD"] {
        let list = of(word).strip_prefix(word).unwrap();
        let list: Vec<String> = serde_json::from_str(list).unwrap();
        assert!(!list.is_empty(), "as a list, so that no shell reads it");
    }
}

#[test]
fn the_container_file_says_every_wall_that_the_audit_looks_for() {
    let (_, comments) = container();
    for flag in [
        "--read-only",
        "--network none",
        "--cap-drop=ALL",
        "--security-opt no-new-privileges",
        "--security-opt seccomp=seccomp-skill-profile.json",
        "--pids-limit 256",
        "--memory 512m",
        "--ipc private",
        "--user 65532:65532",
        "noexec,nosuid,nodev",
        ":/skill:ro",
    ] {
        assert!(comments.contains(flag), "{flag}");
    }
    // What the audit advises is what the file does.
    let dir = tempfile::tempdir().unwrap();
    let advice: Vec<&str> =
        audit(dir.path(), |_| None).findings().iter().map(|it| it.advice).collect();
    let advised: Vec<&str> =
        advice.iter().flat_map(|it| it.split('`')).filter(|it| it.starts_with("--")).collect();
    assert!(advised.len() >= 4, "{advice:?}");
    for flag in advised {
        for part in flag.split(" --") {
            assert!(comments.contains(part.trim_start_matches('-')), "{flag}");
        }
    }
    let privileged = ["--privileged", "docker.sock", "--pid host", "--network host", "--cap-add"];
    assert!(privileged.iter().all(|it| !comments.contains(it)));
}

#[test]
fn the_landlock_example_confines() {
    let dir = tempfile::tempdir().unwrap();
    let (inside, outside) = (dir.path().join("in"), dir.path().join("out"));
    fs::create_dir(&inside).unwrap();
    fs::write(&outside, "secret").unwrap();
    // The thread alone is confined, and ends with its rules.
    let confined = std::thread::spawn(move || {
        let status = landlock_policy::confine(&inside).unwrap();
        let wrote = fs::write(inside.join("a"), "x").is_ok();
        let read = fs::read(&outside).is_ok();
        let system = fs::read_dir(PathBuf::from("/usr")).is_ok();
        (status, wrote, read, system)
    });
    let (status, wrote, read, system) = confined.join().unwrap();
    let enforced = status == landlock::RulesetStatus::FullyEnforced;
    let expected = sandbox::probe::landlock_abi().is_some_and(|it| it >= 3);
    assert_eq!(enforced, expected, "{status:?}");
    assert!(wrote && system);
    assert_eq!(read, status == landlock::RulesetStatus::NotEnforced, "what is not named is closed");
}
