//! Attacks on bundles of the older formats, made with their own recipes so that every hash holds.

mod convert;

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::recipe::Recipe;
use super::{LegacyEntry, LegacyRecord, Time, verify_any};
use crate::archive::Rules;
use crate::digest::Digest;
use crate::source::{AUDIT_LOG, MANIFEST, RECORDS, Source};
use crate::verify::{LINE_BYTES_MAX, Progress, Report};

/// A bundle in the making: whatever is put in, ids and chain are made to fit.
struct Bundle {
    recipe: Recipe,
    records: Vec<LegacyRecord>,
    filters: Value,
    dir: TempDir,
}

impl Bundle {
    /// Three records in a row.
    fn new(recipe: Recipe) -> Self {
        let dir = TempDir::new().unwrap();
        let mut bundle = Self { recipe, records: Vec::new(), filters: json!({}), dir };
        bundle.add(json!({ "kind": "inline", "data": { "n": 1 } }), &[]);
        let first = bundle.id(0);
        bundle.add(json!({ "kind": "inline", "data": { "n": 2 } }), &[&first]);
        let second = bundle.id(1);
        bundle.add(json!({ "kind": "inline", "data": { "n": 3 } }), &[&first, &second]);
        bundle
    }

    fn add(&mut self, payload: Value, parents: &[&str]) {
        let second = self.records.len();
        let record = json!({
            "record_id": "",
            "record_type": "ToolCall",
            "principal": "TOOL_AUTH",
            "taint": 33,
            "parents": parents,
            "meta": { "ts": format!("2026-11-15T02:39:0{second}.25Z"), "agent_id": "a" },
            "payload": payload,
        });
        let mut record: LegacyRecord = serde_json::from_value(record).unwrap();
        record.record_id = self.recipe.record_id(&record).to_string();
        self.records.push(record);
    }

    fn id(&self, at: usize) -> String {
        self.records.get(at).unwrap().record_id.clone()
    }

    fn blob(&mut self, content: &[u8]) -> Digest {
        let blob = Digest::of(content);
        fs::create_dir_all(self.dir.path().join("blobs")).unwrap();
        self.put(&format!("blobs/{blob}"), content);
        self.add(json!({ "kind": "blob", "hash": blob.to_string(), "size": content.len() }), &[]);
        blob
    }

    fn put(&self, name: &str, content: &[u8]) {
        File::create(self.dir.path().join(name)).unwrap().write_all(content).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.dir.path().join(name)).unwrap()
    }

    /// Writes the three files as an exporter would.
    fn write(&self) -> &Self {
        let (mut records, mut audit) = (String::new(), String::new());
        let mut prev_hash = Digest::ZERO.to_string();
        for (idx, record) in self.records.iter().enumerate() {
            let mut entry = LegacyEntry {
                idx: idx as u64,
                ts: Time::parse(&format!("2026-11-15T02:39:0{idx}.5Z")).unwrap(),
                record_id: record.record_id.clone(),
                prev_hash,
                entry_hash: String::new(),
            };
            entry.entry_hash = self.recipe.entry_hash(&entry).to_string();
            prev_hash = entry.entry_hash.clone();
            records.push_str(&format!("{}\n", serde_json::to_string(record).unwrap()));
            audit.push_str(&format!("{}\n", serde_json::to_string(&entry).unwrap()));
        }
        self.put(RECORDS, records.as_bytes());
        self.put(AUDIT_LOG, audit.as_bytes());
        self.write_manifest(self.records.len());
        self
    }

    fn write_manifest(&self, records: usize) {
        let blobs = fs::read_dir(self.dir.path().join("blobs")).map_or(0, Iterator::count);
        let manifest = json!({
            "bundle_id": "d30a67f0-2c14-4c24-98c1-6bfd6f3b6fca",
            "created_at": "2026-11-15T02:40:00Z",
            "format_version": "0.1",
            "record_count": records,
            "audit_entry_count": self.records.len(),
            "blob_count": blobs,
            "filters": self.filters,
        });
        let manifest: super::LegacyManifest = serde_json::from_value(manifest).unwrap();
        self.put(MANIFEST, &serde_json::to_vec_pretty(&manifest).unwrap());
    }

    /// Rewrites `records.jsonl` line by line.
    fn edit_records(&self, edit: impl FnOnce(&mut Vec<String>)) {
        let mut lines: Vec<String> = self.read(RECORDS).lines().map(str::to_owned).collect();
        edit(&mut lines);
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        self.put(RECORDS, text.as_bytes());
    }

    fn report(&self, rules: Rules) -> Report {
        report(self.dir.path(), rules)
    }

    fn codes(&self) -> Vec<&'static str> {
        let report = self.report(Rules::Strict);
        assert_eq!(report.format, self.recipe.format());
        let mut codes: Vec<_> = report.findings.iter().map(|it| it.code.as_str()).collect();
        codes.dedup();
        codes
    }
}

