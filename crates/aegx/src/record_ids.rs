//! The ids of a bundle's records, in order: the leaves of its Merkle tree.

use std::io;

use crate::archive::Rules;
use crate::digest::Digest;
use crate::source::{RECORDS, Source};
use crate::verify::lines::Chunks;
use crate::verify::report::Findings;
use crate::verify::{Finding, record_line};

/// Reads every record of a bundle of format A and gives their ids, at 32 bytes each.
///
/// Each line is checked by itself as strictly as [`verify`](crate::verify::verify) does, so that an
/// id given is the id of what stands there. What holds the records together (audit log, parents,
/// blobs) is not looked at.
///
/// # Errors
/// If `records.jsonl` cannot be read (the system's error), or, as `InvalidData`, if a line is not
/// beyond reproach. The message names the line.
pub fn record_ids(source: &Source) -> io::Result<Vec<Digest>> {
    let mut chunks = Chunks::new(source.open_under(RECORDS, Rules::Strict)?);
    let mut ids = Vec::new();
    loop {
        let chunk = match chunks.next() {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return Ok(ids),
            Err(crate::verify::lines::ReadError::Io(error)) => return Err(error),
            Err(error) => return Err(invalid(&error.into_finding(RECORDS))),
        };
        for line in chunk.lines() {
            let mut findings = Findings::default();
            let seen = record_line::check(&line, Rules::Strict, &mut findings);
            if let Some(finding) = findings.into_listed().first() {
                return Err(invalid(finding));
            }
            ids.extend(seen.and_then(|it| it.id));
        }
    }
}

fn invalid(finding: &Finding) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, finding.to_string())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn ids_come_in_order_and_only_if_they_are_true() {
        let bundle = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/aegx/interop");
        let open = |name: &str| Source::open(&bundle.join(name), Rules::Strict).unwrap();
        let ids = record_ids(&open("valid/all_types")).unwrap();
        assert_eq!(ids.len(), 12);
        let edited = record_ids(&open("tampered/record_edited")).unwrap_err();
        assert_eq!(edited.kind(), io::ErrorKind::InvalidData);
        assert!(edited.to_string().starts_with("records.jsonl:"), "{edited}");
        let missing = record_ids(&open("tampered/records_missing")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        assert!(record_ids(&open("lenient/blank_lines_ws")).is_err());
    }
}
