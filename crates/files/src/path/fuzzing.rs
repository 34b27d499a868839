//! What the fuzz target and the property tests assert. Not part of the API.

use std::path::{Component, Path};

use super::{RULES, Relative, Rule, assert_within_base, safe_path, segment};

/// A path: refused by a rule that there is, or below its base in every way to read it; and segments
/// made of the same text are below it, too.
///
/// # Panics
/// If that does not hold.
#[must_use]
pub fn path(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let base = Path::new("/base");
    let segments: Vec<&str> = text.split('\n').collect();
    match safe_path(base, &segments) {
        Ok(made) => {
            assert!(is_plainly_below(base, &made), "{made:?}");
            assert_eq!(assert_within_base(base, &made).as_deref(), Ok(made.as_path()));
        }
        Err(refused) => check_rule(refused.rule),
    }
    if let Ok(name) = segment(text) {
        assert_eq!(safe_path(base, &[name]), Ok(base.join(name)), "it was changed after all");
    }
    match Relative::parse(text) {
        Ok(path) => {
            let whole = path.under(base);
            assert!(is_plainly_below(base, &whole), "{whole:?}");
            let again = Relative::parse(&path.to_string());
            assert_eq!(again.as_ref(), Ok(&path), "its own text is read in another way");
            true
        }
        Err(refused) => {
            check_rule(refused.rule);
            false
        }
    }
}

fn is_plainly_below(base: &Path, path: &Path) -> bool {
    let plain = |it: Component<'_>| matches!(it, Component::Normal(_) | Component::RootDir);
    path.starts_with(base) && path.components().all(plain) && !path.to_string_lossy().contains('\0')
}

fn check_rule(rule: Rule) {
    assert!(RULES.iter().any(|it| it.0 == rule), "{rule} is in no table");
}
