//! Wrong keys, damaged, half-written and foreign files: each has its error, and nothing is changed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use vault::sealed::OpenError;
use vault::{Key, KeyError, VaultError, VaultFile};
use zeroize::Zeroizing;

use crate::{name, secret};

const VALUE: &str = "hunter2-hunter2";

struct World {
    dir: tempfile::TempDir,
    file: VaultFile,
    key: Key,
}

fn world() -> World {
    let dir = tempfile::tempdir().unwrap();
    let (file, key) = (VaultFile::in_home(dir.path()), Key::generate());
    file.create(&key).unwrap();
    let host = Some(vec!["api.example.com".to_owned()]);
    file.change(&key, |it| it.set(&name("KEY"), secret(VALUE), host, 1)).unwrap();
    World { dir, file, key }
}

impl World {
    fn put(&self, bytes: &[u8]) {
        files::private::replace(&self.file.path(), bytes).unwrap();
    }

    /// It does not open, changes nothing, and the text says nothing of the value.
    fn fails(&self, key: &Key) -> VaultError {
        let before = fs::read(self.file.path()).unwrap();
        let error = self.file.change(key, |it| it.remove(&name("KEY"))).unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{error}");
        assert_eq!(fs::read(self.file.path()).unwrap(), before);
        error
    }
}

fn why(error: VaultError) -> OpenError {
    match error {
        VaultError::Open { error, .. } => error,
        other => panic!("{other}"),
    }
}

#[test]
fn the_value_is_nowhere_on_the_disk() {
    let world = world();
    for entry in fs::read_dir(world.dir.path()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        assert!(!bytes.windows(VALUE.len()).any(|it| it == VALUE.as_bytes()), "{}", path.display());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn another_key_does_not_open_it_and_a_vault_that_is_there_is_not_made_anew() {
    let world = world();
    assert_eq!(why(world.fails(&Key::generate())), OpenError::WrongKey);
    let passphrase = Key::passphrase(Zeroizing::new("correct horse".to_owned())).unwrap();
    assert_eq!(why(world.fails(&passphrase)), OpenError::NeedsIdentity);
    assert!(matches!(world.file.create(&world.key), Err(VaultError::Exists(_))));
    assert!(world.file.open(&world.key).unwrap().get(&name("KEY")).is_some());
}

#[test]
fn a_vault_cut_anywhere_is_damaged_and_says_so() {
    let world = world();
    let whole = fs::read(world.file.path()).unwrap();
    for length in 0..whole.len() {
        world.put(&whole[..length]);
        let error = world.fails(&world.key);
        assert!(error.to_string().contains("vault"), "{error}");
        assert!(!matches!(why(error), OpenError::WrongKey), "cut at {length}");
    }
    for extra in [&b"x"[..], b"\n", &whole] {
        world.put(&[&whole[..], extra].concat());
        assert!(matches!(why(world.fails(&world.key)), OpenError::Damaged(_)));
    }
}

#[test]
fn a_vault_with_any_byte_changed_does_not_open() {
    let world = world();
    let whole = fs::read(world.file.path()).unwrap();
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        world.put(&changed);
        assert!(world.file.open(&world.key).is_err(), "byte {at}");
    }
}

#[test]
fn what_is_no_vault_is_told_from_one() {
    let world = world();
    for foreign in [&b"hello"[..], b"PK\x03\x04", b"{\"KEY\":\"hunter2\"}", &[0; 4096]] {
        world.put(foreign);
        let error = why(world.fails(&world.key));
        assert!(matches!(error, OpenError::Foreign | OpenError::Damaged(_)), "{error}");
    }
    // Sealed for us by somebody else, and no vault.
    let recipient = world.key.recipient().unwrap();
    world.put(&vault::sealed::seal_for(b"{\"KEY\":\"hunter2\"}", &recipient).unwrap());
    assert!(matches!(world.fails(&world.key), VaultError::Contents(_)));
}

#[test]
fn what_others_can_read_or_have_planted_is_refused() {
    let world = world();
    let path = world.file.path();
    for mode in [0o644, 0o640, 0o604, 0o666] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let error = world.file.open(&world.key).err().unwrap().to_string();
        assert!(error.contains("chmod 600"), "{error}");
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let elsewhere = world.dir.path().join("elsewhere");
    fs::rename(&path, &elsewhere).unwrap();
    assert!(matches!(world.file.open(&world.key), Err(VaultError::NoVault(_))));
    symlink(&elsewhere, &path).unwrap();
    assert!(matches!(world.file.open(&world.key), Err(VaultError::File(_))));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(matches!(world.file.open(&world.key), Err(VaultError::File(_))));
}

#[test]
fn an_identity_file_is_private_and_names_no_programs_but_those_of_the_list() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("key");
    let put = |text: &str| files::private::replace(&path, text.as_bytes()).unwrap();
    Key::generate().write(&path).unwrap();
    assert!(Key::read(&path).is_ok());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(Key::read(&path), Err(KeyError::File(_))));
    put("# nothing\n\n");
    assert!(matches!(Key::read(&path), Err(KeyError::Empty)));
    put("# one\nAGE-SECRET-KEY-1HUNTER2\n");
    let error = Key::read(&path).err().unwrap();
    assert!(matches!(error, KeyError::Line(2)) && !error.to_string().contains("HUNTER2"));
    // Made with the program's own tool for the names `sh`, `rm` and `yubikey`.
    for plugin in ["sh", "rm", "batchpass"] {
        let line = age_plugin_identity(plugin);
        let error = Key::identities(&line).err().unwrap();
        assert!(
            error.to_string().contains("is not one of those that are run"),
            "{plugin}: {error}"
        );
    }
    let error = Key::identities(&age_plugin_identity("yubikey")).err().unwrap();
    assert!(error.to_string().contains("age-plugin-yubikey"), "{error}");
}

