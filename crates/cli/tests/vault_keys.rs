//! What opens a vault, in processes of its own: plugins of age, the kernel's keyring, the environment.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use testkit::program::{Ran, Run as _};

use crate::program::{LAZARET, lazaret};

const VALUE: &str = "ghp_0123456789abcdef";

fn run_with(home: &Path, args: &[&str], stdin: &str, env: &[(&str, &str)]) -> Ran {
    lazaret(home, args).env("USER", "me").envs(env.iter().copied()).run_with(stdin)
}

/// A plugin of age as C2SP describes them, for both of its state machines. Its key is that it knows how to turn letters;
/// what it is asked to do stands in a file beside it.
const PLUGIN: &str = r#"#!/bin/sh
printf '%s\n' "$*" >> "$0.log"
next() {
    IFS= read -r cmd || exit 1
    body=
    while IFS= read -r line; do
        body="$body$line"
        [ ${#line} -lt 64 ] && break
    done
}
say() { printf '%s\n%s\n' "-> $1" "$2"; }
# The last letter holds bits that must stay as they are.
turned() {
    head="${1%?}"
    printf '%s' "$head" | tr "$2" "$3"
    printf '%s' "${1#"$head"}"
}
stanza=
identity=
while :; do
    next
    case "$cmd" in
        "-> add-identity AGE-PLUGIN-YUBIKEY-1W3JHXAQVNUAWQ") identity=yes ;;
        "-> wrap-file-key") stanza="$body" ;;
        "-> recipient-stanza 0 turned mine") stanza="$body" ;;
        "-> done") break ;;
    esac
done
[ -n "$identity" ] || exit 1
case "$1" in
    --age-plugin=recipient-v1)
        say "recipient-stanza 0 turned mine" "$(turned "$stanza" 'A-Za-z' 'B-ZAb-za')"
        next ;;
    --age-plugin=identity-v1)
        if [ -n "$stanza" ]; then
            say "file-key 0" "$(turned "$stanza" 'B-ZAb-za' 'A-Za-z')"
            next
        fi ;;
esac
say done ""
"#;
const IDENTITY: &str = "AGE-PLUGIN-YUBIKEY-1W3JHXAQVNUAWQ";
const EVIL: &str = "AGE-PLUGIN-EVIL-1W3JHXAQRS58QW";

fn put(path: &Path, text: &str, mode: u32) {
    files::private::replace(path, text.as_bytes()).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_vault_is_made_changed_and_read_through_a_plugin_of_age() {
    let (home, bin) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (home, bin) = (home.path(), bin.path());
    let program = bin.join("age-plugin-yubikey");
    put(&program, PLUGIN, 0o700);
    put(&home.join("vault.key"), &format!("# a device\n{IDENTITY}\n"), 0o600);
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let run = |args: &[&str], stdin: &str| run_with(home, args, stdin, &[("PATH", &path)]);
    let good = |args: &[&str], stdin: &str| run(args, stdin).good().out;
    good(&["vault", "init"], "");
    let sealed = fs::read(home.join("vault.age")).unwrap();
    let head = String::from_utf8_lossy(&sealed);
    assert!(head.starts_with("age-encryption.org/v1\n-> turned mine\n"), "{head}");
    good(&["vault", "set", "KEY", "--host", "api.example.com"], VALUE);
    assert!(good(&["vault", "list"], "").starts_with("KEY"), "the plugin opens it");
    good(&["vault", "rotate", "KEY"], "another-value-Zq81LkWm27");
    let plain = good(&["vault", "export", "--dangerously-plain"], "");
    assert_eq!(plain, "{\"KEY\":\"another-value-Zq81LkWm27\"}\n");
    let log = fs::read_to_string(bin.join("age-plugin-yubikey.log")).unwrap();
    assert!(log.contains("--age-plugin=recipient-v1") && log.contains("--age-plugin=identity-v1"));

    // A gate opens it the same way.
    let ran = run(&["ipc", "--user", "me", "--agent", "main", "--session", "s", "--stdio"], "");
    assert_eq!(ran.code, 0, "{}", ran.err);

    // Where somebody else could have put the program it is not run.
    let before = fs::read_to_string(bin.join("age-plugin-yubikey.log")).unwrap();
    for (what, mode) in [(program.as_path(), 0o722), (bin, 0o777)] {
        let was = fs::metadata(what).unwrap().permissions();
        fs::set_permissions(what, fs::Permissions::from_mode(mode)).unwrap();
        let ran = run(&["vault", "list"], "");
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert!(ran.err.contains("others may write"), "{}", ran.err);
        fs::set_permissions(what, was).unwrap();
    }
    // One that is not on the list is not run, wherever it lies.
    put(&bin.join("age-plugin-evil"), PLUGIN, 0o700);
    put(&home.join("vault.key"), EVIL, 0o600);
    let ran = run(&["vault", "list"], "");
    assert!(ran.code == 3 && ran.err.contains("not one of those"), "{}", ran.err);
    assert!(!bin.join("age-plugin-evil.log").exists());
    assert_eq!(fs::read_to_string(bin.join("age-plugin-yubikey.log")).unwrap(), before);
    // A device that is another's.
    put(&home.join("vault.key"), IDENTITY, 0o600);
    put(&program, &PLUGIN.replace("QVNUAWQ", "OTHER"), 0o700);
    let ran = run(&["vault", "list"], "");
    assert_eq!(ran.code, 3, "{}", ran.err);
}

/// A kernel may be built, or a container set up, without keyrings.
fn has_keyring(ran: &Ran) -> bool {
    assert!(ran.code == 0 || ran.err.contains("no keyring here"), "{}", ran.err);
    ran.code == 0
}

#[test]
fn what_one_process_unlocks_another_opens_until_it_is_locked() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let run = |args: &[&str], stdin: &str| run_with(home, args, stdin, &[]);
    let gate = ["ipc", "--user", "me", "--agent", "main", "--session", "s", "--stdio"];
    assert_eq!(run(&["vault", "init"], "").code, 0);
    if !has_keyring(&run(&["vault", "unlock"], "")) {
        return;
    }
    // Now it lies nowhere else.
    fs::remove_file(home.join("vault.key")).unwrap();
    assert_eq!(run(&["vault", "set", "KEY"], VALUE).code, 0);
    assert!(run(&["vault", "list"], "").out.starts_with("KEY"));
    let ran = run(&gate, "");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(run(&["vault", "lock"], "").out, "locked\n");
    assert_eq!(run(&["vault", "lock"], "").out, "it was not unlocked\n");
    assert_eq!(run(&["vault", "list"], "").code, 3);
    assert_eq!(run(&gate, "").code, 3);
}

