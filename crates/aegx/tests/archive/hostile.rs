//! Archives made to deceive, each in one way.

use aegx::archive::Rules;

use crate::archive::support::{code, unpack};
use crate::archive::zip_builder::{END_BYTES, Item, build, deflate, extra, widen};

/// Extracts `archive` by both rules and compares the codes.
#[track_caller]
fn check(archive: &[u8], strict: &str, compat: &str) {
    assert_eq!(code(&unpack(archive, Rules::Strict)), strict, "strict");
    assert_eq!(code(&unpack(archive, Rules::Compat)), compat, "compat");
}

#[track_caller]
fn check_item(item: Item, strict: &str, compat: &str) {
    check(
        &build(&[Item::deflated("first", b"1"), item, Item::stored("last", b"2")]),
        strict,
        compat,
    );
}

#[test]
fn an_honest_archive_is_taken() {
    let items = [Item::directory("d/"), Item::deflated("d/f", b"text"), Item::stored("ä", b"")];
    check(&build(&items), "ok", "ok");
    check(&widen(build(&items)), "ok", "ok");
    check(&build(&[]), "ok", "ok");
}

#[test]
fn names_that_lead_out_are_refused_by_both() {
    for (name, refusal) in [
        ("", "zip_name_empty"),
        ("/abs", "zip_absolute_name"),
        ("\\abs", "zip_absolute_name"),
        ("C:\\abs", "zip_absolute_name"),
        ("..", "zip_path_traversal"),
        ("../up", "zip_path_traversal"),
        ("a/../../up", "zip_path_traversal"),
        ("a\\..\\up", "zip_path_traversal"),
        ("a/../", "zip_path_traversal"),
        ("nul\0byte", "zip_name_nul"),
        ("\u{fffd}", "zip_name_encoding"),
    ] {
        check_item(Item::stored(name, b"x"), refusal, refusal);
    }
    check_item(Item::stored([0xff, 0xfe], b"x"), "zip_name_encoding", "zip_name_encoding");
    check_item(Item::stored(vec![b'a'; 1025], b"x"), "zip_name_too_long", "zip_name_too_long");
}

#[test]
fn ambiguous_names_are_refused_by_strict_alone() {
    for (name, refusal) in [
        ("a\nb", "zip_name_control"),
        ("a\u{1b}[2Jb", "zip_name_control"),
        ("a\\b", "zip_name_backslash"),
        ("name:stream", "zip_name_colon"),
        ("./a", "zip_name_dot"),
        ("a//b", "zip_name_empty_component"),
        ("a. /b", "zip_name_trailing"),
        ("a.", "zip_name_trailing"),
        ("FIRST", "zip_name_clash"),
        ("1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17", "zip_name_too_deep"),
    ] {
        check_item(Item::stored(name, b"x"), refusal, "ok");
    }
    let unmarked = Item::stored("ä", b"x").with_both(|header| header.flags = 0);
    check_item(unmarked, "zip_name_encoding", "ok");
    let nfd = [Item::stored("\u{e9}", b""), Item::stored("e\u{301}", b"")];
    check(&build(&nfd), "zip_name_clash", "ok");
}

#[test]
fn messages_escape_names() {
    let archive = build(&[Item::stored("a\u{1b}[2J\n", b"x")]);
    let message = unpack(&archive, Rules::Strict).unwrap_err().to_string();
    assert_eq!(message, "the name `a\\u{1b}[2J\\n` has a control character");
}

#[test]
fn of_two_entries_with_one_name_the_last_counts_or_none() {
    let archive = build(&[Item::stored("a", b"first"), Item::deflated("a", b"second")]);
    check(&archive, "zip_duplicate_name", "ok");
    let tree = unpack(&archive, Rules::Compat).unwrap();
    assert_eq!(tree.into_iter().collect::<Vec<_>>(), [("a".to_owned(), b"second".to_vec())]);

    // The hidden one is not looked at.
    let link = Item::stored("a", b"/etc").with(|item| item.attributes = 0o120_777 << 16);
    let archive = build(&[link.clone(), Item::stored("a", b"x")]);
    check(&archive, "zip_symlink", "ok");
    check(&build(&[Item::stored("a", b"x"), link]), "zip_duplicate_name", "zip_symlink");
}

#[test]
fn a_file_cannot_be_a_directory_too() {
    let refusal = "zip_file_and_directory";
    check(&build(&[Item::stored("a", b""), Item::stored("a/b", b"")]), refusal, refusal);
    check(&build(&[Item::stored("a/b", b""), Item::stored("a", b"")]), refusal, refusal);
    check(&build(&[Item::stored("a", b""), Item::directory("a/")]), refusal, refusal);
    // Not two names to the archive, one to the file system.
    check(&build(&[Item::stored("a", b""), Item::stored("./a", b"")]), "zip_name_dot", refusal);
}

