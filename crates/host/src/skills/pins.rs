//! Skills that a person installed: which files they had then. The list lies beside the folder, so that no skill vouches for
//! itself.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use aegx::Digest;
use evidence::Receipt;
use files::{Dir, Relative, private};
use serde::{Deserialize, Serialize};
use skill::Tree;

use super::gather;
use super::name::SkillName;
use super::{SKILLS_MAX, SkillError};

/// The list, in the state directory.
const PINS: &str = "skill-pins.json";
/// Held by whoever changes it.
const LOCK: &str = "skill-pins.lock";
/// The longest list, in bytes.
const PINS_BYTES_MAX: u64 = 4 << 20;
/// Where a skill lies until it is whole. No name of a skill begins so.
const COMING: &str = ".coming";
/// Where the one lies that it takes the place of.
const GOING: &str = ".going";

/// What was approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// The hash of its files.
    pub digest: String,
    /// The record of the approval.
    pub record: String,
    /// Who approved it.
    pub by: String,
    /// When, in seconds since 1970.
    pub added: i64,
}

/// The skills that were installed, and what they were like then.
pub struct Pins {
    skills: PathBuf,
    list: PathBuf,
}

impl Pins {
    /// Those of the folder of skills at `skills`. Nothing need be there.
    #[must_use]
    pub fn new(skills: &Path) -> Self {
        Self { skills: skills.to_owned(), list: skills.with_file_name(PINS) }
    }

    /// Returns the list.
    ///
    /// # Errors
    /// If it cannot be read: a list that is broken is not taken for an empty one.
    pub fn read(&self) -> Result<BTreeMap<String, Pin>, SkillError> {
        let Some(bytes) = private::read_if_there(&self.list, PINS_BYTES_MAX)? else {
            return Ok(BTreeMap::new());
        };
        serde_json::from_slice(&bytes)
            .map_err(|error| SkillError::Damaged(format!("{PINS}: {error}")))
    }

    /// Says what is wrong with a skill that was installed: nothing if its files are those that were approved, or if the
    /// operator put it there by hand.
    ///
    /// # Errors
    /// If the list cannot be read.
    pub fn difference(&self, name: &SkillName) -> Result<Option<String>, SkillError> {
        let pins = self.read()?;
        Ok(pins.get(name.as_str()).and_then(|it| self.compare(name.as_str(), it)))
    }

    /// Compares all skills that were installed with what they were.
    ///
    /// # Errors
    /// If the list cannot be read.
    pub fn check(&self) -> Result<Vec<(String, String)>, SkillError> {
        let pins = self.read()?;
        let compared =
            pins.iter().filter_map(|(name, pin)| Some((name.clone(), self.compare(name, pin)?)));
        Ok(compared.collect())
    }

    fn compare(&self, name: &str, pin: &Pin) -> Option<String> {
        let folder = Relative::parse(name)
            .ok()
            .map(|it| Dir::open(&self.skills).and_then(|dir| dir.open_dir(&it)));
        let tree = match folder {
            Some(Ok(dir)) => gather::folder(&dir),
            Some(Err(error)) => return Some(error.to_string()),
            None => return Some("its name is none".to_owned()),
        };
        match tree {
            Ok(tree) if tree.digest().to_string() == pin.digest => None,
            Ok(_) => Some("its files are not those that were approved".to_owned()),
            Err(error) => Some(error.to_string()),
        }
    }

    /// Puts a skill in its place, whole or not at all, and pins it.
    ///
    /// INVARIANT (PeopleActivate): the receipt is that of a person's approval of exactly this tree.
    ///
    /// # Errors
    /// If one of that name is there and is not to be replaced, or it cannot be written.
    pub fn install(
        &self,
        name: &SkillName,
        tree: &Tree,
        replace: bool,
        (receipt, by, now): (&Receipt, &str, i64),
    ) -> Result<Digest, SkillError> {
        private::create_dir(&self.skills)?;
        let _alone = self.lock()?;
        let mut pins = self.read()?;
        let place = self.skills.join(name.as_str());
        let is_there = place.symlink_metadata().is_ok();
        if is_there && !replace {
            return Err(SkillError::Exists(name.clone()));
        }
        let alike =
            |it: &&String| it.eq_ignore_ascii_case(name.as_str()) && it.as_str() != name.as_str();
        if let Some(other) = pins.keys().find(alike) {
            return Err(SkillError::Alike(name.clone(), SkillName::parse(other)?));
        }
        if pins.len() >= SKILLS_MAX {
            return Err(SkillError::Damaged(format!("there are {SKILLS_MAX} skills already")));
        }
        let coming = self.skills.join(COMING);
        remove(&coming)?;
        private::create_dir(&coming)?;
        write(&coming, tree)?;
        let digest = tree.digest();
        let record = receipt.id().to_string();
        let pin = Pin { digest: digest.to_string(), record, by: by.to_owned(), added: now };
        pins.insert(name.as_str().to_owned(), pin);
        // The pin comes first: whatever lies there without it would be taken for the operator's own.
        self.write_list(&pins)?;
        if is_there {
            let going = self.skills.join(GOING);
            remove(&going)?;
            fs::rename(&place, &going)?;
            fs::rename(&coming, &place)?;
            remove(&going)?;
        } else {
            fs::rename(&coming, &place)?;
        }
        private::sync_parent(&place)?;
        Ok(digest)
    }

    /// Takes a skill away that was installed.
    ///
    /// # Errors
    /// If it was not installed, or cannot be removed.
    pub fn remove(&self, name: &SkillName, _receipt: &Receipt) -> Result<(), SkillError> {
        let _alone = self.lock()?;
        let mut pins = self.read()?;
        if !pins.contains_key(name.as_str()) {
            return Err(SkillError::NotFound(name.clone()));
        }
        let (place, going) = (self.skills.join(name.as_str()), self.skills.join(GOING));
        remove(&going)?;
        if place.symlink_metadata().is_ok() {
            fs::rename(&place, &going)?;
            private::sync_parent(&place)?;
            remove(&going)?;
        }
        pins.remove(name.as_str());
        self.write_list(&pins)
    }

    /// Lets nobody else change the list meanwhile: a pin that is lost would make a skill the operator's own.
    fn lock(&self) -> io::Result<File> {
        let options = &mut OpenOptions::new();
        let file =
            private::open_with(&self.list.with_file_name(LOCK), options.append(true).create(true))?;
        file.lock()?;
        Ok(file)
    }

    fn write_list(&self, pins: &BTreeMap<String, Pin>) -> Result<(), SkillError> {
        let text = serde_json::to_string_pretty(pins).map_err(io::Error::other)?;
        Ok(private::replace(&self.list, text.as_bytes())?)
    }
}

/// Every file, none of them to be run as a program: who runs one names its interpreter.
fn write(at: &Path, tree: &Tree) -> Result<(), SkillError> {
    let failed =
        |error: &dyn std::fmt::Display| SkillError::Io(io::Error::other(error.to_string()));
    let dir = Dir::open(at).map_err(|it| failed(&it))?;
    for (path, bytes) in tree.files() {
        let path = Relative::parse(path).map_err(|it| failed(&it))?;
        if let Some((folder, _)) = path.split_last() {
            dir.create_folders(&folder).map_err(|it| failed(&it))?;
        }
        dir.create(&path, bytes).map_err(|it| failed(&it))?;
    }
    Ok(())
}

/// Removes a folder and all that is in it, without following links out of it.
fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    }
}
