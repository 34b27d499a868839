//! The lines of one file of a bundle, chunk by chunk, so that memory stays bounded.

use std::io::{self, Read};
use std::ops::ControlFlow;

use crate::source::Source;
use crate::verify::Finding;
use crate::verify::lines::{Chunk, Chunks, Line};

/// A file of lines that is being read.
pub(crate) struct TextLines<'s> {
    name: &'static str,
    chunks: Chunks<Box<dyn Read + Send + 's>>,
}

impl<'s> TextLines<'s> {
    /// Opens a file; `None` if the bundle has no such file.
    pub(crate) fn open(source: &'s Source, name: &'static str) -> io::Result<Option<Self>> {
        match source.open_member(name) {
            Ok(input) => Ok(Some(Self { name, chunks: Chunks::new(input) })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The next lines. After an error there are none.
    pub(crate) fn next_chunk(&mut self) -> Result<Option<Chunk>, Finding> {
        self.chunks.next().map_err(|error| error.into_finding(self.name))
    }
}

/// Shows the lines of a file to `see` until it breaks. What cannot be read ends the lines: whoever
/// verifies will say so.
pub(crate) fn find_in_lines<T>(
    source: &Source,
    name: &'static str,
    mut see: impl FnMut(&Line<'_>) -> ControlFlow<T>,
) -> Option<T> {
    let mut lines = TextLines::open(source, name).ok()??;
    while let Ok(Some(chunk)) = lines.next_chunk() {
        for line in chunk.lines() {
            if let ControlFlow::Break(found) = see(&line) {
                return Some(found);
            }
        }
    }
    None
}