#[test]
fn only_plain_files_and_directories_are_taken() {
    let typed = |name, mode: u32| Item::stored(name, b"").with(|item| item.attributes = mode << 16);
    for made_by in [3 << 8, 0, 10 << 8, 19 << 8] {
        let link = typed("l", 0o120_777).with(|item| item.made_by = made_by);
        check_item(link, "zip_symlink", "zip_symlink");
    }
    for mode in [0o010_644, 0o020_644, 0o060_644, 0o140_644, 0o040_755] {
        check_item(typed("special", mode), "zip_file_type", "ok");
    }
    check_item(typed("directory/", 0o100_644), "zip_file_type", "ok");
    check_item(typed("untyped", 0o644), "ok", "ok");
    check_item(typed("setuid", 0o104_755), "ok", "ok");
    check_item(Item::stored("d/", b"data"), "zip_file_type", "ok");
    let full = Item::stored("d/", b"data").with(|item| item.attributes = 0);
    check_item(full, "zip_directory_with_data", "ok");
}

#[test]
fn what_cannot_be_read_is_refused() {
    let flagged = |flag: u16| Item::deflated("f", b"x").with_both(|header| header.flags |= flag);
    for encryption in [1, 1 << 6, 1 << 13] {
        check_item(flagged(encryption), "zip_encrypted", "zip_encrypted");
    }
    check_item(flagged(1 << 5), "zip_flags", "ok");
    for method in [9, 12, 14, 93, 99] {
        let item = Item::deflated("f", b"x").with_both(|header| header.method = method);
        check_item(item, "zip_method", "zip_method");
    }
}

#[test]
fn the_local_header_must_agree() {
    let local = |change: fn(&mut Item)| Item::deflated("same", b"contents").with(change);
    for item in [
        local(|item| item.local.name = b"evil".to_vec()),
        local(|item| item.local.method = 0),
        local(|item| item.local.flags = 1),
        local(|item| item.local.crc32 ^= 1),
        local(|item| item.local.size += 1),
        local(|item| item.local.compressed_size += 1),
        local(|item| item.local.flags = 1 << 3),
    ] {
        check_item(item, "zip_local_mismatch", "ok");
    }
    let wide = Item::deflated("same", b"contents").with_wide_sizes();
    check_item(wide.clone(), "ok", "ok");
    let lying = wide.with(|item| *item.local.extra.last_mut().unwrap() = 1);
    check_item(lying, "zip_local_mismatch", "ok");
    let lying = local(|item| item.local.extra = extra(1, &[9; 16]));
    check_item(lying, "zip_local_mismatch", "ok");
}

#[test]
fn data_descriptors_must_agree() {
    let item = Item::deflated("f", b"contents");
    for (signed, wide) in [(false, false), (false, true), (true, false), (true, true)] {
        let item = item.clone().with_descriptor(signed, wide);
        check_item(item.clone(), "ok", "ok");
        for change in [
            |item: &mut Item| *item.after.last_mut().unwrap() ^= 1,
            |item: &mut Item| item.after.push(0),
            |item: &mut Item| item.after.clear(),
            |item: &mut Item| item.after.resize(100, 0),
        ] {
            check_item(item.clone().with(change), "zip_descriptor_mismatch", "ok");
        }
    }
    check_item(Item::stored("f", b"x").with_descriptor(true, false), "zip_flags", "ok");
}

#[test]
fn extra_fields_may_not_change_the_meaning() {
    let central = |extra: Vec<u8>| Item::stored("f", b"x").with(|item| item.central.extra = extra);
    for field in [
        extra(0x7075, b"\x01\0\0\0\0other"),
        extra(0x9901, &[0; 7]),
        extra(1, &[0; 8]),
        [extra(0x5455, &[0; 5]), vec![0]].concat(),
    ] {
        check_item(central(field.clone()), "zip_extra_field", "ok");
        let local = Item::stored("f", b"x").with(|item| item.local.extra = field);
        check_item(local, "zip_extra_field", "ok");
    }
    check_item(central(extra(0x5455, &[0; 5])), "ok", "ok");

    let wide = Item::stored("f", b"x").with_wide_sizes();
    let twice = wide.clone().with(|item| item.central.extra.extend(extra(1, &[0; 16])));
    check_item(twice, "zip_extra_field", "ok");
    let without = wide.with_both(|header| header.extra.clear());
    check_item(without, "zip_extra_field", "zip_bomb");
}

#[test]
fn entries_may_not_overlap() {
    // Two names for the same bytes.
    let again = Item::stored("b", b"x").with(|item| item.offset = Some(0));
    let archive = build(&[Item::stored("a", b"x"), again]);
    check(&archive, "zip_overlap", "ok");

    // The first entry's data are the whole second entry, as in a quoted bomb.
    let inner = build(&[Item::stored("inner", b"x")]);
    let quoted = inner.get(..30 + 5 + 1).unwrap().to_vec();
    let outer = Item::stored("outer", &quoted);
    let start = 30 + 5;
    let inner = Item::stored("inner", b"x").with(|item| item.offset = Some(start));
    check(&build(&[outer, inner]), "zip_overlap", "ok");

    // Data that run into the directory.
    let long = Item::stored("long", b"x").with_both(|header| {
        (header.size, header.compressed_size) = (10, 10);
    });
    check(&build(&[long]), "zip_overlap", "zip_checksum");
}

