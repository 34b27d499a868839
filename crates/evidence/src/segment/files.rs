//! Segment files on disk: names, room made in advance.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Where segment `number` lies.
pub(crate) fn path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:012}.{EXTENSION}"))
}

const EXTENSION: &str = "seg";

/// Numbers of the segments in `dir`, sorted.
pub(crate) fn list(dir: &Path) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(dir)? {
        let name = PathBuf::from(entry?.file_name());
        let is_segment = name.extension().is_some_and(|it| it == EXTENSION);
        let stem = name.file_stem().and_then(|it| it.to_str());
        let number: Option<u64> = stem.and_then(|it| it.parse().ok());
        numbers.extend(number.filter(|_| is_segment));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Makes segment `target` with `header` in it and room up to `bytes`. `room` is a file of zeros that
/// was made in advance at [`room_path`]. A segment never stands at its name without its header.
pub(crate) fn create(
    target: &Path,
    header: &[u8],
    bytes: u64,
    room: Option<File>,
) -> io::Result<File> {
    let temporary = room_path(target);
    let mut file = match room {
        Some(file) => file,
        None => zero_fill(&temporary, bytes)?,
    };
    file.seek(SeekFrom::Start(0))?;
    file.write_all(header)?;
    file.sync_all()?;
    fs::rename(&temporary, target)?;
    sync_directory(target)?;
    Ok(file)
}

/// Where the room for segment `target` is made.
pub(crate) fn room_path(target: &Path) -> PathBuf {
    target.with_extension("new")
}

/// Writes real zeros, so that later writes change no metadata and one `fdatasync` is one flush.
pub(crate) fn zero_fill(path: &Path, bytes: u64) -> io::Result<File> {
    const STEP_BYTES: u64 = 1 << 20;
    let zeros = vec![0; usize::try_from(STEP_BYTES).unwrap_or(0)];
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
    let mut left = bytes;
    while left > 0 {
        let step = left.min(STEP_BYTES);
        let chunk = zeros.get(..usize::try_from(step).unwrap_or(0)).unwrap_or_default();
        file.write_all(chunk)?;
        // Step by step: one long flush would make the writer of the live segment wait.
        file.sync_data()?;
        left -= step;
    }
    file.sync_all()?;
    Ok(file)
}

fn sync_directory(inside: &Path) -> io::Result<()> {
    match inside.parent() {
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}
