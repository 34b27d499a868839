//! A relative path as a file tool gets it: taken as it stands, or not at all.

use std::fmt;
use std::path::{Path, PathBuf};

use super::readings::{Decoded, ROUNDS_MAX, decoded, folded};
use super::refused::{PathRefused, Rule};
use super::segments::shown;

/// The longest path, in bytes.
pub const PATH_BYTES_MAX: usize = 4096;
/// The longest name, in bytes.
pub const NAME_BYTES_MAX: usize = 255;
/// Folders inside each other.
pub const DEPTH_MAX: usize = 128;

/// A path below some base: plain names with `/` between them, without `.` and `..`; empty for the base
/// itself. Whatever system reads it, and whatever it decodes before it does, it does not lead out.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Relative(String);

impl Relative {
    /// The base itself.
    #[must_use]
    pub fn base() -> Self {
        Self::default()
    }

    /// Takes a path that stays where it belongs, in each way to read it. `.` and `..` are followed by
    /// the text, which is exact, for links are followed nowhere.
    ///
    /// # Errors
    /// If it leads out as it stands, decoded once or several times, or with backslashes or look-alikes
    /// read as slashes and dots; or if it is no path that a disk should hold.
    pub fn parse(text: &str) -> Result<Self, PathRefused> {
        if text.is_empty() {
            return Err(PathRefused::new(
                Rule::Empty,
                "a path cannot be empty; `.` is the folder itself",
            ));
        }
        if text.len() > PATH_BYTES_MAX {
            let reason =
                format!("a path has at most {PATH_BYTES_MAX} bytes, this has {}", text.len());
            return Err(PathRefused::new(Rule::Long, reason));
        }
        no_bad_characters(text, text)?;
        other_readings(text)?;
        let path = names(text, text)?;
        // `./0x2fetc` stays where it is, and `0x2fetc`, which is what is left of it, may not.
        if path.0 != text {
            other_readings(&path.0)?;
        }
        Ok(path)
    }

    /// The path, with `/`; empty for the base itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its names.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|it| !it.is_empty())
    }

    /// The folder that it lies in, and its name; none for the base itself.
    #[must_use]
    pub fn split_last(&self) -> Option<(Self, &str)> {
        if self.0.is_empty() {
            return None;
        }
        let (folder, name) = self.0.rsplit_once('/').unwrap_or(("", &self.0));
        Some((Self(folder.to_owned()), name))
    }

    /// What has this name in it. The name is the disk's own and was not made of input.
    ///
    /// # Errors
    /// If there is no way to name it here.
    pub fn child(&self, name: &str) -> Result<Self, PathRefused> {
        let below = if self.0.is_empty() { name.to_owned() } else { format!("{}/{name}", self.0) };
        if name.is_empty() || name.contains('/') || name == "." || name == ".." {
            return Err(PathRefused::new(Rule::Escape, format!("`{}` is no name", shown(name))));
        }
        Self::parse(&below)
    }

    /// The same below `base`, as text. To open it, ask a [`Dir`](crate::Dir).
    #[must_use]
    pub fn under(&self, base: &Path) -> PathBuf {
        if self.0.is_empty() { base.to_owned() } else { base.join(&self.0) }
    }
}

impl fmt::Display for Relative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "." } else { &self.0 })
    }
}

/// In every way in which somebody may read it, it stays where it belongs.
fn other_readings(text: &str) -> Result<(), PathRefused> {
    stays(text, text)?;
    let mut reading = text.to_owned();
    for _ in 0..ROUNDS_MAX {
        reading = match decoded(&reading) {
            None => return Ok(()),
            Some(Decoded::Text(next)) => next,
            Some(Decoded::Bytes(seen)) => {
                stays(&seen, text)?;
                return Err(refused(Rule::Encoding, text, "is encoded, and not as text"));
            }
        };
        no_bad_characters(&reading, text)?;
        stays(&reading, text)?;
    }
    match decoded(&reading) {
        None => Ok(()),
        Some(_) => Err(refused(Rule::Encoding, text, "is encoded over and over")),
    }
}

