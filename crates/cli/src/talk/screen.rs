//! The terminal of a conversation. It is raw only while a line is written, and is put back however that ends.

use std::io::{self, Write};
use std::os::fd::AsFd;

use host::ipc::Stop;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::termios::{
    OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcgetwinsize, tcsetattr,
};

use super::editor::{Edited, Editor};
use super::keys;

/// Columns where nobody says how many there are.
const COLUMNS: usize = 80;
/// What stands before a line.
const PROMPT: &str = "> ";
/// Bytes that are read at once.
const PIECE_BYTES: usize = 4096;
/// Bytes of a line that comes by a pipe.
const LINE_BYTES_MAX: usize = 1 << 20;

/// What a person writes, and what came of it that was not looked at yet.
pub(super) struct Input {
    editor: Editor,
    pending: Vec<u8>,
    is_terminal: bool,
}

impl Input {
    /// From a terminal, or from a pipe.
    pub(super) fn new(is_terminal: bool) -> Self {
        Self { editor: Editor::default(), pending: Vec::new(), is_terminal }
    }

    /// The next line; none at the end of input, or when `stop` is said.
    pub(super) fn line(&mut self, stop: &Stop) -> io::Result<Option<String>> {
        if !self.is_terminal {
            return self.piped(stop);
        }
        let raw = Raw::begin()?;
        let line = self.edited(stop);
        drop(raw);
        writeln!(io::stdout())?;
        line
    }

    /// The same of a terminal, where only what is typed from now on counts: nobody answers a question before it is shown.
    pub(super) fn answer(stop: &Stop) -> io::Result<Option<String>> {
        let mut input = Self::new(true);
        let raw = Raw::begin()?;
        tcflush(io::stdin().as_fd(), QueueSelector::IFlush)?;
        let line = input.edited(stop);
        drop(raw);
        writeln!(io::stdout())?;
        line
    }

    fn piped(&mut self, stop: &Stop) -> io::Result<Option<String>> {
        loop {
            if let Some(end) = self.pending.iter().position(|it| *it == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                return Ok(Some(String::from_utf8_lossy(&line).trim_end().to_owned()));
            }
            let full = self.pending.len() > LINE_BYTES_MAX;
            if full || !self.more(stop)? {
                let line = std::mem::take(&mut self.pending);
                return Ok((!line.is_empty()).then(|| String::from_utf8_lossy(&line).into_owned()));
            }
        }
    }

    fn edited(&mut self, stop: &Stop) -> io::Result<Option<String>> {
        loop {
            while let Some(key) = keys::take(&mut self.pending) {
                match self.editor.press(key) {
                    Edited::Goes => {}
                    Edited::Written(line) => return Ok(Some(line)),
                    Edited::GivenUp => return Ok(Some(String::new())),
                    Edited::Over => return Ok(None),
                }
            }
            show(&self.editor)?;
            if !self.more(stop)? {
                return Ok(None);
            }
        }
    }

    /// Waits for more; false if nothing comes any more, or somebody ends the program.
    fn more(&mut self, stop: &Stop) -> io::Result<bool> {
        let stdin = io::stdin();
        loop {
            let mut fds = [
                PollFd::from_borrowed_fd(stop.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN),
            ];
            match poll(&mut fds, None) {
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            if fds.first().is_some_and(|it| !it.revents().is_empty()) {
                return Ok(false);
            }
            let mut piece = [0; PIECE_BYTES];
            return match rustix::io::read(stdin.as_fd(), &mut piece) {
                Ok(0) => Ok(false),
                Ok(read) => {
                    self.pending.extend_from_slice(piece.get(..read).unwrap_or_default());
                    Ok(true)
                }
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => Err(error.into()),
            };
        }
    }
}

/// A terminal that is raw until this is dropped.
struct Raw {
    before: Termios,
}

impl Raw {
    fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin().as_fd())?;
        let mut raw = before.clone();
        raw.make_raw();
        // Lines that others print go on beginning at the left.
        raw.output_modes = before.output_modes;
        tcsetattr(io::stdin().as_fd(), OptionalActions::Now, &raw)?;
        Ok(Self { before })
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // There is nobody to tell.
        let _ = tcsetattr(io::stdin().as_fd(), OptionalActions::Now, &self.before);
    }
}

/// Shows the part of the line around the cursor on one line of the terminal. What can steer it is not in it: no key is a
/// control character.
fn show(editor: &Editor) -> io::Result<()> {
    let (line, at) = editor.seen();
    let columns = tcgetwinsize(io::stdout().as_fd()).map_or(COLUMNS, |it| usize::from(it.ws_col));
    // Some letters take two columns.
    let room = columns.saturating_sub(PROMPT.len() + 1).max(8) / 2;
    let skip = at.saturating_sub(room.saturating_sub(1));
    let shown: String = line.chars().skip(skip).take(room).collect();
    let left: String = line.chars().skip(skip).take(at - skip).collect();
    let (shown, left) = (agent::clean(&shown, room), agent::clean(&left, room));
    let mut out = io::stdout().lock();
    write!(out, "\r\u{1b}[K{PROMPT}{shown}\r{PROMPT}{left}")?;
    out.flush()
}

/// Shows a piece of an agent's text, which cannot steer the terminal.
pub(super) fn piece(text: &str) {
    let mut out = io::stdout().lock();
    let _ = write!(out, "{}", agent::clean(text, usize::MAX));
    let _ = out.flush();
}
