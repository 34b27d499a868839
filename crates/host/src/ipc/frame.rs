//! Frames: four bytes of length, the highest first, then so many bytes of UTF-8 JSON.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use model::ipc::MESSAGE_BYTES_MAX;

use super::wire::{Wire, WireError};

/// The bytes before each message, which say how long it is.
pub const HEADER_BYTES: usize = 4;
/// How long nobody need say anything.
pub const IDLE_SECONDS_MAX: u64 = 3600;
/// How long a frame may take from its first byte to its last.
pub const FRAME_SECONDS_MAX: u64 = 30;
/// How long an answer may wait to be taken.
pub const ANSWER_SECONDS_MAX: u64 = 30;
/// How much room is made at a time. What a header announces is not believed before it is there.
const READ_BYTES_MAX: usize = 64 * 1024;
/// Bytes of frames that are not whole yet, of all connections of this process together. The first [`READ_BYTES_MAX`] of each do
/// not count, so that a short one always has room.
const HALF_BYTES_MAX: usize = 256 << 20;

/// What all connections of this process have of frames that are not whole yet.
static HALVES: Halves = Halves(AtomicUsize::new(0));

/// How long whoever serves waits.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For the first byte of a frame.
    pub idle: Duration,
    /// From there to its last byte, however slowly they drip.
    pub frame: Duration,
    /// For an answer to be taken.
    pub answer: Duration,
    /// How long a message may be, in bytes.
    pub bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(IDLE_SECONDS_MAX),
            frame: Duration::from_secs(FRAME_SECONDS_MAX),
            answer: Duration::from_secs(ANSWER_SECONDS_MAX),
            bytes_max: MESSAGE_BYTES_MAX,
        }
    }
}

/// Why a connection ends.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// What is announced is longer than any message.
    #[error("a frame announces {bytes} bytes, at most {at_most} are read")]
    TooLong {
        /// What is announced.
        bytes: u32,
        /// The longest that is read.
        at_most: usize,
    },
    /// A process of somebody else.
    #[error("a process of another user, {uid}, has connected")]
    Stranger {
        /// The user, as the system knows them.
        uid: u32,
    },
    /// The other side ended within a frame.
    #[error("the connection ended within a frame, after {bytes} bytes of it")]
    Torn {
        /// What came of it.
        bytes: usize,
    },
    /// A frame that takes for ever.
    #[error("a frame was not there in time, only {bytes} bytes of it")]
    Slow {
        /// What came of it.
        bytes: usize,
    },
    /// Too much is under way in all.
    #[error("frames of more than {at_most} bytes in all are under way; send this one again later")]
    Crowded {
        /// How much there may be.
        at_most: usize,
    },
    /// Nobody said anything for long.
    #[error("nothing was said for long")]
    Idle,
    /// Nobody took the answer.
    #[error("an answer was not taken in time")]
    Unanswered,
    /// Serving is to end.
    #[error("stopped")]
    Stopped,
    /// The system.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl FrameError {
    /// Was it no frame at all that came? Then it is to be recorded.
    #[must_use]
    pub fn is_malformed(&self) -> bool {
        match self {
            Self::TooLong { .. }
            | Self::Torn { .. }
            | Self::Slow { .. }
            | Self::Crowded { .. }
            | Self::Stranger { .. } => true,
            Self::Idle | Self::Unanswered | Self::Stopped | Self::Io(_) => false,
        }
    }
}

/// Reads a frame and gives what is in it; nothing where the other side has ended in order. A frame
/// of no bytes is given too: that it is no message is for others to say.
///
/// # Errors
/// If there is no frame, or not in time. The connection is of no use any more.
pub fn read(wire: &mut impl Wire, limits: &Limits) -> Result<Option<Vec<u8>>, FrameError> {
    read_within(wire, limits, &HALVES)
}

/// Bytes of frames that are not whole yet.
struct Halves(AtomicUsize);

/// What one frame has of them, until it is whole or given up.
struct Half<'a> {
    halves: &'a Halves,
    bytes: usize,
}

