//! Text that streams waits until what follows it is known: what must not leave is found whole, and never in halves.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::answer::{Flow, Piece};

/// The shortest window, in bytes: longer than any key that is known by its form and stands on one line.
pub const WINDOW_BYTES_MIN: usize = 512;
/// The longest window, in bytes.
pub const WINDOW_BYTES_MAX: usize = 64 << 10;
/// The most that waits for something that has begun and does not end, in bytes: longer than a private key.
pub const OPEN_BYTES_MAX: usize = 20 << 10;
/// Bytes that are let go at once at least: each time, all of the window is looked through.
const STEP_BYTES: usize = 128;
/// The most calls of one answer whose arguments are watched; more have none shown.
const CALLS_MAX: usize = 256;

/// Knows what must not leave.
pub trait Screen {
    /// How long what it finds can be, in bytes.
    fn window(&self) -> usize;

    /// A part of `text` without what must not leave, and without what reaches into the part from outside.
    fn clean(&self, text: &str, part: Range<usize>) -> String;

    /// From where `text` has to wait because something has begun there that may go on behind it.
    fn waits_from(&self, text: &str) -> Option<usize>;
}

/// Holds one stream of text back by a window.
pub struct Holdback<'a> {
    screen: &'a dyn Screen,
    window: usize,
    /// What was let go last, as far as something in it may reach on, and what waits.
    kept: String,
    /// How much of `kept` was let go.
    gone: usize,
}

impl<'a> Holdback<'a> {
    /// Holds back by what `screen` needs.
    #[must_use]
    pub fn new(screen: &'a dyn Screen) -> Self {
        let window = screen.window().clamp(WINDOW_BYTES_MIN, WINDOW_BYTES_MAX);
        Self { screen, window, kept: String::new(), gone: 0 }
    }

    /// Takes more text, and returns what may go now.
    pub fn push(&mut self, text: &str) -> String {
        self.kept.push_str(text);
        let end = self.kept.floor_char_boundary(self.kept.len().saturating_sub(self.window));
        if end < self.gone.saturating_add(STEP_BYTES) {
            return String::new();
        }
        let end = match self.screen.waits_from(&self.kept) {
            Some(from) if self.kept.len().saturating_sub(from) <= OPEN_BYTES_MAX => end.min(from),
            Some(_) | None => end,
        };
        self.let_go(self.kept.floor_char_boundary(end))
    }

    /// The text has ended: returns the rest.
    pub fn finish(&mut self) -> String {
        self.let_go(self.kept.len())
    }

    fn let_go(&mut self, end: usize) -> String {
        if end <= self.gone {
            return String::new();
        }
        let clean = self.screen.clean(&self.kept, self.gone..end);
        let from = self.kept.floor_char_boundary(end.saturating_sub(self.window));
        self.kept.drain(..from);
        self.gone = end.saturating_sub(from);
        clean
    }
}

/// Holds all streams of an answer back: its words, its thoughts, and the arguments of each call.
pub struct Screened<'a> {
    screen: &'a dyn Screen,
    on_piece: &'a mut dyn FnMut(Piece) -> Flow,
    text: Holdback<'a>,
    thinking: Holdback<'a>,
    calls: BTreeMap<String, Holdback<'a>>,
}

impl<'a> Screened<'a> {
    /// Hands on to `on_piece` what `screen` lets go.
    pub fn new(screen: &'a dyn Screen, on_piece: &'a mut dyn FnMut(Piece) -> Flow) -> Self {
        let (text, thinking) = (Holdback::new(screen), Holdback::new(screen));
        Self { screen, on_piece, text, thinking, calls: BTreeMap::new() }
    }

    /// Takes a piece.
    pub fn piece(&mut self, piece: Piece) -> Flow {
        match piece {
            Piece::Text(text) => {
                let text = self.text.push(&text);
                self.hand(Piece::Text(text))
            }
            Piece::Thinking(text) => {
                let text = self.thinking.push(&text);
                self.hand(Piece::Thinking(text))
            }
            Piece::ToolStart { id, name } => {
                // A call ends the words before it: what stands in two blocks is not read as one.
                let flow = self.flush_words();
                if flow == Flow::Stop || self.calls.len() >= CALLS_MAX {
                    return flow;
                }
                let whole = |text: &str| self.screen.clean(text, 0..text.len());
                let shown = Piece::ToolStart { id: id.clone(), name: whole(&name) };
                self.calls.insert(id, Holdback::new(self.screen));
                self.hand(shown)
            }
            Piece::ToolInput { id, partial_json } => {
                let Some(held) = self.calls.get_mut(&id) else { return Flow::Continue };
                let partial_json = held.push(&partial_json);
                self.hand(Piece::ToolInput { id, partial_json })
            }
        }
    }

    /// The answer has ended: hands on the rest.
    pub fn finish(mut self) -> Flow {
        let mut flow = self.flush_words();
        for (id, mut held) in std::mem::take(&mut self.calls) {
            if flow == Flow::Continue {
                flow = self.hand(Piece::ToolInput { id, partial_json: held.finish() });
            }
        }
        flow
    }

    fn flush_words(&mut self) -> Flow {
        let (thinking, text) = (self.thinking.finish(), self.text.finish());
        match self.hand(Piece::Thinking(thinking)) {
            Flow::Continue => self.hand(Piece::Text(text)),
            Flow::Stop => Flow::Stop,
        }
    }

    fn hand(&mut self, piece: Piece) -> Flow {
        let is_empty = match &piece {
            Piece::Text(text) | Piece::Thinking(text) => text.is_empty(),
            Piece::ToolInput { partial_json, .. } => partial_json.is_empty(),
            Piece::ToolStart { .. } => false,
        };
        if is_empty { Flow::Continue } else { (self.on_piece)(piece) }
    }
}
