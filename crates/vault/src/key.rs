//! What opens a vault: identities of age, or a passphrase.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use age::secrecy::ExposeSecret;
use age::{plugin, x25519};
use zeroize::Zeroizing;

use crate::hybrid::{HybridIdentity, IDENTITY_PREFIX};
use crate::plugin::{PluginError, check};
use crate::prompts::Prompts;
use crate::sealed::SealError;
use crate::secret::Secret;
use crate::unreadable::{self, FileFault};

/// The longest identity file, in bytes.
const FILE_BYTES_MAX: u64 = 64 << 10;
/// The most identities in a file: each costs work when a vault is opened.
const IDENTITIES_MAX: usize = 16;
/// The shortest passphrase, in bytes.
pub const PASSPHRASE_BYTES_MIN: usize = 10;
/// The longest passphrase, in bytes.
const PASSPHRASE_BYTES_MAX: usize = 4096;

/// What opens a vault. Like a secret it does not print.
pub struct Key(pub(crate) Kind);

pub(crate) enum Kind {
    /// Of an identity file. The first encrypts; all decrypt.
    Identities(Vec<Identity>),
    Passphrase(Zeroizing<String>),
}

/// One line of an identity file.
pub(crate) enum Identity {
    Native(x25519::Identity),
    Hybrid(HybridIdentity),
    Plugin(plugin::Identity),
}

/// Why something opens no vault. It says nothing of what it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The file with the identities.
    #[error(transparent)]
    File(#[from] FileFault),
    /// A line that is no identity.
    #[error(
        "line {0} is no age identity; they begin with AGE-SECRET-KEY-1, AGE-SECRET-KEY-PQ-1 or AGE-PLUGIN-"
    )]
    Line(usize),
    /// None at all.
    #[error("there is no age identity in it")]
    Empty,
    /// Too many.
    #[error("there are more than {IDENTITIES_MAX} identities in it")]
    TooMany,
    /// A plugin that is not run.
    #[error(transparent)]
    Plugin(#[from] PluginError),
    /// Too short to be safe.
    #[error("a passphrase has at least {PASSPHRASE_BYTES_MIN} bytes")]
    ShortPassphrase,
    /// Too long to be a passphrase.
    #[error("a passphrase has at most {PASSPHRASE_BYTES_MAX} bytes")]
    LongPassphrase,
}

impl Key {
    /// A new identity.
    #[must_use]
    pub fn generate() -> Self {
        Self(Kind::Identities(vec![Identity::Native(x25519::Identity::generate())]))
    }

    /// A passphrase.
    ///
    /// # Errors
    /// If it is too short to be safe.
    pub fn passphrase(text: Zeroizing<String>) -> Result<Self, KeyError> {
        if text.len() < PASSPHRASE_BYTES_MIN {
            return Err(KeyError::ShortPassphrase);
        }
        if text.len() > PASSPHRASE_BYTES_MAX {
            return Err(KeyError::LongPassphrase);
        }
        Ok(Self(Kind::Passphrase(text)))
    }

    /// A passphrase of whatever length. For tests that bring files of others.
    #[must_use]
    pub fn dangerously_any_passphrase_for_tests(text: Zeroizing<String>) -> Self {
        Self(Kind::Passphrase(text))
    }

