//! `lazaret evidence`: verifying, proving, passing on, following and measuring a journal.

use std::path::Path;

use aegx::checkpoint::Checkpoint;
use aegx::inclusion::InclusionProof;
use aegx::note::{SignedNote, VerifierKey};
use aegx::{Progress, Rules, Source};
use serde_json::Value;
use testkit::program::Run as _;

use crate::cli::support::{
    demo, evidence, first_segment, lazaret, object, objects, refused, tamper,
};
use crate::program::stateless;

#[test]
fn verification_passes_and_finds_what_was_changed() {
    let (_dir, home) = demo();
    let report = object(&evidence("verify", &home, &["--json"]));
    assert_eq!((&report["ok"], &report["records"]), (&true.into(), &13.into()));
    let key = format!("{home}/evidence/checkpoint.pub");
    let report = object(&evidence("verify", &home, &["--key", &key, "--json"]));
    assert_eq!((&report["ok"], &report["pinned"]), (&true.into(), &true.into()));

    tamper(&first_segment(&home), "evil.example", "good.example");
    let (code, stdout, _) = lazaret(&evidence("verify", &home, &["--json"]));
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &report["ok"]), (1, &false.into()));
    assert!(!report["errors"].as_array().unwrap().is_empty());
    refused(&evidence("verify", &home, &[]), 1, &["NOT VERIFIED", "segment 000000000000"]);
    refused(&evidence("checkpoint", &home, &[]), 1, &["damaged and was left as it is"]);
}

#[test]
fn a_journal_that_lost_all_segments_is_refused_and_not_taken_for_none() {
    let (_dir, home) = demo();
    std::fs::remove_file(first_segment(&home)).unwrap();
    refused(&evidence("verify", &home, &[]), 1, &["13 records were signed, 0 are left"]);
    refused(&evidence("tail", &home, &[]), 1, &["is gone"]);
}

fn key_of(home: &str) -> VerifierKey {
    let text = std::fs::read_to_string(format!("{home}/evidence/checkpoint.pub")).unwrap();
    VerifierKey::parse(text.trim_end()).unwrap()
}

fn checkpoint_of(note: &[u8], home: &str) -> Checkpoint {
    let verified = SignedNote::parse(note).unwrap().verify(&key_of(home)).unwrap();
    Checkpoint::from_verified(&verified).unwrap()
}

#[test]
fn a_checkpoint_is_kept_elsewhere_and_holds_the_journal_to_its_word() {
    let (dir, home) = demo();
    let note = dir.path().join("note").to_str().unwrap().to_owned();
    let (code, stdout, stderr) = lazaret(&evidence("checkpoint", &home, &["--out", &note]));
    assert_eq!((code, stdout.as_str()), (0, ""), "{stderr}");
    let key = format!("{home}/evidence/checkpoint.pub");
    let against = ["--checkpoint", note.as_str(), "--key", key.as_str(), "--json"];
    assert_eq!(object(&evidence("verify", &home, &against))["ok"], true);
    refused(&evidence("checkpoint", &home, &["--out", &note]), 3, &["exists"]);

    let checkpoint = checkpoint_of(&std::fs::read(&note).unwrap(), &home);
    assert_eq!(checkpoint.size(), 13);
    let printed = object(&evidence("checkpoint", &home, &["--last", "--json"]));
    assert_eq!(checkpoint_of(printed["note"].as_str().unwrap().as_bytes(), &home), checkpoint);

    // A checkpoint of another journal is none of this one.
    let (_other_dir, other) = demo();
    let (code, _, _) = lazaret(&evidence("verify", &other, &against));
    assert_eq!(code, 1);
}

#[test]
fn a_private_key_given_by_mistake_is_refused_and_not_repeated() {
    let (dir, home) = demo();
    let secret = std::fs::read_to_string(format!("{home}/evidence/checkpoint.key")).unwrap();
    let secret = secret.trim_end();
    let file = dir.path().join("copy").to_str().unwrap().to_owned();
    std::fs::copy(format!("{home}/evidence/checkpoint.key"), &file).unwrap();
    let torn = secret.get(..secret.len() - 4).unwrap();
    for given in [secret, torn, &file] {
        let (code, stdout, stderr) = lazaret(&evidence("verify", &home, &["--key", given]));
        assert_eq!(code, 2, "{stderr}");
        assert!(!(stdout + &stderr).contains(torn), "the key was printed");
    }
}

