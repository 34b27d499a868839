//! SARIF 2.1.0, as code hosts read it.

use std::path::PathBuf;

use model::skill::{Severity, SkillCheck};
use serde_json::{Value, json};

use super::verified::Verified;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Returns a log with one run for each skill.
pub(super) fn log(all: &[(PathBuf, Verified)]) -> Value {
    json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": all.iter().map(run).collect::<Value>() })
}

fn run((path, verified): &(PathBuf, Verified)) -> Value {
    let rule = |it: &SkillCheck| {
        json!({
            "id": it.as_str(),
            "shortDescription": { "text": it.title() },
            "helpUri": "https://lazaret.invalid/docs/check-skill.md",
        })
    };
    let results: Vec<Value> = verified
        .findings()
        .map(|(it, suppression)| {
            let justified = suppression.map(|it| {
                json!({ "kind": "external", "status": "accepted", "justification": it.reason })
            });
            json!({
                "ruleId": it.check.as_str(),
                "level": level(it.severity),
                "message": { "text": format!("{}: {}", it.why, it.excerpt) },
                "locations": [{
                    "physicalLocation": {
                        "artifactLocation": { "uri": uri(&it.file), "uriBaseId": "SKILL" },
                        "region": {
                            "startLine": it.line,
                            "byteOffset": it.start,
                            "byteLength": it.end.saturating_sub(it.start),
                        },
                    },
                }],
                "partialFingerprints": { "lazaretSkill/v1": it.fingerprint.to_string() },
                "properties": { "severity": it.severity.as_str() },
                "suppressions": justified.into_iter().collect::<Vec<Value>>(),
            })
        })
        .collect();
    json!({
        "tool": { "driver": {
            "name": "lazaret",
            "version": env!("CARGO_PKG_VERSION"),
            "rules": SkillCheck::ALL.iter().map(rule).collect::<Vec<Value>>(),
        } },
        "originalUriBaseIds": { "SKILL": { "description": { "text": path.display().to_string() } } },
        "properties": {
            "verdict": verified.verdict.as_str(),
            "digest": verified.report.digest.to_string(),
        },
        "results": results,
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low | Severity::Info => "note",
    }
}

/// A path as a relative reference: what is no plain letter is written as bytes.
fn uri(path: &str) -> String {
    let plain = |it: u8| it.is_ascii_alphanumeric() || b"-._~/".contains(&it);
    let byte = |it: u8| if plain(it) { char::from(it).to_string() } else { format!("%{it:02X}") };
    path.bytes().map(byte).collect()
}
