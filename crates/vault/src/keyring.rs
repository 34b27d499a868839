//! The system's keyring: what opens a vault can be kept there, until it is locked or the machine restarts.
//!
//! On Linux it is the kernel's: nothing is written to a disk, and other users cannot read it. It is the user's own
//! keyring, not that of a login session: in a container or a service there is no session, and what is put into one ends
//! with the command.

use std::path::Path;

use zeroize::Zeroizing;

use crate::key::{Key, KeyError};

/// Before the text of a passphrase; identities name themselves.
const PASSPHRASE: &str = "passphrase:";

/// Why the keyring does not help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyringError {
    /// There is none.
    #[error("there is no keyring here: {0}")]
    Absent(String),
    /// What it holds opens no vault.
    #[error(
        "what the keyring holds opens no vault; run `lazaret vault lock`, then unlock it again"
    )]
    Foreign(#[source] KeyError),
}

/// Keeps what opens the vault at `vault`.
///
/// # Errors
/// If there is no keyring.
pub fn keep(vault: &Path, key: &Key) -> Result<(), KeyringError> {
    let mark = if key.is_passphrase() { PASSPHRASE } else { "" };
    let text = key.kept_text();
    let mut kept = Zeroizing::new(String::with_capacity(mark.len() + text.len()));
    kept.push_str(mark);
    kept.push_str(&text);
    store::set(&entry(vault), kept.as_bytes()).map_err(KeyringError::Absent)
}

/// What was kept for the vault at `vault`, if something was.
///
/// # Errors
/// If what was kept opens no vault. Without a keyring nothing was kept.
pub fn kept(vault: &Path) -> Result<Option<Key>, KeyringError> {
    let Some(bytes) = store::get(&entry(vault)).map(Zeroizing::new) else { return Ok(None) };
    let text = std::str::from_utf8(&bytes).unwrap_or_default();
    let key = match text.strip_prefix(PASSPHRASE) {
        Some(passphrase) => Key::passphrase(Zeroizing::new(passphrase.to_owned())),
        None => Key::identities(text),
    };
    key.map(Some).map_err(KeyringError::Foreign)
}

/// Forgets what was kept; answers whether something was.
///
/// # Errors
/// If there is no keyring.
pub fn forget(vault: &Path) -> Result<bool, KeyringError> {
    store::remove(&entry(vault)).map_err(KeyringError::Absent)
}

/// One entry for each vault, by where it lies.
fn entry(vault: &Path) -> String {
    let real = files::resolved(vault).unwrap_or_else(|_| vault.to_owned());
    aegx::Digest::of(real.as_os_str().as_encoded_bytes()).to_hex().as_str().to_owned()
}

#[cfg(target_os = "linux")]
mod store {
    use linux_keyutils::{KeyError, KeyPermissionsBuilder, KeyRing, KeyRingIdentifier, Permission};

    /// Whose entry it is.
    const SERVICE: &str = "lazaret-vault";

    /// The keyring of the user, which all their processes share, also where a login has no session of its own.
    fn of_user() -> Result<KeyRing, KeyError> {
        KeyRing::from_special_id(KeyRingIdentifier::User, true)
    }

    fn name(entry: &str) -> String {
        format!("{SERVICE}:{entry}")
    }

    pub(super) fn set(entry: &str, bytes: &[u8]) -> Result<(), String> {
        let put = || -> Result<(), KeyError> {
            // First where nobody else looks: its rights can be set there, and only there by everybody.
            let own = KeyRing::from_special_id(KeyRingIdentifier::Process, true)?;
            let key = own.add_key(&name(entry), bytes)?;
            let rights = KeyPermissionsBuilder::builder()
                .posessor(Permission::ALL)
                .user(Permission::VIEW | Permission::READ | Permission::SEARCH)
                .build();
            key.set_perms(rights)?;
            of_user()?.link_key(key)
        };
        put().map_err(|it| it.to_string())?;
        // What another process could not read was not kept.
        match get(entry) {
            Some(kept) if *kept == *bytes => Ok(()),
            Some(_) | None => Err("it does not give back what it was given".to_owned()),
        }
    }

    pub(super) fn get(entry: &str) -> Option<Vec<u8>> {
        of_user().ok()?.search(&name(entry)).ok()?.read_to_vec().ok()
    }

    pub(super) fn remove(entry: &str) -> Result<bool, String> {
        let ring = of_user().map_err(|it| it.to_string())?;
        match ring.search(&name(entry)) {
            Ok(key) => ring.unlink_key(key).map(|()| true).map_err(|it| it.to_string()),
            Err(KeyError::KeyDoesNotExist | KeyError::KeyRevoked | KeyError::KeyExpired) => {
                Ok(false)
            }
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod store {
    const WHY: &str = "this version knows the keyring of Linux alone";

    pub(super) fn set(_: &str, _: &[u8]) -> Result<(), String> {
        Err(WHY.to_owned())
    }

    pub(super) fn get(_: &str) -> Option<Vec<u8>> {
        None
    }

    pub(super) fn remove(_: &str) -> Result<bool, String> {
        Err(WHY.to_owned())
    }
}
