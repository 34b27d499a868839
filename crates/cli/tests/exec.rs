//! `lazaret exec`, as a person uses it: the real program, real cages.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use testkit::program::Run as _;

use crate::program::{LAZARET, lazaret};

/// A workspace, a home with secrets, and the state.
pub(crate) struct Place {
    dir: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["work", "home/.ssh", "home/.aws", "state"] {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        let place = Self { dir };
        place.put("home/.ssh/id_ed25519", "canary-key");
        place.put("home/.aws/credentials", "canary-key");
        place.put("home/.netrc", "canary-key");
        place
    }

    #[expect(clippy::disallowed_methods, reason = "files of the test's own")]
    fn put(&self, name: &str, text: &str) {
        fs::write(self.dir.path().join(name), text).unwrap();
    }

    pub(crate) fn work(&self) -> std::path::PathBuf {
        self.dir.path().canonicalized().join("work")
    }

    #[expect(clippy::disallowed_methods, reason = "the program itself is tested")]
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(LAZARET);
        command.arg("exec").args(words).current_dir(self.work());
        command.env_clear().env("PATH", "/usr/bin:/bin");
        command.env("HOME", self.dir.path().join("home"));
        command.env("LAZARET_HOME", self.dir.path().join("state"));
        command.env("SECRET_TOKEN", "canary-key").stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> (i32, String, String) {
        told(&self.command(words).output().unwrap())
    }

    /// Another command on the same state.
    pub(crate) fn state(&self, words: &[&str]) -> testkit::program::Ran<String> {
        lazaret(self.dir.path().join("state"), words).run()
    }

    /// The records of all runs.
    fn records(&self) -> Vec<Value> {
        let home = self.dir.path().join("state/exec");
        lazaret(home, &["evidence", "query", "--json"]).run().objects()
    }
}

trait Canonicalized {
    fn canonicalized(&self) -> std::path::PathBuf;
}

impl Canonicalized for Path {
    #[expect(clippy::disallowed_methods, reason = "the test's own directory may lie behind a link")]
    fn canonicalized(&self) -> std::path::PathBuf {
        self.canonicalize().unwrap()
    }
}

