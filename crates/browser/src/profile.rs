//! The one directory that a browser can write: made for it, closed to everybody else, gone with it.
//!
//! It lies in the system's directory for temporary files and not in the state directory, for two reasons. Where we
//! are root, the browser runs as a user of its own, whom the state directory lets in nowhere. And Chromium
//! makes a socket in it, whose whole path the system wants in 107 bytes.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::path::{Path, PathBuf};

use aegx::Digest;
use serde_json::json;

/// Where profiles lie. Not what the environment says: everybody must be able to pass through it, and its path
/// must be short.
const FOLDER: &str = "/tmp";
/// How much of the hash of a state directory stands in the name of its profiles, in characters.
const MARK_CHARS: usize = 12;
/// How much of a browser's name does.
const ID_CHARS: usize = 12;
/// The first of the users as whom browsers of root run: system and distribution leave them free.
const FIRST_USER: u32 = 65_520;

/// As whom a browser runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunsAs {
    /// As we do.
    Ourselves,
    /// As this user, because we are root.
    User(u32),
}

impl RunsAs {
    /// For the browser in this slot.
    pub(crate) fn of(slot: usize) -> Self {
        if !rustix::process::geteuid().is_root() {
            return Self::Ourselves;
        }
        Self::User(FIRST_USER.saturating_add(u32::try_from(slot).unwrap_or(0)))
    }
}

/// A directory, and what is in it. Dropped, it is gone.
pub(crate) struct Profile {
    path: PathBuf,
}

impl Profile {
    /// A new one, named `id`.
    pub(crate) fn make(home: &Path, id: &str, runs_as: RunsAs) -> io::Result<Self> {
        let id: String = id.chars().take(ID_CHARS).collect();
        let path = Path::new(FOLDER).join(format!("{}{id}", mark(home)?));
        // Made and not found: what somebody has planted there is an error.
        DirBuilder::new().mode(0o700).create(&path)?;
        let profile = Self { path };
        let default = profile.path.join("Default");
        DirBuilder::new().mode(0o700).create(&default)?;
        let preferences = default.join("Preferences");
        files::private::replace(&preferences, preferences_text().as_bytes())?;
        if let RunsAs::User(user) = runs_as {
            for path in [&preferences, &default, &profile.path] {
                chown(path, Some(user), Some(user))?;
            }
        }
        Ok(profile)
    }

    /// Lets the browser believe the authorities of a database, as a person would have told it to. A new profile has
    /// none but those of the browser itself.
    pub(crate) fn dangerously_trust_for_tests(
        &self,
        database: &Path,
        runs_as: RunsAs,
    ) -> io::Result<()> {
        let mut made = vec![self.path.join(".pki"), self.path.join(".pki/nssdb")];
        for folder in &made {
            DirBuilder::new().mode(0o700).create(folder)?;
        }
        for name in ["cert9.db", "key4.db", "pkcs11.txt"] {
            let copy = self.path.join(".pki/nssdb").join(name);
            files::private::replace(&copy, &fs::read(database.join(name))?)?;
            made.push(copy);
        }
        if let RunsAs::User(user) = runs_as {
            for path in made {
                chown(path, Some(user), Some(user))?;
            }
        }
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes what browsers of this state directory have left that did not end in order. Only one process
    /// at a time has a state directory, so nobody uses them.
    pub(crate) fn sweep(home: &Path) -> io::Result<()> {
        let mark = mark(home)?;
        let users = FIRST_USER..FIRST_USER.saturating_add(64);
        let own = rustix::process::geteuid().as_raw();
        for entry in fs::read_dir(FOLDER)? {
            let entry = entry?;
            // Somebody else may have given something this name, or be removing it just now.
            let Ok(found) = entry.metadata() else { continue };
            let ours = found.is_dir() && (found.uid() == own || users.contains(&found.uid()));
            if ours && entry.file_name().to_string_lossy().starts_with(&mark) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        Ok(())
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        // A process that dies may still be writing.
        for _ in 0..20 {
            match fs::remove_dir_all(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    std::thread::sleep(std::time::Duration::from_millis(50));
                }
                _ => return,
            }
        }
    }
}

/// How the profiles of this state directory begin.
fn mark(home: &Path) -> io::Result<String> {
    let whole = files::resolved(home)?;
    let hash = Digest::of(whole.as_os_str().as_encoded_bytes()).to_hex();
    let mark: String = hash.as_str().chars().take(MARK_CHARS).collect();
    Ok(format!("lazaret-{mark}-"))
}

/// What a person would have set. `2` blocks.
fn preferences_text() -> String {
    const BLOCK: u8 = 2;
    let blocked: serde_json::Map<String, serde_json::Value> = [
        "automatic_downloads",
        "background_sync",
        "bluetooth_guard",
        "clipboard",
        "file_system_write_guard",
        "geolocation",
        "hid_guard",
        "local_fonts",
        "media_stream_camera",
        "media_stream_mic",
        "midi_sysex",
        "notifications",
        "payment_handler",
        "sensors",
        "serial_guard",
        "usb_guard",
        "window_placement",
    ]
    .iter()
    .map(|it| ((*it).to_owned(), json!(BLOCK)))
    .collect();
    json!({
        "alternate_error_pages": { "enabled": false },
        "autofill": { "credit_card_enabled": false, "profile_enabled": false },
        "browser": { "has_seen_welcome_page": true },
        "credentials_enable_service": false,
        "custom_handlers": { "enabled": false },
        "dns_prefetching": { "enabled": false },
        "download": { "prompt_for_download": true },
        "net": { "network_prediction_options": 2 },
        "printing": { "enabled": false },
        "profile": { "default_content_setting_values": blocked, "password_manager_enabled": false },
        "safebrowsing": { "enabled": false },
        "search": { "suggest_enabled": false },
        "signin": { "allowed": false, "allowed_on_next_startup": false },
        "translate": { "enabled": false },
        "webrtc": { "ip_handling_policy": "disable_non_proxied_udp" },
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_its_owners_alone_and_gone_with_it() {
        let home = tempfile::tempdir().unwrap();
        for runs_as in [RunsAs::Ourselves, RunsAs::of(3)] {
            let profile = Profile::make(home.path(), "abc", runs_as).unwrap();
            let found = fs::metadata(profile.path()).unwrap();
            assert_eq!(found.mode() & 0o777, 0o700);
            if let RunsAs::User(user) = runs_as {
                assert_eq!((found.uid(), found.gid()), (user, user));
            }
            assert!(Profile::make(home.path(), "abc", runs_as).is_err(), "there is one already");
            let path = profile.path().to_owned();
            drop(profile);
            assert!(!path.exists());
        }
    }

    #[test]
    fn what_was_left_is_swept_away_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        let runs_as = RunsAs::of(0);
        let left = std::mem::ManuallyDrop::new(Profile::make(home.path(), "x", runs_as).unwrap());
        let others = Profile::make(other.path(), "x", runs_as).unwrap();
        Profile::sweep(home.path()).unwrap();
        assert!(!left.path().exists());
        assert!(others.path().exists());
    }
}
