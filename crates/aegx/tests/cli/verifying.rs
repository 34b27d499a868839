//! `verify` and `summarize`.

use serde_json::{Value, json};

use crate::cli::support::{aegx, bundle, corpus, names, text};

#[test]
fn verify_takes_directories_and_zips() {
    for name in ["all_types", "blobs", "empty"] {
        for form in [name.to_owned(), format!("{name}.aegx.zip")] {
            let path = corpus("interop/valid").join(form);
            for mode in [&[][..], &["--compat"]] {
                let args = [&["verify", text(&path)], mode].concat();
                assert_eq!(aegx(args).done(), "Verification: PASS");
            }
        }
    }
}

#[test]
fn verify_exits_with_1_or_in_compat_mode_as_upstream() {
    let index = std::fs::read_to_string(corpus("strict/index.json")).unwrap();
    let index: Value = serde_json::from_str(&index).unwrap();
    // One of each exit code; the corpus itself is judged in tests/strict_corpus.rs.
    let names = [
        "sound",
        "record_dropped_count_patched",
        "record_edited",
        "schema_unknown",
        "record_garbage_line",
        "archive_cut_short.aegx.zip",
    ];
    for name in names {
        let path = corpus("strict").join(name);
        let codes = index[name]["strict"].as_array().unwrap();
        let strict = aegx(["verify", text(&path)]);
        assert_eq!(strict.code, i32::from(!codes.is_empty()), "{name}");
        for code in codes {
            assert!(strict.err.contains(&format!("[{}]", code.as_str().unwrap())), "{name}");
        }
        let verdict = if codes.is_empty() { "PASS" } else { "FAIL" };
        assert_eq!(strict.out, format!("Verification: {verdict}\n"));
        let compat = aegx(["verify", text(&path), "--compat"]);
        assert_eq!(i64::from(compat.code), index[name]["compat_exit"].as_i64().unwrap(), "{name}");
    }
}

#[test]
fn verify_json_is_one_object_with_every_error() {
    let sound = aegx(["verify", text(&corpus("interop/valid/blobs")), "--json"]);
    assert_eq!(sound.err, "");
    let said = sound.object();
    assert_eq!(said["ok"], true);
    assert_eq!((&said["records"], &said["blobs"]), (&json!(7), &json!(4)));
    assert_eq!(said["errors"], json!([]));

    let broken = aegx(["verify", text(&corpus("strict/records_swapped")), "--json"]);
    assert_eq!(broken.code, 1);
    let said = broken.object();
    assert_eq!(said["ok"], false);
    let errors = said["errors"].as_array().unwrap();
    assert_eq!(said["errors_total"], errors.len());
    assert!(errors.len() >= 3);
    for error in errors {
        assert!(
            error["code"].is_string() && error["at"].is_string() && error["detail"].is_string()
        );
    }
}

#[test]
fn what_cannot_be_opened_is_named() {
    let home = tempfile::tempdir().unwrap();
    let nowhere = home.path().join("nowhere");
    aegx(["verify", text(&nowhere)]).fails(3, &[text(&nowhere)]);
    aegx(["verify", text(&nowhere), "--compat"]).fails(4, &[text(&nowhere)]);
    // A directory that is no bundle can be opened; that it is none is the verdict.
    aegx(["verify", text(home.path())]).fails(1, &["manifest.json", "[file_unreadable]"]);
    aegx(["verify", text(home.path()), "--compat"]).fails(4, &["manifest.json"]);
    aegx(["verify"]).fails(2, &["<BUNDLE>"]);
}

#[test]
fn no_bundle_writes_on_the_terminal() {
    let path = corpus("strict/record_id_forges_a_verdict");
    let ran = aegx(["verify", text(&path)]);
    assert_eq!(ran.code, 1);
    assert!(!ran.err.contains('\x1b') && !ran.err.contains('\u{202e}'));
    assert!(ran.err.lines().all(|line| !line.starts_with("Verification")), "{}", ran.err);
}

#[test]
fn summarize_counts_and_judges() {
    let path = corpus("interop/valid/all_types");
    let said = aegx(["summarize", text(&path), "--json"]).object();
    assert_eq!((&said["ok"], &said["records"]), (&json!(true), &json!(12)));
    assert_eq!(said["by_type"].as_object().unwrap().len(), 12);
    assert_eq!(said["by_principal"]["USER"], 2);
    let said = aegx(["summarize", text(&path)]).done();
    assert!(said.contains("Records: 12") && said.contains("Verification: PASS"), "{said}");

    let broken = corpus("strict/record_edited");
    let ran = aegx(["summarize", text(&broken)]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("Verification: FAIL"));
    assert_eq!(aegx(["summarize", text(&broken), "--compat"]).code, 0);
}

#[test]
fn an_interrupted_writer_is_explained() {
    let (_home, dir) = bundle();
    crate::cli::support::write(&dir.join(".aegx-new"), b"");
    aegx(["verify", text(&dir)]).fails(1, &[".aegx-new", "interrupted", "[file_unexpected]"]);
    crate::cli::support::add(&dir);
    assert_eq!(aegx(["verify", text(&dir)]).done(), "Verification: PASS");
    assert_eq!(names(&dir).len(), 4);
}