/// With every look-alike read as what it looks like, it stays where it belongs.
fn stays(reading: &str, text: &str) -> Result<(), PathRefused> {
    let plain = folded(reading);
    if is_absolute(&plain) {
        return Err(refused(
            Rule::Absolute,
            text,
            "does not begin where it may; give a relative path",
        ));
    }
    if plain.contains("::$") || plain.to_ascii_lowercase().contains(":$data") {
        return Err(refused(Rule::Stream, text, "names a stream of a file"));
    }
    let followed = names(&plain, text)?;
    // `./~/x` is `~/x` to whoever follows the dot first.
    if is_absolute(followed.as_str()) {
        return Err(refused(
            Rule::Absolute,
            text,
            "does not begin where it may; give a relative path",
        ));
    }
    Ok(())
}

fn is_absolute(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    let home = first == "~" || (first.starts_with('~') && path.contains('/'));
    let drive = matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    let scheme = path.split_once("://").is_some_and(|(before, _)| {
        !before.is_empty()
            && before.chars().all(|it| it.is_ascii_alphanumeric() || "+-.".contains(it))
    });
    path.trim_start().starts_with('/') || home || drive || scheme
}

/// The names of a path, each with its `.` and `..` followed.
fn names(path: &str, text: &str) -> Result<Relative, PathRefused> {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                if names.pop().is_none() {
                    return Err(refused(Rule::Escape, text, "leads out of its base"));
                }
            }
            name if name.len() > NAME_BYTES_MAX => {
                let reason =
                    format!("a name has at most {NAME_BYTES_MAX} bytes, one has {}", name.len());
                return Err(PathRefused::new(Rule::Long, reason));
            }
            name if is_dots(name) => {
                return Err(refused(Rule::Dots, text, "has a name of nothing but dots and blanks"));
            }
            name => names.push(name),
        }
    }
    if names.len() > DEPTH_MAX {
        let reason = format!("a path has at most {DEPTH_MAX} names, this has {}", names.len());
        return Err(PathRefused::new(Rule::Deep, reason));
    }
    Ok(Relative(names.join("/")))
}

/// `.. `, ` .`: some systems drop blanks at the end. `...` is a name like any other today.
fn is_dots(name: &str) -> bool {
    name.contains(char::is_whitespace) && name.chars().all(|it| it == '.' || it.is_whitespace())
}

