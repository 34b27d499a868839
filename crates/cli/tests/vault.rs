//! Secrets, grants and access tokens from the command line.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs;
use std::path::Path;

use testkit::program::{Ran, Run as _};

use crate::program::lazaret;

const VALUE: &str = "ghp_0123456789abcdef";

fn run_with(home: &Path, args: &[&str], stdin: &str, env: &[(&str, &str)]) -> Ran {
    lazaret(home, args).envs(env.iter().copied()).run_with(stdin)
}

fn run(home: &Path, args: &[&str], stdin: &str) -> Ran {
    run_with(home, args, stdin, &[])
}

/// A home with a vault that has one secret.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(run(home.path(), &["vault", "init"], "").code, 0);
    let set = ["vault", "set", "GITHUB_TOKEN", "--host", "api.github.com"];
    let ran = run(home.path(), &set, &format!("{VALUE}\n"));
    assert_eq!((ran.code, ran.out.as_str()), (0, "GITHUB_TOKEN: version 1\n"), "{}", ran.err);
    home
}

fn put(home: &Path, name: &str, text: &str) {
    let path = home.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    files::private::replace(&path, text.as_bytes()).unwrap();
}

#[test]
fn a_secret_is_set_listed_renewed_and_removed_and_its_value_is_not_shown() {
    let home = home();
    let home = home.path();
    let ran = run(home, &["vault", "rotate", "GITHUB_TOKEN"], "another-value-Zq81LkWm27");
    assert_eq!(ran.out, "GITHUB_TOKEN: version 2\n", "{}", ran.err);
    let ran = run(home, &["vault", "list", "--json"], "");
    let shown = ran.object();
    assert_eq!((&shown["name"], &shown["version"]), (&"GITHUB_TOKEN".into(), &2.into()));
    assert!(!ran.out.contains(VALUE) && !ran.out.contains("another-value"));
    assert_eq!(run(home, &["vault", "rotate"], "").code, 0);
    let ran = run(home, &["vault", "export", "--dangerously-plain"], "");
    assert_eq!(ran.out, "{\"GITHUB_TOKEN\":\"another-value-Zq81LkWm27\"}\n");
    let ran = run(home, &["vault", "export"], "");
    assert!(ran.code == 2 && ran.out.is_empty());
    assert_eq!(run(home, &["vault", "remove", "GITHUB_TOKEN"], "").code, 0);
    assert_eq!(run(home, &["vault", "remove", "GITHUB_TOKEN"], "").code, 1);
    assert_eq!(run(home, &["vault", "list"], "").out, "");
}

#[test]
fn a_quiet_command_prints_what_it_was_asked_for_and_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let made = run(home.path(), &["vault", "init", "--quiet"], "");
    assert!(Path::new(made.out.trim_end()).is_file(), "{}{}", made.out, made.err);
    let set = ["vault", "set", "A", "--host", "a.example", "--quiet"];
    assert_eq!(run(home.path(), &set, "long-enough-value-Zq81LkWm27\n").out, "A: version 1\n");
    assert_eq!(run(home.path(), &["vault", "remove", "A", "--quiet"], "").out, "");
}

#[test]
fn what_cannot_be_kept_is_refused_and_never_repeated() {
    let home = home();
    let home = home.path();
    for (args, stdin, code) in [
        (vec!["vault", "set", "SHORT"], "hunter2", 1),
        (vec!["vault", "set", "BAD-hunter2"], "long-enough-value-Zq81LkWm27", 2),
        (vec!["vault", "set", "A", "hunter2"], "long-enough-value-Zq81LkWm27", 2),
        (vec!["vault", "set", "A", "--host", "*"], "long-enough-value-Zq81LkWm27", 1),
        (vec!["vault", "rotate", "NOBODY"], "long-enough-value-Zq81LkWm27", 1),
        (vec!["vault", "init"], "", 1),
    ] {
        let ran = run(home, &args, stdin);
        assert_eq!(ran.code, code, "{args:?}: {}", ran.err);
        assert!(!ran.err.contains("long-enough-value-Zq81LkWm27"), "{}", ran.err);
    }
    let ran = run(home, &["vault", "set", "SHORT"], "hunter2");
    assert!(!ran.err.contains("hunter2") && ran.err.contains("8 bytes"), "{}", ran.err);
    let none = tempfile::tempdir().unwrap();
    let ran = run(none.path(), &["vault", "list"], "");
    assert!(ran.code == 2 && ran.err.contains("lazaret vault init"), "{}", ran.err);
    // The key is gone: it says which file, and the vault stays.
    fs::remove_file(home.join("vault.key")).unwrap();
    let ran = run(home, &["vault", "list"], "");
    assert!(ran.code == 3 && ran.err.contains("vault.key"), "{}", ran.err);
}

