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

/// A raw deflate stream.
pub(super) struct Deflater {
    stream: Compress,
    effort: Effort,
    buffer: Vec<u8>,
}

impl Deflater {
    pub(super) fn new() -> Self {
        Self {
            stream: Compress::new(Compression::new(LEVEL), false),
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
        match effort {
            Effort::Usual => self.run(input, FlushCompress::None, sink)?,
            Effort::None => {
                if self.effort == Effort::Usual {
                    // Ends on a whole byte, and makes the compressor forget what it has seen: it
                    // must not refer back across the bytes that it will not see.
                    self.run(&[], FlushCompress::Full, sink)?;
                }
                write_stored_blocks(input, sink)?;
            }
        }
        self.effort = effort;
        Ok(())
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

/// Blocks of type 0, none of them the last (RFC 1951, section 3.2.4).
fn write_stored_blocks(input: &[u8], sink: &mut impl Write) -> io::Result<()> {
    for block in input.chunks(u16::MAX.into()) {
        let length = block.len() as u16;
        sink.write_all(&[0])?;
        sink.write_all(&length.to_le_bytes())?;
        sink.write_all(&(!length).to_le_bytes())?;
        sink.write_all(block)?;
    }
    Ok(())
}

const LEVEL: u32 = 6;
const OUTPUT_BYTES: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn any_mix_of_efforts_inflates_to_the_input() {
        let line = b"a line that repeats itself, and what repeats itself is referred back to\n";
        for pattern in 0..64u32 {
            let mut deflater = Deflater::new();
            let (mut input, mut output) = (Vec::new(), Vec::new());
            for step in 0..6 {
                let piece = line.repeat(if step % 2 == 0 { 1 } else { 3000 });
                let effort = if pattern >> step & 1 == 0 { Effort::Usual } else { Effort::None };
                deflater.write(&piece, effort, &mut output).unwrap();
                input.extend(piece);
            }
            deflater.finish(&mut output).unwrap();
            let mut inflated = Vec::new();
            flate2::read::DeflateDecoder::new(&output[..]).read_to_end(&mut inflated).unwrap();
            assert!(inflated == input, "pattern {pattern:06b}");
        }
    }
}
