//! Skills in a git repository that the host keeps: what is active is the branch `main`; what is proposed
//! is a commit on a ref of its own, beneath `refs/proposals`, until a person answers.
//!
//! The repository is a real one: `git log`, `git diff`, `git fsck` and `git clone` read it. It is written
//! without git: only the sandbox starts processes. Objects come first and the ref comes last, so that a
//! crash leaves the old state or the new one.

mod leaving;
mod object;
mod proposal;

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use aegx::{Digest, Sorted};
use files::private;
use model::TaintTag;
use model::ipc::Uuid;
use store::{tag_from_json, tag_to_json};

use self::object::{Mode, Objects, TreeEntry, names};
pub use self::proposal::{Proposal, ProposalState};
use super::front::Front;
use super::name::SkillName;
use super::{Listed, SKILL_BYTES_MAX, SKILLS_MAX, SkillError, SkillText};

const MAIN: &str = "refs/heads/main";
const TEXT: &str = "SKILL.md";
/// The tag of a text, beside it.
const TAINT: &str = "taint.json";
/// A ref is 64 letters and a line feed.
const REF_BYTES_MAX: u64 = 128;
/// How many proposals of one user may wait.
pub(super) const WAITING_PER_USER_MAX: usize = 100;
/// How many refs of a state are looked at.
const REFS_MAX: usize = 10_000;

const CONFIG: &str = "[core]\n\trepositoryformatversion = 1\n\tfilemode = true\n\tbare = true\n\
    [extensions]\n\tobjectFormat = sha256\n[gc]\n\tauto = 0\n[receive]\n\tunpackLimit = 1000000\n\
    \tdenyNonFastForwards = true\n";

/// A repository of skills.
pub struct Repository {
    path: PathBuf,
    objects: Objects,
}

/// What the person or the agent writes into a commit.
struct Commit<'a> {
    tree: Digest,
    parents: Vec<Digest>,
    author: &'a str,
    now: i64,
    message: String,
}

