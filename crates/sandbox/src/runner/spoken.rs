//! A program that carries out one call of a tool: it is told the call in one frame, says its answer in one, and is ended.
//!
//! A frame is a length in four bytes, the first the highest, and then so many bytes. Both ends are one socket, which the
//! program has as its standard input and output.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use model::ToolCall;
use monitor::Permit;

use super::process::{Collected, Heard, Process};
use super::{Beside, PRINTED_BYTES_MAX, Printed, RunError, Runner, Surroundings};
use crate::cage::{Ending, Held, Inmate};

/// The longest request, in bytes: it lies in the socket until the program reads it.
pub const REQUEST_BYTES_MAX: usize = 64 << 10;
/// The bytes of a frame that say how long it is.
const LENGTH_BYTES: usize = 4;

/// A program, and what it is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asking<'a> {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// The call, as the program reads it.
    pub request: &'a [u8],
    /// How long it may take.
    pub time: Duration,
}

/// A program that answered, or did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoke {
    /// Its answer, or what was wrong with it.
    pub answer: Result<Vec<u8>, Spoken>,
    /// How it ended; none if it had answered and was ended.
    pub ending: Option<Ending>,
    /// What held it.
    pub held: Held,
    /// What it printed beside its answer.
    pub stderr: Printed,
    /// How long it took, with the making of the cage.
    pub took: Duration,
    /// It was ended because whoever was beside it wanted an end.
    pub stopped: bool,
}

/// What came in the place of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Spoken {
    /// It ended, or its time was up, before its answer was whole.
    #[error("it ended without an answer")]
    Nothing,
    /// More than an answer may be.
    #[error("its answer is longer than {PRINTED_BYTES_MAX} bytes, or more than one")]
    TooMuch,
}

impl Runner {
    /// Has a program answer the call that was permitted.
    ///
    /// INVARIANT (OneGate): it runs by the permit of this very call, once, and is gone before its answer is looked at.
    ///
    /// # Errors
    /// If there is no such cage here, the request is too long, or the cage broke.
    pub fn ask(
        &self,
        permit: Permit<ToolCall>,
        Asking { words, request, time }: Asking<'_>,
        around: Surroundings,
        mut beside: Beside<'_>,
    ) -> Result<Spoke, RunError> {
        drop(permit.spend());
        let Surroundings { mut cage, directory, environment } = around;
        cage.limits.wall_time = Some(time);
        let inmate = Inmate { words, directory, environment, terminal: false };
        let begun = Instant::now();
        let mut process = Process::start_speaking(&self.launcher, &framed(request)?)?;
        process.tell_speaking(&cage, &inmate)?;
        // There is no workspace in which it could have made something.
        let Heard { ending, held, stdout, stderr, stopped, aside: _ } =
            process.follow(time, &mut beside, is_whole)?;
        let (answer, took) = (answer(&stdout), begun.elapsed());
        let ending = (!is_whole(&stdout)).then_some(ending);
        Ok(Spoke { answer, ending, held, stderr: stderr.told(), took, stopped })
    }
}

fn framed(request: &[u8]) -> Result<Vec<u8>, RunError> {
    let length = u32::try_from(request.len()).ok().filter(|_| request.len() <= REQUEST_BYTES_MAX);
    let length = length.ok_or_else(|| {
        RunError::Refused(format!("a call has at most {REQUEST_BYTES_MAX} bytes"))
    })?;
    Ok([length.to_be_bytes().as_slice(), request].concat())
}

/// Is an answer there, or more than one may be?
fn is_whole(printed: &Collected) -> bool {
    let is_there =
        |(length, rest): (usize, &[u8])| length > PRINTED_BYTES_MAX || rest.len() >= length;
    printed.is_cut() || rest(printed.kept()).is_some_and(is_there)
}

fn answer(printed: &Collected) -> Result<Vec<u8>, Spoken> {
    let Some((length, rest)) = rest(printed.kept()) else { return Err(Spoken::Nothing) };
    if printed.is_cut() || length > PRINTED_BYTES_MAX || rest.len() > length {
        return Err(Spoken::TooMuch);
    }
    if rest.len() < length { Err(Spoken::Nothing) } else { Ok(rest.to_vec()) }
}

/// How long the first frame is, and what came behind that.
fn rest(printed: &[u8]) -> Option<(usize, &[u8])> {
    let (length, rest) = printed.split_first_chunk::<LENGTH_BYTES>()?;
    Some((usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_one_whole_frame_and_nothing_else() {
        let of = |bytes: &[u8]| {
            let mut printed = Collected::default();
            printed.take(bytes);
            (is_whole(&printed), answer(&printed))
        };
        assert_eq!(of(b"\0\0\0\x02{}"), (true, Ok(b"{}".to_vec())));
        assert_eq!(of(b"\0\0\0\0"), (true, Ok(Vec::new())));
        for part in [&b""[..], b"\0\0\0", b"\0\0\0\x02{"] {
            assert_eq!(of(part), (false, Err(Spoken::Nothing)), "{part:?}");
        }
        assert_eq!(of(b"\0\0\0\x02{}{"), (true, Err(Spoken::TooMuch)));
        assert_eq!(of(b"plain text, no frame").1, Err(Spoken::TooMuch));
        assert_eq!(of(&vec![b'x'; PRINTED_BYTES_MAX + 1]), (true, Err(Spoken::TooMuch)));
        assert!(framed(&vec![b'x'; REQUEST_BYTES_MAX + 1]).is_err());
        assert_eq!(framed(b"{}").unwrap(), b"\0\0\0\x02{}");
    }
}
