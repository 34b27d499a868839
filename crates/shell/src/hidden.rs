//! What a person does not see in a command: invisible and control characters, escapes, prompts.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::marks;
use crate::syntax::ansi_c;

/// A command without what nobody sees.
pub(super) struct Cleaned {
    pub(super) text: String,
    /// The same with its control characters, if it has any.
    pub(super) raw: Option<String>,
    /// What was hidden, if it is worth a question.
    pub(super) reason: Option<&'static str>,
}

pub(super) fn cleaned(command: &str) -> Cleaned {
    let command = command.trim();
    let command = without_prompt(command);
    let forged = marks::without_forged(command);
    let text = forged.as_deref().unwrap_or(command);
    let mut reason = forged.as_ref().map(|_| "it has characters of a private-use area");
    if text.is_ascii() && !text.bytes().any(is_control) {
        return Cleaned { text: text.to_owned(), raw: None, reason };
    }
    let mut cleaned = String::with_capacity(text.len());
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        // Part of an emoji, or of a script that needs it.
        let joins = matches!(letter, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
        let belongs = joins && !before.is_ascii();
        let ascii_control = u8::try_from(letter).is_ok_and(is_control);
        before = letter;
        if ascii_control || scan::is_invisible(letter) {
            // The sign that colours begin with, as a pattern: no terminal takes what follows for a colour.
            let is_pattern = letter == '\u{1b}' && letters.peek() == Some(&'\\');
            if !belongs && !is_pattern {
                reason = Some("it has characters that nobody sees");
            }
            continue;
        }
        cleaned.push(letter);
    }
    let raw = text.bytes().any(is_control).then(|| text.to_owned());
    Cleaned { text: cleaned, raw, reason }
}

fn is_control(byte: u8) -> bool {
    byte.is_ascii_control() && !matches!(byte, b'\n' | b'\t' | b'\r')
}

/// Commands are pasted with the prompt before them: `$ ls`, `user@host$ ls`.
fn without_prompt(command: &str) -> &str {
    let Some((first, rest)) = command.split_once(' ') else { return command };
    let is_prompt = first == "$"
        || (first.contains('@')
            && first.ends_with(['$', '#', '%'])
            && !first.contains(['=', '/', '"']));
    if is_prompt { rest.trim_start() } else { command }
}

/// The command with `\x72`, `\162`, `\u0072` and `\u{72}` decoded, if it has any outside of quotes:
/// the shell does not decode them there, but who reads over them does.
pub(super) fn unescaped(text: &str) -> Option<String> {
    // Nearly every text has none.
    let begins = |it: &[u8]| matches!(it, [b'\\', b'x' | b'u' | b'U' | b'0'..=b'7']);
    if !text.as_bytes().windows(2).any(begins) || text.contains("$'") {
        return None;
    }
    let shown = |it: &Captures<'_>| match (it.get(1), it.get(0)) {
        (Some(escape), _) => ansi_c(escape.as_str()),
        (None, whole) => whole.map_or_else(String::new, |it| it.as_str().to_owned()),
    };
    let decoded = ESCAPES.as_ref()?.replace_all(text, shown);
    (decoded != text && !decoded.contains('\0')).then(|| decoded.into_owned())
}

/// What is quoted or escaped, and apart from that (the first group) what only looks like an escape of the shell.
static ESCAPES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let quoted = r#"'[^']*'|"(?:\\.|[^"\\])*""#;
    let escaped =
        r"x[[:xdigit:]]{1,2}|[uU]\{[^}]*\}|u[[:xdigit:]]{1,4}|U[[:xdigit:]]{1,8}|[0-7]{2,3}";
    Regex::new(&format!(r"(?s){quoted}|(\\(?:{escaped}))|\\.")).ok()
});

/// More keys than this can spell something.
const KEYS_MAX: usize = 3;

/// Keys to press, as manuals write them: `<Esc>`, `<Ctrl b><d>`. No shell runs any of it, since what
/// stands at its end wants a target.
pub(super) fn are_keys(text: &str) -> bool {
    let mut rest = text.trim();
    let mut keys = 0;
    while let Some((key, behind)) = rest.strip_prefix('<').and_then(|it| it.split_once('>')) {
        let is_name = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric());
        // No dash: to zsh `<->` is every file whose name is a number.
        let is_sign = |it: &str| it.len() == 1 && it.bytes().all(|it| b"?~.:]+/,=%".contains(&it));
        if !key.split(' ').all(|it| is_name(it) || is_sign(it)) {
            return false;
        }
        keys += 1;
        rest = behind;
    }
    rest.is_empty() && (1..=KEYS_MAX).contains(&keys)
}