fn no_bad_characters(reading: &str, text: &str) -> Result<(), PathRefused> {
    let bad = |it: char| {
        it.is_control()
            || matches!(it, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
            || matches!(it, '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
            || matches!(it, '\u{fff9}'..='\u{fffd}' | '\u{e0000}'..='\u{e007f}')
    };
    match reading.chars().find(|it| bad(*it)) {
        Some(found) => {
            let what = format!("has the character `{}`", found.escape_unicode());
            Err(refused(Rule::Character, text, &what))
        }
        None => Ok(()),
    }
}

fn refused(rule: Rule, text: &str, what: &str) -> PathRefused {
    PathRefused::new(rule, format!("`{}` {what}", shown(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn honest_paths_are_taken_as_they_stand() {
        for path in [
            "a",
            "a b/c d.txt",
            "..md",
            "a...b",
            ".../x",
            ".env.example",
            "file%20name.txt",
            "résumé.pdf",
            "pages/osx/g[.md",
            "12:30.log",
            "100%",
            "0x41.bin",
            "~lock.docx#",
            "日本語/ファイル.txt",
            "aux.c",
        ] {
            assert_eq!(Relative::parse(path).unwrap().as_str(), path);
        }
        for (path, expected) in
            [("./a", "a"), ("a//b/", "a/b"), ("a/../b", "b"), (".", ""), ("a/..", "")]
        {
            assert_eq!(Relative::parse(path).unwrap().as_str(), expected);
        }
    }

    #[test]
    fn what_leads_out_is_refused_by_a_rule_that_there_is() {
        for (path, rule) in [
            ("", Rule::Empty),
            ("..", Rule::Escape),
            ("a/../../b", Rule::Escape),
            ("%2e%2e/x", Rule::Escape),
            ("%252e%252e%252fx", Rule::Escape),
            ("%25252e%25252e%25252fx", Rule::Escape),
            ("..\\x", Rule::Escape),
            ("..%5cx", Rule::Escape),
            ("%c0%ae%c0%ae/x", Rule::Escape),
            ("a/%c0%fe", Rule::Encoding),
            ("‥/x", Rule::Escape),
            ("．．／x", Rule::Escape),
            ("/etc/passwd", Rule::Absolute),
            ("%2fetc", Rule::Absolute),
            ("C:\\x", Rule::Absolute),
            ("c:x", Rule::Absolute),
            ("\\\\host\\share", Rule::Absolute),
            ("~/x", Rule::Absolute),
            ("./0x2fetc", Rule::Absolute),
            ("a/../%2fetc", Rule::Absolute),
            ("~root/x", Rule::Absolute),
            ("file:///etc/passwd", Rule::Absolute),
            ("a\0b", Rule::Character),
            ("a%00b", Rule::Character),
            ("a\nb", Rule::Character),
            ("a\u{202e}b", Rule::Character),
            ("a/. ./x", Rule::Dots),
            (".. /x", Rule::Dots),
            ("doc::$DATA", Rule::Stream),
            (".env:$DATA", Rule::Stream),
            ("a/%2525252525252e", Rule::Encoding),
        ] {
            let refused = Relative::parse(path).unwrap_err();
            assert_eq!(refused.rule, rule, "{path:?}: {refused}");
        }
        assert_eq!(Relative::parse(&"a".repeat(256)).unwrap_err().rule, Rule::Long);
        assert_eq!(Relative::parse(&"a/".repeat(2000)).unwrap_err().rule, Rule::Deep);
    }

    #[test]
    fn limits_hold_to_the_byte_and_to_the_name() {
        let name = "n".repeat(NAME_BYTES_MAX);
        assert_eq!(Relative::parse(&name).unwrap().as_str(), name);
        assert_eq!(Relative::parse(&format!("{name}n")).unwrap_err().rule, Rule::Long);
        assert_eq!(Relative::parse(&format!("a/{name}n/b")).unwrap_err().rule, Rule::Long);
        // Fifteen names of the longest kind, each with its slash, leave 256 bytes.
        let folders = format!("{name}/").repeat(15);
        let longest = format!("{folders}{}/{}", "m".repeat(127), "m".repeat(128));
        assert_eq!(longest.len(), PATH_BYTES_MAX);
        assert_eq!(Relative::parse(&longest).unwrap().as_str(), longest);
        assert_eq!(Relative::parse(&format!("{longest}m")).unwrap_err().rule, Rule::Long);
        let deepest = vec!["n"; DEPTH_MAX].join("/");
        assert_eq!(Relative::parse(&deepest).unwrap().names().count(), DEPTH_MAX);
        assert_eq!(Relative::parse(&format!("{deepest}/n")).unwrap_err().rule, Rule::Deep);
    }

    #[test]
    fn a_child_is_one_name_further() {
        let folder = Relative::parse("a/b").unwrap();
        assert_eq!(folder.child("c").unwrap().as_str(), "a/b/c");
        assert_eq!(Relative::base().child("c").unwrap().as_str(), "c");
        for bad in ["", ".", "..", "c/d"] {
            assert!(folder.child(bad).is_err());
        }
        assert_eq!(folder.split_last(), Some((Relative::parse("a").unwrap(), "b")));
        assert_eq!(Relative::base().split_last(), None);
        assert_eq!(Relative::base().to_string(), ".");
    }
}
