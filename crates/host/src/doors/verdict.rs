//! What a verdict says to the model and to the person who reads along.

use model::Decision;
use model::ipc::Next;
use monitor::Verdict;

/// Why a call was stopped, and what would make it pass.
pub(super) fn reason(verdict: &Verdict) -> String {
    let first = verdict.objections.first();
    let why = first.map_or(verdict.reason.as_str(), |it| it.for_model.as_str());
    let why = verdict.and_why_nobody_was_asked(why);
    // Of several objections the first that knows a way says it.
    let Next { remedy, fix } = Next::of(&verdict.objections);
    let remedy = remedy.map(|it| format!(" Next step: {}.", it.trim_end_matches('.')));
    let fix = fix.map(|it| {
        let (reason, way) = (it.reason, it.alternative);
        format!(" Safer: {} ({}).", way.trim_end_matches('.'), reason.trim_end_matches('.'))
    });
    let why = why.trim_end_matches('.');
    let (remedy, fix) = (remedy.unwrap_or_default(), fix.unwrap_or_default());
    format!("Lazaret stopped this ({}): {why}.{remedy}{fix}", verdict.rule)
}

/// The same, and how a person can allow it.
pub(super) fn question(verdict: &Verdict) -> String {
    let why = reason(verdict);
    match (verdict.decision, verdict.approval) {
        (Decision::Deny, _) | (_, None) => why,
        (_, Some(id)) => {
            let id = id.to_string();
            let short = id.get(..8).unwrap_or(&id);
            format!(
                "{why} Only the user can allow it: by `lazaret approvals approve {short}` (add --session or --kind to be asked less), or by a plain yes to this question in their next message. Then call it again exactly as it was."
            )
        }
    }
}
