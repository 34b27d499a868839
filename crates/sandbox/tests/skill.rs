//! Settings of skills, and the cage that they ask for.

#![cfg(target_os = "linux")]

use std::path::Path;
use std::time::Duration;

use sandbox::cage::{Network, Rung};
use sandbox::oci::Profile;
use sandbox::skill::{
    MEMORY_BYTES_MAX, SkillError, SkillExecutionConfig, SkillPlaces, TIMEOUT_MS_MAX,
};

fn places() -> SkillPlaces<'static> {
    SkillPlaces {
        skill: Path::new("/skills/x"),
        scratch: Path::new("/scratch"),
        home: Path::new("/home/u"),
        state: Path::new("/home/u/.lazaret"),
    }
}

#[test]
fn nothing_said_is_careful() {
    let read = SkillExecutionConfig::parse("{}").unwrap();
    assert_eq!(read, SkillExecutionConfig::default());
    let cage = read.cage(&places()).unwrap();
    assert_eq!(cage.network, Network::None);
    assert_eq!(cage.readable, [Path::new("/skills/x")]);
    assert_eq!(cage.workspaces, [Path::new("/scratch")]);
    assert!(cage.needed.contains(&Rung::Seccomp) && cage.needed.contains(&Rung::Landlock));
    assert!(cage.without.is_empty());
    assert_eq!(cage.home.as_deref(), Some(Path::new("/home/u")), "so that its secrets are covered");
    assert_eq!(cage.state.as_deref(), Some(Path::new("/home/u/.lazaret")));
}

#[test]
fn what_is_said_is_in_the_cage() {
    let text = r#"{"use_subprocess": true, "filesystem_allowlist": ["/data/a"], "timeout_ms": 1500,
        "max_memory_bytes": 67108864, "seccomp_profile": "/etc/x.json"}"#;
    let read = SkillExecutionConfig::parse(text).unwrap();
    let cage = read.cage(&places()).unwrap();
    assert_eq!(cage.limits.wall_time, Some(Duration::from_millis(1500)));
    assert_eq!(cage.limits.memory_bytes, 64 << 20);
    assert_eq!(cage.readable, [Path::new("/skills/x"), Path::new("/data/a")]);
}

#[test]
fn what_is_out_of_bounds_is_not_taken() {
    let many = format!(r#"{{"filesystem_allowlist": [{}]}}"#, vec![r#""/a""#; 65].join(","));
    let long = format!(r#"{{"timeout_ms": 1{}}}"#, " ".repeat(1 << 16));
    let over = format!(r#"{{"timeout_ms": {}}}"#, TIMEOUT_MS_MAX + 1);
    let memory = format!(r#"{{"max_memory_bytes": {}}}"#, MEMORY_BYTES_MAX + 1);
    for text in [
        "",
        "[]",
        "null",
        r#"{"use_subprocess": false}"#,
        r#"{"use_subprocess": "yes"}"#,
        r#"{"timeout_ms": 0}"#,
        r#"{"timeout_ms": -1}"#,
        r#"{"timeout_ms": 1.5}"#,
        r#"{"timeout_ms": 1, "timeout_ms": 2}"#,
        r#"{"max_memory_bytes": 1}"#,
        r#"{"filesystem_allowlist": ["a"]}"#,
        r#"{"filesystem_allowlist": [""]}"#,
        r#"{"filesystem_allowlist": ["/a/../etc"]}"#,
        r#"{"filesystem_allowlist": ["/a/./b"]}"#,
        r#"{"seccomp_profile": "x.json"}"#,
        r#"{"network": true}"#,
        &many,
        &long,
        &over,
        &memory,
    ] {
        assert!(SkillExecutionConfig::parse(text).is_err(), "{text}");
    }
    let set_by_hand = SkillExecutionConfig { timeout_ms: 0, ..SkillExecutionConfig::default() };
    assert!(set_by_hand.cage(&places()).is_err());
}

#[test]
fn a_profile_that_would_not_hold_is_refused() {
    let config = SkillExecutionConfig::default();
    let profile = |names: &str| {
        let text = format!(
            r#"{{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{{"names": {names}, "action": "SCMP_ACT_ERRNO"}}]}}"#
        );
        Profile::parse(&text).unwrap()
    };
    config.accept(&profile(r#"["mount", "ptrace"]"#)).unwrap();
    config.accept(&profile(r#"["clone3", "openat2"]"#)).unwrap();
    let sometimes =
        Profile { denied_sometimes: ["getpid".to_owned()].into(), ..profile(r#"["mount"]"#) };
    assert!(
        matches!(config.accept(&sometimes), Err(SkillError::MoreRefused(it)) if it == "getpid")
    );
    let refused = config.accept(&profile(r#"["mount", "getpid"]"#));
    assert!(matches!(refused, Err(SkillError::MoreRefused(it)) if it == "getpid"));
}

#[test]
fn a_profile_is_read_strictly() {
    for text in [
        "{}",
        r#"{"defaultAction": "SCMP_ACT_ERRNO"}"#,
        r#"{"defaultAction": "SCMP_ACT_ALLOW", "syscall": []}"#,
        r#"{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["x"], "action": "SCMP_ACT_LOG"}]}"#,
        r#"{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["x"], "action": "SCMP_ACT_ERRNO", "errnoRet": 0}]}"#,
        r#"{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"name": "x", "action": "SCMP_ACT_ERRNO"}]}"#,
    ] {
        assert!(Profile::parse(text).is_err(), "{text}");
    }
}