fn report(path: &Path, rules: Rules) -> Report {
    verify_any(&Source::open(path, rules).unwrap(), rules, &Progress::default())
}

#[test]
fn what_the_recipes_make_passes_from_a_directory() {
    for recipe in Recipe::ALL {
        let mut bundle = Bundle::new(recipe);
        bundle.blob(b"content");
        bundle.write();
        for rules in [Rules::Strict, Rules::Compat] {
            let report = bundle.report(rules);
            assert!(report.ok(), "{recipe:?}: {:?}", report.findings);
            assert_eq!((report.records, report.blobs), (4, 1));
        }
    }
}

#[test]
fn swapped_dropped_and_repeated_records_are_found() {
    for recipe in Recipe::ALL {
        let bundle = Bundle::new(recipe);
        bundle.write().edit_records(|lines| lines.swap(0, 1));
        assert_eq!(bundle.codes(), ["audit_record_mismatch", "parent_after_child"]);
        bundle.write().edit_records(|lines| drop(lines.remove(2)));
        bundle.write_manifest(2);
        assert_eq!(bundle.codes(), ["audit_without_record"]);
        bundle.write().edit_records(|lines| lines.push(lines[2].clone()));
        bundle.write_manifest(4);
        assert!(bundle.codes().contains(&"record_unaudited"));
    }
}

#[test]
fn an_aer_id_stands_for_one_record_only() {
    // Another principal under the same id, with an entry of its own: every hash holds.
    for (recipe, passes) in [(Recipe::Aer, false), (Recipe::Unified, true)] {
        let mut bundle = Bundle::new(recipe);
        let mut twin = bundle.records[2].clone();
        if recipe == Recipe::Aer {
            twin.principal = super::LegacyPrincipal::User;
        }
        bundle.records.push(twin);
        bundle.write();
        assert!(bundle.report(Rules::Compat).ok());
        assert_eq!(bundle.report(Rules::Strict).ok(), passes, "{recipe:?}");
    }
}

#[test]
fn a_blob_hash_that_is_a_path_leads_nowhere() {
    for recipe in Recipe::ALL {
        for hash in ["../../../etc/hostname", "/etc/hostname", "..", "", "manifest.json"] {
            let mut bundle = Bundle::new(recipe);
            bundle.add(json!({ "kind": "blob", "hash": hash, "size": 1 }), &[]);
            bundle.write();
            assert_eq!(bundle.codes(), ["legacy"], "{hash}");
            assert!(!bundle.report(Rules::Compat).ok(), "{hash}");
        }
    }
}

