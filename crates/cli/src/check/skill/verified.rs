//! A skill that was looked at, with what follows from it.

use std::path::Path;

use aegx::note::VerifierKey;
use evidence::{Clock, Reader, SystemClock};
use host::skills::{GatherError, SUPPRESSIONS_BYTES_MAX, Suppression, Suppressions, day};
use policy::{SkillVerdict, skill_verdict};
use serde_json::{Value, json};
use skill::{Finding, Report};

use super::texts;
use crate::check::given;
use crate::evidence::open;
use crate::failure::Failure;
use crate::home::Home;

/// A report, and what is to be done with the skill.
pub(crate) struct Verified {
    pub(crate) report: Report,
    pub(crate) verdict: SkillVerdict,
    /// For every finding, the suppression that holds for it.
    pub(crate) suppressed: Vec<Option<Suppression>>,
}

impl Verified {
    /// Weighs what is left when suppressions are taken off.
    pub(crate) fn new(report: Report, suppressions: Option<&Suppressions>) -> Self {
        let today = day(SystemClock.unix_seconds());
        let of = |finding: &Finding| suppressions.and_then(|it| it.of(finding, today)).cloned();
        let suppressed: Vec<Option<Suppression>> = report.findings.iter().map(of).collect();
        let left = report.findings.iter().zip(&suppressed).filter(|it| it.1.is_none());
        let verdict = skill_verdict(left.map(|it| it.0.severity));
        Self { report, verdict, suppressed }
    }

    /// Every finding with its suppression.
    pub(crate) fn findings(&self) -> impl Iterator<Item = (&Finding, Option<&Suppression>)> {
        self.report.findings.iter().zip(self.suppressed.iter().map(Option::as_ref))
    }

    /// For programs and records.
    pub(crate) fn to_json(&self) -> Value {
        self.fields().into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The same, field by field.
    pub(crate) fn fields(&self) -> Vec<(&'static str, Value)> {
        let finding = |(it, suppression): (&Finding, Option<&Suppression>)| {
            json!({
                "vector": it.check.vector(),
                "rule": it.check.as_str(),
                "severity": it.severity.as_str(),
                "file": it.file,
                "line": it.line,
                "start": it.start,
                "end": it.end,
                "why": it.why,
                "excerpt": it.excerpt,
                "fingerprint": it.fingerprint.to_string(),
                "suppressed": suppression.map(|it| json!({ "until": it.until, "reason": it.reason, "by": it.by })),
            })
        };
        vec![
            ("verdict", json!(self.verdict.as_str())),
            ("name", json!(self.report.name)),
            ("description", json!(self.report.description)),
            ("digest", json!(self.report.digest.to_string())),
            ("files", json!(self.report.files)),
            ("installs", texts(&self.report.installs)),
            ("findings", self.findings().map(finding).collect()),
        ]
    }
}

/// Reads suppressions that were signed by the key that is given, or by that of the state directory.
pub(crate) fn suppressions(
    home: &Home,
    path: &Path,
    key: Option<&str>,
) -> Result<Suppressions, Failure> {
    let wrong =
        |why: &dyn std::fmt::Display| Failure::usage(format!("`{}`: {why}", path.display()));
    let note = given::text(path, SUPPRESSIONS_BYTES_MAX)?;
    let text = match key {
        Some(key) => {
            let key = VerifierKey::parse(key)
                .map_err(|error| Failure::usage(format!("--key: {error}")))?;
            evidence::signed_text(note.as_bytes(), &key).map_err(|error| wrong(&error))?
        }
        None => {
            let reader = Reader::open(&home.journal()?).map_err(open::failure)?;
            reader.signed_text(note.as_bytes()).map_err(|error| wrong(&error))?
        }
    };
    Suppressions::parse(&text).map_err(|error| wrong(&error))
}

/// What could not be taken apart is wrong usage; what the system does not give is not.
pub(crate) fn not_gathered(path: &Path, error: &GatherError) -> Failure {
    Failure::usage(format!("`{}`: {error}", path.display()))
}
