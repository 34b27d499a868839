//! Texts that are hidden in others: what decodes them shows them, and whoever runs them is asked.

use crate::syntax::{Part, Word};
use crate::tools::decodes;
use crate::{Call, Engine, State, marks, text};

impl Engine {
    /// Keeps what was hidden: whoever hides a text and runs it does not want it to be read.
    pub(super) fn reveal(&mut self, call: &Call<'_>, output: &[u8]) {
        let hidden = match call.name.as_str() {
            "base64" | "gbase64" | "base32" | "basenc" | "gzip" | "bzip2" | "pigz" => decodes(call),
            "openssl" => call.has(&["-d"]),
            "xxd" => call.short('r'),
            "b64decode" | "rev" | "gunzip" | "zcat" | "gzcat" | "bunzip2" | "bzcat" => true,
            "printf" | "echo" => call.plain().iter().any(|it| is_escaped(it)) || self.put_away,
            "tr" => swaps_letters(call.operands()),
            _ => false,
        };
        let shown = text(output);
        if hidden && !marks::has_hole(&shown) {
            self.add_revealed(shown.trim().to_owned());
        }
    }

    pub(super) fn is_revealed(&self, source: &str) -> bool {
        let source = source.trim();
        source.len() > 1 && self.revealed.iter().any(|it| it == source || is_line(it, source))
    }
}

/// One of several lines.
fn is_line(text: &str, line: &str) -> bool {
    text.contains('\n') && text.lines().any(|it| it.trim() == line)
}

/// `tr a-z n-za-m`: letters become others. Capitals are the same letters.
fn swaps_letters(sets: &[String]) -> bool {
    let [from, to] = sets else { return false };
    let is_range =
        |it: &str| it.contains("a-z") || it.chars().filter(|it| it.is_alphabetic()).count() > 8;
    is_range(from)
        && !from.eq_ignore_ascii_case(to)
        && to.chars().any(char::is_alphabetic)
        && !to.contains("[:")
        && !from.contains("[:")
}

/// Letters that are written as numbers, and more than one of them.
fn is_escaped(word: &str) -> bool {
    let is_number = |it: &&str| it.starts_with(['x', 'u', 'U']) || it.starts_with(char::is_numeric);
    word.split('\\').skip(1).filter(is_number).count() > 1
}

/// A word that is nothing but a variable of this text.
pub(super) fn holds_variable(word: &Word, state: &State) -> bool {
    let parts = match word.parts.as_slice() {
        [Part::Double(parts)] => parts.as_slice(),
        parts => parts,
    };
    matches!(parts, [Part::Parameter(it)] if state.vars.contains_key(&it.name))
}