#[test]
fn what_can_be_guessed_is_stored_only_if_somebody_insists() {
    let home = home();
    let home = home.path();
    for value in ["83920174", "Summer2026!", "hunter2hunter2"] {
        for args in [vec!["vault", "set", "PIN"], vec!["vault", "rotate", "GITHUB_TOKEN"]] {
            let ran = run(home, &args, value);
            assert_eq!(ran.code, 1, "{args:?}: {}", ran.err);
            assert!(ran.err.contains("--accept-guessable") && !ran.err.contains(value));
        }
    }
    let env = [("LAZARET_SECRET_PIN", "83920174")];
    let ran = run_with(home, &["vault", "import-env"], "", &env);
    assert!(ran.code == 1 && ran.out.is_empty() && ran.err.contains("can be guessed"));
    assert!(!run(home, &["vault", "list"], "").out.contains("PIN"));
    // Whoever insists is warned, and the list says so for as long as it is so.
    let ran = run(home, &["vault", "set", "PIN", "--accept-guessable"], "83920174");
    assert_eq!((ran.code, ran.out.as_str()), (0, "PIN: version 1\n"), "{}", ran.err);
    assert!(ran.err.contains("NOT taken out"), "{}", ran.err);
    let list = run(home, &["vault", "list"], "").out;
    let line = |name: &str| list.lines().find(|it| it.starts_with(name)).unwrap().to_owned();
    assert!(line("PIN").contains("can be guessed") && !line("GITHUB").contains("can be guessed"));
    let ran = run(home, &["vault", "rotate", "PIN"], VALUE);
    assert_eq!((ran.code, ran.err.contains("NOT taken out")), (0, false));
    assert!(!run(home, &["vault", "list"], "").out.contains("can be guessed"));
}

