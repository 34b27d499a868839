//! How careful a session is.

use std::fmt;

/// The security profile of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    /// A tenth of outside content is too much.
    Paranoid,
    /// Three tenths.
    #[default]
    Standard,
    /// Six tenths.
    Yolo,
}

/// A text that names no profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no profile; there are paranoid, standard and yolo")]
pub struct UnknownProfile(pub String);

impl Profile {
    /// All of them, strictest first.
    pub const ALL: &[Self] = &[Self::Paranoid, Self::Standard, Self::Yolo];

    /// The share of outside content above which sensitive actions need a person, in thousandths.
    #[must_use]
    pub const fn taint_permille_max(self) -> u16 {
        match self {
            Self::Paranoid => 100,
            Self::Standard => 300,
            Self::Yolo => 600,
        }
    }

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Paranoid => "paranoid",
            Self::Standard => "standard",
            Self::Yolo => "yolo",
        }
    }

    /// The profile with exactly this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn parse(text: &str) -> Result<Self, UnknownProfile> {
        let found = Self::ALL.iter().find(|it| it.as_str() == text);
        found.copied().ok_or_else(|| UnknownProfile(text.escape_debug().to_string()))
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_read_back_and_tighten() {
        for profile in Profile::ALL {
            assert_eq!(Profile::parse(profile.as_str()), Ok(*profile));
        }
        assert!(Profile::ALL.is_sorted_by_key(|it| it.taint_permille_max()));
        assert!(Profile::parse("Standard").is_err());
    }
}