fn told(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

#[test]
fn what_comes_out_is_what_the_command_says() {
    let place = Place::new();
    assert_eq!(place.run(&["--", "echo", "a b"]), (0, "a b\n".to_owned(), String::new()));
    assert_eq!(
        place.run(&["--", "sh", "-c", "echo no >&2; exit 7"]),
        (7, String::new(), "no\n".to_owned())
    );
    let (code, out, err) = place.run(&["--", "no-such-program"]);
    assert_eq!((code, out.as_str()), (127, ""));
    assert!(err.contains("no-such-program"), "{err}");
    assert_eq!(place.run(&["--", "/etc/passwd"]).0, 126);
}

#[test]
fn what_goes_in_is_what_the_command_reads() {
    let place = Place::new();
    let mut child = place
        .command(&["--", "wc", "-c"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&[b'x'; 300_000]).unwrap();
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(out.trim(), "300000");
    assert!(child.wait().unwrap().success());
}

#[test]
fn no_secret_is_inside() {
    let place = Place::new();
    place.put("work/.env", "canary-key");
    place.put("work/.env.example", "harmless");
    let script = "cat ~/.ssh/id_ed25519 ~/.aws/credentials ~/.netrc .env /etc/shadow; env; cat .env.example; \
                  cat /proc/1/environ; ls -a ~";
    let (_, out, err) = place.run(&["--", "sh", "-c", script]);
    assert!(!out.contains("canary-key") && !err.contains("canary-key"), "{out}{err}");
    assert!(out.contains("harmless"), "{out}{err}");
    assert!(!out.contains("SECRET_TOKEN"), "{out}");
    let (code, out, _) = place.run(&["--show", ".env", "--", "cat", ".env"]);
    assert_eq!((code, out.as_str()), (0, "canary-key"));
}

#[test]
fn only_the_workspace_changes() {
    let place = Place::new();
    fs::create_dir_all(place.work().join(".git/hooks")).unwrap();
    place.put("work/.git/config", "[core]\n");
    let script = "echo new > file; echo x > .git/config; echo x > .git/hooks/post-commit; mv .git away; \
                  echo x > ~/kept; echo x > /usr/x; cat file ~/kept";
    let (_, out, _) = place.run(&["--", "sh", "-c", script]);
    assert_eq!(out, "new\nx\n");
    assert_eq!(fs::read_to_string(place.work().join("file")).unwrap(), "new\n");
    assert_eq!(fs::read_to_string(place.work().join(".git/config")).unwrap(), "[core]\n");
    assert!(!place.work().join(".git/hooks/post-commit").exists());
    assert!(!place.work().join("away").exists());
    assert!(!place.dir.path().join("home/kept").exists());
}

#[test]
fn what_must_never_run_does_not() {
    let place = Place::new();
    place.put("work/here", "still");
    let (code, _, err) = place.run(&["--", "sh", "-c", "rm -rf /"]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("shell-erase-root"), "{err}");
    assert!(place.work().join("here").exists());
    let kinds: Vec<String> = place
        .records()
        .iter()
        .map(|it| it["record"]["meta"]["kind"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(kinds, ["exec_refused"], "{:?}", place.records());
}

#[test]
fn each_run_is_on_record_with_what_held_it() {
    let place = Place::new();
    place.run(&["--", "sh", "-c", "exit 4"]);
    let records = place.records();
    assert_eq!(records.len(), 2, "{records:?}");
    let text = serde_json::to_string(&records).unwrap();
    assert!(text.contains("sh -c 'exit 4'") && text.contains("\"exited\":4"), "{text}");
    assert!(text.contains("\"held\"") && text.contains("seccomp"), "{text}");
}

#[test]
fn the_host_cannot_be_reached_not_even_through_the_proxy() {
    let place = Place::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (code, _, _) = place.run(&["--", "curl", "-sS", "-m", "5", &url]);
    assert_ne!(code, 0);
    let (_, out, err) = place.run(&["--network", "--", "curl", "-sS", "-m", "5", &url]);
    assert!(out.contains("net-v4-loopback"), "{out}{err}");
    let (_, out, err) =
        place.run(&["--network", "--", "curl", "--noproxy", "*", "-sS", "-m", "5", &url]);
    assert!(out.is_empty() && err.contains("curl"), "{out}{err}");
    assert!(listener.accept().is_err(), "somebody came");
}

#[test]
fn an_agent_whose_manifest_gives_no_network_has_none() {
    let place = Place::new();
    let hash = "a".repeat(64);
    let users = format!(
        "users:\n  - name: me\n    token_hash: \"{hash}\"\n    agents: \"*\"\n    budget: unlimited\n"
    );
    place.put("state/users.yaml", &users);
    place.put("state/config.yaml", "shell: {network: \"*\"}\n");
    let manifest = |network: &str| format!("---\nsandbox:\n  network: {network}\n---\n# Closed\n");
    for (agent, network) in [("closed", "none"), ("open", "host")] {
        fs::create_dir_all(place.dir.path().join("state/agents").join(agent)).unwrap();
        place.put(&format!("state/agents/{agent}/IDENTITY.md"), &manifest(network));
    }
    let words = |agent| ["--network", "--agent", agent, "--", "sh", "-c", "echo ran"];
    let (code, out, err) = place.run(&words("closed"));
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("the manifest of `closed` gives its programs no network"), "{err}");
    assert_eq!(place.run(&words("open")).1, "ran\n");
    let kinds: Vec<String> =
        place.records().iter().map(|it| it["record"]["meta"]["kind"].to_string()).collect();
    let all = ["exec_begin", "exec_not_begun", "exec_begin", "exec_end"];
    assert_eq!(kinds, all.map(|it| format!("\"{it}\"")));
}

#[test]
fn what_is_required_and_cannot_be_had_is_a_refusal() {
    let place = Place::new();
    // Bubblewrap makes namespaces, and no landlock.
    let words = ["--maker", "bwrap", "--require", "landlock", "--", "true"];
    if Path::new("/usr/bin/bwrap").exists() {
        let (code, _, err) = place.run(&words);
        assert_eq!(code, 1, "{err}");
        assert!(err.contains("landlock is required"), "{err}");
    }
    let (code, _, err) = place.run(&["--require", "walls", "--", "true"]);
    assert_eq!(code, 2, "{err}");
}

#[test]
fn places_that_must_not_be_given_are_not() {
    let place = Place::new();
    let home = place.dir.path().join("home").display().to_string();
    let ssh = format!("{home}/.ssh");
    let state = place.dir.path().join("state").display().to_string();
    for dir in ["/", &home, &ssh, &state, "/proc", "/nowhere"] {
        let (code, _, err) = place.run(&["--workspace", dir, "--", "true"]);
        assert_eq!(code, 2, "{dir}: {err}");
        let (code, _, err) = place.run(&["--read", dir, "--", "true"]);
        assert_eq!(code, 2, "{dir}: {err}");
    }
    for pair in ["LD_PRELOAD=/x", "PATH=/x", "BASH_ENV=x", "HTTPS_PROXY=x", "novalue"] {
        let (code, _, err) = place.run(&["--env", pair, "--", "true"]);
        assert_eq!(code, 2, "{pair}: {err}");
    }
    assert_eq!(place.run(&["--env", "GREETING=hi", "--", "sh", "-c", "echo $GREETING"]).1, "hi\n");
}

#[test]
fn a_variable_is_given_as_it_is_here() {
    let place = Place::new();
    let words =
        ["--env", "SECRET_TOKEN", "--env", "B=2", "--", "sh", "-c", "echo $SECRET_TOKEN $B"];
    assert_eq!(place.run(&words), (0, "canary-key 2\n".to_owned(), String::new()));
    let (code, _, err) = place.run(&["--env", "NOT_THERE", "--", "true"]);
    assert!(code == 2 && err.contains("no such variable"), "{code} {err}");
    let mut command = place.command(&["--env", "LD_PRELOAD", "--", "true"]);
    assert_eq!(told(&command.env("LD_PRELOAD", "").output().unwrap()).0, 2);
}

#[test]
fn what_is_kept_is_changed_where_the_person_says_so() {
    let place = Place::new();
    place.put("work/AGENTS.md", "before\n");
    let script = "echo after > AGENTS.md; mkdir .husky; echo x > .husky/pre-commit; true";
    let (_, _, err) = place.run(&["--", "sh", "-c", script]);
    assert_eq!(fs::read_to_string(place.work().join("AGENTS.md")).unwrap(), "before\n");
    assert!(err.contains(".husky.set-aside-1") && !place.work().join(".husky").exists(), "{err}");
    let words = ["--change", "AGENTS.md", "--change", ".husky", "--", "sh", "-c", script];
    assert_eq!(place.run(&words), (0, String::new(), String::new()));
    assert_eq!(fs::read_to_string(place.work().join("AGENTS.md")).unwrap(), "after\n");
    assert!(place.work().join(".husky/pre-commit").exists());
    let (code, _, err) = place.run(&["--change", "/etc/passwd", "--", "true"]);
    assert!(code == 2 && err.contains("lies in no workspace"), "{code} {err}");
}

#[test]
fn a_key_that_a_command_made_is_the_next_ones_and_one_of_the_persons_is_not() {
    let place = Place::new();
    let key = "-----BEGIN PRIVATE KEY-----\nMC4\n-----END PRIVATE KEY-----\n";
    place.put("work/mine.key", key);
    let make = format!("printf %s '{key}' > server.key");
    assert_eq!(place.run(&["--", "sh", "-c", &make]).0, 0);
    assert_eq!(place.run(&["--", "cat", "server.key"]), (0, key.to_owned(), String::new()));
    assert_ne!(place.run(&["--", "cat", "mine.key"]).0, 0);
    // Somebody else's now.
    std::thread::sleep(Duration::from_millis(20));
    place.put("work/server.key", key);
    assert_ne!(place.run(&["--", "cat", "server.key"]).0, 0);
    assert_ne!(place.run(&["--", "rm", "-f", "mine.key"]).0, 0);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "git makes the repository of the test")]
fn git_is_found_from_below_the_top_of_a_repository() {
    let place = Place::new();
    fs::create_dir_all(place.work().join("sub/deep")).unwrap();
    place.put("work/.env", "canary-key");
    place.put("work/top", "top\n");
    let made = Command::new("git").args(["init", "-q"]).arg(place.work()).status().unwrap();
    assert!(made.success());
    let script = "git rev-parse --show-prefix; echo new > file; git add file; git status --short file; \
                  cat ../../top; echo x > ../../top; echo x >> ../../.git/config; cat ../../.env";
    let mut command = place.command(&["--", "sh", "-c", script]);
    let (_, out, err) = told(&command.current_dir(place.work().join("sub/deep")).output().unwrap());
    assert_eq!(out, "sub/deep/\nA  file\ntop\n", "{err}");
    assert_eq!(fs::read_to_string(place.work().join("top")).unwrap(), "top\n");
    assert!(!fs::read_to_string(place.work().join(".git/config")).unwrap().contains('x'));
    // Who names the workspace has named it.
    let mut command = place.command(&["--workspace", ".", "--", "git", "status"]);
    let (code, _, _) = told(&command.current_dir(place.work().join("sub")).output().unwrap());
    assert_ne!(code, 0);
}

#[test]
fn a_weaker_cage_is_taken_only_where_that_is_said() {
    let place = Place::new();
    if !Path::new("/usr/bin/bwrap").exists() {
        return;
    }
    // Bubblewrap makes namespaces, and no landlock.
    let (code, out, err) = place.run(&["--maker", "bwrap", "--", "echo", "ran"]);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("landlock is required") && err.contains("--allow-weaker"), "{err}");
    let (code, out, err) = place.run(&["--maker", "bwrap", "--allow-weaker", "--", "echo", "ran"]);
    assert_eq!((code, out.as_str()), (0, "ran\n"), "{err}");
    assert!(err.contains("a weaker cage") && err.contains("no landlock"), "{err}");
}

#[test]
fn our_state_is_kept_out_also_where_it_was_not_there_before() {
    let place = Place::new();
    let state = place.work().join("new/state");
    let mut command = place.command(&["--", "sh", "-c", "find new"]);
    let (code, out, err) = told(&command.env("LAZARET_HOME", &state).output().unwrap());
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("our own state"), "{err}");
}

