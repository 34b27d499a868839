//! One exchange with the daemon: two frames out, one frame in.
//!
//! A frame is four bytes of length, big-endian, and that many bytes. Out go `lazaret/1 hook HOST EVENT PID\n`
//! and the host's JSON as it came. In comes `lazaret/1 EXIT STDOUT_LEN STDERR_LEN\n` and exactly those bytes;
//! or `lazaret/1 busy` or `lazaret/1 restart`: ask again.

use crate::daemon::Starter;
use crate::failure::Failure;
use crate::state::Home;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// The most bytes of a host's JSON.
const INPUT_BYTES_MAX: u32 = 32 << 20;
/// The most bytes of an answer: a result may come back changed, and JSON may double it.
const ANSWER_BYTES_MAX: u32 = 72 << 20;
/// The most bytes of the line that an answer begins with.
const LINE_BYTES_MAX: usize = 64;
/// The time between two tries.
const PAUSE: Duration = Duration::from_millis(10);
/// The time between two tries while another hook starts the daemon. A thousand that look all the time would keep it
/// from coming up.
const PAUSE_OF_OTHERS: Duration = Duration::from_millis(50);
/// The least time that a socket is waited for: none at all would mean for ever.
const WAIT_MIN: Duration = Duration::from_millis(1);

/// Whose hook it is.
#[derive(Clone)]
pub(crate) struct Hello {
    pub(crate) host: String,
    pub(crate) event: String,
}

/// What is printed, and how the program exits.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) exit: u8,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// What came of one try.
enum Tried {
    Answered(Answer),
    /// The daemon is there and asks to be asked again.
    Again,
    /// Nobody listens.
    Absent,
}

/// Reads the hook's input, asks the daemon and starts it if need be.
pub(crate) fn ask(hello: &Hello, home: &Home, deadline: Instant) -> Result<Answer, Failure> {
    let input = input()?;
    let mut starter = None;
    let mut is_started = false;
    loop {
        let mut pause = PAUSE;
        match (attempt(home, hello, &input, deadline)?, &starter) {
            (Tried::Answered(answer), _) => return Ok(answer),
            (Tried::Again, _) => {}
            (Tried::Absent, Some(_)) if is_started => {}
            (Tried::Absent, Some(starter)) => {
                Starter::start(starter)?;
                is_started = true;
            }
            (Tried::Absent, None) => {
                starter = Starter::claim(home)?;
                if starter.is_some() {
                    // Once more: whoever had the right before may have started it meanwhile.
                    continue;
                }
                pause = PAUSE_OF_OTHERS;
            }
        }
        if Instant::now() + pause >= deadline {
            return Err(Failure::Deadline);
        }
        std::thread::sleep(pause);
    }
}

fn input() -> Result<Vec<u8>, Failure> {
    let mut input = Vec::new();
    let bounded =
        std::io::stdin().lock().take(u64::from(INPUT_BYTES_MAX) + 1).read_to_end(&mut input);
    let bytes = bounded.map_err(|_| Failure::Input)?;
    if u32::try_from(bytes).is_ok_and(|it| it <= INPUT_BYTES_MAX) {
        Ok(input)
    } else {
        Err(Failure::InputTooLong)
    }
}

fn attempt(home: &Home, hello: &Hello, input: &[u8], deadline: Instant) -> Result<Tried, Failure> {
    let Some(socket) = home.socket()? else { return Ok(Tried::Absent) };
    let mut stream = match UnixStream::connect(socket) {
        Ok(stream) => stream,
        Err(error) if is_absence(&error) => return Ok(Tried::Absent),
        Err(_) => return Err(Failure::Unreachable),
    };
    let left = deadline.saturating_duration_since(Instant::now()).max(WAIT_MIN);
    let limited = stream.set_read_timeout(Some(left)).and(stream.set_write_timeout(Some(left)));
    limited.map_err(|_| Failure::Unreachable)?;
    let line = format!("lazaret/1 hook {} {} {}\n", hello.host, hello.event, std::process::id());
    let sent = send(&mut stream, line.as_bytes()).and_then(|()| send(&mut stream, input));
    // A daemon that is busy answers without reading on: its answer counts, not that it stopped reading.
    match receive(&mut stream) {
        Ok(frame) => understand(&frame),
        // It went before it said a word: whoever comes next is asked. What it may have judged is on its record, and the
        // call is judged again.
        Err(Failure::Silent) => Ok(Tried::Absent),
        Err(_) if sent.is_err() => Err(Failure::Cut),
        Err(failure) => Err(failure),
    }
}

fn send(stream: &mut UnixStream, bytes: &[u8]) -> Result<(), Failure> {
    let length = u32::try_from(bytes.len()).map_err(|_| Failure::InputTooLong)?;
    let sent = stream.write_all(&length.to_be_bytes()).and_then(|()| stream.write_all(bytes));
    sent.map_err(|_| Failure::Cut)
}

fn receive(stream: &mut UnixStream) -> Result<Vec<u8>, Failure> {
    let mut length = [0; 4];
    let first = stream.read(&mut length).map_err(|it| {
        let is_gone = matches!(it.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe);
        if is_gone { Failure::Silent } else { broken(&it) }
    })?;
    if first == 0 {
        return Err(Failure::Silent);
    }
    let rest = length.get_mut(first..).unwrap_or_default();
    stream.read_exact(rest).map_err(|it| broken(&it))?;
    let length = u32::from_be_bytes(length);
    if length > ANSWER_BYTES_MAX {
        return Err(Failure::AnswerTooLong);
    }
    // Grows as bytes come: a length alone costs no memory.
    let mut frame = Vec::new();
    let read = stream.take(u64::from(length)).read_to_end(&mut frame);
    let bytes = read.map_err(|it| broken(&it))?;
    if u32::try_from(bytes) == Ok(length) { Ok(frame) } else { Err(Failure::Cut) }
}

fn is_absence(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused)
}

fn broken(error: &std::io::Error) -> Failure {
    let is_late = matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
    if is_late { Failure::Deadline } else { Failure::Cut }
}

fn understand(frame: &[u8]) -> Result<Tried, Failure> {
    let rest = match frame.strip_prefix(b"lazaret/1 ") {
        Some(rest) => rest,
        None if frame.starts_with(b"lazaret/") => return Err(Failure::OtherVersion),
        None => return Err(Failure::Rubbish),
    };
    if rest.starts_with(b"busy") || rest.starts_with(b"restart") {
        return Ok(Tried::Again);
    }
    answer(rest).map(Tried::Answered).ok_or(Failure::Rubbish)
}

fn answer(rest: &[u8]) -> Option<Answer> {
    let end = rest.iter().take(LINE_BYTES_MAX).position(|it| *it == b'\n')?;
    let (line, bytes) = rest.split_at_checked(end)?;
    let bytes = bytes.get(1..)?;
    let mut numbers = std::str::from_utf8(line).ok()?.split(' ');
    let exit = number(numbers.next()?)?;
    let stdout: usize = number(numbers.next()?)?;
    let stderr: usize = number(numbers.next()?)?;
    let (out, err) = bytes.split_at_checked(stdout)?;
    let complete = numbers.next().is_none() && err.len() == stderr;
    complete.then(|| Answer { exit, stdout: out.to_vec(), stderr: err.to_vec() })
}

/// Reads digits alone: `parse` would take a sign.
fn number<T: std::str::FromStr>(digits: &str) -> Option<T> {
    digits.bytes().all(|it| it.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}
