//! Which builds of the libraries a test program was linked with, for there may be several in one folder: with other
//! features, or for another command. Cargo notes it beside the program.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The libraries that this very test program may name, and where they are.
pub(crate) struct Built {
    /// `…/target/debug/deps`.
    pub(crate) folder: PathBuf,
    /// By the name that source code uses.
    pub(crate) libraries: BTreeMap<String, PathBuf>,
}

/// What cargo writes down of a build, as far as it matters here: the direct dependencies, each with the number of its
/// own note.
#[derive(Deserialize)]
struct Note {
    deps: Vec<(u64, String, bool, u64)>,
}

impl Built {
    /// Of the program that runs.
    pub(crate) fn of_this_program() -> Self {
        let program = std::env::current_exe().unwrap();
        let folder = program.parent().unwrap().to_owned();
        let notes = folder.parent().unwrap().join(".fingerprint");
        let own = program.file_stem().unwrap().to_string_lossy().into_owned();
        let (_, hash) = own.rsplit_once('-').unwrap();
        let note = note_of(&notes, hash);
        let mut libraries = BTreeMap::new();
        for (_, name, _, number) in note.deps {
            // A build script and a macro are not among them; who names one gets an error that says so.
            if let Some(library) = library(&notes, &folder, &name, number) {
                libraries.insert(name, library);
            }
        }
        Self { folder, libraries }
    }
}

fn note_of(notes: &Path, hash: &str) -> Note {
    let ending = format!("-{hash}");
    for folder in folders(notes, |name| name.ends_with(&ending)) {
        for file in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
            if file.extension().is_some_and(|it| it == "json") {
                let text = fs::read_to_string(&file).unwrap();
                return serde_json::from_str(&text)
                    .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            }
        }
    }
    panic!("{}: cargo left no note of this test program ({hash})", notes.display())
}

/// The build of a library whose note has this number.
fn library(notes: &Path, built: &Path, name: &str, number: u64) -> Option<PathBuf> {
    let number: String = number.to_le_bytes().iter().map(|it| format!("{it:02x}")).collect();
    let file = format!("lib-{name}");
    // A package may have hyphens where its library has none, or another name altogether.
    folders(notes, |_| true).into_iter().find_map(|folder| {
        let found = fs::read_to_string(folder.join(&file)).ok()?;
        let hash = folder.file_name()?.to_string_lossy().rsplit_once('-')?.1.to_owned();
        let library = built.join(format!("lib{name}-{hash}.rlib"));
        (found == number && library.exists()).then_some(library)
    })
}

fn folders(notes: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(notes).unwrap_or_else(|error| panic!("{}: {error}", notes.display()));
    entries
        .map(|it| it.unwrap().path())
        .filter(|it| it.file_name().is_some_and(|name| wanted(&name.to_string_lossy())))
        .collect()
}