#[test]
fn no_byte_may_be_hidden() {
    let honest = build(&[Item::stored("a", b"x")]);
    check(&[&honest[..], b"junk"].concat(), "zip_trailing_bytes", "ok");
    check(&[b"junk", &honest[..]].concat(), "zip_leading_bytes", "ok");

    let hidden = Item::stored("a", b"x").with(|item| item.after = b"hidden".to_vec());
    check(&build(&[hidden]), "zip_gap", "ok");

    let mut commented = honest.clone();
    *commented.iter_mut().rev().nth(1).unwrap() = 4;
    commented.extend(b"note");
    check(&commented, "zip_comment", "ok");

    // Bytes behind the end of the deflate stream.
    let padded = [deflate(b"x"), b"hidden".to_vec()].concat();
    let item = Item::deflated("a", b"x").with(|item| item.data.clone_from(&padded));
    let item = item.with_both(|header| header.compressed_size = padded.len() as u32);
    check_item(item, "zip_corrupt", "ok");

    // Entries the end record does not count, and an end record that counts too many.
    let mut archive = build(&[Item::stored("a", b"x"), Item::stored("b", b"y")]);
    let end = archive.len() - END_BYTES;
    for at in [end + 8, end + 10] {
        archive[at] = 1;
    }
    check(&archive, "zip_entry_count", "ok");
    assert_eq!(unpack(&archive, Rules::Compat).unwrap().len(), 1);
    for at in [end + 8, end + 10] {
        archive[at] = 3;
    }
    check(&archive, "zip_entry_count", "zip_entry_count");
}

#[test]
fn parts_of_a_set_are_refused() {
    let honest = build(&[Item::stored("a", b"x")]);
    let end = honest.len() - END_BYTES;
    for at in [4, 6, 8] {
        let mut archive = honest.clone();
        archive[end + at] = 7;
        check(&archive, "zip_multi_disk", "ok");
    }
    check_item(Item::stored("f", b"x").with(|item| item.disk = 1), "zip_multi_disk", "ok");
}

#[test]
fn both_end_records_must_agree() {
    let wide = widen(build(&[Item::stored("a", b"x")]));
    let end = wide.len() - END_BYTES;
    for (at, value, refusal) in [
        // Entries in the narrow record, instead of its sentinel.
        (end + 10, [9, 0], "zip_end_mismatch"),
        // Disk count of the locator, and its pointer.
        (end - 4, [2, 0], "zip_multi_disk"),
        (end - 12, [1, 0], "zip_end_mismatch"),
        // Length of the wide record.
        (end - 20 - 52, [45, 0], "zip_end_mismatch"),
    ] {
        let mut archive = wide.clone();
        archive[at..at + 2].copy_from_slice(&value);
        assert_eq!(code(&unpack(&archive, Rules::Strict)), refusal, "at {at}");
    }
    // A sentinel without the wide record.
    let mut archive = build(&[Item::stored("a", b"x")]);
    let end = archive.len() - END_BYTES;
    archive[end + 8..end + 12].fill(0xff);
    check(&archive, "zip_end_mismatch", "zip_entry_count");
}

#[test]
fn contents_must_be_what_was_declared() {
    let text = b"some contents, some more contents, even more contents";
    for item in [Item::stored("f", text), Item::deflated("f", text)] {
        let wrong = item.clone().with_both(|header| header.crc32 ^= 1);
        check_item(wrong, "zip_checksum", "zip_checksum");
    }
    let item = Item::deflated("f", text);
    for size in [0, 1, text.len() as u32 - 1, text.len() as u32 + 1, 1 << 20] {
        let wrong = item.clone().with_both(|header| header.size = size);
        check_item(wrong, "zip_size_mismatch", "zip_size_mismatch");
    }
    let stored = Item::stored("f", text).with_both(|header| header.size += 1);
    check_item(stored, "zip_size_mismatch", "zip_size_mismatch");

    // A stream that yields all and then does not end.
    let mut endless = deflate(text);
    endless.pop();
    let item = item.with(|item| item.data.clone_from(&endless));
    let item = item.with_both(|header| header.compressed_size -= 1);
    check_item(item, "zip_truncated", "zip_truncated");
    let garbage = Item::deflated("f", text).with(|item| item.data.fill(0xff));
    check_item(garbage, "zip_corrupt", "zip_corrupt");
}

#[test]
fn what_is_no_archive_is_refused() {
    check(b"", "zip_end_missing", "zip_end_missing");
    check(b"PK\x05\x06", "zip_truncated", "zip_truncated");
    check(&[b'x'; 100_000], "zip_end_missing", "zip_end_missing");
}
