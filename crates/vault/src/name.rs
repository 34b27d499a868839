//! Names of secrets, and what a name says of its secret.

use std::fmt;

/// The longest name, in bytes.
pub const NAME_BYTES_MAX: usize = 128;

/// The name of a secret: as manifests name keys, and as an environment could.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

/// A text that is no name. What it says is not repeated: somebody may have typed the secret itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a secret's name has ASCII letters, digits and `_`, begins with no digit, and has at most {NAME_BYTES_MAX} bytes"
)]
pub struct NameError;

/// What kind of secret a name promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Category {
    ApiKey,
    Token,
    Password,
    Certificate,
    Webhook,
    Generic,
}

impl Name {
    /// Takes `text` as it stands, or not at all.
    ///
    /// # Errors
    /// If it holds anything but ASCII letters, digits and `_`, or begins with a digit.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let legal = |it: u8| it.is_ascii_alphanumeric() || it == b'_';
        let begins = text.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
        let good = begins && text.len() <= NAME_BYTES_MAX && text.bytes().all(legal);
        good.then(|| Self(text.to_owned())).ok_or(NameError)
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What kind of secret it promises.
    #[must_use]
    pub fn category(&self) -> Category {
        let upper = self.0.to_ascii_uppercase();
        let rows = WORDS.iter().find(|(words, _)| words.iter().any(|it| upper.contains(it)));
        rows.map_or(Category::Generic, |(_, category)| *category)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The first row with a word that the name holds counts.
const WORDS: &[(&[&str], Category)] = &[
    (&["API_KEY", "APIKEY"], Category::ApiKey),
    (&["WEBHOOK"], Category::Webhook),
    (&["TOKEN"], Category::Token),
    (&["PASSWORD", "PASSWD", "PASSPHRASE"], Category::Password),
    (&["CERT", "PEM"], Category::Certificate),
];

impl Category {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ApiKey => "api_key",
            Self::Token => "token",
            Self::Password => "password",
            Self::Certificate => "certificate",
            Self::Webhook => "webhook",
            Self::Generic => "generic",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_or_refused() {
        for good in ["A", "_x", "OPENAI_API_KEY", "k9", &"N".repeat(NAME_BYTES_MAX)] {
            assert_eq!(Name::parse(good).unwrap().as_str(), good);
        }
        let long = "N".repeat(NAME_BYTES_MAX + 1);
        for bad in ["", "9A", "A-B", "A B", "A=B", "É", "Α", "A\0", "A\n", "../A", "a.b", &long] {
            assert_eq!(Name::parse(bad), Err(NameError), "{bad:?}");
        }
        assert!(!NameError.to_string().contains("hunter2"));
    }
}
