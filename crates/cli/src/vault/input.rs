//! What is typed or piped in: values and passphrases, wiped after use.

use std::io::{self, IsTerminal, Read};

use vault::{SECRET_BYTES_MAX, Terminal};
use zeroize::Zeroizing;

/// A passphrase and a value, at the most, in bytes.
const STDIN_BYTES_MAX: u64 = SECRET_BYTES_MAX as u64 + 8192;

/// Stdin, read once, or the person's terminal.
#[derive(Default)]
pub(super) struct Input {
    piped: Option<Zeroizing<String>>,
}

impl Input {
    /// The first line of stdin.
    pub(super) fn line(&mut self) -> io::Result<Zeroizing<String>> {
        let all = self.piped()?;
        let (line, rest) = match all.split_once('\n') {
            Some((line, rest)) => (line.trim_end_matches('\r'), rest),
            None => (all.as_str(), ""),
        };
        let (line, rest) = (line.to_owned(), Zeroizing::new(rest.to_owned()));
        self.piped = Some(rest);
        Ok(Zeroizing::new(line))
    }

    /// Something that is not shown: typed, or all that is left of stdin but for its last line's end.
    pub(super) fn hidden(&mut self, question: &str) -> io::Result<Zeroizing<String>> {
        if self.piped.is_none() && io::stdin().is_terminal() {
            return terminal()?.ask_hidden(question);
        }
        let mut all = self.piped()?;
        let length = all.strip_suffix('\n').map_or(all.len(), |it| it.trim_end_matches('\r').len());
        all.truncate(length);
        Ok(all)
    }

    /// The same, typed twice where it is typed.
    pub(super) fn new_hidden(&mut self, question: &str) -> io::Result<Zeroizing<String>> {
        let typed = self.piped.is_none() && io::stdin().is_terminal();
        let first = self.hidden(question)?;
        if typed && *terminal()?.ask_hidden("once more")? != *first {
            return Err(io::Error::other("the two are not the same; nothing was changed"));
        }
        Ok(first)
    }

    fn piped(&mut self) -> io::Result<Zeroizing<String>> {
        if let Some(rest) = self.piped.take() {
            return Ok(rest);
        }
        // Large enough that it never moves and leaves no copy behind.
        let mut text = Zeroizing::new(String::with_capacity(SECRET_BYTES_MAX * 2));
        io::stdin().take(STDIN_BYTES_MAX).read_to_string(&mut text)?;
        Ok(text)
    }
}

fn terminal() -> io::Result<Terminal> {
    Terminal::open().ok_or_else(|| io::Error::other("there is no terminal to ask at"))
}