#[test]
fn all_that_is_printed_to_a_terminal_comes_out() {
    let place = Place::new();
    let (code, out, err) = place.run(&["--tty", "--", "seq", "1", "200000"]);
    assert_eq!(code, 0, "{err}");
    let mut lines = out.lines();
    assert!((1..=200_000).all(|it| lines.next() == Some(it.to_string().as_str())), "{err}");
    assert_eq!(lines.next(), None);
}

#[test]
fn limits_with_which_nothing_can_run_are_wrong_usage() {
    let place = Place::new();
    for (name, value) in
        [("--memory", "0"), ("--processes", "0"), ("--timeout", "0"), ("--cpu", "0")]
    {
        let (code, _, err) = place.run(&[name, value, "--", "true"]);
        assert!(code == 2 && err.contains(name), "{name}: {code} {err}");
    }
}

#[test]
fn a_directory_that_is_gone_is_named_with_what_to_do() {
    let place = Place::new();
    let gone = place.dir.path().join("work/gone");
    fs::create_dir(&gone).unwrap();
    let command = place.command(&["--", "true"]);
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    #[expect(clippy::disallowed_methods, reason = "a shell that stands where nothing is")]
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "rmdir \"$PWD\" && exec \"$@\"", "sh"]).args(words).current_dir(&gone);
    shell.env("HOME", place.dir.path().join("home"));
    shell.env("LAZARET_HOME", place.dir.path().join("state"));
    let (code, _, err) = told(&shell.output().unwrap());
    assert!(code == 2 && err.contains("--dir"), "{code} {err}");
}

