//! Objects of a git repository, one file each: blobs, trees, commits, named by SHA-256.
//!
//! The repository says `objectFormat = sha256`, which git knows since 2.29. The other format, SHA-1, is
//! broken: two texts can share a name, and a person would approve the one and get the other.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use aegx::Digest;
use files::private;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use crate::skills::SkillError;

/// The longest object that is read, in bytes.
const OBJECT_BYTES_MAX: u64 = 4 << 20;

/// A file or a folder in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TreeEntry {
    pub(super) mode: Mode,
    pub(super) name: String,
    pub(super) id: Digest,
}

/// What an entry of a tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    File,
    Executable,
    Folder,
}

impl Mode {
    const fn as_str(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Folder => "40000",
        }
    }

    /// Links and modules of others are not read.
    fn parse(text: &[u8]) -> Option<Self> {
        match text {
            b"100644" => Some(Self::File),
            b"100755" => Some(Self::Executable),
            b"40000" => Some(Self::Folder),
            _ => None,
        }
    }
}

/// The objects of a repository.
pub(super) struct Objects {
    dir: PathBuf,
}

impl Objects {
    pub(super) fn new(repository: &Path) -> Self {
        Self { dir: repository.join("objects") }
    }

    /// Keeps an object. It is durable when this returns.
    pub(super) fn write(&self, kind: &str, content: &[u8]) -> io::Result<Digest> {
        let head = format!("{kind} {}\0", content.len());
        let id = Digest::of_parts(&[head.as_bytes(), content]);
        let path = self.path(&id);
        if path.symlink_metadata().is_ok() && self.read(&id, kind).is_ok_and(|it| it == content) {
            return Ok(id);
        }
        if let Some(parent) = path.parent() {
            private::create_dir(parent)?;
        }
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(head.as_bytes())?;
        encoder.write_all(content)?;
        private::replace(&path, &encoder.finish()?)?;
        Ok(id)
    }

    /// An object of this kind, whose content is what its name says.
    pub(super) fn read(&self, id: &Digest, kind: &str) -> Result<Vec<u8>, SkillError> {
        let wrong = |why: &str| SkillError::Damaged(format!("object {id} {why}"));
        let path = self.path(id);
        let file = match private::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(wrong(
                    "is not there as a file of its own (`git unpack-objects` makes one)",
                ));
            }
            file => file?,
        };
        let mut all = Vec::new();
        ZlibDecoder::new(file)
            .take(OBJECT_BYTES_MAX + 1)
            .read_to_end(&mut all)
            .map_err(|_| wrong("is damaged"))?;
        if all.len() as u64 > OBJECT_BYTES_MAX {
            return Err(wrong("is too long"));
        }
        if Digest::of(&all) != *id {
            return Err(wrong("is not what its name says"));
        }
        let end = all.iter().position(|it| *it == 0).ok_or_else(|| wrong("has no head"))?;
        let content = all.split_off(end + 1);
        all.pop();
        if all != format!("{kind} {}", content.len()).as_bytes() {
            return Err(wrong("is of another kind"));
        }
        Ok(content)
    }

    pub(super) fn write_tree(&self, mut entries: Vec<TreeEntry>) -> io::Result<Digest> {
        // Git compares a folder as if its name ended with a slash.
        let key = |it: &TreeEntry| match it.mode {
            Mode::Folder => format!("{}/", it.name),
            Mode::File | Mode::Executable => it.name.clone(),
        };
        entries.sort_by_key(key);
        let mut content = Vec::new();
        for it in &entries {
            content.extend_from_slice(format!("{} {}\0", it.mode.as_str(), it.name).as_bytes());
            content.extend_from_slice(it.id.as_bytes());
        }
        self.write("tree", &content)
    }

    /// The entries of a tree. One that is no plain file or folder is left out: nothing here follows it.
    pub(super) fn read_tree(&self, id: &Digest) -> Result<Vec<TreeEntry>, SkillError> {
        let content = self.read(id, "tree")?;
        let wrong = || SkillError::Damaged(format!("tree {id} cannot be read"));
        let mut rest = content.as_slice();
        let mut found = Vec::new();
        while !rest.is_empty() {
            let end = rest.iter().position(|it| *it == 0).ok_or_else(wrong)?;
            let (head, tail) = rest.split_at(end);
            let (id, tail) =
                tail.get(1..).and_then(|it| it.split_first_chunk::<32>()).ok_or_else(wrong)?;
            let space = head.iter().position(|it| *it == b' ').ok_or_else(wrong)?;
            let (mode, name) = head.split_at(space);
            let name =
                name.get(1..).and_then(|it| std::str::from_utf8(it).ok()).ok_or_else(wrong)?;
            if let Some(mode) = Mode::parse(mode) {
                found.push(TreeEntry { mode, name: name.to_owned(), id: Digest::from_bytes(*id) });
            }
            rest = tail;
        }
        Ok(found)
    }

    /// Removes an object, if it is there. Whoever calls this knows that nothing that counts names it.
    pub(super) fn remove(&self, id: &Digest) -> io::Result<()> {
        private::remove(&self.path(id))
    }

    fn path(&self, id: &Digest) -> PathBuf {
        let hex = id.to_string();
        let (folder, name) = hex.split_at(2);
        self.dir.join(folder).join(name)
    }
}

/// The names of a folder's files, if it is there.
pub(super) fn names(dir: &Path, most: usize) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let names = entries.take(most).map(|it| Ok(it?.file_name().to_string_lossy().into_owned()));
    let mut names = names.collect::<io::Result<Vec<_>>>()?;
    names.sort_unstable();
    Ok(names)
}
