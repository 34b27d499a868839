//! `init`, `add-blob`, `add-record`.

use std::fs;

use serde_json::{Value, json};

use crate::cli::support::{add, add_args, aegx, bundle, corpus, names, text, write};

#[test]
fn init_makes_a_bundle_that_verifies() {
    let home = tempfile::tempdir().unwrap();
    let (dir, zip) = (home.path().join("new/b"), home.path().join("b.zip"));
    let said = aegx(["init", text(&dir), "--zip-out", text(&zip)]).done();
    let want = format!("Initialized bundle: {}\nExported to: {}", dir.display(), zip.display());
    assert_eq!(said, want);
    assert_eq!(names(&dir), ["audit-log.jsonl", "blobs", "manifest.json", "records.jsonl"]);
    for bundle in [&dir, &zip] {
        assert_eq!(aegx(["verify", text(bundle)]).done(), "Verification: PASS");
    }
    let other = home.path().join("other");
    let said = aegx(["init", text(&other), "--json"]);
    assert_eq!(said.object(), json!({ "bundle": other, "zip": null }));
}

#[test]
fn init_leaves_an_existing_bundle_alone() {
    let (home, dir) = bundle();
    add(&dir);
    let before = fs::read(dir.join("records.jsonl")).unwrap();
    aegx(["init", text(&dir)]).fails(1, &[text(&dir), "not empty"]);
    assert_eq!(fs::read(dir.join("records.jsonl")).unwrap(), before);
    let file = home.path().join("file");
    write(&file, b"x");
    aegx(["init", text(&file)]).fails(3, &[text(&file)]);
    assert_eq!(fs::read(file).unwrap(), b"x");
}

