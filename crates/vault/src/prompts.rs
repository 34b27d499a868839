//! What a plugin of age may ask of the person: at their terminal, or not at all.

use age::secrecy::SecretString;

use crate::terminal::Terminal;

/// Asks at the terminal.
#[derive(Clone, Copy)]
pub(crate) struct Prompts;

impl age::Callbacks for Prompts {
    fn display_message(&self, message: &str) {
        if let Some(terminal) = Terminal::open() {
            terminal.say(&plain(message));
        }
    }

    fn confirm(&self, message: &str, yes: &str, no: Option<&str>) -> Option<bool> {
        let no = no.unwrap_or("cancel");
        let question = format!("{} [{}/{}]", plain(message), plain(yes), plain(no));
        let answer = Terminal::open()?.ask(&question).ok()?;
        Some(answer.trim().eq_ignore_ascii_case(yes))
    }

    fn request_public_string(&self, description: &str) -> Option<String> {
        Terminal::open()?.ask(&plain(description)).ok()
    }

    fn request_passphrase(&self, description: &str) -> Option<SecretString> {
        let typed = Terminal::open()?.ask_hidden(&plain(description)).ok()?;
        Some(SecretString::from(typed.as_str().to_owned()))
    }
}

/// Without what could act on a terminal.
fn plain(text: &str) -> String {
    aegx::verify::printable(text).to_string()
}
