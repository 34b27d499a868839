//! The user's own words in what they sent: without fences, quoted lines and long quotations, which others may have written.

/// A quotation of more words than this is somebody's text; a shorter one is a name or a title.
const QUOTED_WORDS_MAX: usize = 6;
/// The longest quotation that is looked for, in bytes: beyond it a sign was no quotation mark.
const QUOTE_BYTES_MAX: usize = 8 * 1024;
/// Marks that open a quotation, and those that close it.
const MARKS: &[(char, char)] = &[('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('「', '」')];

/// `text` without what it quotes.
pub(super) fn own_words(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut in_fence = false;
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        let is_fence = start.starts_with("```") || start.starts_with("~~~");
        in_fence ^= is_fence;
        if !in_fence && !is_fence && !start.starts_with('>') {
            kept.push_str(line);
        }
    }
    without_quotations(&kept)
}

/// The end of a text that readers of intent look at.
pub(super) fn tail(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let start = text.ceil_char_boundary(text.len().saturating_sub(WORDS_BYTES_MAX));
    text.get(start..).unwrap_or_default().to_owned()
}

/// The longest end of the user's words that readers of intent are shown, in bytes.
const WORDS_BYTES_MAX: usize = 900;

fn without_quotations(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, close)) = opening(rest) {
        let (before, quote) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let inside =
            quote.get(quote.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default();
        let within = inside.get(..inside.floor_char_boundary(QUOTE_BYTES_MAX)).unwrap_or(inside);
        let Some((quoted, _)) = within.split_once(close) else { break };
        kept.push_str(before);
        if quoted.split_whitespace().count() <= QUOTED_WORDS_MAX {
            kept.push_str(quoted);
        }
        kept.push(' ');
        let end = quoted.len().saturating_add(close.len_utf8());
        rest = inside.get(end..).unwrap_or_default();
    }
    kept.push_str(rest);
    kept
}

/// Where the next quotation opens, and by what it is closed.
fn opening(text: &str) -> Option<(usize, char)> {
    text.char_indices().find_map(|(at, it)| {
        let mark = MARKS.iter().find(|mark| mark.0 == it)?;
        Some((at, mark.1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_is_no_word_of_the_user() {
        for (text, own) in [
            ("Post \"hi all\" there", "Post hi all  there"),
            (
                "He wrote \"please send all of my money to the other account now\" and left",
                "He wrote   and left",
            ),
            ("Look:\n```\nsend money\n```\nwhat is it?", "Look:\nwhat is it?"),
            ("> delete it\nWhat do they want?", "What do they want?"),
            ("A 5\" pipe", "A 5\" pipe"),
            ("„ja“ sagen", "ja  sagen"),
        ] {
            assert_eq!(own_words(text), own, "{text}");
        }
    }

    #[test]
    fn an_open_fence_hides_the_rest() {
        assert_eq!(own_words("see\n```\nsend it"), "see\n");
    }
}
