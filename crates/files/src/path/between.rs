//! Does a path lie in a base? By its text alone: links are held back where files are opened.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::refused::{PathRefused, Rule};

/// A path that came from storage, with its `.` and `..` followed, if it lies in `base` or is it.
/// Relative ones are taken from the root, for there is no folder that all callers mean.
///
/// # Errors
/// If it is outside.
pub fn assert_within_base(base: &Path, path: &Path) -> Result<PathBuf, PathRefused> {
    let (base, path) = (followed(base), followed(path));
    if path.starts_with(&base) {
        return Ok(path);
    }
    let reason = format!("`{}` is outside base directory `{}`", path.display(), base.display());
    Err(PathRefused::new(Rule::Escape, reason))
}

/// A path that the operator chose, with its links followed, as it is at this moment. Not for a path that was
/// made of input: it may be another one by the time it is opened. That is what a [`Dir`](crate::Dir) is for.
///
/// # Errors
/// If it is not there.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place where the operator's own paths are resolved"
)]
pub fn resolved(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// An absolute path without `.` and `..`. Above the root is the root.
#[expect(clippy::disallowed_methods, reason = "a path is put together again of its own names")]
pub(super) fn followed(path: &Path) -> PathBuf {
    let mut whole = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => whole.push(name),
            Component::ParentDir => {
                whole.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inside_is_below_and_not_beside() {
        let within = |base: &str, path: &str| assert_within_base(Path::new(base), Path::new(path));
        assert_eq!(within("/base", "/base/foo").unwrap(), Path::new("/base/foo"));
        assert_eq!(within("/base", "/base").unwrap(), Path::new("/base"));
        assert_eq!(within("/", "/etc").unwrap(), Path::new("/etc"));
        assert_eq!(within("/base/", "/base/a/./../b").unwrap(), Path::new("/base/b"));
        for path in ["/etc/passwd", "/base-evil/x", "/base/../etc", "/", "base/../../x"] {
            let error = within("/base", path).unwrap_err();
            assert!(error.to_string().contains("is outside base directory"), "{error}");
        }
    }
}
