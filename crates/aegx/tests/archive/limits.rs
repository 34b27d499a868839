//! Archives made to cost.

use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};

use aegx::archive::{Archive, DIRECTORY_BYTES_MAX, ENTRIES_MAX, Limits, RATIO_FREE_BYTES, Rules};
use tempfile::TempDir;

use crate::archive::support::{code, save, unpack, unpack_within};
use crate::archive::zip_builder::{Item, build, extra, wide_end};

const BOTH: [Rules; 2] = [Rules::Strict, Rules::Compat];

#[test]
fn every_limit_is_kept_to_the_byte() {
    let archive = build(&[Item::stored("a", &[0; 10]), Item::stored("b", &[0; 20])]);
    let exact = Limits { entries: 2, entry_bytes: 20, total_bytes: 30, ratio: 1 };
    for rules in BOTH {
        unpack_within(&archive, rules, &exact).unwrap();
        for (limits, refusal) in [
            (Limits { entries: 1, ..exact }, "zip_too_many_entries"),
            (Limits { entry_bytes: 19, ..exact }, "zip_entry_too_big"),
            (Limits { total_bytes: 29, ..exact }, "zip_total_too_big"),
        ] {
            assert_eq!(code(&unpack_within(&archive, rules, &limits)), refusal);
        }
    }
}

#[test]
fn a_bomb_is_refused_before_it_is_lit() {
    let zeros = vec![0; usize::try_from(RATIO_FREE_BYTES).unwrap()];
    let small = build(&[Item::deflated("zeros", &zeros)]);
    let bomb = build(&[Item::deflated("zeros", &zeros), Item::stored("one", b"1")]);
    for rules in BOTH {
        let home = TempDir::new().unwrap();
        Archive::open(&save(&home, &small), rules).unwrap();
        assert_eq!(code(&unpack(&bomb, rules)), "zip_bomb");
        Archive::open_within(&save(&home, &bomb), rules, &Limits::upstream()).unwrap();
    }
}

#[test]
fn declared_counts_are_not_believed_but_bounded() {
    for rules in BOTH {
        let archive = wide_end(0, ENTRIES_MAX + 1, 0, 0);
        assert_eq!(code(&unpack(&archive, rules)), "zip_too_many_entries");
        let archive = wide_end(0, u64::MAX, u64::MAX, u64::MAX);
        assert_eq!(code(&unpack(&archive, rules)), "zip_end_mismatch");
    }
}

#[test]
fn an_offset_that_no_file_can_have_is_refused() {
    let mut item = Item::stored("far", b"x");
    item.offset = Some(u32::MAX);
    item.central.extra = extra(1, &(u64::MAX - 5).to_le_bytes());
    let archive = build(&[item]);
    assert_eq!(code(&unpack(&archive, Rules::Strict)), "zip_leading_bytes");
    assert_eq!(code(&unpack(&archive, Rules::Compat)), "zip_truncated");
}

#[test]
fn a_huge_directory_is_not_read() {
    let home = TempDir::new().unwrap();
    let path = home.path().join("sparse.zip");
    let mut file = File::create(&path).unwrap();
    let bytes = DIRECTORY_BYTES_MAX + 1;
    file.seek(SeekFrom::Start(bytes)).unwrap();
    file.write_all(&wide_end(bytes, 1, bytes, 0)).unwrap();
    for rules in BOTH {
        assert_eq!(code(&Archive::open(&path, rules)), "zip_directory_too_big");
    }
}
