//! The program on older formats and on checkpoints: output, exit codes, nothing left behind.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "test helpers; the settings for tests cover only `#[test]` functions"
)]

use std::fs;
use std::path::{Path, PathBuf};

use aegx::checkpoint::Checkpoint;
use aegx::merkle::{Frontier, leaf_hash};
use aegx::note::{NoteName, SigningKey};
use aegx::{Digest, Rules, Source, record_ids};
use serde_json::Value;
use testkit::program::Ran;

use crate::cli::support::{aegx, corpus, text, write};

fn put(path: &Path, content: &str) {
    write(path, content.as_bytes());
}

#[test]
fn verify_and_summarize_know_the_older_formats() {
    for (folder, format) in [("aer-v0.1", "aer-0.1"), ("aegx-v0.2", "unified-0.2")] {
        let valid = corpus(&format!("{folder}/valid.aegx.zip"));
        let ran = aegx(["verify", text(&valid), "--json"]);
        assert_eq!(ran.code, 0, "{}", ran.out);
        assert_eq!(ran.object()["format"], format);
        assert!(!ran.object()["notes"].as_array().unwrap().is_empty());
        let ran = aegx(["summarize", text(&valid), "--json"]);
        assert_eq!((ran.code, &ran.object()["records"]), (0, &Value::from(20)));
        let tampered = corpus(&format!("{folder}/payload_edited.aegx.zip"));
        assert_eq!(aegx(["verify", text(&tampered)]).code, 1);
        assert_eq!(aegx(["verify", text(&tampered), "--compat"]).code, 1);
        let truncated = corpus(&format!("{folder}/audit_tail_truncated.aegx.zip"));
        assert_eq!(aegx(["verify", text(&truncated)]).code, 1);
        assert_eq!(aegx(["verify", text(&truncated), "--compat"]).code, 0);
    }
}

#[test]
fn both_older_formats_convert_to_bundles_that_verify() {
    for (folder, format) in [("aer-v0.1", "aer-0.1"), ("aegx-v0.2", "unified-0.2")] {
        let dir = tempfile::tempdir().unwrap();
        let valid = corpus(&format!("{folder}/valid.aegx.zip"));
        for name in ["new", "new.aegx.zip"] {
            let out = dir.path().join(name);
            let ran = aegx(["convert", text(&valid), text(&out), "--json"]);
            assert_eq!(ran.code, 0, "{}", ran.err);
            let json = ran.object();
            assert_eq!((&json["records"], &json["blobs"]), (&Value::from(20), &Value::from(1)));
            assert_eq!((&json["format"], &json["out"]), (&Value::from(format), &text(&out).into()));
            for mode in [&["verify", text(&out)][..], &["verify", text(&out), "--compat"]] {
                let verified = aegx(mode);
                assert_eq!(verified.code, 0, "{}", verified.err);
            }
        }
        check_mapping(&dir.path().join("new"), &valid);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
        let again = aegx(["convert", text(&valid), text(&dir.path().join("new"))]);
        assert_eq!(again.code, 1, "{}", again.err);
    }
}

