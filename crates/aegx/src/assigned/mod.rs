//! Code points that the pinned version of Unicode knows.
//!
//! Whether text is in normal form C depends on the version of Unicode: a code point that nobody
//! assigned yet may compose or move later. For text of code points that one version knows, every
//! later version gives the same normal form (Unicode's stability policy). So records hold no others,
//! and whatever tables a reader has, those of this version or later, it computes the same ids.
//!
//! A code point is known if its property `Age` is [`UNICODE_VERSION`] or less, which also holds for
//! private use and for noncharacters: they never change either.

mod table;

use std::borrow::Cow;

/// The pinned version. A later one needs a new version of the format.
pub const UNICODE_VERSION: &str = "16.0";
/// Stands for a code point that is not known.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;
/// Below this everything is known.
const ALL_KNOWN_BELOW: char = '\u{378}';

/// Finds the first code point that is not known.
#[must_use]
pub fn first_unknown(text: &str) -> Option<char> {
    if text.is_ascii() {
        return None;
    }
    text.chars().find(|it| !is_known(*it))
}

/// Replaces each code point that is not known by U+FFFD.
pub(crate) fn replace_unknown(text: &str) -> Cow<'_, str> {
    if first_unknown(text).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|it| if is_known(it) { it } else { REPLACEMENT }).collect())
}

fn is_known(char: char) -> bool {
    if char < ALL_KNOWN_BELOW {
        return true;
    }
    let code = u32::from(char);
    let ranges_up_to = table::KNOWN.partition_point(|(first, _)| *first <= code);
    let last_of_them = ranges_up_to.checked_sub(1).and_then(|at| table::KNOWN.get(at));
    last_of_them.is_some_and(|(_, last)| code <= *last)
}

#[cfg(test)]
mod tests {
    use unicode_normalization::UnicodeNormalization as _;

    use super::*;

    #[test]
    fn the_table_is_sorted_and_its_ranges_do_not_touch() {
        for pair in table::KNOWN.windows(2) {
            let [(first, last), (next, _)] = pair else { continue };
            assert!(first <= last && last + 1 < *next, "{first:x} {last:x} {next:x}");
        }
        let known = ('\0'..=char::MAX).filter(|it| is_known(*it)).count();
        // Characters, private use, controls, noncharacters of Unicode 16.0.
        assert_eq!(known, 154_998 + 137_468 + 65 + 66);
        assert!(!is_known(ALL_KNOWN_BELOW) && ('\0'..ALL_KNOWN_BELOW).all(is_known));
    }

    #[test]
    fn what_is_known_is_what_that_version_knows() {
        for known in ['a', 'é', '漢', '\u{1fae8}', '\u{105c9}', '\u{16d67}', '\u{e000}', '\u{fdd0}']
        {
            assert!(is_known(known), "{known:?}");
        }
        // U+1ACF came with 17.0; U+0378 has not come yet.
        for unknown in ['\u{378}', '\u{1acf}', '\u{2fff0}', '\u{e0080}'] {
            assert!(!is_known(unknown), "{unknown:?}");
        }
        assert_eq!(first_unknown("é\u{1acf}\u{378}"), Some('\u{1acf}'));
        assert_eq!(replace_unknown("é\u{1acf}!"), "é\u{fffd}!");
        assert!(matches!(replace_unknown("é"), Cow::Borrowed(_)));
    }

    #[test]
    fn normal_forms_of_what_is_known_hold_only_what_is_known() {
        for char in ('\0'..=char::MAX).filter(|it| is_known(*it)) {
            assert!(char.nfd().all(is_known) && char.nfc().all(is_known), "{char:?}");
        }
    }
}
