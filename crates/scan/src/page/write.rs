//! Writes text in a form like Markdown: blanks come together, breaks are kept until something follows.

use super::dropped::Report;
use super::is_unseen;

/// What separates what was written from what comes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    #[default]
    None,
    Space,
    Line,
    Paragraph,
}

/// Stands at the beginning of lines: once in a special form, then in the other.
#[derive(Debug)]
struct Prefix {
    first: Option<String>,
    rest: &'static str,
}

/// The text so far.
#[derive(Debug, Default)]
pub(super) struct Writer {
    out: String,
    gap: Gap,
    prefixes: Vec<Prefix>,
    /// Brackets and quotes that are open, with the place behind them once they are written.
    marks: Vec<(&'static str, Option<usize>)>,
    /// How many of the last marks are not written yet.
    unplaced: usize,
    /// Ends of table cells that nothing followed yet.
    cells: usize,
    /// In headings and cells a break is a blank.
    pub(super) flat: usize,
    pub(super) preformatted: usize,
    pub(super) cut: bool,
    /// Ends of lines in preformatted text that nothing followed yet.
    lines: usize,
    behind_unseen: bool,
}

impl Writer {
    pub(super) fn gap(&mut self, gap: Gap) {
        let gap = if self.flat > 0 && gap > Gap::Space { Gap::Space } else { gap };
        self.gap = self.gap.max(gap);
    }

    /// Text as the page has it. What cannot be seen is left out and counted.
    pub(super) fn text(&mut self, text: &str, report: &mut Report) {
        for one in text.chars() {
            if self.preformatted > 0 && one == '\n' && self.flat == 0 {
                self.lines += 1;
            } else if one.is_whitespace() && (self.preformatted == 0 || one == '\n') {
                self.gap(Gap::Space);
            } else if is_unseen(one) {
                report.character(one, self.behind_unseen);
                self.behind_unseen = true;
                continue;
            } else {
                self.push(one);
            }
            self.behind_unseen = false;
        }
    }

    /// Opens a bracket or quote, which is written only if something follows in it.
    pub(super) fn open(&mut self, mark: &'static str) {
        self.marks.push((mark, None));
        self.unplaced += 1;
    }

    /// Closes the last one with what `mark` makes of the text inside, if there is any.
    pub(super) fn close(&mut self, mark: impl FnOnce(&str) -> String) {
        let Some((_, place)) = self.marks.pop() else { return };
        let Some(place) = place else {
            self.unplaced = self.unplaced.saturating_sub(1);
            return;
        };
        let end = mark(self.out.get(place..).unwrap_or_default());
        if !self.full() {
            self.out.push_str(&end);
        }
    }

    pub(super) fn push_prefix(&mut self, first: Option<String>, rest: &'static str) {
        let deep = self.prefixes.len() >= PREFIXES_MAX;
        let (first, rest) = if deep { (None, "") } else { (first, rest) };
        self.prefixes.push(Prefix { first, rest });
    }

    pub(super) fn pop_prefix(&mut self) {
        self.prefixes.pop();
    }

    pub(super) fn next_cell(&mut self) {
        self.cells += 1;
    }

    pub(super) fn end_row(&mut self) {
        self.cells = 0;
    }

    /// A line of its own, such as the fence of a block of code.
    pub(super) fn line(&mut self, text: &str) {
        self.lines = 0;
        self.gap(Gap::Line);
        text.chars().for_each(|it| self.push(it));
        self.gap(Gap::Line);
    }

    pub(super) fn finish(self) -> String {
        let mut out = self.out;
        out.truncate(out.trim_end().len());
        out
    }

    fn full(&mut self) -> bool {
        self.cut |= self.out.len() >= super::TEXT_BYTES_MAX;
        self.cut
    }

    fn push(&mut self, one: char) {
        if self.full() {
            return;
        }
        self.flush();
        self.out.push(one);
    }

    fn flush(&mut self) {
        let gap = std::mem::take(&mut self.gap);
        let lines = std::mem::take(&mut self.lines);
        let begins = self.out.is_empty();
        if begins || gap > Gap::Space {
            self.out.truncate(self.out.trim_end_matches(' ').len());
            self.out.push_str(match gap {
                _ if begins => "",
                Gap::Paragraph => "\n\n",
                Gap::Line | Gap::Space | Gap::None => "\n",
            });
            self.begin_line();
        }
        for _ in usize::from(gap > Gap::Space || begins)..lines.min(LINES_MAX) {
            self.out.push('\n');
            self.begin_line();
        }
        let cells = std::mem::take(&mut self.cells);
        for _ in 0..cells.min(CELLS_MAX) {
            self.out.push_str(if self.out.ends_with([' ', '\n']) { "| " } else { " | " });
        }
        if gap == Gap::Space && !begins && !self.out.ends_with([' ', '\n']) {
            self.out.push(' ');
        }
        let placed = self.marks.len().saturating_sub(std::mem::take(&mut self.unplaced));
        for mark in self.marks.iter_mut().skip(placed) {
            self.out.push_str(mark.0);
            mark.1 = Some(self.out.len());
        }
    }

    fn begin_line(&mut self) {
        for prefix in &mut self.prefixes {
            match prefix.first.take() {
                Some(first) => self.out.push_str(&first),
                None => self.out.push_str(prefix.rest),
            }
        }
    }
}

/// How deep quotes and lists are shown as such.
const PREFIXES_MAX: usize = 16;
/// Empty cells of a table in a row that are shown.
const CELLS_MAX: usize = 32;
/// Blank lines of preformatted text in a row that are shown.
const LINES_MAX: usize = 64;
