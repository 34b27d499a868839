//! A text without the characters that are not seen, and the way back to the original.

use std::borrow::Cow;

/// A text without characters that are not seen.
pub(crate) struct Shown<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Offset here, offset there.
    jumps: Vec<(usize, usize)>,
}

impl<'a> Shown<'a> {
    /// Takes invisible characters out of `text`.
    pub(crate) fn of(text: &'a str) -> Self {
        if text.is_ascii() || !text.chars().any(crate::is_invisible) {
            return Self { text: Cow::Borrowed(text), jumps: Vec::new() };
        }
        let (mut shown, mut jumps) = (String::with_capacity(text.len()), Vec::new());
        for (at, found) in text.char_indices() {
            if crate::is_invisible(found) {
                jumps.push((shown.len(), at + found.len_utf8()));
            } else {
                shown.push(found);
            }
        }
        // Of several jumps at one place the last one counts.
        jumps.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                earlier.1 = later.1;
            }
            same
        });
        Self { text: Cow::Owned(shown), jumps }
    }

    /// Returns the place in the original at which what stands here at `at` begins.
    pub(crate) fn original(&self, at: usize) -> usize {
        let jump = self.jumps.partition_point(|it| it.0 <= at).checked_sub(1);
        jump.and_then(|it| self.jumps.get(it)).map_or(at, |(here, there)| there + (at - here))
    }

    /// Returns the place in the original at which what ends here at `at` ends: what is not seen behind it stays outside.
    pub(crate) fn original_end(&self, at: usize) -> usize {
        let jump = self.jumps.partition_point(|it| it.0 < at).checked_sub(1);
        jump.and_then(|it| self.jumps.get(it)).map_or(at, |(here, there)| there + (at - here))
    }
}
