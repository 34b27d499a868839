//! What a person does not see in a command: invisible and control characters, escapes, prompts.

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
    for letter in text.chars() {
        // Part of an emoji, or of a script that needs it.
        let joins = matches!(letter, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
        let belongs = joins && !before.is_ascii();
        let ascii_control = u8::try_from(letter).is_ok_and(is_control);
        before = letter;
        if ascii_control || scan::is_invisible(letter) {
            if !belongs {
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
    if !text.contains('\\') || text.contains("$'") {
        return None;
    }
    let mut decoded = String::with_capacity(text.len());
    let mut found = false;
    let mut quote = None;
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let mut length = letter.len_utf8();
        if letter == '\\' && quote != Some('\'') {
            let is_escape = quote.is_none() && is_escape(rest);
            length = if is_escape { escape_length(rest) } else { 2 };
            while length < rest.len() && !rest.is_char_boundary(length) {
                length += 1;
            }
            let escape = rest.get(..length).unwrap_or(rest);
            found |= is_escape;
            decoded.push_str(&if is_escape { ansi_c(escape) } else { escape.to_owned() });
        } else {
            if quote == Some(letter) {
                quote = None;
            } else if quote.is_none() && matches!(letter, '\'' | '"') {
                quote = Some(letter);
            }
            decoded.push(letter);
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    (found && !decoded.contains('\0')).then_some(decoded)
}

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

fn is_escape(text: &str) -> bool {
    let byte = |at: usize| text.as_bytes().get(at).copied().unwrap_or(0);
    match byte(1) {
        b'x' => byte(2).is_ascii_hexdigit(),
        b'u' | b'U' => byte(2).is_ascii_hexdigit() || byte(2) == b'{',
        b'0'..=b'7' => byte(2).is_ascii_digit(),
        _ => false,
    }
}

/// How many bytes an escape has, with its backslash.
fn escape_length(text: &str) -> usize {
    let digits = |most: usize, is_digit: fn(&u8) -> bool| {
        text.bytes().skip(2).take(most).take_while(is_digit).count()
    };
    match text.as_bytes().get(1) {
        Some(b'x') => 2 + digits(2, u8::is_ascii_hexdigit),
        Some(b'u' | b'U') if text.as_bytes().get(2) == Some(&b'{') => {
            text.find('}').map_or(2, |it| it + 1)
        }
        Some(b'u') => 2 + digits(4, u8::is_ascii_hexdigit),
        Some(b'U') => 2 + digits(8, u8::is_ascii_hexdigit),
        _ => 2 + digits(2, |it| (b'0'..=b'7').contains(it)),
    }
}
