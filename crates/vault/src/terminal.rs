//! Asking a person for what must not be seen: from their terminal, without echo.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

/// The longest line that is typed, in bytes.
const LINE_BYTES_MAX: u64 = 64 << 10;

/// The person's terminal, wherever stdin and stdout lead.
pub struct Terminal {
    file: File,
}

impl Terminal {
    /// The terminal; none if nobody sits there.
    #[must_use]
    pub fn open() -> Option<Self> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
        tcgetattr(&file).is_ok().then_some(Self { file })
    }

    /// Says something.
    pub fn say(&self, text: &str) {
        // A terminal that has gone away is noticed when it is asked.
        let _ = writeln!(&self.file, "{text}");
    }

    /// Asks for a line that is not shown.
    ///
    /// # Errors
    /// What the system says, or that it was no text.
    pub fn ask_hidden(&self, question: &str) -> io::Result<Zeroizing<String>> {
        write!(&self.file, "{question}: ")?;
        let _quiet = Quiet::begin(&self.file)?;
        let line = self.line();
        // The line's own end was not shown either.
        let _ = writeln!(&self.file);
        line
    }

    /// Asks for a line.
    ///
    /// # Errors
    /// What the system says, or that it was no text.
    pub fn ask(&self, question: &str) -> io::Result<String> {
        write!(&self.file, "{question}: ")?;
        self.line().map(|it| it.as_str().to_owned())
    }

    fn line(&self) -> io::Result<Zeroizing<String>> {
        let mut line = Zeroizing::new(String::with_capacity(256));
        BufReader::new((&self.file).take(LINE_BYTES_MAX)).read_line(&mut line)?;
        let length = line.trim_end_matches(['\r', '\n']).len();
        line.truncate(length);
        Ok(line)
    }
}

/// While it lives, what is typed is not shown.
struct Quiet<'a> {
    file: &'a File,
    before: Termios,
}

impl<'a> Quiet<'a> {
    fn begin(file: &'a File) -> io::Result<Self> {
        let before = tcgetattr(file)?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        tcsetattr(file, OptionalActions::Flush, &quiet)?;
        Ok(Self { file, before })
    }
}

impl Drop for Quiet<'_> {
    fn drop(&mut self) {
        // Nobody is left to tell.
        let _ = tcsetattr(self.file, OptionalActions::Flush, &self.before);
    }
}
