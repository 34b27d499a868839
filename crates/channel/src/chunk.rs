//! A text in pieces that a messenger takes.

/// Characters of one piece.
pub const CHUNK_CHARS_MAX: usize = 4000;
/// Pieces of one text; what is longer is cut, and says so.
const CHUNKS_MAX: usize = 20;
/// What stands at the end of a text that was cut.
const CUT: &str = "\n[…]";

/// The pieces of a text of at most so many characters, cut at the end of a line or between words where there is one in
/// their last quarter. A text of blanks has none.
#[must_use]
pub fn chunks_of(text: &str, chars_max: usize) -> Vec<String> {
    let mut rest = text.trim();
    let mut all = Vec::new();
    while !rest.is_empty() && all.len() < CHUNKS_MAX {
        let (piece, next) = split(rest, chars_max);
        all.push(piece.trim_end().to_owned());
        rest = next.trim_start();
    }
    if let (false, Some(last)) = (rest.is_empty(), all.last_mut()) {
        let kept = chars_max.saturating_sub(CUT.chars().count());
        *last = last.chars().take(kept).collect();
        last.push_str(CUT);
    }
    all
}

/// The counting is that of UTF-16, as messengers count: a character has one or two.
fn split(text: &str, chars_max: usize) -> (&str, &str) {
    let mut units = 0;
    let mut end = text.len();
    for (at, it) in text.char_indices() {
        units += it.len_utf16();
        if units > chars_max {
            end = at;
            break;
        }
    }
    let (whole, _) = text.split_at_checked(end).unwrap_or((text, ""));
    if end < text.len() {
        let late = |it: &usize| *it > whole.len() / 4 * 3;
        let at = whole.rfind('\n').filter(late).or_else(|| whole.rfind(' ').filter(late));
        end = at.unwrap_or(end);
    }
    text.split_at_checked(end).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks(text: &str) -> Vec<String> {
        chunks_of(text, CHUNK_CHARS_MAX)
    }

    #[test]
    fn nothing_is_lost_between_pieces_and_none_is_too_long() {
        let words = "word ".repeat(3000);
        let pieces = chunks(&words);
        assert!(pieces.len() > 3);
        assert_eq!(pieces.join(" "), words.trim());
        let wide = "😀".repeat(5000);
        for piece in chunks(&wide) {
            assert!(piece.encode_utf16().count() <= CHUNK_CHARS_MAX);
        }
        assert_eq!(chunks(&wide).concat(), wide);
        assert!(chunks(" \n ").is_empty());
        let endless = chunks(&"x".repeat(CHUNK_CHARS_MAX * 100));
        assert_eq!(endless.len(), CHUNKS_MAX);
        assert!(endless.last().unwrap().ends_with(CUT));
    }
}
