//! Text that streams is held back until it is known that it does not end in the middle of a secret.

use scan::secret;

/// Holds back the end of a text that is still being written.
#[derive(Default)]
pub(crate) struct Holdback {
    /// What was let go last, for secrets that are known by what stands before them.
    before: String,
    held: String,
}

/// How much of what was let go is looked at again, in bytes.
const BEFORE_BYTES: usize = 256;
/// How much is held back at most, in bytes: a private key of 8192 bits in letters.
const HELD_BYTES_MAX: usize = 8 << 10;

impl Holdback {
    /// Takes the next piece; gives what may leave, without secrets.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let end = self.safe_end();
        self.release(end)
    }

    /// Gives the rest, when nothing more comes.
    pub(crate) fn flush(&mut self) -> String {
        self.release(self.held.len())
    }

    /// Up to where nothing that comes can make it a part of a secret: between words, and not within a key block.
    fn safe_end(&self) -> usize {
        if self.held.len() > HELD_BYTES_MAX {
            return self.held.len();
        }
        let is_gap = |it: char| !it.is_ascii_graphic();
        let gap = self.held.char_indices().rev().find(|it| is_gap(it.1));
        let gap = gap.map_or(0, |(at, it)| at + it.len_utf8());
        // A block of a key is one secret with gaps in it.
        let block = self
            .held
            .rfind("-----BEGIN")
            .filter(|at| self.held.get(*at..).is_some_and(|it| !it.contains("-----END")));
        block.map_or(gap, |at| gap.min(at))
    }

    fn release(&mut self, end: usize) -> String {
        let whole = format!("{}{}", self.before, self.held);
        let from = self.before.len();
        let mut end = end;
        let found = secret::find(&whole);
        // A secret that has begun goes out with its end, or not at all.
        for it in &found {
            let (start, stop) = (it.start.saturating_sub(from), it.end.saturating_sub(from));
            if start < end && end < stop {
                end = start;
            }
        }
        if end == 0 {
            return String::new();
        }
        let inside = found.into_iter().filter(|it| it.end > from && it.end <= from + end);
        let inside: Vec<_> =
            inside.map(|it| secret::Secret { start: it.start.max(from), ..it }).collect();
        let upto = whole.get(..from + end).unwrap_or_default();
        let out = secret::redacted(upto, &inside);
        let out = out.get(from..).unwrap_or_default().to_owned();
        self.held = self.held.split_off(end);
        self.before = tail(upto, BEFORE_BYTES).to_owned();
        out
    }
}

/// Takes the secrets out of a whole text.
pub(crate) fn clean(text: &str) -> String {
    secret::redacted(text, &secret::find(text)).into_owned()
}

/// The last so many bytes of a text, or a few less.
fn tail(text: &str, bytes: usize) -> &str {
    let mut at = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(at) {
        at += 1;
    }
    text.get(at..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = concat!(
        "sk-ant-",
        "api03-",
        "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vWxYzA1bC3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vWxYzA1bC3dE5fG7hI9jK1lM2n-AAAAAA"
    );

    fn streamed(text: &str, piece_chars: usize) -> String {
        let (mut held, mut out) = (Holdback::default(), String::new());
        let letters: Vec<char> = text.chars().collect();
        for piece in letters.chunks(piece_chars) {
            out.push_str(&held.push(&piece.iter().collect::<String>()));
        }
        out.push_str(&held.flush());
        out
    }

    #[test]
    fn what_is_no_secret_leaves_as_it_came() {
        let text = "Grüße, 世界! A line\nand another, with a_long_word-of-code(x); done.";
        for piece in 1..20 {
            assert_eq!(streamed(text, piece), text, "{piece}");
        }
    }

    #[test]
    fn no_part_of_a_secret_leaves_however_it_is_cut() {
        let text = format!("the key is {KEY} and that is all");
        assert!(!secret::find(&text).is_empty());
        for piece in 1..60 {
            let out = streamed(&text, piece);
            assert!(!out.contains("aB3dE5fG7h"), "{piece}: {out}");
            assert!(
                out.starts_with("the key is [REDACTED") && out.ends_with("that is all"),
                "{out}"
            );
        }
    }

    #[test]
    fn a_key_block_is_one_secret() {
        let body = "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g";
        let name = concat!("PRIVATE", " KEY");
        let text = format!("-----BEGIN {name}-----\n{body}\n-----END {name}-----\nbye");
        for piece in [1, 7, 30] {
            let out = streamed(&text, piece);
            assert!(!out.contains("MC4CAQ"), "{out}");
            assert!(out.ends_with("bye"), "{out}");
        }
    }

    #[test]
    fn what_never_ends_is_not_held_for_ever() {
        let mut held = Holdback::default();
        let out: usize = (0..100).map(|_| held.push(&"x".repeat(1000)).len()).sum();
        assert!(out > 80_000, "{out}");
    }
}
