//! Packs a directory bundle into an archive.

use std::io::{self, Read};
use std::path::Path;

use super::error::BundleError;
use super::{files, pending};
use crate::archive::{ArchiveWriter, Overwrite, Rules};
use crate::digest::Digest;
use crate::source::{
    AUDIT_LOG, BLOBS, BUNDLE_NOTE, KEEP, MANIFEST, Member, MemberKind, RECORDS, Source,
};

/// Writes the bundle in `dir` to the archive `target`, in upstream's order of entries.
///
/// # Errors
/// If there is anything in the directory that does not belong to a bundle, links included: they
/// would carry the content of other files out.
pub fn pack(dir: &Path, target: &Path, overwrite: Overwrite) -> Result<(), BundleError> {
    pack_showing(dir, target, overwrite, &mut |_| ())
}

/// As [`pack`], telling `progress` how many bytes were read since it was last called.
///
/// # Errors
/// As [`pack`].
pub fn pack_showing(
    dir: &Path,
    target: &Path,
    overwrite: Overwrite,
    progress: &mut dyn FnMut(u64),
) -> Result<(), BundleError> {
    if pending::is_left(dir) {
        let _lock = files::lock(dir)?;
        pending::mend(dir)?;
    }
    let _lock = files::lock_shared(dir)?;
    let source = Source::Directory(dir.to_owned());
    let io = |error| BundleError::io(dir, error);
    let mut members = source.top().map_err(io)?;
    members.extend(source.blobs().map_err(io)?);
    members.sort();
    if let Some(stray) = members.iter().find(|member| !belongs(member)) {
        return Err(BundleError::Stray { name: stray.name.clone() });
    }
    let mut archive = ArchiveWriter::create(target, overwrite)?;
    for member in &members {
        match member.kind {
            MemberKind::Directory => archive.add_directory(&format!("{}/", member.name))?,
            MemberKind::File | MemberKind::Other => {
                let input = source.open_under(&member.name, Rules::Strict).map_err(io)?;
                archive.add_file(&member.name, Counted { input, progress })?;
            }
        }
    }
    archive.finish()?;
    Ok(())
}

/// Tells how much was read.
struct Counted<'p, R> {
    input: R,
    progress: &'p mut dyn FnMut(u64),
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        (self.progress)(read as u64);
        Ok(read)
    }
}

fn belongs(member: &Member) -> bool {
    match member.name.as_str() {
        MANIFEST | RECORDS | AUDIT_LOG => member.kind == MemberKind::File,
        BUNDLE_NOTE => member.kind == MemberKind::File,
        BLOBS => member.kind == MemberKind::Directory,
        name => member.kind == MemberKind::File && name.strip_prefix("blobs/").is_some_and(is_blob),
    }
}

fn is_blob(name: &str) -> bool {
    name == KEEP || Digest::from_hex(name.as_bytes()).is_some()
}
