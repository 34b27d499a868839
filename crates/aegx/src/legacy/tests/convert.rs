//! Conversion of bundles that say what format A cannot say, or that do not verify.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::super::{ConvertError, Converted, LegacyPrincipal, LegacyType, Trust, convert};
use super::Bundle;
use crate::archive::Rules;
use crate::legacy::recipe::Recipe;
use crate::record::Record;
use crate::source::Source;
use crate::verify::{Progress, verify};

const NOW: &str = "2026-12-01T00:00:00Z";

fn converted(bundle: &Bundle, out: &Path, trust: Trust) -> Result<Converted, ConvertError> {
    convert(&Source::Directory(bundle.dir.path().to_owned()), out, trust, NOW)
}

/// Converts, demands that the result passes both verdicts, and gives its records.
fn records(bundle: &Bundle, trust: Trust) -> Vec<Record> {
    let out = tempfile::tempdir().unwrap();
    let target = out.path().join("new");
    converted(bundle, &target, trust).unwrap();
    let source = Source::Directory(target.clone());
    for rules in [Rules::Strict, Rules::Compat] {
        let report = verify(&source, rules, &Progress::default());
        assert!(report.ok(), "{:?}", report.findings);
    }
    let text = fs::read_to_string(target.join("records.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Demands that nothing is converted and nothing left behind; gives the reason.
fn refusal(bundle: &Bundle, trust: Trust) -> String {
    let out = tempfile::tempdir().unwrap();
    for name in ["new", "new.zip"] {
        assert!(converted(bundle, &out.path().join(name), trust).is_err());
    }
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0);
    converted(bundle, &out.path().join("new"), trust).unwrap_err().to_string()
}

#[test]
fn what_format_a_has_no_field_for_is_kept_in_meta() {
    for recipe in Recipe::ALL {
        let mut bundle = Bundle::new(recipe);
        bundle.blob(b"[1,2]");
        // Before the ids are made: the unified one covers these two.
        let last = bundle.records.last_mut().unwrap();
        last.record_type = LegacyType::FileRename;
        last.principal = LegacyPrincipal::ToolUnauth;
        last.record_id = recipe.record_id(last).to_string();
        bundle.write();
        let new = records(&bundle, Trust::Verified);
        assert_eq!(new.len(), 4);
        for (old, new) in bundle.records.iter().zip(&new) {
            assert_eq!(new.meta["aer_record_id"], old.record_id.as_str());
            assert_eq!(new.meta["aer_ts"], old.meta.ts.to_string());
            assert_eq!(new.meta["ts"], old.meta.ts.to_seconds());
            assert_eq!(new.meta["agent_id"], "a");
            assert_eq!(new.meta["aer_principal"], old.principal.as_str());
            assert_eq!(new.principal.as_str(), "TOOL");
            assert_eq!(new.taint, ["TOOL_OUTPUT", "UNTRUSTED"]);
            assert_eq!(new.meta.get("aer_unverified"), None);
        }
        assert_eq!(new[2].parents, [new[0].record_id.clone(), new[1].record_id.clone()]);
        assert_eq!(new[3].record_type.as_str(), "FileWrite");
        assert_eq!(new[3].meta["kind"], "FileRename");
        let payload = serde_json::to_value(&new[3].payload).unwrap();
        assert_eq!((&payload["mime"], &payload["size"]), (&json!("application/json"), &json!(5)));
    }
}

#[test]
fn what_does_not_verify_is_converted_on_demand_only_and_marked() {
    let bundle = Bundle::new(Recipe::Unified);
    bundle.write().edit_records(|lines| lines[1] = lines[1].replace("TOOL_AUTH", "USER"));
    assert!(refusal(&bundle, Trust::Verified).contains("does not verify"));
    let new = records(&bundle, Trust::Unverified);
    assert!(new.iter().all(|record| record.meta["aer_unverified"] == true));
}

#[test]
fn what_cannot_be_said_names_its_record() {
    let mut bundle = Bundle::new(Recipe::Aer);
    let unstable = (1..100_000_u32)
        .map(|n| serde_json::from_str::<Value>(&format!("{:e}", 1e-13 / f64::from(n))).unwrap())
        .find(|value| !crate::record::is_stable(value))
        .unwrap();
    bundle.add(json!({ "kind": "inline", "data": unstable }), &[]);
    bundle.write();
    let why = refusal(&bundle, Trust::Unverified);
    assert!(why.starts_with("records.jsonl:4: ") && why.contains("number"), "{why}");

    let bundle = Bundle::new(Recipe::Aer);
    bundle.write().edit_records(|lines| lines.swap(0, 1));
    let why = refusal(&bundle, Trust::Unverified);
    assert!(why.starts_with("records.jsonl:1: the parent"), "{why}");

    let mut bundle = Bundle::new(Recipe::Aer);
    bundle.add(json!({ "kind": "blob", "hash": "../../etc/hostname", "size": 1 }), &[]);
    bundle.write();
    assert!(refusal(&bundle, Trust::Unverified).contains("64 lower-case hex digits"));

    let mut bundle = Bundle::new(Recipe::Aer);
    let blob = bundle.blob(b"content");
    bundle.write().put(&format!("blobs/{blob}"), b"Content");
    assert!(refusal(&bundle, Trust::Unverified).contains("has the hash"));
    bundle.put(&format!("blobs/{blob}"), b"");
    assert!(refusal(&bundle, Trust::Unverified).contains("0 bytes"));

    let bundle = Bundle::new(Recipe::Aer);
    bundle.write().edit_records(|lines| lines.push("{}".to_owned()));
    assert!(refusal(&bundle, Trust::Unverified).starts_with("records.jsonl:4: not a record"));
}
