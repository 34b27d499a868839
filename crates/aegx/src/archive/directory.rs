//! Lists the central directory, within bounds, and judges each entry by itself.

use std::collections::HashSet;
use std::path::Path;

use rawzip::{FileReader, MAX_CENTRAL_DIRECTORY_RECORD_SIZE, ZipArchive};

use super::name_tree::NameTree;
use super::{ArchiveError, DIRECTORY_BYTES_MAX, Entry, Limits, Rules, names, record};

/// Every entry of the directory, duplicates included, none of them judged yet.
pub(super) fn list(
    zip: &ZipArchive<FileReader>,
    path: &Path,
    rules: Rules,
    limits: &Limits,
) -> Result<Vec<Entry>, ArchiveError> {
    let bytes = zip.eocd_offset().saturating_sub(zip.directory_offset());
    if bytes > DIRECTORY_BYTES_MAX {
        return Err(ArchiveError::DirectoryTooBig { bytes, limit: DIRECTORY_BYTES_MAX });
    }
    let declared = zip.entries_hint();
    limits.check_entries(declared)?;

    let mut buffer = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
    let mut records = zip.entries(&mut buffer);
    let mut entries = Vec::new();
    let mut found = 0;
    while let Some(record) = records.next_entry().map_err(ArchiveError::zip("read", path))? {
        if found == declared {
            match rules {
                Rules::Strict => {
                    return Err(ArchiveError::EntryCount { declared, found: found + 1 });
                }
                // Upstream counts and does not look further.
                Rules::Compat => break,
            }
        }
        found += 1;
        let entry = Entry::read(&record)?;
        if rules == Rules::Strict {
            record::check_raw(zip.get_ref(), &record, &entry)?;
        }
        entries.push(entry);
    }
    if found < declared {
        return Err(ArchiveError::EntryCount { declared, found });
    }
    Ok(entries)
}

/// The entries that count, each of them checked.
pub(super) fn judge(
    mut entries: Vec<Entry>,
    archive_bytes: u64,
    rules: Rules,
    limits: &Limits,
) -> Result<Vec<Entry>, ArchiveError> {
    if rules == Rules::Compat {
        keep_last(&mut entries);
    }
    let mut tree = NameTree::default();
    let mut total: u64 = 0;
    for entry in &entries {
        names::check(&entry.name)?;
        if rules == Rules::Strict {
            names::check_strict(&entry.name)?;
            tree.insert(&entry.name)?;
        }
        if entry.is_symlink() {
            return Err(ArchiveError::Symlink { name: entry.name.clone() });
        }
        limits.check_entry(&entry.name, entry.size())?;
        total = total.saturating_add(entry.size());
        limits.check_total(total)?;
        if rules == Rules::Strict {
            entry.check_strict()?;
        }
    }
    limits.check_ratio(total, archive_bytes)?;
    Ok(entries)
}

/// Drops every entry that a later one of the same name hides, as upstream's library does.
fn keep_last(entries: &mut Vec<Entry>) {
    let mut seen = HashSet::new();
    entries.reverse();
    entries.retain(|entry| seen.insert(entry.name.clone()));
    entries.reverse();
}
