//! A child changes a vault and its key, or tokens, again and again and is killed; the old or the new state is there,
//! whole.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use model::UserId;
use vault::access::{AccessError, Issued, Tokens};
use vault::{Key, VaultFile};

use crate::{name, secret};

const CHILD_DIR: &str = "LAZARET_VAULT_CRASH_DIR";
/// How often the child is killed; `LAZARET_CRASH_KILLS=1000` for the long run.
const KILLS: &str = "LAZARET_CRASH_KILLS";
const KILLS_DEFAULT: u64 = 60;

/// Not a test of its own: what the child does when the test below starts it.
#[test]
fn child() {
    let Ok(dir) = std::env::var(CHILD_DIR) else { return };
    let file = VaultFile::in_home(Path::new(&dir));
    loop {
        let key = Key::read(&file.key_path()).unwrap();
        let count = file
            .change(&key, |it| {
                let count = it.get(&name("COUNT")).map_or(0, vault::Entry::newest) + 1;
                it.set(&name("COUNT"), secret(&format!("value number {count}")), None, 1)?;
                it.set(&name("PAIR"), secret(&format!("value number {count}")), None, 1)?;
                Ok(count)
            })
            .unwrap();
        report(count);
        if count.is_multiple_of(3) {
            file.rekey(&key, Key::generate(), |key| key.write(&file.key_path())).unwrap();
        }
    }
}

#[expect(clippy::print_stdout, reason = "how the child tells the parent what it was promised")]
fn report(count: u64) {
    println!("durable {count}");
}

/// The same for tokens: one is in force at a time, each round is one of them.
#[test]
fn child_of_tokens() {
    let Ok(dir) = std::env::var(CHILD_DIR) else { return };
    let tokens = Tokens::in_home(Path::new(&dir));
    loop {
        let all = tokens.list().unwrap();
        let round = i64::try_from(all.len()).unwrap();
        let old = all.iter().find(|it| it.is_in_force(round)).unwrap();
        tokens.rotate(&old.id, round, recorded).unwrap();
        report(u64::try_from(round).unwrap() + 1);
    }
}

fn recorded(_: &Issued) -> Result<(), AccessError> {
    Ok(())
}

fn kills() -> u64 {
    std::env::var(KILLS).ok().and_then(|it| it.parse().ok()).unwrap_or(KILLS_DEFAULT)
}

#[test]
fn of_tokens_just_one_is_in_force_whenever_a_rotation_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let tokens = Tokens::in_home(dir.path());
    let ann = UserId::parse("ann").unwrap();
    tokens.create(&ann, None, (0, None), recorded).unwrap();
    let (mut promised, mut random) = (0, 0x9e37_79b9_7f4a_7c15_u64);
    for _ in 0..kills() {
        promised = promised.max(kill_one("crash::child_of_tokens", dir.path(), &mut random));
        let all = tokens.list().unwrap();
        assert!(all.len() as u64 >= promised, "{} of {promised}", all.len());
        let now = i64::try_from(all.len()).unwrap();
        assert_eq!(all.iter().filter(|it| it.is_in_force(now)).count(), 1, "after {promised}");
    }
    assert!(promised >= kills(), "the child hardly got to work");
}

#[test]
fn what_was_stored_survives_every_kill_and_the_key_fits() {
    let kills = kills();
    let dir = tempfile::tempdir().unwrap();
    let file = VaultFile::in_home(dir.path());
    let key = Key::generate();
    key.write(&file.key_path()).unwrap();
    file.create(&key).unwrap();
    let mut promised = 0;
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..kills {
        promised = promised.max(kill_one("crash::child", dir.path(), &mut random));
        let contents = file.open(&Key::read(&file.key_path()).unwrap()).unwrap();
        let newest = |it: &str| contents.get(&name(it)).unwrap().newest();
        assert_eq!(newest("COUNT"), newest("PAIR"), "half of a change is there");
        assert!(newest("COUNT") >= promised, "{} of {promised}", newest("COUNT"));
    }
    assert!(promised >= kills, "the child hardly got to work");
}

/// Starts a child, kills it at some moment, and says what it had promised.
fn kill_one(test: &str, dir: &Path, random: &mut u64) -> u64 {
    let mut child = spawn(test, dir);
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut promised = first(&mut output);
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    std::thread::sleep(Duration::from_micros(*random % 20_000));
    child.kill().unwrap();
    for line in output.lines().map_while(Result::ok) {
        promised = promised.max(count(&line).unwrap_or(0));
    }
    child.wait().unwrap();
    promised
}

fn count(line: &str) -> Option<u64> {
    line.rsplit_once("durable ")?.1.parse().ok()
}

fn first(output: &mut impl BufRead) -> u64 {
    output.lines().map_while(Result::ok).find_map(|it| count(&it)).unwrap_or(0)
}

#[expect(clippy::disallowed_methods, reason = "the test kills a process, so it must start one")]
fn spawn(test: &str, dir: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD_DIR, dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}
