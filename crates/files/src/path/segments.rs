//! Names that are made of input, for the host's own files (seed 000, SC-SEC-004).

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::between::{assert_within_base, followed};
use super::refused::{PathRefused, Rule};
use super::relative::{NAME_BYTES_MAX, PATH_BYTES_MAX};

/// Segments that one path is made of at most.
pub const SEGMENTS_MAX: usize = 128;

/// What stands for a segment of which nothing is left.
const EMPTY_NAME: &str = "_empty_";
/// Devices of Windows, with any ending and on every disk.
const DEVICES: &[&str] = &["aux", "con", "nul", "prn", "conin$", "conout$", "clock$"];
/// The same with a digit after them.
const NUMBERED_DEVICES: &[&str] = &["com", "lpt"];

/// A path in `base` from untrusted segments, each cleaned until it is one plain name: separators,
/// `..` and colons become `_`, null bytes go, dots and blanks at the edges go, and what is too long is cut.
///
/// Two segments may become the same name, as it is specified. Whoever must tell them apart uses
/// [`segment`], which changes nothing.
///
/// # Errors
/// If a segment is a device on some systems, or there are too many of them, or too long ones together.
#[expect(clippy::disallowed_methods, reason = "the one place where a path is made of segments")]
pub fn safe_path<S: AsRef<str>>(base: &Path, segments: &[S]) -> Result<PathBuf, PathRefused> {
    if segments.len() > SEGMENTS_MAX {
        let reason =
            format!("a path has at most {SEGMENTS_MAX} segments, this has {}", segments.len());
        return Err(PathRefused::new(Rule::Deep, reason));
    }
    let base = followed(base);
    let mut path = base.clone();
    for segment in segments {
        let name = cleaned(segment.as_ref());
        not_a_device(&name)?;
        path.push(name);
    }
    if path.as_os_str().len() > PATH_BYTES_MAX {
        return Err(PathRefused::new(
            Rule::Long,
            format!("a path has at most {PATH_BYTES_MAX} bytes"),
        ));
    }
    // By now it cannot be otherwise; this is what everything above is for.
    assert_within_base(&base, &path)
}

/// A name as it stands, if [`safe_path`] would take it unchanged: no two inputs become one name.
///
/// # Errors
/// If it would have to be changed.
pub fn segment(text: &str) -> Result<&str, PathRefused> {
    let shown = || shown(text);
    if text.is_empty() {
        return Err(PathRefused::new(Rule::Empty, "a name cannot be empty"));
    }
    if text.len() > NAME_BYTES_MAX {
        return Err(PathRefused::new(
            Rule::Long,
            format!("a name has at most {NAME_BYTES_MAX} bytes"),
        ));
    }
    not_a_device(text)?;
    let is_plain = cleaned(text) == text && !text.chars().any(char::is_control);
    if is_plain {
        Ok(text)
    } else {
        Err(PathRefused::new(Rule::Segment, format!("`{}` is no plain name", shown())))
    }
}

/// As it is specified, in that order; only that the cut leaves whole characters and at most so many bytes
/// as a disk takes.
fn cleaned(segment: &str) -> String {
    let is_plain = !segment.contains(['/', '\\', '\0', ':']) && !segment.contains("..");
    let plain = if is_plain {
        Cow::Borrowed(segment)
    } else {
        let separated = segment.replace(['/', '\\'], "_").replace('\0', "");
        Cow::Owned(separated.replace("..", "_").replace(':', "_"))
    };
    let edges = |it: char| it.is_whitespace() || it == '.' || it == '\u{feff}';
    let name = plain.trim_matches(edges);
    let name = if name.is_empty() { EMPTY_NAME } else { name };
    name.get(..name.floor_char_boundary(NAME_BYTES_MAX)).unwrap_or(EMPTY_NAME).to_owned()
}

fn not_a_device(name: &str) -> Result<(), PathRefused> {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let numbered = NUMBERED_DEVICES.iter().any(|it| {
        let digit = stem.strip_prefix(it).and_then(|rest| {
            let mut rest = rest.chars();
            rest.next().filter(|_| rest.next().is_none())
        });
        digit.is_some_and(|it| "123456789¹²³".contains(it))
    });
    if numbered || DEVICES.contains(&stem.as_str()) {
        let reason = format!("`{}` is a device on some systems", shown(name));
        return Err(PathRefused::new(Rule::Device, reason));
    }
    Ok(())
}

/// As much of a name as an error repeats, in characters.
const SHOWN_CHARS_MAX: usize = 80;

pub(super) fn shown(text: &str) -> String {
    let mut shown: String =
        text.chars().take(SHOWN_CHARS_MAX).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_between_characters() {
        let path = safe_path(Path::new("/base"), &["é".repeat(255)]).unwrap();
        assert_eq!(path.file_name().unwrap().len(), 254);
    }

    #[test]
    fn strict_names_never_meet() {
        for good in ["a_b", "my-file", "notes.md", "a..b".trim_end_matches("..b"), "x@y", "ü"] {
            assert_eq!(segment(good), Ok(good));
        }
        for bad in [
            "", ".", "..", ".env", "a/b", "a\\b", "a:b", "a..b", "a ", "a.", "CON", "com1.txt",
            "a\nb",
        ] {
            assert!(segment(bad).is_err(), "{bad}");
        }
        assert!(segment(&"a".repeat(256)).is_err());
    }
}
