//! The age test kit of C2SP, through the path by which we open.

use std::io::Read;

use data_encoding::{BASE64, HEXLOWER};
use flate2::read::ZlibDecoder;
use serde_json::Value;
use sha2::{Digest, Sha256};
use vault::Key;
use vault::sealed::{self, OpenError};
use zeroize::Zeroizing;

const ROWS: &str = include_str!("../../../../corpus/age/testkit.jsonl");

/// What stands behind the head of a file of the kit, as it is meant.
fn file(row: &Value) -> Vec<u8> {
    let all = BASE64.decode(row["text"].as_str().unwrap().as_bytes()).unwrap();
    let at = all.windows(2).position(|it| it == b"\n\n").unwrap() + 2;
    let rest = &all[at..];
    if row["meta"]["compressed"] != "zlib" {
        return rest.to_vec();
    }
    let mut plain = Vec::new();
    ZlibDecoder::new(rest).read_to_end(&mut plain).unwrap();
    plain
}

/// Keys of the kit: its passphrase is shorter than ours may be, and identities stand on lines of their own.
fn keys(row: &Value) -> Vec<Key> {
    let meta = &row["meta"];
    let mut keys = Vec::new();
    if let Some(text) = meta["identity"].as_str() {
        keys.push(Key::identities(text).unwrap());
    }
    if let Some(text) = meta["passphrase"].as_str() {
        keys.push(Key::dangerously_any_passphrase_for_tests(Zeroizing::new(text.to_owned())));
    }
    if keys.is_empty() {
        keys.push(Key::generate());
    }
    keys
}

#[test]
fn every_row_of_the_kit_ends_as_it_says() {
    let mut count = 0;
    for row in ROWS.lines().map(|it| serde_json::from_str::<Value>(it).unwrap()) {
        let (sealed, expected) = (file(&row), row["expect"].as_str().unwrap());
        for key in keys(&row) {
            let opened = sealed::open(&sealed, &key);
            let name = &row["name"];
            match (expected, opened) {
                ("success", Ok(plain)) => {
                    let payload = row["meta"]["payload"].as_str().unwrap();
                    assert_eq!(HEXLOWER.encode(&Sha256::digest(&*plain)), payload, "{name}");
                }
                // `Scrypt` with a capital is no passphrase's stanza, so it must be for some identity.
                ("no match", Err(OpenError::WrongKey | OpenError::NeedsIdentity)) => {}
                // Whatever is wrong with it, not a byte is given.
                (
                    "header failure" | "armor failure" | "HMAC failure" | "payload failure",
                    Err(error),
                ) => {
                    let blames_the_key = error == OpenError::WrongKey;
                    assert!(!blames_the_key || expected == "header failure", "{name}: {error}");
                }
                (_, Ok(_)) => panic!("{name} opened and should not: {expected}"),
                (_, Err(error)) => panic!("{name}: {error}, expected {expected}"),
            }
        }
        count += 1;
    }
    assert_eq!(count, 104);
}
