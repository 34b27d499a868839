//! A report for people.

use aegx::verify::printable;
use policy::SkillVerdict;

use super::verified::Verified;
use crate::output::{self, Paint};

/// Prints the verdict, and every finding on two lines. Nothing of it can act on the terminal.
pub(super) fn print(verified: &Verified) {
    let paint = Paint::for_stdout();
    let verdict = verified.verdict.as_str();
    let verdict = match verified.verdict {
        SkillVerdict::Allow => paint.good(verdict),
        SkillVerdict::RequireApproval => paint.strong(verdict),
        SkillVerdict::Deny => paint.bad(verdict),
    };
    let report = &verified.report;
    let name = report.name.as_deref().unwrap_or("a skill without a name");
    let files = output::count(report.files as u64, "file");
    output::line(&format!("{verdict}  {}  {files}, tree {}", printable(name), report.digest));
    for line in lines(verified) {
        if !output::line(&line) {
            return;
        }
    }
}

/// Every finding, the worst first.
pub(crate) fn lines(verified: &Verified) -> Vec<String> {
    let mut all = Vec::new();
    for (it, suppression) in verified.findings() {
        let passes = suppression.map_or_else(String::new, |it| {
            format!(
                " [suppressed until {} by {}: {}]",
                it.until,
                printable(&it.by),
                printable(&it.reason)
            )
        });
        all.push(format!(
            "  {:8}  {:36}  {}:{}  {}{passes}",
            it.severity,
            it.check,
            printable(&it.file),
            it.line,
            printable(&it.why)
        ));
        let short: String = it.fingerprint.to_string().chars().take(16).collect();
        all.push(format!("            {short}  {}", printable(&it.excerpt)));
    }
    all
}
