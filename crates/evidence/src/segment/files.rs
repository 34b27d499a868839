//! Segment files on disk: names, reading, room made in advance.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use super::format::{HEADER_BYTES_MAX, Header, NUMBER_MAX};
use super::walk::Walk;
use super::{SEGMENT_BYTES_MAX, SEGMENT_EXCESS_BYTES_MAX};
use crate::disk::{self, Disk};
use files::private;

/// Where segment `number` lies.
pub(crate) fn path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:012}.{EXTENSION}"))
}

const EXTENSION: &str = "seg";
const ROOM_EXTENSION: &str = "new";

/// Numbers of the segments in `dir`, sorted.
pub(crate) fn list(dir: &Path) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(dir)? {
        let found = dir.join(entry?.file_name());
        let stem = found.file_stem().and_then(|it| it.to_str());
        let number = stem.and_then(|it| it.parse().ok()).filter(|it| *it <= NUMBER_MAX);
        // `5.seg` and `+5.seg` are numbers too, but not the name of a segment.
        numbers.extend(number.filter(|it| path(dir, *it) == found));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Reads a segment.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    private::read(path, SEGMENT_BYTES_MAX + SEGMENT_EXCESS_BYTES_MAX)
}

/// The header of a segment; `None` if it has none.
pub(crate) fn read_header(path: &Path) -> io::Result<Option<Header>> {
    let mut line = Vec::new();
    BufReader::new(private::open(path)?.take(HEADER_BYTES_MAX)).read_until(b'\n', &mut line)?;
    Ok(Walk::begin(&line).ok().map(|(header, _)| header))
}

/// Makes segment `target` with `header` in it and room up to `bytes`. `room` is a file of zeros that
/// was made in advance at [`room_path`]. A segment never stands at its name without its header.
pub(crate) fn create(
    target: &Path,
    header: &[u8],
    bytes: u64,
    room: Option<File>,
    disk: &dyn Disk,
) -> io::Result<File> {
    let temporary = room_path(target);
    let file = match room {
        Some(file) => file,
        None => zero_fill(&temporary, bytes, disk)?,
    };
    disk::write_all(disk, &file, header, 0)?;
    disk.sync_all(&file)?;
    disk.rename(&temporary, target)?;
    Ok(file)
}

/// Where the room for segment `target` is made.
pub(crate) fn room_path(target: &Path) -> PathBuf {
    target.with_extension(ROOM_EXTENSION)
}

/// Writes real zeros, so that later writes change no metadata and one `fdatasync` is one flush.
pub(crate) fn zero_fill(path: &Path, bytes: u64, disk: &dyn Disk) -> io::Result<File> {
    const STEP_BYTES: u64 = 1 << 20;
    let zeros = vec![0; usize::try_from(STEP_BYTES).unwrap_or(0)];
    let mut file = private::create(path)?;
    let mut left = bytes;
    while left > 0 {
        let step = left.min(STEP_BYTES);
        let chunk = zeros.get(..usize::try_from(step).unwrap_or(0)).unwrap_or_default();
        file.write_all(chunk)?;
        // Step by step: one long flush would make the writer of the live segment wait.
        disk.sync_room(&file)?;
        left -= step;
    }
    disk.sync_room(&file)?;
    Ok(file)
}

/// Removes room that an earlier run made and did not use.
pub(crate) fn sweep(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let found = entry?.path();
        if found.extension().is_some_and(|it| it == ROOM_EXTENSION) {
            private::remove(&found)?;
        }
    }
    Ok(())
}