#[test]
fn a_passphrase_comes_by_stdin_and_an_identity_from_elsewhere() {
    let home = tempfile::tempdir().unwrap();
    let ran = run(home.path(), &["vault", "init", "--passphrase"], "correct horse\n");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let set = ["vault", "set", "KEY", "--passphrase-stdin"];
    let ran = run(home.path(), &set, &format!("correct horse\n{VALUE}"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = run(home.path(), &["vault", "list", "--passphrase-stdin"], "wrong horse\n");
    assert!(ran.code == 3 && !ran.err.contains("wrong horse"), "{}", ran.err);

    let home = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let path = elsewhere.path().join("id");
    let identity = path.to_str().unwrap();
    assert_eq!(run(home.path(), &["vault", "init", "--identity", identity], "").code, 0);
    assert!(!home.path().join("vault.key").exists() && path.exists());
    assert_eq!(run(home.path(), &["vault", "list"], "").code, 3);
    assert_eq!(run(home.path(), &["vault", "list", "--identity", identity], "").code, 0);
}

#[test]
fn an_environment_is_taken_over() {
    let home = home();
    let env = [
        ("LAZARET_SECRET_A", "a-value-of-a-kind-Zq81LkWm27"),
        ("LAZARET_HOSTS_A", "a.example.com,b.example.com"),
        ("LAZARET_SECRET_B", "short"),
        ("OTHER", "some-other-value-Zq81LkWm27"),
    ];
    let ran = run_with(home.path(), &["vault", "import-env"], "", &env);
    assert_eq!((ran.code, ran.out.as_str()), (1, "A\n"), "{}", ran.err);
    assert!(ran.err.contains("LAZARET_SECRET_B") && !ran.err.contains("short\n"), "{}", ran.err);
    let ran = run_with(home.path(), &["vault", "import-env", "OTHER"], "", &env);
    assert_eq!((ran.code, ran.out.as_str()), (0, "OTHER\n"));
    let list = run(home.path(), &["vault", "list"], "").out;
    assert!(list.contains("a.example.com b.example.com") && list.contains("OTHER"), "{list}");
}

#[test]
fn grants_are_checked_and_proposed() {
    let home = home();
    let home = home.path();
    put(
        home,
        "config.yaml",
        "services:\n  github:\n    url: https://api.github.com\n    token: GITHUB_TOKEN\n",
    );
    let manifest = "---\nname: Main # as it is\ntools:\n  allow: [web]\n---\n# Main\n\n---\nrest\n";
    put(home, "agents/main/IDENTITY.md", manifest);
    let ran = run(home, &["credentials", "check", "--json"], "");
    let shown = ran.object();
    assert_eq!((ran.code, &shown["mode"]), (1, &"legacy".into()), "{}", ran.err);
    let ran = run(home, &["credentials", "migrate", "main"], "");
    assert!(ran.out.contains("keys: [GITHUB_TOKEN]"), "{}", ran.out);
    let path = home.join("agents/main/IDENTITY.md");
    assert_eq!(fs::read_to_string(&path).unwrap(), manifest);
    assert_eq!(run(home, &["credentials", "migrate", "main", "--write"], "").code, 0);
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.starts_with("---\nname: Main # as it is\n")
            && text.ends_with("---\n# Main\n\n---\nrest\n")
    );
    let ran = run(home, &["credentials", "check"], "");
    assert_eq!((ran.code, ran.out.lines().next()), (0, Some("main: strict")), "{}", ran.out);
    assert_eq!(run(home, &["credentials", "migrate", "main", "--write"], "").code, 1);

    put(
        home,
        "agents/other/IDENTITY.md",
        "---\ncredentials:\n  grants:\n    x:\n      keys: [MISSING, LD_PRELOAD]\n      tools: [web]\n---\n",
    );
    let ran = run(home, &["credentials", "check", "--agent", "other"], "");
    assert!(ran.code == 1 && ran.out.contains("`MISSING` is not kept"), "{}", ran.out);
    assert!(ran.out.contains("`LD_PRELOAD` has a name"), "{}", ran.out);

    let of_servers = "---\ncredentials: {grants: {}}\nmcp:\n  - {server: notes, uri: \"https://notes.example/mcp\", headers: {Authorization: \"Bearer vault:NOTES_KEY\"}}\n  - {server: hub, uri: \"https://hub.example/mcp\", headers: {X-Key: \"vault:GITHUB_TOKEN\"}}\n---\n";
    put(home, "agents/third/IDENTITY.md", of_servers);
    let ran = run(home, &["preflight", "--agent", "third"], "");
    for told in [
        "the server `notes`: `Authorization` needs `NOTES_KEY`, which is not kept",
        "the server `hub`: `X-Key` needs `GITHUB_TOKEN`, which is not for `hub.example`",
    ] {
        assert!(ran.out.contains(told), "{}{}", ran.out, ran.err);
    }
}

#[test]
fn an_access_token_is_shown_once_and_kept_as_a_hash() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let ran = run(home, &["access", "create", "--user", "ann", "--agent", "main"], "");
    let token = ran.out.trim().to_owned();
    assert!(ran.code == 0 && token.starts_with("lzt_") && token.len() == 76, "{}", ran.err);
    let shown = run(home, &["access", "list", "--json"], "").object();
    assert_eq!((&shown["user"], &shown["state"]), (&"ann".into(), &"in force".into()));
    let id = shown["id"].as_str().unwrap();
    let next = run(home, &["access", "rotate", id, "--json"], "").object();
    assert_ne!(next["token"], token.as_str());
    assert_eq!(run(home, &["access", "revoke", next["id"].as_str().unwrap()], "").code, 0);
    let list = run(home, &["access", "list"], "").out;
    assert_eq!(list.matches("revoked").count(), 2, "{list}");
    let file = fs::read_to_string(home.join("access.json")).unwrap();
    assert!(!file.contains(token.get(4..20).unwrap()));
    let ran = run(home, &["access", "revoke", &token], "");
    assert!(ran.code == 1 && !ran.err.contains(&token), "{}", ran.err);
}

#[test]
fn a_session_does_not_begin_with_a_vault_that_does_not_open() {
    let home = home();
    let ipc = ["ipc", "--user", "me", "--agent", "main", "--session", "s", "--stdio"];
    let ran = run(home.path(), &ipc, "");
    assert_eq!(ran.code, 0, "{}", ran.err);
    put(home.path(), "vault.age", "something else");
    let ran = run(home.path(), &ipc, "");
    assert!(ran.code == 3 && ran.err.contains("vault.age"), "{}", ran.err);
}