    /// The identities that a text holds, one a line, with comments.
    ///
    /// # Errors
    /// If there is none, or a line is none, or names a plugin that is not run.
    pub fn identities(text: &str) -> Result<Self, KeyError> {
        let mut found = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if found.len() == IDENTITIES_MAX {
                return Err(KeyError::TooMany);
            }
            let number = at.saturating_add(1);
            found.push(Identity::parse(line).ok_or(KeyError::Line(number))?);
        }
        if found.is_empty() {
            return Err(KeyError::Empty);
        }
        for identity in &found {
            identity.check_plugin()?;
        }
        Ok(Self(Kind::Identities(found)))
    }

    /// Reads an identity file, which only its owner may read.
    ///
    /// # Errors
    /// If it cannot be read, can be read by others, or holds no identities.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let mut file = unreadable::open_private(path)?;
        let mut text = Zeroizing::new(String::with_capacity(4096));
        let read = (&mut file).take(FILE_BYTES_MAX).read_to_string(&mut text);
        read.map_err(|error| FileFault::io(path, error))?;
        Self::identities(&text)
    }

    /// Keeps the identities in a private file.
    ///
    /// # Errors
    /// What the system says; a passphrase is not written anywhere.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        let Some(text) = self.file_text() else {
            return Err(std::io::Error::other("a passphrase is kept in no file"));
        };
        files::private::replace(path, text.as_bytes())
    }

    /// The text of its identity file; none for a passphrase.
    fn file_text(&self) -> Option<Zeroizing<String>> {
        let Kind::Identities(all) = &self.0 else { return None };
        let mut text = Zeroizing::new(String::with_capacity(FILE_BYTES_MAX as usize));
        text.push_str("# opens the vault beside it; keep it to yourself\n");
        for identity in all {
            match identity {
                Identity::Native(it) => text.push_str(it.to_string().expose_secret()),
                Identity::Hybrid(it) => text.push_str(&it.text()),
                Identity::Plugin(it) => text.push_str(&it.to_string()),
            }
            text.push('\n');
        }
        Some(text)
    }

    /// What the kernel's keyring may keep until it is locked again.
    pub(crate) fn kept_text(&self) -> Zeroizing<String> {
        match &self.0 {
            Kind::Passphrase(text) => text.clone(),
            Kind::Identities(_) => self.file_text().unwrap_or_default(),
        }
    }

    /// The passphrase, or each identity.
    pub(crate) fn as_secrets(&self) -> Vec<Arc<Secret>> {
        let text = self.kept_text();
        let lines: Vec<&str> = match &self.0 {
            Kind::Passphrase(text) => vec![text.as_str()],
            Kind::Identities(_) => text.lines().filter(|it| !it.starts_with('#')).collect(),
        };
        let secret = |it: &str| Secret::new(Zeroizing::new(it.to_owned())).ok().map(Arc::new);
        lines.into_iter().filter_map(secret).collect()
    }

    /// This one first, so that it encrypts, and those of `old` behind it, so that both decrypt.
    #[must_use]
    pub fn before(self, old: &Self) -> Self {
        match (self.0, &old.0) {
            (Kind::Identities(mut new), Kind::Identities(old)) => {
                new.extend(old.iter().map(Identity::again));
                Self(Kind::Identities(new))
            }
            (kind, _) => Self(kind),
        }
    }

    /// Each identity alone.
    pub(crate) fn each(&self) -> Vec<Self> {
        match &self.0 {
            Kind::Identities(all) => {
                all.iter().map(|it| Self(Kind::Identities(vec![it.again()]))).collect()
            }
            Kind::Passphrase(text) => vec![Self(Kind::Passphrase(text.clone()))],
        }
    }

    /// The first identity alone.
    #[must_use]
    pub fn first(&self) -> Self {
        Self(match &self.0 {
            Kind::Identities(all) => {
                Kind::Identities(all.first().map(Identity::again).into_iter().collect())
            }
            Kind::Passphrase(text) => Kind::Passphrase(text.clone()),
        })
    }

    /// Is it a passphrase?
    #[must_use]
    pub fn is_passphrase(&self) -> bool {
        matches!(self.0, Kind::Passphrase(_))
    }

    /// Whom others may encrypt to, so that this key opens it; none where only a program knows it.
    #[must_use]
    pub fn recipient(&self) -> Option<String> {
        match &self.0 {
            Kind::Identities(all) => match all.first()? {
                Identity::Native(it) => Some(it.to_public().to_string()),
                Identity::Hybrid(it) => Some(it.to_public().text()),
                Identity::Plugin(_) => None,
            },
            Kind::Passphrase(_) => None,
        }
    }
}

impl Identity {
    fn parse(line: &str) -> Option<Self> {
        if line.starts_with(IDENTITY_PREFIX) {
            return HybridIdentity::parse(line).map(Self::Hybrid);
        }
        let native = line.parse().ok().map(Self::Native);
        native.or_else(|| line.parse().ok().map(Self::Plugin))
    }

    fn again(&self) -> Self {
        match self {
            Self::Native(it) => Self::Native(it.clone()),
            Self::Hybrid(it) => Self::Hybrid(it.again()),
            Self::Plugin(it) => Self::Plugin(it.clone()),
        }
    }

    /// Looked at before a program is run, each time.
    fn check_plugin(&self) -> Result<(), PluginError> {
        match self {
            Self::Native(_) | Self::Hybrid(_) => Ok(()),
            Self::Plugin(it) => {
                let own = rustix::process::geteuid().as_raw();
                check(it.plugin(), std::env::var_os("PATH").as_deref(), own).map(drop)
            }
        }
    }

    pub(crate) fn to_age(&self) -> Result<Box<dyn age::Identity>, String> {
        self.check_plugin().map_err(|it| it.to_string())?;
        match self {
            Self::Native(it) => Ok(Box::new(it.clone())),
            Self::Hybrid(it) => Ok(Box::new(it.again())),
            Self::Plugin(it) => {
                let all = std::slice::from_ref(it);
                let made = plugin::IdentityPluginV1::new(it.plugin(), all, Prompts);
                made.map(|it| Box::new(it) as _).map_err(|it| it.to_string())
            }
        }
    }

    pub(crate) fn to_recipient(&self) -> Result<Box<dyn age::Recipient>, SealError> {
        self.check_plugin().map_err(|it| SealError(it.to_string()))?;
        match self {
            Self::Native(it) => Ok(Box::new(it.to_public())),
            Self::Hybrid(it) => Ok(Box::new(it.to_public())),
            Self::Plugin(it) => {
                let all = std::slice::from_ref(it);
                let made = plugin::RecipientPluginV1::new(it.plugin(), &[], all, Prompts);
                made.map(|it| Box::new(it) as _).map_err(|it| SealError(it.to_string()))
            }
        }
    }
}