#[test]
fn parents_that_are_no_records_are_found() {
    for recipe in Recipe::ALL {
        let mut bundle = Bundle::new(recipe);
        let nowhere = Digest::of(b"nowhere").to_string();
        bundle.add(json!({ "kind": "inline", "data": null }), &[&nowhere]);
        assert_eq!(bundle.write().codes(), ["parent_missing"]);
        let mut bundle = Bundle::new(recipe);
        let first = bundle.id(0);
        let mut parents = vec![first.as_str(); 40];
        parents.push("../x");
        bundle.add(json!({ "kind": "inline", "data": null }), &parents);
        assert_eq!(bundle.write().codes(), ["record_schema"]);
    }
}

#[test]
fn a_filtered_export_may_lack_records_but_not_others() {
    for recipe in Recipe::ALL {
        let mut bundle = Bundle::new(recipe);
        bundle.filters = json!({ "since_time": "2026-11-15T02:39:01Z" });
        bundle.write().edit_records(|lines| drop(lines.remove(0)));
        bundle.write_manifest(2);
        let report = bundle.report(Rules::Strict);
        assert!(report.ok(), "{:?}", report.findings);
        assert!(report.notes.iter().any(|it| it.contains("1 audit entries")), "{:?}", report.notes);

        // Not the filter, but somebody else, left this one out.
        bundle.write().edit_records(|lines| drop(lines.drain(0..2)));
        bundle.write_manifest(1);
        assert_eq!(bundle.codes(), ["audit_without_record"]);
        // The filter would have left this one out.
        bundle.write();
        assert_eq!(bundle.codes(), ["legacy_strict"]);
        // No order but that of the log.
        bundle.write().edit_records(|lines| {
            lines.remove(0);
            lines.swap(0, 1);
        });
        assert!(bundle.codes().contains(&"record_unaudited"));
        bundle.filters = json!({ "agent_id": "b" });
        assert_eq!(bundle.write().codes(), ["legacy_strict"]);
    }
}

#[test]
fn what_no_hash_covers_is_refused() {
    for recipe in Recipe::ALL {
        let bundle = Bundle::new(recipe);
        for (from, to, code) in [
            ("\"taint\":", "\"x\":1,\"taint\":", "unknown_field"),
            ("\"agent_id\":", "\"x\":1,\"agent_id\":", "unknown_field"),
            ("\"kind\":", "\"x\":1,\"kind\":", "unknown_field"),
            ("{\"n\":1}", "{\"n\":9,\"n\":1}", "duplicate_key"),
            ("{\"n\":1}", "{\"n\": 1}", "stored_form"),
            ("\"agent_id\":", "\"path\":null,\"agent_id\":", "stored_form"),
            ("00.250Z", "00.25Z", "stored_form"),
        ] {
            bundle.write().edit_records(|lines| lines[0] = lines[0].replacen(from, to, 1));
            assert!(bundle.report(Rules::Compat).ok(), "{to}");
            assert_eq!(bundle.codes(), [code], "{to}");
        }
        bundle.write().put("evil.sh", b"");
        assert_eq!(bundle.codes(), ["file_unexpected"]);
        fs::remove_file(bundle.dir.path().join("evil.sh")).unwrap();
        bundle.put("policy.yaml", b"version: 1\n");
        assert!(bundle.report(Rules::Strict).ok());
        let manifest = bundle.read(MANIFEST);
        bundle.put(MANIFEST, manifest.replacen("{}", "{\"x\": 1}", 1).as_bytes());
        assert_eq!(bundle.codes(), ["legacy_strict"]);
        bundle.put(MANIFEST, "[".repeat(2 << 20).as_bytes());
        assert!(!bundle.report(Rules::Strict).ok());
        assert!(bundle.report(Rules::Compat).ok());
    }
}