/// Holds the converted records against the old ones.
fn check_mapping(new: &Path, old: &Path) {
    let lines = |text: String| -> Vec<Value> {
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let mut old_text = String::new();
    let old = Source::open(old, Rules::Strict).unwrap();
    old.open_member("records.jsonl").unwrap().read_to_string(&mut old_text).unwrap();
    let old = lines(old_text);
    let new = lines(fs::read_to_string(new.join("records.jsonl")).unwrap());
    assert_eq!(old.len(), new.len());
    let new_id = |old_id: &Value| {
        let found = new.iter().find(|it| it["meta"]["aer_record_id"] == *old_id).unwrap();
        found["recordId"].clone()
    };
    for (old, new) in old.iter().zip(&new) {
        assert_eq!(new["meta"]["aer_record_id"], old["record_id"]);
        let parents: Vec<_> = old["parents"].as_array().unwrap().iter().map(&new_id).collect();
        assert_eq!(new["parents"], Value::from(parents));
        assert_eq!(new["meta"]["aer_ts"], old["meta"]["ts"]);
        // What is written is in the form that is hashed.
        let hashed = |it: &Value| String::from_utf8(aegx::canon::canonical(it)).unwrap();
        let (inline, data) = (new["payload"].get("inline"), old["payload"].get("data"));
        assert_eq!(inline.map(ToString::to_string), data.map(hashed));
        assert_eq!(new["payload"].get("blob"), old["payload"].get("hash"));
    }
    let taint = |principal: &str, bits: u64| {
        let at = old.iter().position(|it| it["principal"] == principal && it["taint"] == bits);
        new[at.unwrap()]["taint"].clone()
    };
    assert_eq!(taint("WEB", 1), serde_json::json!(["UNTRUSTED"]));
    assert_eq!(taint("SKILL", 9), serde_json::json!(["SECRET_RISK", "UNTRUSTED"]));
    assert_eq!(taint("TOOL_AUTH", 33), serde_json::json!(["TOOL_OUTPUT", "UNTRUSTED"]));
}

#[test]
fn what_cannot_be_converted_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("new.zip");
    for (bundle, exit) in [
        ("interop/valid/all_types", 2),
        ("aegx-v0.2/payload_edited.aegx.zip", 1),
        ("aegx-v0.2/zip_truncated.aegx.zip", 1),
        ("aer-v0.1/audit_empty.aegx.zip", 1),
        ("aer-v0.1/empty_zip.aegx.zip", 1),
        ("nowhere", 3),
    ] {
        let ran = aegx(["convert", text(&corpus(bundle)), text(&out)]);
        assert_eq!(ran.code, exit, "{bundle}: {}", ran.err);
        assert!(ran.err.contains("aegx: "), "{bundle}: {}", ran.err);
    }
    let far = dir.path().join("missing/new");
    let valid = corpus("aer-v0.1/valid.aegx.zip");
    assert_eq!(aegx(["convert", text(&valid), text(&far)]).code, 3);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);

    let edited = corpus("aegx-v0.2/payload_edited.aegx.zip");
    let ran = aegx(["convert", text(&edited), text(&out), "--unverified"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("aer_unverified"), "{}", ran.err);
    assert_eq!(aegx(["verify", text(&out)]).code, 0);
}

/// A bundle of twelve records, and a checkpoint signed for some of them.
struct Log {
    dir: tempfile::TempDir,
    bundle: PathBuf,
    note: PathBuf,
    key: String,
    ids: Vec<Digest>,
}

impl Log {
    fn new(size: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let bundle = corpus("interop/valid/all_types");
        let ids = record_ids(&Source::open(&bundle, Rules::Strict).unwrap()).unwrap();
        let key = signing_key(7);
        let mut tree = Frontier::new();
        ids.iter().take(size).for_each(|id| tree.push(leaf_hash(id)));
        let checkpoint = Checkpoint::new("lazaret/journal", size as u64, tree.root()).unwrap();
        let note = dir.path().join("checkpoint");
        put(&note, &checkpoint.sign(&key).unwrap().to_text());
        Self { dir, bundle, note, key: key.verifier().to_string(), ids }
    }

    fn verify(&self, args: &[&str]) -> Ran {
        aegx([&["verify-checkpoint", text(&self.note), "--key", &self.key], args].concat())
    }