/// Writes the bundle anew, record by record, with the program.
fn rewrite(original: &str) {
    let original = corpus(original);
    let (_home, dir) = bundle();
    if original.join("blobs").exists() {
        for name in names(&original.join("blobs")) {
            let blob = original.join("blobs").join(&name);
            assert_eq!(aegx(["add-blob", text(&dir), text(&blob)]).done(), name);
        }
    }
    for line in fs::read_to_string(original.join("records.jsonl")).unwrap().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let field = |key: &str| record[key].as_str().unwrap().to_owned();
        let parents: Vec<_> =
            record["parents"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        let mut args = vec!["add-record".to_owned(), text(&dir).to_owned()];
        args.extend(["--type".to_owned(), field("type"), "--principal".to_owned()]);
        args.extend([field("principal"), "--meta".to_owned(), record["meta"].to_string()]);
        args.extend(["--parents".to_owned(), parents.join(",")]);
        let payload = &record["payload"];
        if let Some(inline) = payload.get("inline") {
            args.push(format!("--inline={inline}"));
        } else {
            args.extend(["--blob".to_owned(), payload["blob"].as_str().unwrap().to_owned()]);
            args.extend(["--mime".to_owned(), payload["mime"].as_str().unwrap().to_owned()]);
            args.extend(["--size".to_owned(), payload["size"].to_string()]);
        }
        assert_eq!(aegx(args).done(), field("recordId"));
    }
    for name in ["records.jsonl", "audit-log.jsonl"] {
        let (want, got) =
            (fs::read(original.join(name)).unwrap(), fs::read(dir.join(name)).unwrap());
        assert!(want == got, "{name} differs");
    }
    let manifest = |dir: &std::path::Path| -> Vec<String> {
        let text = fs::read_to_string(dir.join("manifest.json")).unwrap();
        text.split('\n')
            .filter(|line| !line.contains("\"created_at\""))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(manifest(&dir), manifest(&original));
}

#[test]
fn the_files_of_upstreams_program_are_written_byte_for_byte() {
    rewrite("interop/valid/all_types");
    rewrite("interop/valid/blobs");
}

#[test]
fn json_output_holds_what_was_added() {
    let (home, dir) = bundle();
    let file = home.path().join("file");
    write(&file, b"evidence");
    let added =
        aegx(["add-blob", text(&dir), text(&file), "--mime", "text/plain", "--json"]).object();
    assert_eq!(added["mime"], "text/plain");
    assert_eq!(added["blob"].as_str().unwrap().len(), 64);
    let mut args = add_args(&dir, "{}", "1");
    args.push("--json");
    let added = aegx(args).object();
    let stored = fs::read_to_string(dir.join("records.jsonl")).unwrap();
    let stored: Value = serde_json::from_str(&stored).unwrap();
    assert_eq!(added["recordId"], stored["recordId"]);
    assert!(stored["meta"]["ts"].is_string(), "the present time is filled in");
}

#[test]
fn what_is_wrong_with_a_record_is_said_and_nothing_is_written() {
    let (home, dir) = bundle();
    let parent = add(&dir);
    let file = home.path().join("file");
    write(&file, b"evidence");
    let blob = aegx(["add-blob", text(&dir), text(&file)]).done();
    let before = fs::read(dir.join("manifest.json")).unwrap();

    let add = |more: &[&str]| {
        let mut args = vec!["add-record", text(&dir)];
        args.extend(more);
        aegx(args)
    };
    let who = ["--type", "FileRead", "--principal", "TOOL"];
    let meta = ["--meta", "{}"];
    let inline = ["--inline", "1"];
    let upper = parent.to_uppercase();
    let unknown = "e".repeat(64);
    let deep = format!("--inline={}{}", "[".repeat(126), "]".repeat(126));
    let cases: Vec<(Vec<&str>, i32, Vec<&str>)> = vec![
        (
            [&["--type", "FileRename", "--principal", "USER"][..], &meta, &inline].concat(),
            2,
            vec!["FileRename", "SessionStart", "Rollback"],
        ),
        (
            [&["--type", "FileRead", "--principal", "user"][..], &meta, &inline].concat(),
            2,
            vec!["user", "USER", "EXTERNAL"],
        ),
        ([&who[..], &["--meta", "[]"], &inline].concat(), 2, vec!["--meta", "object"]),
        ([&who[..], &["--meta", "{"], &inline].concat(), 2, vec!["--meta", "EOF"]),
        ([&who[..], &["--meta", "{\"ts\":\"today\"}"], &inline].concat(), 2, vec!["`today`"]),
        ([&who[..], &["--meta", "{\"ts\":1}"], &inline].concat(), 2, vec!["`ts`"]),
        ([&who[..], &meta, &["--inline", "{1}"]].concat(), 2, vec!["--inline"]),
        ([&who[..], &meta, &["--inline", "1.1791870367106106e-09"]].concat(), 2, vec!["number"]),
        ([&who[..], &meta, &[deep.as_str()]].concat(), 2, vec!["deep"]),
        ([&who[..], &meta, &inline, &["--parents", "abc"]].concat(), 2, vec!["`abc`"]),
        ([&who[..], &meta, &inline, &["--parents", &upper]].concat(), 2, vec![upper.as_str()]),
        ([&who[..], &meta, &inline, &["--parents", &unknown]].concat(), 1, vec![unknown.as_str()]),
        (
            [&who[..], &meta, &["--blob", &unknown, "--mime", "a/b", "--size", "8"]].concat(),
            1,
            vec![unknown.as_str(), "add-blob"],
        ),
        (
            [&who[..], &meta, &["--blob", "../../x", "--mime", "a/b", "--size", "8"]].concat(),
            1,
            vec!["../../x"],
        ),
        (
            [&who[..], &meta, &["--blob", &blob, "--mime", "a/b", "--size", "9"]].concat(),
            1,
            vec![blob.as_str(), "8 bytes", "9"],
        ),
        ([&who[..], &meta, &["--blob", &blob, "--mime", "a/b"]].concat(), 2, vec!["--size"]),
        ([&who[..], &meta, &inline, &["--blob", &blob]].concat(), 2, vec!["--blob"]),
        ([&who[..], &meta].concat(), 2, vec!["--inline"]),
    ];
    for (args, exit, words) in cases {
        add(&args).fails(exit, &words);
        assert_eq!(fs::read(dir.join("manifest.json")).unwrap(), before, "{args:?}");
    }
    // The blob is there, and no record names it.
    aegx(["verify", text(&dir)]).fails(1, &["[blob_unreferenced]"]);
}

#[test]
fn what_is_no_bundle_or_no_file_is_named() {
    let (home, dir) = bundle();
    let nowhere = home.path().join("nowhere");
    aegx(add_args(&nowhere, "{}", "1")).fails(3, &[text(&nowhere)]);
    aegx(add_args(home.path(), "{}", "1")).fails(3, &["no bundle", "manifest.json"]);
    aegx(["add-blob", text(&dir), text(&nowhere)]).fails(3, &[text(&nowhere)]);
    aegx(["add-blob", text(&dir), text(home.path())]).fails(2, &["not a file"]);
    aegx(["no-such-command"]).fails(2, &["no-such-command"]);
    assert!(aegx(["--version"]).done().starts_with("aegx "));
}
