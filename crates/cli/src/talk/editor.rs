//! A line that a person writes: what keys do to it. It knows no terminal.

use super::keys::Key;

/// Characters of one line; what comes then is not taken.
const LINE_CHARS_MAX: usize = 50_000;
/// Lines that are remembered.
const REMEMBERED_MAX: usize = 200;

/// A line, and those before it.
#[derive(Debug, Default)]
pub(super) struct Editor {
    line: Vec<char>,
    at: usize,
    earlier: Vec<String>,
    shown: usize,
}

/// What a key came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Edited {
    /// The line goes on.
    Goes,
    /// It is written.
    Written(String),
    /// It is given up.
    GivenUp,
    /// Nothing comes any more.
    Over,
}

impl Editor {
    /// The line, and where in it the next letter goes, in characters.
    pub(super) fn seen(&self) -> (String, usize) {
        (self.line.iter().collect(), self.at)
    }

    /// Does what the key says.
    pub(super) fn press(&mut self, key: Key) -> Edited {
        match key {
            Key::Char(it) if self.line.len() < LINE_CHARS_MAX => {
                self.line.insert(self.at.min(self.line.len()), it);
                self.at += 1;
            }
            Key::Char(_) => {}
            Key::Enter => return Edited::Written(self.written()),
            Key::Backspace if self.at > 0 => {
                self.at -= 1;
                self.line.remove(self.at);
            }
            Key::Delete if self.at < self.line.len() => drop(self.line.remove(self.at)),
            Key::Backspace | Key::Delete => {}
            Key::Left => self.at = self.at.saturating_sub(1),
            Key::Right => self.at = self.line.len().min(self.at + 1),
            Key::Home => self.at = 0,
            Key::End => self.at = self.line.len(),
            Key::Up => self.recall(self.shown.saturating_sub(1)),
            Key::Down => self.recall(self.earlier.len().min(self.shown + 1)),
            Key::Clear => drop(self.line.drain(..std::mem::take(&mut self.at))),
            Key::Word => self.cut_word(),
            Key::Interrupt => {
                self.line.clear();
                self.at = 0;
                return Edited::GivenUp;
            }
            Key::EndOfInput if self.line.is_empty() => return Edited::Over,
            Key::EndOfInput => {}
        }
        Edited::Goes
    }

    fn written(&mut self) -> String {
        let line: String = std::mem::take(&mut self.line).into_iter().collect();
        self.at = 0;
        if !line.trim().is_empty() && self.earlier.last() != Some(&line) {
            self.earlier.push(line.clone());
            let many = self.earlier.len().saturating_sub(REMEMBERED_MAX);
            self.earlier.drain(..many);
        }
        self.shown = self.earlier.len();
        line
    }

    fn recall(&mut self, which: usize) {
        self.shown = which;
        self.line = self.earlier.get(which).map(|it| it.chars().collect()).unwrap_or_default();
        self.at = self.line.len();
    }

    fn cut_word(&mut self) {
        let before = self.line.iter().take(self.at).copied().collect::<Vec<_>>();
        let trimmed = before.iter().rposition(|it| !it.is_whitespace()).map_or(0, |it| it + 1);
        let kept = before.iter().take(trimmed).rposition(|it| it.is_whitespace());
        let kept = kept.map_or(0, |it| it + 1);
        self.line.drain(kept..self.at);
        self.at = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(editor: &mut Editor, text: &str) {
        text.chars().for_each(|it| assert_eq!(editor.press(Key::Char(it)), Edited::Goes));
    }

    #[test]
    fn letters_go_where_the_cursor_is_and_lines_come_back() {
        let mut editor = Editor::default();
        typed(&mut editor, "held");
        editor.press(Key::Left);
        typed(&mut editor, "lo wor");
        editor.press(Key::Home);
        editor.press(Key::Delete);
        typed(&mut editor, "H");
        assert_eq!(editor.press(Key::Enter), Edited::Written("Hello word".to_owned()));
        typed(&mut editor, "second one");
        editor.press(Key::Word);
        assert_eq!(editor.seen(), ("second ".to_owned(), 7));
        editor.press(Key::Up);
        assert_eq!(editor.seen().0, "Hello word");
        editor.press(Key::Down);
        assert_eq!(editor.seen().0, "");
        assert_eq!(editor.press(Key::EndOfInput), Edited::Over);
        typed(&mut editor, "x");
        assert_eq!(editor.press(Key::EndOfInput), Edited::Goes);
        assert_eq!(editor.press(Key::Interrupt), Edited::GivenUp);
    }

    #[test]
    fn no_key_is_out_of_place() {
        let keys = [
            Key::Backspace,
            Key::Delete,
            Key::Left,
            Key::Right,
            Key::Up,
            Key::Down,
            Key::Word,
            Key::Clear,
        ];
        let mut editor = Editor::default();
        for key in keys.into_iter().cycle().take(64) {
            assert_eq!(editor.press(key), Edited::Goes);
            typed(&mut editor, "a b");
        }
    }
}