    fn prove(&self, record: &str, args: &[&str]) -> Ran {
        let fixed = ["prove-inclusion", text(&self.bundle), "--record", record];
        aegx([&fixed, &["--checkpoint", text(&self.note)][..], args].concat())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

fn signing_key(seed: u8) -> SigningKey {
    SigningKey::from_seed(NoteName::new("journal-key").unwrap(), &[seed; 32])
}

#[test]
fn a_record_is_proved_and_the_proof_verified() {
    let log = Log::new(7);
    let proof = log.path("proof.json");
    for (index, id) in log.ids.iter().enumerate().take(7) {
        let id = id.to_string();
        let ran = log.prove(&id, &["--key", &log.key]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let json = ran.object();
        assert_eq!((&json["recordId"], &json["index"]), (&Value::from(id.clone()), &index.into()));
        assert_eq!(json["checkpoint"], fs::read_to_string(&log.note).unwrap());
        put(&proof, &ran.out);
        let ran = log.verify(&["--proof", text(&proof), "--record", &id]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.contains(&format!("is record {} of 7", index + 1)), "{}", ran.out);
    }
    let id = log.ids[0].to_string();
    // The last proof is about another record.
    assert_eq!(log.verify(&["--proof", text(&proof), "--record", &id]).code, 1);
    let good = fs::read_to_string(&proof).unwrap();
    let mut forged: Value = serde_json::from_str(&good).unwrap();
    forged["recordId"] = id.into();
    put(&proof, &forged.to_string());
    assert_eq!(log.verify(&["--proof", text(&proof)]).code, 1);
    let mut forged: Value = serde_json::from_str(&good).unwrap();
    forged["checkpoint"] = "another\n".into();
    put(&proof, &forged.to_string());
    assert_eq!(log.verify(&["--proof", text(&proof)]).code, 1);
    put(&proof, "{}");
    assert_eq!(log.verify(&["--proof", text(&proof)]).code, 1);
}

#[test]
fn a_proof_goes_to_a_new_file_and_never_over_an_old_one() {
    let log = Log::new(12);
    let (id, out) = (log.ids[4].to_string(), log.path("proof.json"));
    let ran = log.prove(&id, &["--out", text(&out)]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with("Proved: record 5 of 12"), "{}", ran.out);
    assert!(ran.err.contains("signature was not checked"), "{}", ran.err);
    assert_eq!(log.verify(&["--proof", text(&out)]).code, 0);
    assert_eq!(log.prove(&id, &["--out", text(&out)]).code, 3);
}

#[test]
fn what_the_checkpoint_does_not_cover_has_no_proof() {
    let log = Log::new(7);
    let later = log.prove(&log.ids[7].to_string(), &[]);
    assert_eq!(later.code, 1);
    assert!(later.err.contains("came after the checkpoint"), "{}", later.err);
    assert_eq!(log.prove(&Digest::ZERO.to_string(), &[]).code, 1);
    assert_eq!(log.prove("xyz", &[]).code, 2);
    let other = signing_key(8).verifier().to_string();
    assert_eq!(log.prove(&log.ids[0].to_string(), &["--key", &other]).code, 1);
}

#[test]
fn a_history_is_held_against_its_checkpoint() {
    let log = Log::new(7);
    let ran = log.verify(&["--bundle", text(&log.bundle), "--origin", "lazaret/journal"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("signed by journal-key"), "{}", ran.out);
    assert!(ran.out.contains("7 records, root "), "{}", ran.out);
    assert!(ran.out.contains("5 later records are not covered"), "{}", ran.out);
    let json = log.verify(&["--bundle", text(&log.bundle), "--json"]).object();
    assert_eq!((&json["ok"], &json["bundle_records"]), (&true.into(), &12.into()));

    // A history that somebody rebuilt with other records, and one that is cut.
    for bundle in ["interop/valid/blobs", "interop/valid/empty", "aegx-v0.2/valid.aegx.zip"] {
        let ran = log.verify(&["--bundle", text(&corpus(bundle)), "--json"]);
        assert_eq!(ran.code, 1, "{bundle}: {}", ran.out);
        assert_eq!(ran.object()["ok"], false);
    }
    for bundle in ["tampered/record_edited", "tampered/record_removed", "lenient/records_reordered"]
    {
        let ran = log.verify(&["--bundle", text(&corpus(&format!("interop/{bundle}")))]);
        assert_eq!(ran.code, 1, "{bundle}: {}", ran.out);
    }
    // The records are those signed for, but the audit log is not theirs.
    let truncated = corpus("interop/tampered/audit_tail_truncated");
    let ran = log.verify(&["--bundle", text(&truncated)]);
    assert_eq!(ran.code, 1, "{}", ran.out);
}

#[test]
fn a_checkpoint_by_another_key_or_of_another_log_is_refused() {
    let log = Log::new(7);
    assert_eq!(log.verify(&[]).code, 0);
    assert_eq!(log.verify(&["--origin", "another"]).code, 1);
    assert_eq!(log.verify(&["--record", &log.ids[0].to_string()]).code, 2);
    let bundle = text(&log.bundle);
    for (at, exit) in [(0, 0), (6, 0), (7, 1)] {
        let id = log.ids[at].to_string();
        assert_eq!(log.verify(&["--bundle", bundle, "--record", &id]).code, exit, "{at}");
    }

    let key_file = log.path("key");
    put(&key_file, &format!("{}\n", log.key));
    let with = |key: &str| aegx(["verify-checkpoint", text(&log.note), "--key", key]);
    assert_eq!(with(text(&key_file)).code, 0);
    assert_eq!(with(signing_key(8).verifier().to_string().as_str()).code, 1);
    assert_eq!(with("journal-key+00000000+nonsense").code, 2);
    assert_eq!(with(&signing_key(7).to_secret_text()).code, 2);
    assert_eq!(with(text(&log.path("no-key"))).code, 3);

    let note = fs::read_to_string(&log.note).unwrap();
    put(&log.note, &note.replacen("\n7\n", "\n8\n", 1));
    assert_eq!(log.verify(&[]).code, 1);
    put(&log.note, "no note");
    assert_eq!(log.verify(&[]).code, 1);
    fs::remove_file(&log.note).unwrap();
    assert_eq!(log.verify(&[]).code, 3);
}
