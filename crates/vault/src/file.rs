//! The vault's file: sealed, replaced whole, changed by one writer at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::contents::{Contents, ContentsError};
use crate::key::{Key, KeyError};
use crate::sealed::{self, OpenError, SEALED_BYTES_MAX, SealError};
use crate::unreadable::{self, FileFault};

/// The vault, in the state directory.
const VAULT: &str = "vault.age";
/// The identity that opens it, if it is not kept elsewhere.
const KEY: &str = "vault.key";
/// Held by who changes the vault.
const LOCK: &str = "vault.lock";
/// Held by who asks a service for new tokens.
const REFRESH: &str = "refresh.lock";
/// How long somebody else may take over a change.
const LOCK_WAIT: Duration = Duration::from_secs(30);
/// How often it is looked whether they are done.
const LOCK_LOOK: Duration = Duration::from_millis(10);

/// A vault's file.
#[derive(Clone, Debug)]
pub struct VaultFile {
    home: PathBuf,
}

/// Held while the file is changed.
pub struct Held(#[expect(dead_code, reason = "the lock is held as long as the file is open")] File);

/// What went wrong with a vault, and what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VaultError {
    /// There is none.
    #[error("there is no vault in `{0}`; `lazaret vault init` makes one")]
    NoVault(String),
    /// There is one already.
    #[error("there is a vault already, `{0}`; nothing was changed")]
    Exists(String),
    /// Others can read it, or it cannot be read.
    #[error(transparent)]
    File(#[from] FileFault),
    /// It does not open.
    #[error("`{path}`: {error}; {next}", next = next(.error))]
    Open {
        /// The vault.
        path: String,
        /// Why.
        error: OpenError,
    },
    /// It cannot be sealed.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// What is in it, or the change that was wanted.
    #[error(transparent)]
    Contents(#[from] ContentsError),
    /// What should open it.
    #[error("the key of the vault: {0}")]
    Key(#[from] KeyError),
    /// Somebody else does not finish.
    #[error("another process has been changing the vault for {} s; nothing was changed, try again", LOCK_WAIT.as_secs())]
    Locked,
    /// It grew too large.
    #[error("a vault has at most {SEALED_BYTES_MAX} bytes; nothing was changed")]
    TooLarge,
    /// What is not recorded is not changed.
    #[error("the change could not be recorded; nothing was changed")]
    NotRecorded,
    /// What was written does not open again.
    #[error("what would be written does not open again; nothing was changed")]
    NotReadBack,
}

fn next(error: &OpenError) -> &'static str {
    match error {
        OpenError::Foreign | OpenError::Damaged(_) => {
            "it was left as it is: put a backup in its place, or move it away and run `lazaret vault init`"
        }
        OpenError::WrongKey => {
            "use the identity file or passphrase that it was made with (--identity FILE)"
        }
        OpenError::NeedsPassphrase => "run `lazaret vault unlock` and type it",
        OpenError::NeedsIdentity => "give the identity file with --identity FILE",
        OpenError::TooMuchWork(_) => "somebody else made it: look where it came from",
        OpenError::Plugin(_) => "is the device there, and its program installed?",
    }
}

impl VaultFile {
    /// The vault of a state directory.
    #[must_use]
    pub fn in_home(home: &Path) -> Self {
        Self { home: home.to_owned() }
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.home.join(VAULT)
    }

    /// Where its identity lies, unless it is kept elsewhere.
    #[must_use]
    pub fn key_path(&self) -> PathBuf {
        self.home.join(KEY)
    }

    /// Is there one, whatever it is?
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.path().symlink_metadata().is_ok()
    }

    /// Does a passphrase open it?
    ///
    /// # Errors
    /// If there is none, or it is no age file.
    pub fn wants_passphrase(&self) -> Result<bool, VaultError> {
        sealed::is_passphrase(&self.bytes()?).map_err(|it| self.open_error(it))
    }

    /// Makes an empty vault. One that is there is not touched.
    ///
    /// # Errors
    /// If there is one, or it cannot be written.
    pub fn create(&self, key: &Key) -> Result<(), VaultError> {
        let _held = self.lock(LOCK)?;
        if self.is_there() {
            return Err(VaultError::Exists(self.path().display().to_string()));
        }
        self.put(&Contents::default(), key)
    }

    /// Opens it.
    ///
    /// # Errors
    /// If it is not there, not private, damaged, or the key is another's.
    pub fn open(&self, key: &Key) -> Result<Contents, VaultError> {
        self.open_bytes(&self.bytes()?, key)
    }

    /// Changes it: read, changed, sealed, read back, and put in place whole, while nobody else does.
    ///
    /// # Errors
    /// As `change` says, or if it cannot be opened or written. Then it is as it was.
    pub fn change<T>(
        &self,
        key: &Key,
        change: impl FnOnce(&mut Contents) -> Result<T, ContentsError>,
    ) -> Result<T, VaultError> {
        let _held = self.lock(LOCK)?;
        let mut contents = self.open(key)?;
        let done = change(&mut contents)?;
        contents.count_up();
        self.put(&contents, key)?;
        Ok(done)
    }

    /// Seals it for another key.
    ///
    /// `keep` is called with a key that opens the vault before and after, and with the new one alone when it is
    /// done: whoever is stopped between the two still has a key that fits.
    ///
    /// # Errors
    /// If it cannot be opened or written, or `keep` fails.
    pub fn rekey(
        &self,
        old: &Key,
        new: Key,
        mut keep: impl FnMut(&Key) -> std::io::Result<()>,
    ) -> Result<(), VaultError> {
        let _held = self.lock(LOCK)?;
        let failed = |it| FileFault::io(&self.key_path(), it);
        let sealed = self.bytes()?;
        let mut contents = self.open_bytes(&sealed, old)?;
        contents.count_up();
        // Of identities that earlier attempts left behind only the one that fits is taken along: who is stopped
        // again and again does not gather more of them than may be.
        let fits = old.each().into_iter().find(|it| sealed::open(&sealed, it).is_ok());
        let both = new.before(fits.as_ref().unwrap_or(old));
        keep(&both).map_err(failed)?;
        self.put(&contents, &both)?;
        keep(&both.first()).map_err(failed)?;
        Ok(())
    }

    /// Waits until nobody else asks a service for new tokens.
    ///
    /// # Errors
    /// If somebody does not finish.
    pub fn refreshing(&self) -> Result<Held, VaultError> {
        self.lock(REFRESH)
    }

    fn bytes(&self) -> Result<Vec<u8>, VaultError> {
        let path = self.path();
        let opened = unreadable::open_private(&path);
        if let Err(FileFault::Missing { .. }) = &opened {
            return Err(VaultError::NoVault(self.home.display().to_string()));
        }
        let file = opened?;
        let mut bytes = Vec::new();
        let read = file.take(SEALED_BYTES_MAX + 1).read_to_end(&mut bytes);
        read.map_err(|it| FileFault::io(&path, it))?;
        if bytes.len() as u64 > SEALED_BYTES_MAX {
            return Err(VaultError::TooLarge);
        }
        Ok(bytes)
    }

    fn open_bytes(&self, sealed: &[u8], key: &Key) -> Result<Contents, VaultError> {
        if sealed.is_empty() {
            return Err(self.open_error(OpenError::Damaged("it is empty")));
        }
        let plain = sealed::open(sealed, key).map_err(|it| self.open_error(it))?;
        Ok(Contents::from_text(&plain)?)
    }

    fn open_error(&self, error: OpenError) -> VaultError {
        VaultError::Open { path: self.path().display().to_string(), error }
    }

    fn put(&self, contents: &Contents, key: &Key) -> Result<(), VaultError> {
        let path = self.path();
        let sealed = sealed::seal(contents.to_text().as_bytes(), key)?;
        if sealed.len() as u64 > SEALED_BYTES_MAX {
            return Err(VaultError::TooLarge);
        }
        // A passphrase was just used to open it; an identity, or the program behind it, might encrypt to
        // somebody else.
        if !key.is_passphrase() && self.open_bytes(&sealed, key).is_err() {
            return Err(VaultError::NotReadBack);
        }
        let put = files::private::replace(&path, &sealed);
        Ok(put.map_err(|it| FileFault::io(&path, it))?)
    }

    fn lock(&self, name: &str) -> Result<Held, VaultError> {
        let path = self.home.join(name);
        let failed = |it| VaultError::from(FileFault::io(&path, it));
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = files::private::open_with(&path, options).map_err(failed)?;
        let end = Instant::now() + LOCK_WAIT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Held(file)),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) if Instant::now() >= end => {
                    return Err(VaultError::Locked);
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_LOOK),
            }
        }
    }
}