impl Half<'_> {
    /// Takes room for a frame of which so many bytes are there.
    fn grow(&mut self, bytes: usize) -> Result<(), FrameError> {
        let more = bytes.saturating_sub(READ_BYTES_MAX).saturating_sub(self.bytes);
        let before = self.halves.0.fetch_add(more, Ordering::Relaxed);
        self.bytes += more;
        if more > 0 && before.saturating_add(more) > HALF_BYTES_MAX {
            return Err(FrameError::Crowded { at_most: HALF_BYTES_MAX });
        }
        Ok(())
    }
}

impl Drop for Half<'_> {
    fn drop(&mut self) {
        self.halves.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

fn read_within(
    wire: &mut impl Wire,
    limits: &Limits,
    halves: &Halves,
) -> Result<Option<Vec<u8>>, FrameError> {
    let mut header = [0; HEADER_BYTES];
    let first = match wire.read(&mut header, Instant::now() + limits.idle) {
        Ok(0) => return Ok(None),
        Ok(count) => count,
        Err(WireError::TooLate) => return Err(FrameError::Idle),
        Err(error) => return Err(ended(error, 0)),
    };
    let deadline = Instant::now() + limits.frame;
    let mut got = first;
    while got < HEADER_BYTES {
        got += some(wire, header.get_mut(got..).unwrap_or_default(), got, deadline)?;
    }
    let announced = u32::from_be_bytes(header);
    let length = usize::try_from(announced).unwrap_or(usize::MAX);
    if length > limits.bytes_max {
        return Err(FrameError::TooLong { bytes: announced, at_most: limits.bytes_max });
    }
    let mut message = Vec::new();
    let mut half = Half { halves, bytes: 0 };
    while message.len() < length {
        let before = message.len();
        half.grow(before)?;
        message.resize(length.min(before + READ_BYTES_MAX), 0);
        let room = message.get_mut(before..).unwrap_or_default();
        let count = some(wire, room, HEADER_BYTES + before, deadline)?;
        message.truncate(before + count);
    }
    Ok(Some(message))
}

/// Writes `message` as a frame.
///
/// # Errors
/// If it is longer than any message, or was not taken in time.
pub fn write(wire: &mut impl Wire, message: &[u8], limits: &Limits) -> Result<(), FrameError> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    if message.len() > limits.bytes_max {
        return Err(FrameError::TooLong { bytes: length, at_most: limits.bytes_max });
    }
    let frame = [&length.to_be_bytes()[..], message].concat();
    let sent = wire.write_all(&frame, Instant::now() + limits.answer);
    sent.map_err(|error| match error {
        WireError::TooLate => FrameError::Unanswered,
        WireError::Stopped => FrameError::Stopped,
        WireError::Io(error) => FrameError::Io(error),
    })
}

/// At least one more byte of a frame of which `before` are there.
fn some(
    wire: &mut impl Wire,
    room: &mut [u8],
    before: usize,
    deadline: Instant,
) -> Result<usize, FrameError> {
    match wire.read(room, deadline) {
        Ok(0) => Err(FrameError::Torn { bytes: before }),
        Ok(count) => Ok(count),
        Err(error) => Err(ended(error, before)),
    }
}