#[test]
fn keys_are_hashed_and_stored_sorted_whatever_order_they_came_in() {
    for recipe in Recipe::ALL {
        let mut bundle = Bundle::new(recipe);
        bundle.add(json!({ "kind": "inline", "data": { "b": [{ "y": 1, "x": 2 }], "a": 3 } }), &[]);
        let stored = r#"{"a":3,"b":[{"x":2,"y":1}]}"#;
        assert!(bundle.write().codes().is_empty());
        bundle.edit_records(|lines| {
            assert!(lines[3].contains(stored), "{}", lines[3]);
            lines[3] = lines[3].replace(stored, r#"{"b":[{"x":2,"y":1}],"a":3}"#);
        });
        assert!(bundle.report(Rules::Compat).ok());
        assert_eq!(bundle.codes(), ["stored_form"]);
    }
}

#[test]
fn blobs_are_what_and_where_the_records_say() {
    for recipe in Recipe::ALL {
        let mut bundle = Bundle::new(recipe);
        let blob = bundle.blob(b"content");
        bundle.write().put(&format!("blobs/{}", Digest::of(b"more")), b"more");
        bundle.write_manifest(4);
        assert_eq!(bundle.codes(), ["legacy_strict"]);
        bundle.put("blobs/readme", b"");
        bundle.write_manifest(4);
        assert_eq!(bundle.codes(), ["blob_name", "legacy_strict"]);

        let mut bundle = Bundle::new(recipe);
        bundle.blob(b"content");
        bundle.add(json!({ "kind": "blob", "hash": blob.to_string(), "size": 8 }), &[]);
        assert_eq!(bundle.write().codes(), ["blob_size"]);
        bundle.put(&format!("blobs/{blob}"), b"Content");
        assert!(bundle.codes().contains(&"blob_hash"));
        assert!(!bundle.report(Rules::Compat).ok());
    }
}

#[test]
fn a_media_type_is_known_to_the_unified_format_only() {
    for (recipe, codes) in [(Recipe::Aer, vec!["unknown_field"]), (Recipe::Unified, vec![])] {
        let mut bundle = Bundle::new(recipe);
        let blob = bundle.blob(b"content").to_string();
        bundle.records.pop();
        let payload = json!({ "kind": "blob", "hash": blob, "size": 7, "mime": "text/plain" });
        bundle.add(payload, &[]);
        assert_eq!(bundle.write().codes(), codes);
    }
}

#[test]
fn huge_lines_and_bytes_that_are_no_text_are_refused() {
    for recipe in Recipe::ALL {
        let bundle = Bundle::new(recipe);
        for name in [RECORDS, AUDIT_LOG] {
            bundle.write();
            let file = File::options().append(true).open(bundle.dir.path().join(name)).unwrap();
            file.set_len(LINE_BYTES_MAX as u64 + (4 << 20)).unwrap();
            for rules in [Rules::Strict, Rules::Compat] {
                let report = bundle.report(rules);
                assert!(report.findings.iter().any(|it| it.code.as_str() == "line_too_long"));
            }
            bundle.write();
            let mut file = File::options().append(true).open(bundle.dir.path().join(name)).unwrap();
            file.write_all(b"\xff\xfe{}\n").unwrap();
            assert!(bundle.codes().contains(&"file_unreadable"), "{name}");
            assert!(!bundle.report(Rules::Compat).ok(), "{name}");
        }
    }
}

#[test]
fn no_flipped_bit_of_a_unified_bundle_goes_unseen_but_in_fractions_of_seconds() {
    let bundle = Bundle::new(Recipe::Unified);
    bundle.write();
    for name in [RECORDS, AUDIT_LOG] {
        let good = bundle.read(name).into_bytes();
        for at in (0..good.len()).step_by(3) {
            let mut bad = good.clone();
            bad[at] ^= 1 << (at % 7);
            bundle.put(name, &bad);
            let in_fraction = name == RECORDS
                && good[..at].iter().rev().take(3).any(|byte| *byte == b'.')
                && good[at].is_ascii_digit();
            let passes = bundle.report(Rules::Strict).ok();
            assert!(!passes || in_fraction, "{name} at {at}");
        }
        bundle.put(name, &good);
    }
    assert!(bundle.report(Rules::Strict).ok());
}
