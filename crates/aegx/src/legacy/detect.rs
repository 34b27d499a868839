//! Which of the formats is this?

use std::fmt;
use std::io::Read;
use std::ops::ControlFlow;

use serde::de::{self, Deserializer as _, IgnoredAny, MapAccess, Visitor};

use super::entry::LegacyEntry;
use super::recipe::Recipe;
use super::record::LegacyRecord;
use super::text_lines::find_in_lines;
use crate::digest::Digest;
use crate::source::{AUDIT_LOG, MANIFEST, RECORDS, Source};
use crate::verify::LINE_BYTES_MAX;

/// The formats by their field names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Format A.
    Aegx,
    /// The two older formats.
    Legacy,
}

/// Tells the families apart by the keys of the manifest, of the first record and of the first
/// audit entry. Either sign of format A decides: its verifier refuses whatever does not fit.
pub(crate) fn family(source: &Source) -> Family {
    let manifest = source.open_member(MANIFEST).ok();
    let has_manifest = manifest.is_some();
    let by_manifest =
        manifest.and_then(|input| keys(input, &["aegx_version"], &["format_version", "bundle_id"]));
    if by_manifest == Some(Family::Aegx) {
        return Family::Aegx;
    }
    let by_records = first_line(source, RECORDS);
    if by_records == FirstLine::Of(Family::Aegx) {
        return Family::Aegx;
    }
    if by_manifest == Some(Family::Legacy) || by_records == FirstLine::Of(Family::Legacy) {
        return Family::Legacy;
    }
    let by_audit = first_line(source, AUDIT_LOG);
    if let FirstLine::Of(family) = by_audit {
        return family;
    }
    // Nothing to tell by. Format A demands a manifest and lives in directories; the older formats'
    // programs read archives only and take one with nothing in it.
    let empty = by_records == FirstLine::None && by_audit == FirstLine::None;
    match source {
        Source::Zip(_) if empty && !has_manifest => Family::Legacy,
        Source::Zip(_) | Source::Directory(_) => Family::Aegx,
    }
}

/// Tells the two older formats apart by the first record, or else the first audit entry, whose hash
/// fits either. If nothing fits, the unified format is assumed: it checks more.
pub(crate) fn recipe(source: &Source) -> Recipe {
    let fits = |claimed: &str, hash: &dyn Fn(Recipe) -> Digest| {
        let claimed = Digest::from_hex(claimed.as_bytes());
        let fitting = Recipe::ALL.into_iter().find(|recipe| Some(hash(*recipe)) == claimed);
        fitting.map_or(ControlFlow::Continue(()), ControlFlow::Break)
    };
    let by_records = find_in_lines(source, RECORDS, |line| {
        match serde_json::from_slice::<LegacyRecord>(line.text) {
            Ok(record) => fits(&record.record_id, &|recipe| recipe.record_id(&record)),
            Err(_) => ControlFlow::Continue(()),
        }
    });
    let by_audit = || {
        find_in_lines(source, AUDIT_LOG, |line| {
            match serde_json::from_slice::<LegacyEntry>(line.text) {
                Ok(entry) => fits(&entry.entry_hash, &|recipe| recipe.entry_hash(&entry)),
                Err(_) => ControlFlow::Continue(()),
            }
        })
    };
    by_records.or_else(by_audit).unwrap_or(Recipe::Unified)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstLine {
    /// There is no line.
    None,
    /// It has the keys of neither.
    Unknown,
    Of(Family),
}

fn first_line(source: &Source, name: &'static str) -> FirstLine {
    let found = find_in_lines(source, name, |line| {
        if line.text.trim_ascii().is_empty() {
            return ControlFlow::Continue(());
        }
        ControlFlow::Break(match keys(line.text, &["recordId"], &["record_id"]) {
            Some(family) => FirstLine::Of(family),
            None => FirstLine::Unknown,
        })
    });
    found.unwrap_or(FirstLine::None)
}

/// Looks at the top keys of a JSON object, as far as it can be read.
fn keys(input: impl Read, aegx: &[&str], legacy: &[&str]) -> Option<Family> {
    let mut found = None;
    let limited = std::io::BufReader::new(input.take(LINE_BYTES_MAX as u64));
    let mut reader = serde_json::Deserializer::from_reader(limited);
    // An error only ends the search.
    let _ = reader.deserialize_map(Keys { aegx, legacy, found: &mut found });
    found
}

struct Keys<'k> {
    aegx: &'k [&'k str],
    legacy: &'k [&'k str],
    found: &'k mut Option<Family>,
}

impl<'de> Visitor<'de> for Keys<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if self.aegx.contains(&key.as_str()) {
                *self.found = Some(Family::Aegx);
                return Err(de::Error::custom("enough"));
            }
            if self.legacy.contains(&key.as_str()) {
                *self.found = Some(Family::Legacy);
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}