fn ended(error: WireError, before: usize) -> FrameError {
    match error {
        WireError::TooLate => FrameError::Slow { bytes: before },
        WireError::Stopped => FrameError::Stopped,
        WireError::Io(error) => FrameError::Io(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes in pieces of `piece`, and notes how much room it was offered.
    struct Script {
        bytes: Vec<u8>,
        piece: usize,
        room_max: usize,
        written: Vec<u8>,
    }

    impl Script {
        fn new(bytes: &[u8], piece: usize) -> Self {
            Self { bytes: bytes.to_vec(), piece, room_max: 0, written: Vec::new() }
        }
    }

    impl Wire for Script {
        fn read(&mut self, buffer: &mut [u8], _: Instant) -> Result<usize, WireError> {
            self.room_max = self.room_max.max(buffer.len());
            let count = self.bytes.len().min(self.piece).min(buffer.len());
            for (to, from) in buffer.iter_mut().zip(self.bytes.drain(..count)) {
                *to = from;
            }
            Ok(count)
        }

        fn write_all(&mut self, bytes: &[u8], _: Instant) -> Result<(), WireError> {
            self.written.extend_from_slice(bytes);
            Ok(())
        }
    }

    #[test]
    fn frames_are_read_however_they_are_cut() {
        let bytes = b"\0\0\0\x02{}\0\0\0\0\0\0\0\x01x";
        for piece in [1, 2, 3, 5, 100] {
            let mut wire = Script::new(bytes, piece);
            let limits = Limits::default();
            let mut next = || read(&mut wire, &limits).unwrap();
            assert_eq!(next().as_deref(), Some(&b"{}"[..]));
            assert_eq!(next().as_deref(), Some(&b""[..]));
            assert_eq!(next().as_deref(), Some(&b"x"[..]));
            assert_eq!(next(), None);
        }
    }

    #[test]
    fn what_is_announced_is_not_believed() {
        let limits = Limits::default();
        let error = read(&mut Script::new(&[0xff; 4], 4), &limits).unwrap_err();
        assert!(
            matches!(error, FrameError::TooLong { bytes: u32::MAX, .. }) && error.is_malformed()
        );
        // Ten million bytes are announced, one comes: no room is made for the others.
        let mut header = u32::try_from(MESSAGE_BYTES_MAX).unwrap().to_be_bytes().to_vec();
        header.push(b'{');
        let mut wire = Script::new(&header, 5);
        let error = read(&mut wire, &limits).unwrap_err();
        assert!(matches!(error, FrameError::Torn { bytes: 5 }), "{error}");
        assert!(wire.room_max <= READ_BYTES_MAX);
        let over = u32::try_from(MESSAGE_BYTES_MAX + 1).unwrap().to_be_bytes();
        let error = read(&mut Script::new(&over, 4), &limits).unwrap_err();
        assert!(matches!(error, FrameError::TooLong { .. }));
    }

    #[test]
    fn halves_of_frames_have_room_together_and_short_frames_always() {
        let halves = Halves(AtomicUsize::new(0));
        let limits = Limits::default();
        let mut others = Half { halves: &halves, bytes: 0 };
        others.grow(HALF_BYTES_MAX + READ_BYTES_MAX).unwrap();
        let frame = |bytes: usize| {
            let header = u32::try_from(bytes).unwrap().to_be_bytes();
            [&header[..], &vec![b' '; bytes]].concat()
        };
        let long = 3 * READ_BYTES_MAX;
        let read_of = |bytes: usize| {
            let mut wire = Script::new(&frame(bytes), READ_BYTES_MAX);
            read_within(&mut wire, &limits, &halves).map(|it| it.unwrap().len())
        };
        assert_eq!(read_of(READ_BYTES_MAX).unwrap(), READ_BYTES_MAX);
        assert!(matches!(read_of(long), Err(FrameError::Crowded { .. })));
        // What was given up leaves its room.
        assert!(matches!(read_of(long), Err(FrameError::Crowded { .. })));
        drop(others);
        assert_eq!(read_of(long).unwrap(), long);
        assert_eq!(halves.0.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_torn_header_is_no_orderly_end() {
        for count in 1..HEADER_BYTES {
            let error = read(&mut Script::new(&[0, 0, 0][..count], 9), &Limits::default());
            assert!(matches!(error, Err(FrameError::Torn { bytes }) if bytes == count));
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut wire = Script::new(b"", 1);
        write(&mut wire, b"{\"ok\":true}", &Limits::default()).unwrap();
        let mut back = Script::new(&wire.written, 7);
        let message = read(&mut back, &Limits::default()).unwrap();
        assert_eq!(message.as_deref(), Some(&b"{\"ok\":true}"[..]));
        let long = vec![b' '; MESSAGE_BYTES_MAX + 1];
        assert!(write(&mut wire, &long, &Limits::default()).is_err());
    }
}
