//! What the audit says and what a skill can do from inside a real cage. The audit says `Full`, and that is true.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "what is written inside need not be atomic")]

use std::fs;
use std::path::Path;

use monitor::terminal::vet;
use sandbox::audit::audit;
use sandbox::cage::{Cage, Ending, Held, Inmate, Leave, Rung};
use sandbox::skill::{SkillExecutionConfig, SkillPlaces};

/// Set for the process inside: where it writes what it found.
const INSIDE: &str = "LAZARET_AUDIT_INSIDE";

fn leave(inmate: &Inmate) -> Leave {
    Leave::of_person(vet(&inmate.words).unwrap())
}

/// Runs the audit in a cage, and says what it found there.
fn found_in(cage: &Cage, workspace: &Path) -> (serde_json::Value, Held) {
    let program = std::env::current_exe().unwrap();
    let report = workspace.join("report.json");
    let inmate = Inmate {
        words: vec![program.into()],
        directory: workspace.to_owned(),
        environment: vec![(INSIDE.into(), report.clone().into_os_string())],
        terminal: false,
    };
    let waiting = cage.put(&inmate, || Ok(leave(&inmate))).unwrap();
    let held = waiting.held().clone();
    let ending = waiting.begin().unwrap().wait().0.unwrap();
    assert_eq!(ending, Ending::Exited(0), "{held}");
    (serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap(), held)
}

/// A cage in which this program is there to be run.
fn cage(workspace: &Path) -> Cage {
    let program = files::resolved(&std::env::current_exe().unwrap()).unwrap();
    let readable = vec![program.parent().unwrap().to_owned()];
    Cage { workspaces: vec![workspace.to_owned()], readable, ..Cage::default() }
}

/// A process with several threads makes no cage, so that there is no harness here.
fn main() {
    if let Some(path) = std::env::var_os(INSIDE) {
        let found = audit(Path::new("/"), |name| std::env::var(name).ok());
        fs::write(path, found.to_json().to_string()).unwrap();
        return;
    }
    leave_is_for_its_own_words();
    a_whole_cage_is_full();
    a_cage_without_a_wall_is_not_full();
    a_skill_is_caged_as_its_settings_say();
}

/// INVARIANT (OneGate): what runs is what was judged.
fn leave_is_for_its_own_words() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = files::resolved(dir.path()).unwrap();
    let inmate = |program: &str| Inmate {
        words: vec![program.into()],
        directory: workspace.clone(),
        ..Inmate::default()
    };
    let put = cage(&workspace).put(&inmate("/bin/true"), || Ok(leave(&inmate("/bin/false"))));
    let error = put.err().unwrap().to_string();
    assert!(error.contains("another command"), "{error}");
}

fn a_whole_cage_is_full() {
    let whole = [Rung::Namespaces, Rung::Seccomp, Rung::Limits];
    // A cgroup bounds memory, or the first process does: nobody inside can see by how much, and it counts as not bound.
    for without in [vec![Rung::Cgroup], vec![]] {
        let dir = tempfile::tempdir().unwrap();
        let workspace = files::resolved(dir.path()).unwrap();
        let cage = Cage { without, ..cage(&workspace) };
        let (found, held) = found_in(&cage, &workspace);
        // Where the machine does not let us, the audit must say so as well.
        let expected = whole.iter().all(|it| held.holds(*it));
        let findings = found["findings"].as_array().unwrap();
        let lacks = |it: &&serde_json::Value| {
            it["status"] != "pass" && it["id"] != "lsm" && it["id"] != "limits"
        };
        let missing: Vec<_> = findings.iter().filter(lacks).collect();
        assert_eq!(missing.is_empty(), expected, "{held}: {found:#}");
        let limits = findings.iter().find(|it| it["id"] == "limits").unwrap();
        assert!(!expected || limits["status"] == "weak", "processes are bound: {found:#}");
    }
}

fn a_cage_without_a_wall_is_not_full() {
    for rung in [Rung::Namespaces, Rung::Limits] {
        let dir = tempfile::tempdir().unwrap();
        let workspace = files::resolved(dir.path()).unwrap();
        let cage = Cage { without: vec![rung], needed: Vec::new(), ..cage(&workspace) };
        let (found, held) = found_in(&cage, &workspace);
        assert_eq!(found["compliance"], "Partial", "{held}: {found:#}");
    }
}

fn a_skill_is_caged_as_its_settings_say() {
    let dir = tempfile::tempdir().unwrap();
    let root = files::resolved(dir.path()).unwrap();
    let (skill, scratch) = (root.join("skill"), root.join("scratch"));
    let (home, state) = (root.join("home"), root.join("state"));
    for place in [&skill, &scratch, &home.join(".ssh"), &state, &root.join("listed")] {
        fs::create_dir_all(place).unwrap();
    }
    fs::write(root.join("listed/a"), "listed\n").unwrap();
    fs::write(home.join(".ssh/id"), "secret\n").unwrap();
    let places = SkillPlaces { skill: &skill, scratch: &scratch, home: &home, state: &state };
    let run = |config: &SkillExecutionConfig, script: &str| {
        fs::write(skill.join("run.sh"), script).unwrap();
        let words = ["/bin/sh".into(), skill.join("run.sh").into_os_string()];
        let inmate =
            Inmate { words: words.to_vec(), directory: scratch.clone(), ..Inmate::default() };
        config
            .cage(&places)
            .unwrap()
            .put(&inmate, || Ok(leave(&inmate)))
            .unwrap()
            .begin()
            .unwrap()
            .wait()
            .0
            .unwrap()
    };
    let listed = SkillExecutionConfig {
        filesystem_allowlist: vec![root.join("listed")],
        ..SkillExecutionConfig::default()
    };
    let reads = format!("read a < {}/a && echo $a > out", root.join("listed").display());
    assert_eq!(run(&listed, &reads), Ending::Exited(0));
    assert_eq!(fs::read_to_string(scratch.join("out")).unwrap(), "listed\n");
    let unlisted = run(&SkillExecutionConfig::default(), &reads);
    assert!(matches!(unlisted, Ending::Exited(1..)), "{unlisted:?}");
    let steals = format!("read a < {}", home.join(".ssh/id").display());
    assert!(matches!(run(&listed, &steals), Ending::Exited(1..)));
    let writes = format!("echo x > {}", skill.join("run.sh").display());
    assert!(matches!(run(&listed, &writes), Ending::Exited(1..)), "a skill changes itself");
    let short = SkillExecutionConfig { timeout_ms: 300, ..SkillExecutionConfig::default() };
    assert_eq!(run(&short, "sleep 20"), Ending::TimedOut);
}
