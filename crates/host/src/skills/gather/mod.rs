//! The files of a skill, taken from a folder or an archive into memory: plain files, bounded, with no way out.

mod tarball;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use aegx::archive::{Archive, ArchiveError, Limits, Rules};
use files::{Dir, DirError, Kind, Relative};
use skill::{FILE_BYTES_MAX, FILES_MAX, TEXT, TREE_BYTES_MAX, Tree, TreeError};

/// The longest archive, in bytes.
pub const ARCHIVE_BYTES_MAX: u64 = 32 << 20;
/// Folders that belong to who keeps the skill, and are no part of it.
const LEFT_OUT: &[&str] = &[".git"];

/// Why a skill cannot be taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatherError {
    /// A file that no skill has.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// A link, a pipe, a file of two names.
    #[error("{0}; a skill has plain files only")]
    Dir(#[from] DirError),
    /// A folder with a name that is none.
    #[error("`{0}` has a name that is no text, or too many entries")]
    Names(String),
    /// A zip that is not taken.
    #[error("the zip is refused: {0}")]
    Zip(#[from] ArchiveError),
    /// A tar that is not taken.
    #[error("the tar is refused: {0}")]
    Tar(&'static str),
    /// Neither a folder nor an archive nor a text.
    #[error(
        "`{0}` is no folder, no zip, no tar (packed by gzip or not) and no text of a skill (.md)"
    )]
    Unknown(String),
    /// Too long.
    #[error("an archive has at most {ARCHIVE_BYTES_MAX} bytes")]
    Long,
    /// The system.
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// Takes a skill from a folder, a zip, a tar, or a text of its own.
///
/// # Errors
/// If it is none of these, leads out, has links or is too large.
pub fn gather(path: &Path) -> Result<Tree, GatherError> {
    if path.is_dir() {
        return folder(&Dir::open(path)?);
    }
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(GatherError::Unknown(path.display().to_string()));
    }
    let mut bytes = Vec::new();
    file.take(ARCHIVE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > ARCHIVE_BYTES_MAX {
        return Err(GatherError::Long);
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return zip(path).map(Tree::unwrapped);
    }
    if let Some(tree) = tarball::read(&bytes)? {
        return Ok(tree.unwrapped());
    }
    let is_text = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("md"));
    if !is_text {
        return Err(GatherError::Unknown(path.display().to_string()));
    }
    let mut tree = Tree::default();
    tree.insert(TEXT, bytes)?;
    Ok(tree)
}

/// All files beneath a folder. No link is followed, and one is a refusal: what it leads to may be another thing tomorrow.
pub(super) fn folder(dir: &Dir) -> Result<Tree, GatherError> {
    let mut tree = Tree::default();
    let mut left = vec![Relative::base()];
    let mut folders = 0;
    while let Some(at) = left.pop() {
        folders += 1;
        let (entries, whole) = dir.list(&at)?;
        if !whole || folders > FILES_MAX {
            return Err(GatherError::Names(at.as_str().to_owned()));
        }
        for entry in entries {
            let name = entry.name.ok_or_else(|| GatherError::Names(at.as_str().to_owned()))?;
            if at.as_str().is_empty() && LEFT_OUT.contains(&name.as_str()) {
                continue;
            }
            let path = at.child(&name).map_err(|it| GatherError::Names(it.to_string()))?;
            match entry.stat.kind {
                Kind::Folder => left.push(path),
                Kind::File | Kind::Link | Kind::Special => {
                    let bytes = dir.read_of_one_name(&path, FILE_BYTES_MAX as u64)?;
                    tree.insert(path.as_str(), bytes)?;
                }
            }
        }
    }
    Ok(tree)
}

/// A zip by the strict reader of evidence: no links, no two names, no overlap, no more than it declares.
fn zip(path: &Path) -> Result<Tree, GatherError> {
    let limits = Limits {
        entries: FILES_MAX as u64 * 2,
        entry_bytes: FILE_BYTES_MAX as u64,
        total_bytes: TREE_BYTES_MAX as u64,
        ..Limits::default()
    };
    let archive = Archive::open_within(path, Rules::Strict, &limits)?;
    let mut tree = Tree::default();
    for entry in archive.entries().filter(|it| !it.is_dir()) {
        let mut bytes = Vec::new();
        let most = FILE_BYTES_MAX as u64 + 1;
        archive.open_entry(entry)?.take(most).read_to_end(&mut bytes)?;
        tree.insert(entry.name(), bytes)?;
    }
    Ok(tree)
}