impl Repository {
    /// The one at `path`. It is made when something is proposed.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), objects: Objects::new(path) }
    }

    pub(super) fn list(&self) -> Result<Vec<Listed>, SkillError> {
        let Some(main) = self.main()? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for entry in self.root(&main)? {
            let Ok(name) = SkillName::parse(&entry.name) else { continue };
            if let Some((text, _)) = self.text(&entry, &name)? {
                found.push(Listed { front: Front::of(&text.content), name, tag: text.tag });
            }
            if found.len() > SKILLS_MAX {
                return Err(SkillError::Damaged(format!(
                    "there are more than {SKILLS_MAX} skills"
                )));
            }
        }
        Ok(found)
    }

    pub(super) fn read(&self, name: &SkillName) -> Result<SkillText, SkillError> {
        let not_found = || SkillError::NotFound(name.clone());
        let main = self.main()?.ok_or_else(not_found)?;
        Ok(self.skill(&main, name)?.ok_or_else(not_found)?.0)
    }

    /// The skill in a commit, with the id of its text.
    fn skill(
        &self,
        commit: &Digest,
        name: &SkillName,
    ) -> Result<Option<(SkillText, Digest)>, SkillError> {
        let found = self.root(commit)?.into_iter().find(|it| it.name == name.as_str());
        found.map_or(Ok(None), |it| self.text(&it, name))
    }

    fn text(
        &self,
        entry: &TreeEntry,
        name: &SkillName,
    ) -> Result<Option<(SkillText, Digest)>, SkillError> {
        if entry.mode != Mode::Folder {
            return Ok(None);
        }
        let inner = self.objects.read_tree(&entry.id)?;
        let file = |name: &str| inner.iter().find(|it| it.name == name && it.mode != Mode::Folder);
        let Some(text) = file(TEXT) else { return Ok(None) };
        let damaged = |what: &str| SkillError::Damaged(format!("`{name}` {what}"));
        let content = self.objects.read(&text.id, "blob")?;
        if content.len() > SKILL_BYTES_MAX {
            return Err(damaged("is too long"));
        }
        let content = String::from_utf8(content).map_err(|_| damaged("is not UTF-8"))?;
        let tag = match file(TAINT) {
            None => None,
            Some(it) => {
                let value = serde_json::from_slice(&self.objects.read(&it.id, "blob")?).ok();
                // A tag that cannot be read is not taken for none.
                Some(
                    value
                        .as_ref()
                        .and_then(tag_from_json)
                        .ok_or_else(|| damaged("has a broken tag"))?,
                )
            }
        };
        Ok(Some((SkillText { content, tag }, text.id)))
    }

    /// A tree like that of `base` with this text for `name`; what else is in the skill's folder stays.
    fn tree_with(
        &self,
        base: Option<&Digest>,
        name: &SkillName,
        text: Digest,
        tag: Option<&TaintTag>,
    ) -> Result<Digest, SkillError> {
        let mut root = base.map_or(Ok(Vec::new()), |it| self.root(it))?;
        let old = root.iter().find(|it| it.name == name.as_str() && it.mode == Mode::Folder);
        let mut inner = old.map_or(Ok(Vec::new()), |it| self.objects.read_tree(&it.id))?;
        inner.retain(|it| it.name != TEXT && it.name != TAINT);
        inner.push(TreeEntry { mode: Mode::File, name: TEXT.to_owned(), id: text });
        if let Some(tag) = tag {
            let json = Sorted(&tag_to_json(tag)).to_string();
            let id = self.objects.write("blob", json.as_bytes())?;
            inner.push(TreeEntry { mode: Mode::File, name: TAINT.to_owned(), id });
        }
        let id = self.objects.write_tree(inner)?;
        root.retain(|it| it.name != name.as_str());
        root.push(TreeEntry { mode: Mode::Folder, name: name.as_str().to_owned(), id });
        Ok(self.objects.write_tree(root)?)
    }

    fn root(&self, commit: &Digest) -> Result<Vec<TreeEntry>, SkillError> {
        let wrong = || SkillError::Damaged(format!("commit {commit} cannot be read"));
        let content = self.objects.read(commit, "commit")?;
        let hex = content.strip_prefix(b"tree ").and_then(|it| it.get(..64)).ok_or_else(wrong)?;
        let tree = Digest::from_hex(hex).ok_or_else(wrong)?;
        self.objects.read_tree(&tree)
    }

    fn commit(&self, commit: &Commit<'_>) -> io::Result<Digest> {
        let mut text = format!("tree {}\n", commit.tree);
        for parent in &commit.parents {
            text.push_str(&format!("parent {parent}\n"));
        }
        // Names of users and agents are plain ASCII without `<`, `>` and line feeds.
        let author = commit.author;
        let now = commit.now.max(0);
        text.push_str(&format!("author {author} <{author}@lazaret.invalid> {now} +0000\n"));
        text.push_str(&format!("committer lazaret <host@lazaret.invalid> {now} +0000\n\n"));
        text.push_str(&commit.message);
        self.objects.write("commit", text.as_bytes())
    }

    fn main(&self) -> Result<Option<Digest>, SkillError> {
        self.read_ref(MAIN)
    }

    fn read_ref(&self, name: &str) -> Result<Option<Digest>, SkillError> {
        let path = self.path.join(name);
        let wrong = || SkillError::Damaged(format!("`{name}` names no commit"));
        match private::read_if_there(&path, REF_BYTES_MAX)? {
            // Git moves refs into one file when it tidies up. They are not lost quietly.
            None if self.path.join("packed-refs").symlink_metadata().is_ok() => {
                let why = "its refs are packed; unpack them into files of their own";
                Err(SkillError::Damaged(why.to_owned()))
            }
            None => Ok(None),
            Some(bytes) => {
                let hex = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
                Ok(Some(Digest::from_hex(hex).ok_or_else(wrong)?))
            }
        }
    }

    fn write_ref(&self, name: &str, commit: &Digest) -> io::Result<()> {
        let path = self.path.join(name);
        if let Some(parent) = path.parent() {
            private::create_dir(parent)?;
        }
        private::replace(&path, format!("{commit}\n").as_bytes())
    }

    fn refs(&self, state: ProposalState) -> Result<Vec<Uuid>, SkillError> {
        let names = names(&self.path.join(state.folder()), REFS_MAX)?;
        // A file that is being written has another ending.
        Ok(names.iter().filter_map(|it| Uuid::parse(it)).collect())
    }

    /// Makes the repository if it is not there, and lets nobody else change it meanwhile.
    fn lock(&self) -> io::Result<File> {
        for dir in ["", "objects", "refs", "refs/heads"] {
            private::create_dir(&self.path.join(dir))?;
        }
        let options = &mut OpenOptions::new();
        let file =
            private::open_with(&self.path.join("lazaret.lock"), options.append(true).create(true))?;
        file.lock()?;
        for (name, content) in [("config", CONFIG), ("HEAD", "ref: refs/heads/main\n")] {
            let path = self.path.join(name);
            if path.symlink_metadata().is_err_and(|it| it.kind() == io::ErrorKind::NotFound) {
                private::replace(&path, content.as_bytes())?;
            }
        }
        Ok(file)
    }
}

#[cfg(test)]
mod tests;
