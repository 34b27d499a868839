//! `export` and `import`.

use std::fs;

use crate::cli::support::{add, aegx, bundle, corpus, names, text, write};

#[test]
fn a_bundle_survives_the_way_there_and_back() {
    let home = tempfile::tempdir().unwrap();
    let (zip, back) = (home.path().join("b.zip"), home.path().join("back"));
    let original = corpus("interop/valid/blobs");
    let said = aegx(["export", text(&original), text(&zip)]).done();
    assert_eq!(said, format!("Exported: {}", zip.display()));
    let said = aegx(["import", text(&zip), text(&back)]).done();
    assert_eq!(said, format!("Imported: {}", back.display()));
    for name in ["manifest.json", "records.jsonl", "audit-log.jsonl"] {
        assert_eq!(fs::read(back.join(name)).unwrap(), fs::read(original.join(name)).unwrap());
    }
    assert_eq!(names(&back.join("blobs")), names(&original.join("blobs")));
    for bundle in [&zip, &back] {
        assert_eq!(aegx(["verify", text(bundle)]).done(), "Verification: PASS");
    }
}

#[test]
fn json_output_counts_what_was_moved() {
    let home = tempfile::tempdir().unwrap();
    let (zip, back) = (home.path().join("b.zip"), home.path().join("back"));
    let original = corpus("interop/valid/blobs");
    let said = aegx(["export", text(&original), text(&zip), "--json"]).object();
    assert_eq!(said["zip"], text(&zip));
    let said = aegx(["import", text(&zip), text(&back), "--json"]).object();
    assert_eq!(said["files"], 7);
    assert_eq!(said["dir"], text(&back));
}

#[test]
fn nothing_is_overwritten_unasked() {
    let (home, dir) = bundle();
    let zip = home.path().join("b.zip");
    write(&zip, b"precious");
    aegx(["export", text(&dir), text(&zip)]).fails(1, &[text(&zip)]);
    assert_eq!(fs::read(&zip).unwrap(), b"precious");
    aegx(["export", text(&dir), text(&zip), "--force"]).done();
    // Into a directory that holds something: refused.
    assert_ne!(aegx(["import", text(&zip), text(&dir)]).code, 0);
    assert_eq!(aegx(["verify", text(&dir)]).done(), "Verification: PASS");
}

#[test]
fn export_refuses_what_does_not_belong_to_a_bundle() {
    for (name, content) in [("notes.txt", "x"), ("blobs/notes.txt", "x")] {
        let (home, dir) = bundle();
        add(&dir);
        write(&dir.join(name), content.as_bytes());
        let zip = home.path().join("b.zip");
        aegx(["export", text(&dir), text(&zip)]).fails(1, &[name]);
        assert_eq!(names(home.path()), ["b"]);
    }
    #[cfg(unix)]
    {
        let (home, dir) = bundle();
        let zip = home.path().join("b.zip");
        std::os::unix::fs::symlink("/etc/passwd", dir.join("blobs").join("e".repeat(64))).unwrap();
        aegx(["export", text(&dir), text(&zip)]).fails(1, &["blobs/eeee"]);
        assert_eq!(names(home.path()), ["b"]);
    }
}

#[test]
fn a_refused_import_leaves_nothing_behind() {
    let home = tempfile::tempdir().unwrap();
    let out = home.path().join("out");
    let mut refused = 0;
    for folder in ["interop/tampered", "interop/lenient", "strict"] {
        for name in names(&corpus(folder)).iter().filter(|name| name.ends_with(".zip")) {
            let zip = corpus(folder).join(name);
            let ran = aegx(["import", text(&zip), text(&out)]);
            if ran.code == 0 {
                fs::remove_dir_all(&out).unwrap();
                continue;
            }
            ran.fails(1, &[name, "[zip_"]);
            assert_eq!(names(home.path()), Vec::<String>::new(), "{name}");
            refused += 1;
        }
    }
    assert!(refused >= 3, "{refused}");
    let nowhere = home.path().join("nowhere.zip");
    aegx(["import", text(&nowhere), text(&out)]).fails(3, &[text(&nowhere)]);
    aegx(["import", text(home.path()), text(&out)]).fails(1, &["not a regular file"]);
    assert_eq!(names(home.path()), Vec::<String>::new());
}
