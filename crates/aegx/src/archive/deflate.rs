//! Deflates a stream, on request without making it smaller.

use std::io::{self, Write};

use flate2::{Compress, Compression, FlushCompress, Status};

/// How hard to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// What everybody uses.
    Usual,
    /// Copies, within the deflate format.
    None,
}

impl Effort {
    fn level(self) -> Compression {
        match self {
            Self::Usual => Compression::new(6),
            Self::None => Compression::none(),
        }
    }
}

/// A raw deflate stream.
pub(super) struct Deflater {
    stream: Compress,
    effort: Effort,
    buffer: Vec<u8>,
}

impl Deflater {
    pub(super) fn new() -> Self {
        Self {
            stream: Compress::new(Effort::Usual.level(), false),
            effort: Effort::Usual,
            buffer: Vec::with_capacity(OUTPUT_BYTES),
        }
    }

    /// Compresses `input` into `sink`, which may get it later.
    pub(super) fn write(
        &mut self,
        input: &[u8],
        effort: Effort,
        sink: &mut impl Write,
    ) -> io::Result<()> {
        if effort != self.effort {
            // The level can only change where nothing is pending.
            self.run(&[], FlushCompress::Sync, sink)?;
            self.stream.set_level(effort.level())?;
            self.effort = effort;
        }
        self.run(input, FlushCompress::None, sink)
    }

    /// Writes what is pending, and the end of the stream.
    pub(super) fn finish(mut self, sink: &mut impl Write) -> io::Result<()> {
        self.run(&[], FlushCompress::Finish, sink)
    }

    fn run(
        &mut self,
        mut input: &[u8],
        flush: FlushCompress,
        sink: &mut impl Write,
    ) -> io::Result<()> {
        loop {
            self.buffer.clear();
            let before = self.stream.total_in();
            let status = self.stream.compress_vec(input, &mut self.buffer, flush)?;
            // At most the length of the slice.
            let consumed = (self.stream.total_in() - before) as usize;
            input = input.get(consumed..).unwrap_or_default();
            sink.write_all(&self.buffer)?;
            let full = self.buffer.len() == self.buffer.capacity();
            match status {
                Status::StreamEnd => return Ok(()),
                // With room left in the buffer there is nothing more to come for now.
                Status::Ok | Status::BufError if input.is_empty() && !full => return Ok(()),
                Status::Ok | Status::BufError => {}
            }
        }
    }
}

const OUTPUT_BYTES: usize = 64 << 10;
