//! A child changes a vault and its key, or tokens, again and again and is killed; the old or the new state is there,
//! whole.

use std::time::Duration;

use model::UserId;
use testkit::crash::{Child, From, Killer, kills, promise};
use vault::access::{AccessError, Issued, Tokens};
use vault::{Key, VaultFile};

use crate::{name, secret};

/// How often the child is killed.
const KILLS: u64 = 60;

/// Not a test of its own: what the child does when the test below starts it.
#[test]
fn child() {
    let Some(Child { dir, .. }) = Child::of_this_process() else { return };
    let file = VaultFile::in_home(&dir);
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
        promise(count);
        if count.is_multiple_of(3) {
            file.rekey(&key, Key::generate(), |key| key.write(&file.key_path())).unwrap();
        }
    }
}

/// The same for tokens: one is in force at a time, each round is one of them.
#[test]
fn child_of_tokens() {
    let Some(Child { dir, .. }) = Child::of_this_process() else { return };
    let tokens = Tokens::in_home(&dir);
    loop {
        let all = tokens.list().unwrap();
        let round = i64::try_from(all.len()).unwrap();
        let old = all.iter().find(|it| it.is_in_force(round)).unwrap();
        tokens.rotate(&old.id, round, recorded).unwrap();
        promise(u64::try_from(round).unwrap() + 1);
    }
}

fn recorded(_: &Issued) -> Result<(), AccessError> {
    Ok(())
}

#[test]
fn of_tokens_just_one_is_in_force_whenever_a_rotation_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let tokens = Tokens::in_home(dir.path());
    let ann = UserId::parse("ann").unwrap();
    tokens.create(&ann, None, (0, None), recorded).unwrap();
    let (mut promised, kills) = (0, kills(KILLS));
    let mut killer = Killer::new("crash::child_of_tokens", dir.path());
    for _ in 0..kills {
        promised = promised.max(kill_one(&mut killer));
        let all = tokens.list().unwrap();
        assert!(all.len() as u64 >= promised, "{} of {promised}", all.len());
        let now = i64::try_from(all.len()).unwrap();
        assert_eq!(all.iter().filter(|it| it.is_in_force(now)).count(), 1, "after {promised}");
    }
    assert!(promised >= kills, "the child hardly got to work");
}

#[test]
fn what_was_stored_survives_every_kill_and_the_key_fits() {
    let kills = kills(KILLS);
    let dir = tempfile::tempdir().unwrap();
    let file = VaultFile::in_home(dir.path());
    let key = Key::generate();
    key.write(&file.key_path()).unwrap();
    file.create(&key).unwrap();
    let mut promised = 0;
    let mut killer = Killer::new("crash::child", dir.path());
    for _ in 0..kills {
        promised = promised.max(kill_one(&mut killer));
        let contents = file.open(&Key::read(&file.key_path()).unwrap()).unwrap();
        let newest = |it: &str| contents.get(&name(it)).unwrap().newest();
        assert_eq!(newest("COUNT"), newest("PAIR"), "half of a change is there");
        assert!(newest("COUNT") >= promised, "{} of {promised}", newest("COUNT"));
    }
    assert!(promised >= kills, "the child hardly got to work");
}

/// The most that a child was promised before it was killed.
fn kill_one(killer: &mut Killer<'_>) -> u64 {
    let promised = killer.kill(From::TheFirstPromise, Duration::from_millis(20));
    promised.iter().map(|it| it.parse().unwrap()).max().unwrap_or(0)
}