fn age_plugin_identity(plugin: &str) -> String {
    age::plugin::Identity::default_for_plugin(plugin).unwrap().to_string()
}

#[test]
fn a_plugin_that_others_could_have_planted_is_not_run() {
    let dir = tempfile::tempdir().unwrap();
    let own = rustix::process::geteuid().as_raw();
    let check = |path: &Path| vault::plugin::check("tpm", Some(path.as_os_str()), own);
    assert!(check(dir.path()).unwrap_err().to_string().contains("install it"));
    let program = dir.path().join("age-plugin-tpm");
    files::private::replace(&program, b"#!/bin/sh\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(check(dir.path()).unwrap(), files::resolved(&program).unwrap());
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(check(dir.path()).unwrap_err().to_string().contains("others may write"));
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o757)).unwrap();
    assert!(check(dir.path()).unwrap_err().to_string().contains("others may write"));
    assert!(vault::plugin::check("tpm", Some(program.as_os_str()), own.wrapping_add(1)).is_err());
    assert!(check(Path::new(".")).is_err());
}

#[test]
fn two_writers_do_not_lose_each_others_changes() {
    let world = world();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let world = &world;
            scope.spawn(move || {
                for round in 0..10 {
                    let name = name(&format!("W{writer}_{round}"));
                    world
                        .file
                        .change(&world.key, |it| it.set(&name, secret(VALUE), None, 1))
                        .unwrap();
                }
            });
        }
    });
    let contents = world.file.open(&world.key).unwrap();
    assert_eq!((contents.iter().count(), contents.revision()), (41, 41));
}

#[test]
fn a_passphrase_opens_and_a_new_key_takes_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let file = VaultFile::in_home(dir.path());
    let old = Key::passphrase(Zeroizing::new("correct horse battery".to_owned())).unwrap();
    file.create(&old).unwrap();
    assert!(file.wants_passphrase().unwrap());
    let wrong = Key::passphrase(Zeroizing::new("correct horse battery!".to_owned())).unwrap();
    assert_eq!(why(file.open(&wrong).err().unwrap()), OpenError::WrongKey);
    assert_eq!(why(file.open(&Key::generate()).err().unwrap()), OpenError::NeedsPassphrase);
    assert!(matches!(
        Key::passphrase(Zeroizing::new("short".to_owned())),
        Err(KeyError::ShortPassphrase)
    ));
    file.rekey(&old, Key::generate(), |key| key.write(&file.key_path())).unwrap();
    let new = Key::read(&file.key_path()).unwrap();
    assert!(file.open(&new).is_ok());
    assert_eq!(why(file.open(&old).err().unwrap()), OpenError::NeedsIdentity);
}

#[test]
fn the_keyring_keeps_and_forgets_or_says_that_there_is_none() {
    let world = world();
    let path = world.file.path();
    match vault::keyring::keep(&path, &world.key) {
        Ok(()) => {
            let kept = vault::keyring::kept(&path).unwrap().unwrap();
            assert!(world.file.open(&kept).is_ok());
            assert!(vault::keyring::forget(&path).unwrap());
            assert!(vault::keyring::kept(&path).unwrap().is_none());
        }
        Err(error) => assert!(error.to_string().starts_with("there is no keyring here"), "{error}"),
    }
}
