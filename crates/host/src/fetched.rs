//! Places in trusted folders that commands brought from the network: a clone, a download. They lie in a folder that is
//! trusted and are outside content all the same, for every session, until a person trusts them.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::trust::TrustError;

/// The file of the state directory.
const FILE: &str = "fetched.json";
/// The longest such file, in bytes.
const FILE_BYTES_MAX: u64 = 8 << 20;
/// Places that are kept. Beyond them a whole folder counts.
const PLACES_MAX: usize = 10_000;

/// The places that are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fetched {
    places: Vec<Place>,
}

/// A place that a command brought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The file or folder, without links.
    pub path: PathBuf,
    /// The session whose command it was.
    pub by: String,
    /// When, in seconds since 1970.
    pub since: i64,
}

impl Fetched {
    /// Reads what is kept in the state directory `home`.
    ///
    /// # Errors
    /// If it cannot be read or understood.
    pub fn of(home: &Path) -> Result<Self, TrustError> {
        let path = home.join(FILE);
        let shown = || path.display().to_string();
        let io = |error| TrustError::Io { path: shown(), error };
        let bytes = files::private::read_if_there(&path, FILE_BYTES_MAX).map_err(io)?;
        let Some(bytes) = bytes else { return Ok(Self::default()) };
        let unreadable = |error: serde_json::Error| TrustError::Unreadable {
            path: shown(),
            error: error.to_string(),
        };
        serde_json::from_slice(&bytes).map_err(unreadable)
    }

    /// Changes what is kept, while nobody else does.
    ///
    /// # Errors
    /// If it cannot be read, understood or written; then nothing is changed.
    pub fn change<T>(home: &Path, change: impl FnOnce(&mut Self) -> T) -> Result<T, TrustError> {
        let lock = home.join("fetched.lock");
        let failed = |path: &Path, error: io::Error| TrustError::Io {
            path: path.display().to_string(),
            error,
        };
        let mut options = OpenOptions::new();
        let held = files::private::open_with(&lock, options.write(true).create(true));
        held.and_then(|it| it.lock().map(|()| it)).map_err(|error| failed(&lock, error)).and_then(
            |_held| {
                let mut fetched = Self::of(home)?;
                let done = change(&mut fetched);
                let path = home.join(FILE);
                let bytes =
                    serde_json::to_vec(&fetched).map_err(|error| failed(&path, error.into()))?;
                files::private::replace(&path, &bytes).map_err(|error| failed(&path, error))?;
                Ok(done)
            },
        )
    }

    /// Notes a place that a command brought into `folder`. Where there are too many, all of `folder` counts.
    pub fn add(&mut self, place: Place, folder: &Path) {
        if self.holds(&place.path) {
            return;
        }
        let is_full = self.places.len() >= PLACES_MAX;
        let path = if is_full { folder.to_owned() } else { place.path };
        self.places.retain(|it| !it.path.starts_with(&path));
        self.places.push(Place { path, ..place });
    }

    /// Forgets every place in `folder`: a person trusts it as it is now.
    pub fn remove_below(&mut self, folder: &Path) {
        self.places.retain(|it| !it.path.starts_with(folder));
    }

    /// The places that are kept.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    fn holds(&self, path: &Path) -> bool {
        self.places.iter().any(|it| path.starts_with(&it.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(path: &str) -> Place {
        Place { path: path.into(), by: "s".to_owned(), since: 0 }
    }

    #[test]
    fn a_place_holds_what_lies_in_it_until_it_is_trusted() {
        let home = tempfile::tempdir().unwrap();
        let folder = Path::new("/w");
        let add = |it: &mut Fetched| {
            it.add(place("/w/clone/a"), folder);
            it.add(place("/w/clone"), folder);
            it.add(place("/w/clone/b"), folder);
            it.add(place("/w/other"), folder);
        };
        Fetched::change(home.path(), add).unwrap();
        let paths = |it: &Fetched| it.places.iter().map(|it| it.path.clone()).collect::<Vec<_>>();
        let kept = Fetched::of(home.path()).unwrap();
        assert_eq!(paths(&kept), [PathBuf::from("/w/clone"), "/w/other".into()]);
        Fetched::change(home.path(), |it| it.remove_below(Path::new("/w/clone"))).unwrap();
        assert_eq!(paths(&Fetched::of(home.path()).unwrap()), [PathBuf::from("/w/other")]);
    }

    #[test]
    fn too_many_places_are_the_whole_folder() {
        let mut fetched = Fetched::default();
        for number in 0..=PLACES_MAX {
            fetched.add(place(&format!("/w/{number}")), Path::new("/w"));
        }
        assert_eq!(fetched.places, [place("/w")]);
    }
}
