//! The manifest of the older formats: counts and filters. No hash covers it.

use std::io::{self, Read};

use serde::{Deserialize, Serialize};

use super::time::Time;
use crate::archive::Rules;
use crate::source::{MANIFEST, Source};
use crate::verify::report::Findings;
use crate::verify::{Code, Finding};

/// A manifest as its file says.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct LegacyManifest {
    /// A random name.
    pub bundle_id: String,
    /// When the bundle was exported.
    pub created_at: Time,
    /// `0.1` in both formats.
    pub format_version: String,
    /// Records.
    pub record_count: u64,
    /// Audit entries.
    pub audit_entry_count: u64,
    /// Files in `blobs/`.
    pub blob_count: u64,
    /// What was left out.
    pub filters: Filters,
}

/// What an export was restricted to. Restricts records only: audit log and blobs are whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Filters {
    /// Records of this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Records from this time on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_time: Option<Time>,
    /// Never written by upstream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_snapshot: Option<String>,
}

impl Filters {
    /// Was anything left out?
    #[must_use]
    pub fn any(&self) -> bool {
        *self != Self::default()
    }
}

/// Far above any honest manifest, which has seven fields.
const MANIFEST_BYTES_MAX: u64 = 1 << 20;
const FORMAT_VERSION: &str = "0.1";

/// Reads the manifest; `None` if there is none that can be read, which only strict verification
/// minds.
pub(crate) fn check(
    source: &Source,
    rules: Rules,
    findings: &mut Findings,
) -> Option<LegacyManifest> {
    let bytes = match read_bytes(source) {
        Ok(bytes) => bytes,
        Err(error) => {
            if rules == Rules::Strict || error.kind() != io::ErrorKind::NotFound {
                findings.add(Finding::of_unreadable(MANIFEST, error));
            }
            return None;
        }
    };
    let parsed = serde_json::from_slice::<LegacyManifest>(&bytes);
    if rules == Rules::Strict {
        match &parsed {
            Ok(manifest) => check_strict(&bytes, manifest, findings),
            Err(error) => {
                let code = if error.is_data() { Code::ManifestSchema } else { Code::ManifestParse };
                findings.add(Finding::new(code, MANIFEST, error));
            }
        }
    }
    parsed.ok()
}

/// The manifest if it can be read, without a word if not.
pub(crate) fn read(source: &Source) -> Option<LegacyManifest> {
    serde_json::from_slice(&read_bytes(source).ok()?).ok()
}

fn read_bytes(source: &Source) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.open_member(MANIFEST)?.take(MANIFEST_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MANIFEST_BYTES_MAX {
        // Cut, so that no parser takes it.
        bytes.clear();
    }
    Ok(bytes)
}

fn check_strict(bytes: &[u8], manifest: &LegacyManifest, findings: &mut Findings) {
    if manifest.format_version != FORMAT_VERSION {
        let detail =
            format!("`format_version` is `{}`, not `{FORMAT_VERSION}`", manifest.format_version);
        findings.add(Finding::new(Code::ManifestSchema, MANIFEST, detail));
    }
    // Catches unknown fields at any depth; duplicates of known ones do not parse.
    if serde_json::to_vec_pretty(manifest).is_ok_and(|stored| stored != bytes) {
        let detail = "holds fields or spellings that the writer does not write";
        findings.add(Finding::new(Code::LegacyStrict, MANIFEST, detail));
    }
}