#[test]
fn of_very_many_things_that_are_set_aside_some_are_named_and_the_rest_is_counted() {
    let place = Place::new();
    let script =
        "for i in $(seq 1 100); do mkdir -p $i/.git; echo '[alias]' > $i/.git/config; done";
    let (code, _, err) = place.run(&["--", "sh", "-c", script]);
    assert_eq!((code, err.lines().count()), (0, 65), "{err}");
    assert!(err.trim_end().ends_with("look for `set-aside`") && err.contains("36 more"), "{err}");
    let end = place.records().into_iter().find(|it| it["record"]["meta"]["kind"] == "exec_end");
    let end = end.unwrap().to_string();
    assert!(end.contains("\"set_aside_more\":36"), "{end}");
}

#[test]
fn a_mistyped_option_is_no_command() {
    let place = Place::new();
    let (code, _, err) = place.run(&["--reprot", "--", "ls"]);
    assert!(code == 2 && err.contains("--report"), "{code} {err}");
    // Options of the command are its own.
    let (code, out, err) = place.run(&["echo", "--reprot", "-n"]);
    assert_eq!((code, out.as_str()), (0, "--reprot -n\n"), "{err}");
}

#[test]
fn help_begins_with_what_it_does() {
    let (code, out, _) = Place::new().run(&["--help"]);
    assert!(code == 0 && out.starts_with("Run a command in a cage."), "{out}");
}

