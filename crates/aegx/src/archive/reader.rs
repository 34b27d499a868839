//! Opens an archive.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rawzip::{FileReader, RECOMMENDED_BUFFER_SIZE, RangeReader, ZipArchive};

use super::{ArchiveError, Entry, EntryReader, Limits, Rules, directory, end, layout};

/// An archive whose directory was checked.
///
/// Entries can be read from many threads at once: all reads are positional.
#[derive(Debug)]
pub struct Archive {
    zip: ZipArchive<FileReader>,
    path: PathBuf,
    entries: Vec<Entry>,
    /// Positions in `entries`, by name.
    by_name: Vec<usize>,
    rules: Rules,
}

impl Archive {
    /// Opens the archive at `path` within the default limits.
    pub fn open(path: &Path, rules: Rules) -> Result<Self, ArchiveError> {
        Self::open_within(path, rules, &Limits::default())
    }

    /// Opens the archive at `path` within `limits`.
    pub fn open_within(path: &Path, rules: Rules, limits: &Limits) -> Result<Self, ArchiveError> {
        let (file, file_bytes) = open_regular(path)?;
        let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
        let zip =
            ZipArchive::from_file(file, &mut buffer).map_err(ArchiveError::zip("read", path))?;

        let directory_offset = match rules {
            Rules::Strict => Some(end::check(&zip, file_bytes)?),
            Rules::Compat => None,
        };
        let listed = directory::list(&zip, path, rules, limits)?;
        let entries = directory::judge(listed, file_bytes, rules, limits)?;
        if let Some(directory_offset) = directory_offset {
            layout::check(&zip, path, &entries, directory_offset)?;
        }

        let mut by_name: Vec<usize> = (0..entries.len()).collect();
        by_name.sort_by_key(|&at| entries.get(at).map(Entry::name));
        Ok(Self { zip, path: path.to_owned(), entries, by_name, rules })
    }

    /// The entries, in the order of the directory.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.entries.iter()
    }

    /// The entry of exactly this name.
    #[must_use]
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        let found = self
            .by_name
            .binary_search_by_key(&Some(name), |&at| self.entries.get(at).map(Entry::name));
        self.entries.get(*self.by_name.get(found.ok()?)?)
    }

    /// Starts reading the contents of `entry`, which must be one of this archive's.
    pub fn open_entry<'a>(&'a self, entry: &'a Entry) -> Result<EntryReader<'a>, ArchiveError> {
        let (start, end) = self
            .zip
            .get_entry(entry.wayfinder)
            .map_err(ArchiveError::zip("read", &self.path))?
            .compressed_data_range();
        EntryReader::new(RangeReader::new(self.zip.get_ref(), start..end), entry, self.rules)
    }

    /// The path the archive was opened at.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn open_regular(path: &Path) -> Result<(File, u64), ArchiveError> {
    // Before opening, because to open a pipe would wait for its writer.
    let before = fs::metadata(path).map_err(ArchiveError::io("open", path))?;
    if !before.is_file() {
        return Err(ArchiveError::NotAFile { path: path.to_owned() });
    }
    let file = File::open(path).map_err(ArchiveError::io("open", path))?;
    let opened = file.metadata().map_err(ArchiveError::io("open", path))?;
    if !opened.is_file() {
        return Err(ArchiveError::NotAFile { path: path.to_owned() });
    }
    Ok((file, opened.len()))
}
