//! Skills in a folder that the operator fills: `NAME/SKILL.md` or `NAME.md`. Only read.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, fstat, openat};
use rustix::io::Errno;

use super::front::Front;
use super::name::SkillName;
use super::pins::Pins;
use super::{Listed, SKILL_BYTES_MAX, SKILLS_MAX, SkillError, SkillText};

const TEXT: &str = "SKILL.md";

/// A folder of skills.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// This one. It need not be there.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    pub(super) fn list(&self) -> Result<Vec<Listed>, SkillError> {
        let Some(dir) = self.open()? else { return Ok(Vec::new()) };
        let pins = Pins::new(&self.path);
        let mut names = Vec::new();
        for entry in Dir::read_from(&dir).map_err(io::Error::from)? {
            let entry = entry.map_err(io::Error::from)?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            // What is no name of a skill is none: notes, hidden files.
            let stem = name.strip_suffix(".md").unwrap_or(name);
            names.extend(SkillName::parse(stem).ok());
            if names.len() > SKILLS_MAX {
                return Err(SkillError::Damaged(format!(
                    "there are more than {SKILLS_MAX} skills"
                )));
            }
        }
        names.sort_unstable();
        names.dedup();
        let mut found = Vec::new();
        for name in names {
            match text_in(&dir, &name) {
                // It is named, and nothing that it says is shown.
                Ok(_) if pins.difference(&name)?.is_some() => {
                    let problem = Some("its files are not those that a person approved");
                    found.push(Listed {
                        front: Front { problem, ..Front::default() },
                        name,
                        tag: None,
                    });
                }
                Ok(content) => {
                    found.push(Listed { front: Front::of(&content), name, tag: None });
                }
                // A folder without a text is none.
                Err(SkillError::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    pub(super) fn read(&self, name: &SkillName) -> Result<SkillText, SkillError> {
        let dir = self.open()?.ok_or_else(|| SkillError::NotFound(name.clone()))?;
        let content = text_in(&dir, name)?;
        // INVARIANT (PeopleActivate): what a person approved is what is read, or nothing is.
        if let Some(why) = Pins::new(&self.path).difference(name)? {
            return Err(SkillError::Changed(name.clone(), why));
        }
        Ok(SkillText { content, tag: None })
    }

    fn open(&self) -> Result<Option<OwnedFd>, SkillError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(CWD, &self.path, flags, Mode::empty()) {
            Ok(dir) => Ok(Some(dir)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(io::Error::from(error).into()),
        }
    }
}

/// `NAME/SKILL.md`, or else `NAME.md`. No link is followed at any step: a name leads nowhere else.
fn text_in(dir: &OwnedFd, name: &SkillName) -> Result<String, SkillError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let single = format!("{name}.md");
    let file = match openat(dir, name.as_str(), flags, Mode::empty()) {
        Ok(inner) => plain(&inner, TEXT),
        Err(Errno::NOENT | Errno::NOTDIR) => plain(dir, &single),
        Err(error) => Err(error),
    };
    let file = match file {
        Err(Errno::NOENT) => return Err(SkillError::NotFound(name.clone())),
        Err(Errno::LOOP) => return Err(damaged(name, "is a link, and none is followed")),
        file => file.map_err(io::Error::from)?,
    };
    let about = fstat(&file).map_err(io::Error::from)?;
    if FileType::from_raw_mode(about.st_mode) != FileType::RegularFile || about.st_nlink != 1 {
        return Err(damaged(name, "is no plain file, or has a second name elsewhere"));
    }
    let mut text = String::new();
    let most = SKILL_BYTES_MAX as u64;
    let read = File::from(file).take(most + 1).read_to_string(&mut text);
    match read {
        Ok(_) if text.len() > SKILL_BYTES_MAX => Err(damaged(name, "is too long")),
        Ok(_) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(damaged(name, "is not UTF-8"))
        }
        Err(error) => Err(error.into()),
    }
}

fn plain(dir: &impl AsFd, name: &str) -> Result<OwnedFd, Errno> {
    // Opening a pipe would wait for its other end, but for `NONBLOCK`.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    openat(dir, name, flags, Mode::empty())
}

fn damaged(name: &SkillName, what: &str) -> SkillError {
    SkillError::Damaged(format!("`{name}` {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "files of the test's own")]
    fn skills_are_plain_files_beneath_the_folder_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("skills");
        let folder = Folder::new(&root);
        let name = |it: &str| SkillName::parse(it).unwrap();
        assert_eq!(folder.list().unwrap(), []);
        assert!(matches!(folder.read(&name("a")), Err(SkillError::NotFound(_))));
        fs::create_dir_all(root.join("deploy")).unwrap();
        fs::create_dir_all(root.join("empty")).unwrap();
        fs::write(root.join("deploy/SKILL.md"), "---\ndescription: d\n---\nhow").unwrap();
        fs::write(root.join("tea.md"), "boil water").unwrap();
        fs::write(root.join(".hidden.md"), "x").unwrap();
        let names: Vec<_> =
            folder.list().unwrap().into_iter().map(|it| it.name.to_string()).collect();
        assert_eq!(names, ["deploy", "tea"]);
        assert_eq!(folder.read(&name("tea")).unwrap().content, "boil water");

        let secret = dir.path().join("secret");
        fs::write(&secret, "hush").unwrap();
        fs::create_dir_all(dir.path().join("out")).unwrap();
        fs::write(dir.path().join("out/SKILL.md"), "hush").unwrap();
        symlink(&secret, root.join("l1.md")).unwrap();
        symlink(dir.path().join("out"), root.join("l2")).unwrap();
        fs::create_dir_all(root.join("l3")).unwrap();
        symlink(&secret, root.join("l3/SKILL.md")).unwrap();
        fs::hard_link(&secret, root.join("l4.md")).unwrap();
        fs::create_dir_all(root.join("l5.md")).unwrap();
        rustix::fs::mknodat(CWD, root.join("l6.md"), FileType::Fifo, Mode::from_raw_mode(0o600), 0)
            .unwrap();
        fs::write(root.join("l7.md"), b"\xff").unwrap();
        fs::write(root.join("l8.md"), vec![b'x'; SKILL_BYTES_MAX + 1]).unwrap();
        for bad in ["l1", "l2", "l3", "l4", "l5", "l6", "l7", "l8"] {
            let error = folder.read(&name(bad)).unwrap_err();
            assert!(!error.to_string().contains("hush"), "{bad}: {error}");
        }
    }
}