#[test]
fn the_bench_without_sync_writes_every_record_and_says_that_none_is_durable() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_str().unwrap();
    let args = ["evidence", "bench", "--records", "5000", "--writers", "8", "--no-sync"];
    // The bench itself verifies that the journal holds as many records as were appended.
    let said = object(&[&args[..], &["--dir", dir, "--json"]].concat());
    assert_eq!(
        (&said["records"], &said["durable"], &said["fsyncs"]),
        (&5000.into(), &false.into(), &0.into())
    );
    let (_, stdout, _) = lazaret(&[&args[..], &["--dir", dir]].concat());
    assert!(stdout.contains("NOT DURABLE"), "{stdout}");
}

#[test]
fn a_proof_leads_to_the_signed_root() {
    let (dir, home) = demo();
    let record = objects(&evidence("query", &home, &["--kind", "tool_send", "--json"])).remove(0);
    let id = record["record"]["recordId"].as_str().unwrap().to_owned();
    let file = dir.path().join("proof").to_str().unwrap().to_owned();
    let (code, _, stderr) =
        lazaret(&evidence("checkpoint", &home, &["--prove", &id, "--out", &file]));
    assert_eq!(code, 0, "{stderr}");
    let proof: InclusionProof = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let checkpoint = checkpoint_of(proof.checkpoint.as_bytes(), &home);
    proof.verify(&checkpoint).unwrap();
    assert_eq!(proof.record_id.to_string(), id);

    let nobody = "0".repeat(64);
    refused(&evidence("checkpoint", &home, &["--prove", &nobody]), 1, &["no record"]);
    let since = object(&evidence("checkpoint", &home, &["--since", "3"]));
    assert_eq!((&since["old_size"], &since["size"]), (&3.into(), &13.into()));
    refused(&evidence("checkpoint", &home, &["--since", "14"]), 1, &[]);
}

fn assert_passes(bundle: &str) {
    for rules in [Rules::Strict, Rules::Compat] {
        let source = Source::open(Path::new(bundle), rules).unwrap();
        let report = aegx::verify(&source, rules, &Progress::default());
        assert!(report.ok(), "{:?}", report.findings);
    }
}

#[test]
fn what_is_exported_passes_and_can_be_imported_elsewhere() {
    let (dir, home) = demo();
    let zip = dir.path().join("b.aegx.zip").to_str().unwrap().to_owned();
    let exported = object(&evidence("export", &home, &["--session", "session-b", &zip, "--json"]));
    assert_eq!((&exported["records"], &exported["reissued"]), (&7.into(), &4.into()));
    assert_passes(&zip);
    let none = dir.path().join("none").to_str().unwrap().to_owned();
    let (code, _, said) = lazaret(&evidence("export", &home, &["--session", "nobody", &none]));
    assert!(code == 0 && said.contains("no record is what was asked for"), "{said}");
    assert_eq!(exported["signed"], true);
    let key = std::fs::read_to_string(format!("{home}/evidence/checkpoint.pub")).unwrap();
    let key = VerifierKey::parse(key.trim_end()).unwrap();
    let source = Source::open(Path::new(&zip), Rules::Strict).unwrap();
    let progress = Progress::default();
    assert!(aegx::verify_signed(&source, Rules::Strict, Some(&key), &progress).ok());
    let part = dir.path().join("part").to_str().unwrap().to_owned();
    let (code, stdout, _) = lazaret(&evidence("export", &home, &["--kind", "web_fetch", &part]));
    assert!(code == 0 && stdout.contains("exported 2 records"), "{stdout}");
    assert_passes(&part);
    refused(&evidence("export", &home, &[&zip]), 3, &["is there already"]);
    let inside = format!("{home}/evidence/segments/000000000001.seg");
    refused(&evidence("export", &home, &[&inside]), 3, &["in the journal itself"]);

    let (_other_dir, other) = demo();
    let imported = object(&evidence("import", &other, &[&zip, "--json"]));
    assert_eq!((&imported["records"], &imported["known"]), (&7.into(), &false.into()));
    assert_eq!(object(&evidence("import", &other, &[&zip, "--json"]))["known"], true);
    let name = imported["name"].as_str().unwrap();
    let newest = ["--import", name, "--limit", "2", "--json"];
    let found = objects(&evidence("query", &other, &newest));
    assert_eq!(found.iter().map(|it| it["idx"].as_u64().unwrap()).collect::<Vec<_>>(), [5, 6]);
    assert_eq!(object(&evidence("stats", &other, &["--json"]))["records"], 14);

    tamper(&Path::new(&part).join("records.jsonl"), "news.example", "good.example");
    refused(&evidence("import", &other, &[&part]), 1, &["does not verify"]);
    refused(&evidence("import", &other, &["no such file"]), 3, &["no such file"]);
}