#[test]
fn a_passphrase_is_typed_once_until_the_vault_is_locked() {
    let home = tempfile::tempdir().unwrap();
    let run = |args: &[&str], stdin: &str| run_with(home.path(), args, stdin, &[]);
    assert_eq!(run(&["vault", "init", "--passphrase"], "correct horse\n").code, 0);
    if !has_keyring(&run(&["vault", "unlock", "--passphrase-stdin"], "correct horse\n")) {
        return;
    }
    assert_eq!(run(&["vault", "list"], "").code, 0);
    assert_eq!(run(&["vault", "lock"], "").out, "locked\n");
    assert_eq!(run(&["vault", "list"], "").code, 1, "nobody has typed it");
}

/// Nobody in particular.
const NOBODY: u32 = 65534;

/// Whose the environment of a gate is, as `/proc` shows it, and whose the gate is. What belongs to root can be read by
/// root alone, so root starts the gate as somebody else.
#[expect(clippy::disallowed_methods, reason = "the program under test, as another user")]
fn owner_of_environment(settings: &str) -> (u32, u32) {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    fs::create_dir_all(home.join("agents/main")).unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
    let hash = "a".repeat(64);
    let user = format!(
        "users:\n  - name: me\n    token_hash: \"{hash}\"\n    agents: \"*\"\n    budget: unlimited\n"
    );
    put(&home.join("config.yaml"), settings, 0o600);
    put(&home.join("users.yaml"), &user, 0o600);
    put(&home.join("agents/main/IDENTITY.md"), "# Main\n", 0o600);
    let own = fs::metadata(&home).unwrap().uid();
    let mut program = PathBuf::from(LAZARET);
    let mut whose = own;
    if own == 0 {
        // Where the other may read it: else the kernel hides the process for that alone.
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let copy = dir.path().join("lazaret");
        fs::copy(&program, &copy).unwrap();
        program = copy;
        whose = NOBODY;
        for path in
            ["", "config.yaml", "users.yaml", "agents", "agents/main", "agents/main/IDENTITY.md"]
        {
            std::os::unix::fs::chown(home.join(path), Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    let mut command = std::process::Command::new(&program);
    command.env("LAZARET_HOME", &home).env("LAZARET_SECRET_KEY", VALUE);
    command.args(["ipc", "--user", "me", "--agent", "main", "--session", "s"]);
    if own == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    let (mut child, line) = command.start_and_hear();
    assert!(line.starts_with("listening on "), "{line}");
    let owner = fs::metadata(format!("/proc/{}/environ", child.id())).unwrap().uid();
    child.kill().unwrap();
    child.wait().unwrap();
    (owner, whose)
}

/// `corpus/credentials/env_safety.json`: the parent's environment through `/proc`.
#[test]
fn no_other_process_reads_the_secrets_of_the_environment() {
    let (owner, _) = owner_of_environment("providers: {credentials: env}\n");
    assert_eq!(owner, 0);
    // It is the gate's own doing.
    let (owner, whose) = owner_of_environment("providers: {scheduler: none}\n");
    assert_eq!(owner, whose);
}

/// The same file: what lies in a workspace is no environment.
#[test]
fn a_dotenv_file_gives_nobody_anything() {
    let (home, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (home, work) = (home.path(), work.path());
    for dir in [home, work] {
        put(
            &dir.join(".env"),
            &format!("LAZARET_SECRET_X={VALUE}\nLAZARET_HOME=/nowhere\nX=1\n"),
            0o600,
        );
    }
    let run = |args: &[&str]| {
        let (code, out, _) = lazaret(home, args).current_dir(work).run().told();
        (code, out)
    };
    assert_eq!(run(&["vault", "init"]).0, 0);
    assert_eq!(run(&["vault", "import-env"]), (0, String::new()));
    assert_eq!(run(&["vault", "list"]), (0, String::new()));
}
