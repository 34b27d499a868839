//! Which names an entry may have.

use super::{ArchiveError, NAME_BYTES_MAX};

/// The name as text.
pub(super) fn decode(raw: &[u8]) -> Result<&str, ArchiveError> {
    if raw.len() > NAME_BYTES_MAX {
        return Err(ArchiveError::NameTooLong { bytes: raw.len(), limit: NAME_BYTES_MAX });
    }
    match std::str::from_utf8(raw) {
        Ok(name) if !name.contains(char::REPLACEMENT_CHARACTER) => Ok(name),
        Ok(_) | Err(_) => {
            Err(ArchiveError::NameEncoding { name: String::from_utf8_lossy(raw).into_owned() })
        }
    }
}

/// What upstream checks, in its order.
pub(super) fn check(name: &str) -> Result<(), ArchiveError> {
    if name.is_empty() {
        return Err(ArchiveError::NameEmpty);
    }
    if name.starts_with(['/', '\\']) || name.as_bytes().get(1) == Some(&b':') {
        return Err(ArchiveError::AbsoluteName { name: name.to_owned() });
    }
    if name.split(['/', '\\']).any(|component| component == "..") {
        return Err(ArchiveError::PathTraversal { name: name.to_owned() });
    }
    if name.contains('\0') {
        return Err(ArchiveError::NameNul { name: name.to_owned() });
    }
    Ok(())
}

/// What [`check`] lets through but two file systems would read in two ways.
pub(super) fn check_strict(name: &str) -> Result<(), ArchiveError> {
    let refuse = |variant: fn(String) -> ArchiveError| Err(variant(name.to_owned()));

    if name.contains(char::is_control) {
        return refuse(|name| ArchiveError::NameControl { name });
    }
    if name.contains('\\') {
        return refuse(|name| ArchiveError::NameBackslash { name });
    }
    // Opens a stream of another file on Windows.
    if name.contains(':') {
        return refuse(|name| ArchiveError::NameColon { name });
    }
    for component in name.strip_suffix('/').unwrap_or(name).split('/') {
        if component.is_empty() {
            return refuse(|name| ArchiveError::NameEmptyComponent { name });
        }
        if component == "." {
            return refuse(|name| ArchiveError::NameDot { name });
        }
        if component.ends_with([' ', '.']) {
            return refuse(|name| ArchiveError::NameTrailing { name });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_leave_the_directory_are_refused() {
        for (name, code) in [
            ("", "zip_name_empty"),
            ("/etc/passwd", "zip_absolute_name"),
            ("\\etc", "zip_absolute_name"),
            ("c:x", "zip_absolute_name"),
            ("..", "zip_path_traversal"),
            ("a/../b", "zip_path_traversal"),
            ("a\\..\\b", "zip_path_traversal"),
            ("a\0", "zip_name_nul"),
        ] {
            assert_eq!(check(name).unwrap_err().code(), code, "{name:?}");
        }
        check("..a/b../...x").unwrap();
    }

    #[test]
    fn ambiguous_names_are_refused() {
        for (name, code) in [
            ("a\nb", "zip_name_control"),
            ("a\u{9b}b", "zip_name_control"),
            ("a\\b", "zip_name_backslash"),
            ("ab:c", "zip_name_colon"),
            ("a//b", "zip_name_empty_component"),
            ("a//", "zip_name_empty_component"),
            ("./a", "zip_name_dot"),
            ("a/.", "zip_name_dot"),
            ("a./b", "zip_name_trailing"),
            ("a ", "zip_name_trailing"),
            ("a /", "zip_name_trailing"),
        ] {
            assert_eq!(check_strict(name).unwrap_err().code(), code, "{name:?}");
        }
        for name in ["blobs/", "blobs/.keep", "a b", "ä/ö.txt"] {
            check_strict(name).unwrap();
        }
    }
}