#[test]
fn what_cannot_be_had_is_said_with_what_is_wrong() {
    let place = Place::new();
    place.put("home/.ssh/other", "");
    let key = place.dir.path().join("home/.ssh/other").display().to_string();
    place.put("work/file", "");
    let file = place.work().join("file").display().to_string();
    for (words, why) in [
        (["--show", &key], "cannot be shown"),
        (["-w", &file], "is no directory"),
        (["-w", "/usr"], "belongs to the system"),
        (["-w", "/etc/ssl"], "belongs to the system"),
        (["-w", "/var/spool"], "belongs to the system"),
        (["--env", "A B=c"], "no name of a variable"),
        (["--env", "LD_PRELOAD=c"], "changes what programs load"),
    ] {
        let (code, _, err) = place.run(&[words[0], words[1], "--", "true"]);
        assert!(code == 2 && err.contains(why), "{words:?}: {code} {err}");
    }
    let work = place.work().display().to_string();
    let (code, _, err) = place.run(&["-w", &work, "--dir", "/var/lib", "--", "true"]);
    assert!(code == 2 && err.contains("/var/lib"), "{code} {err}");
}

#[test]
fn what_one_run_makes_uncovers_nothing_for_the_next() {
    let place = Place::new();
    fs::create_dir_all(place.work().join("z/deep")).unwrap();
    place.put("work/z/deep/.env", "canary-key");
    let (code, _, err) = place.run(&["--", "sh", "-c", "seq 1 17000 | xargs mkdir"]);
    assert_eq!(code, 0, "{err}");
    let (code, out, err) = place.run(&["--", "cat", "z/deep/.env"]);
    assert!(code != 0 && out.is_empty() && !err.contains("canary-key"), "{code} {out} {err}");
}