#[test]
fn a_journal_that_another_process_has_open_is_named_with_the_process() {
    let (_dir, home) = demo();
    let journal = Path::new(&home).join("evidence");
    let (journal, _) = ::evidence::Journal::open(&::evidence::Config::new(journal)).unwrap();
    let me = format!("process {}", std::process::id());
    for command in ["checkpoint", "retain", "import"] {
        let more = match command {
            "retain" => &["--before", "1d"][..],
            "import" => &[home.as_str()],
            _ => &[],
        };
        refused(&evidence(command, &home, more), 3, &["another process", &me]);
    }
    // Readers need no lock.
    assert_eq!(object(&evidence("verify", &home, &["--json"]))["ok"], true);
    journal.close().unwrap();
}

#[test]
fn retention_says_what_went() {
    let (_dir, home) = demo();
    let gone = object(&evidence("retain", &home, &["--before", "1d", "--json"]));
    assert_eq!((&gone["segments"], &gone["records"]), (&0.into(), &0.into()));
    let (code, stdout, _) = lazaret(&evidence("retain", &home, &["--before", "1d"]));
    assert!(code == 0 && stdout.contains("deleted 0 records"), "{stdout}");
    refused(&evidence("retain", &home, &["--before", "soon"]), 2, &[]);
    assert_eq!(object(&evidence("verify", &home, &["--json"]))["ok"], true);
}

#[test]
fn the_bench_measures_the_real_journal_and_cleans_up() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().to_str().unwrap();
    let base = ["evidence", "bench", "--records", "500", "--writers", "4", "--dir", at];
    let result = object(&[&base[..], &["--json"]].concat());
    for field in ["records", "seconds", "per_second", "p50_us", "p99_us", "fsyncs"] {
        assert!(result[field].is_number(), "{field}: {result}");
    }
    assert_eq!(result["records"], 500);
    let (code, stdout, _) = lazaret(&[&base[..], &["--no-sync"]].concat());
    assert!(code == 0 && stdout.contains("NOT DURABLE"), "{stdout}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// Waits until the follower has printed a record with this number.
fn follows(lines: &mut impl Iterator<Item = std::io::Result<String>>, number: u64) {
    let shows = |line: std::io::Result<String>| {
        let shown: Value = serde_json::from_str(&line.unwrap()).unwrap();
        shown["record"]["payload"]["inline"]["n"] == number
    };
    assert!(lines.any(shows), "the follower stopped before record {number}");
}

#[test]
fn a_follower_goes_on_over_new_segments_and_retention() {
    use std::io::BufRead;
    let dir = tempfile::tempdir().unwrap();
    let mut config = ::evidence::Config::new(dir.path().join("evidence"));
    config.segment_bytes = ::evidence::SEGMENT_BYTES_MIN;
    let (journal, _) = ::evidence::Journal::open(&config).unwrap();
    let append = |numbers: std::ops::Range<u64>| {
        for number in numbers {
            let kind = model::Kind::parse("test").unwrap();
            let content = serde_json::json!({ "n": number, "t": "x".repeat(3500) });
            let record = ::evidence::NewRecord::of_host(aegx::RecordType::ToolCall, kind, content);
            journal.append(record).unwrap();
        }
    };
    append(0..1);
    let home = dir.path().to_str().unwrap();
    let mut follower = stateless(&["evidence", "tail", "-f", "--json", "--home", home]).start();
    let mut lines = std::io::BufReader::new(follower.stdout.take().unwrap()).lines();
    follows(&mut lines, 0);
    append(1..600);
    follows(&mut lines, 599);
    // Faster than it looks: what it would read next is gone when it does.
    append(600..1400);
    journal.checkpoint().unwrap();
    let rule = ::evidence::RetentionRule { before: i64::MAX };
    assert!(!::evidence::retire(&journal, rule).unwrap().segments.is_empty());
    append(1400..1401);
    follows(&mut lines, 1400);
    follower.kill().unwrap();
    follower.wait().unwrap();
}
