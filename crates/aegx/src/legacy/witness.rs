//! Holds fields that no hash covers against what the hashed payload says of them.
//!
//! AER hashes neither type nor principal nor taint of a record. But where its guard decided
//! something, it wrote the principal and the taint that it judged into the payload as well.

use serde_json::Value;

use super::record::{LegacyPayload, LegacyRecord, LegacyType};
use crate::verify::report::Findings;
use crate::verify::{Code, Finding};

/// Reports where a record contradicts the decision in its payload.
pub(crate) fn check(record: &LegacyRecord, at: &str, findings: &mut Findings) {
    let LegacyPayload::Inline { data } = &record.payload else { return };
    let Some(decision) = data.get("guard_decision").filter(|it| it.get("verdict").is_some()) else {
        return;
    };
    let mut contradicts = |field: &str, stated: &str, hashed: &str| {
        let detail = format!("`{field}` is `{stated}`, the hashed payload says `{hashed}`");
        findings.add(Finding::new(Code::LegacyStrict, at, detail));
    };
    if record.record_type != LegacyType::GuardDecision {
        contradicts("record_type", record.record_type.as_str(), LegacyType::GuardDecision.as_str());
    }
    if let Some(hashed) = decision.get("principal").and_then(Value::as_str)
        && letters(hashed) != letters(record.principal.as_str())
    {
        contradicts("principal", record.principal.as_str(), hashed);
    }
    if let Some(hashed) = decision.get("taint").and_then(Value::as_u64)
        && hashed != u64::from(record.taint.bits())
    {
        contradicts("taint", &record.taint.bits().to_string(), &hashed.to_string());
    }
}

/// Upstream spells a principal in two ways: `TOOL_AUTH` and `ToolAuth`.
fn letters(name: &str) -> String {
    name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_uppercase()).collect()
}
