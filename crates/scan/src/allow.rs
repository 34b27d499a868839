//! Values that a person has said are fine: bound to a rule and to the hash of the value, so that a list gives nothing away
//! and lets nothing else pass.

use std::collections::HashSet;
use std::sync::Arc;

use data_encoding::HEXLOWER_PERMISSIVE;
use sha2::{Digest as _, Sha256};

/// A list of values that are allowed. Copies share it.
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    entries: Arc<HashSet<(String, [u8; 32])>>,
}

/// How many values a list has.
const ALLOWED_MAX: usize = 4096;

/// A line of a list that cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum AllowError {
    /// It is something else.
    #[error(
        "line {line} of the allowlist is not a rule and the SHA-256 of a value: write `RULE HEX`"
    )]
    Form {
        /// The line, from 1.
        line: usize,
    },
    /// There are too many.
    #[error("an allowlist has at most {ALLOWED_MAX} values")]
    TooMany,
}

impl Allowed {
    /// Reads a list: on each line the id of a rule and the SHA-256 of a value in hexadecimal digits; `#` begins a remark.
    ///
    /// # Errors
    ///
    /// Names the first line that is neither; or if there are too many.
    pub fn parse(text: &str) -> Result<Self, AllowError> {
        let mut all = HashSet::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let wrong = || AllowError::Form { line: index + 1 };
            let (rule, hash) = line.split_once(' ').ok_or_else(wrong)?;
            let hash = HEXLOWER_PERMISSIVE.decode(hash.trim().as_bytes()).ok();
            let hash = hash.and_then(|it| it.try_into().ok()).ok_or_else(wrong)?;
            all.insert((rule.to_owned(), hash));
            if all.len() > ALLOWED_MAX {
                return Err(AllowError::TooMany);
            }
        }
        Ok(Self { entries: Arc::new(all) })
    }

    /// Tells whether this value of this rule is allowed.
    #[must_use]
    pub fn permits(&self, rule: &str, value: &[u8]) -> bool {
        !self.entries.is_empty()
            && self.entries.contains(&(rule.to_owned(), Sha256::digest(value).into()))
    }

    /// Returns the line of a list that allows `value` for `rule`.
    #[must_use]
    pub fn line(rule: &str, value: &[u8]) -> String {
        format!("{rule} {}", HEXLOWER_PERMISSIVE.encode(&Sha256::digest(value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_allowed_for_its_rule_alone() {
        let list = format!("# ours\n{}\n", Allowed::line("email", b"info@example.org"));
        let allowed = Allowed::parse(&list).unwrap();
        assert!(allowed.permits("email", b"info@example.org"));
        assert!(!allowed.permits("email", b"info@example.com"));
        assert!(!allowed.permits("phone", b"info@example.org"));
        let wrong = |list: &str| Allowed::parse(list).unwrap_err();
        assert_eq!(wrong("email info@example.org"), AllowError::Form { line: 1 });
        assert_eq!(wrong("\nemail"), AllowError::Form { line: 2 });
        let many: Vec<String> =
            (0..=ALLOWED_MAX).map(|it| Allowed::line("email", it.to_string().as_bytes())).collect();
        assert_eq!(wrong(&many.join("\n")), AllowError::TooMany);
    }
}
