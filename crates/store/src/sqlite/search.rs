//! Words for the full-text index. A query is only ever words: nothing in it is syntax.

use aegx::Digest;
use unicode_normalization::UnicodeNormalization;

use crate::memory::QUERY_WORDS_MAX;

/// The one word that stands for a user's scope.
pub(super) fn place(user: &str, scope: &str) -> String {
    Digest::of_parts(&[user.as_bytes(), b"\0", scope.as_bytes()]).to_string()
}

/// Text as it is indexed. Scripts without spaces are cut into characters, of which a query then
/// makes phrases.
pub(super) fn indexed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.nfkc() {
        if is_unspaced(it) {
            out.extend([' ', it, ' ']);
        } else {
            // A null would end the text for the tokenizer.
            out.push(if it == '\0' { ' ' } else { it });
        }
    }
    out
}

/// The expression that finds rows of `place` with any of the words of `query`, or words that begin
/// with them. `None` if the query has no words.
pub(super) fn expression(place: &str, query: &str) -> Option<String> {
    let words: Vec<String> =
        query.split_whitespace().take(QUERY_WORDS_MAX).filter_map(phrase).collect();
    if words.is_empty() {
        return None;
    }
    Some(format!("place : \"{place}\" AND content : ({})", words.join(" OR ")))
}

/// One word as a quoted phrase, in which nothing has a meaning but the quote, which is doubled.
fn phrase(word: &str) -> Option<String> {
    let text = indexed(word).replace('"', "\"\"");
    text.contains(char::is_alphanumeric).then(|| format!("\"{}\"*", text.trim()))
}

/// Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar.
fn is_unspaced(it: char) -> bool {
    matches!(u32::from(it),
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x2_0000..=0x3_ffff)
}
