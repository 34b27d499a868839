//! A policy folder, read and understood, or everything that is wrong with it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use model::AgentId;
use monitor::provenance::{CATALOGUE_BYTES_MAX, Catalogue, CatalogueError};
use policy::access::{FILE_BYTES_MAX, FileError, Global, KnownTools, Manifest, Users};
use policy::{LoadError, PACK_BYTES_MAX, PackText, Policy};

use super::live::Source;

/// The longest file with cases.
const CASES_BYTES_MAX: usize = 64 << 20;
/// What tools do, as the operator says. No rule speaks of it; gates know tools by it.
const CATALOGUE: &str = "catalogue.json";

/// The policy, and what of the layers the folder speaks of.
pub(crate) struct Loaded {
    pub(crate) source: Source,
    pub(crate) policy: Policy,
    /// What tools do, by the operator's word.
    pub(crate) catalogue: Catalogue,
    pub(crate) global: Option<Global>,
    pub(crate) manifests: Option<BTreeMap<String, Manifest>>,
    pub(crate) users: Option<Users>,
    /// Names and texts.
    pub(crate) cases: Vec<(String, String)>,
}

/// One thing that is wrong.
pub(crate) struct Flaw {
    /// The file.
    pub(crate) file: String,
    /// The line; 0 if it is about the whole.
    pub(crate) line: usize,
    pub(crate) rule: Option<String>,
    pub(crate) what: String,
}

/// Reads the embedded packs and `dir`, if there is one.
pub(crate) fn load(dir: Option<&Path>) -> Result<Loaded, Vec<Flaw>> {
    let mut reading = Reading::embedded();
    let Some(dir) = dir else { return reading.done(Source::Program) };
    reading.folder(dir);
    reading.done(Source::Folder(dir.to_owned()))
}

/// Reads the embedded packs and rules that are not written down yet.
pub(crate) fn of_texts(rules: &[(String, String)]) -> Result<Loaded, Vec<Flaw>> {
    let mut reading = Reading::embedded();
    let packs =
        rules.iter().map(|(name, text)| PackText { name: name.clone(), text: text.clone() });
    reading.packs.extend(packs);
    reading.done(Source::Program)
}

impl Reading {
    /// The rules that the program brings along.
    pub(super) fn embedded() -> Self {
        Self { packs: PackText::embedded(), ..Self::default() }
    }

    pub(super) fn done(self, source: Source) -> Result<Loaded, Vec<Flaw>> {
        let Self { packs, catalogue, global, manifests, users, cases, mut flaws } = self;
        match Policy::build(&packs) {
            Ok(policy) if flaws.is_empty() => {
                Ok(Loaded { source, policy, catalogue, global, manifests, users, cases })
            }
            Ok(_) => Err(flaws),
            Err(errors) => {
                flaws.extend(errors.0.into_iter().map(Flaw::from));
                Err(flaws)
            }
        }
    }
}

#[derive(Default)]
pub(super) struct Reading {
    pub(super) packs: Vec<PackText>,
    catalogue: Catalogue,
    pub(super) global: Option<Global>,
    pub(super) manifests: Option<BTreeMap<String, Manifest>>,
    pub(super) users: Option<Users>,
    cases: Vec<(String, String)>,
    flaws: Vec<Flaw>,
}

impl Reading {
    pub(super) fn folder(&mut self, dir: &Path) {
        for path in self.entries(dir) {
            let name = name_of(&path);
            if name.starts_with('.') || name.ends_with(".md") || name.ends_with(".cedarschema") {
                continue;
            }
            if name == "agents" && path.is_dir() {
                self.agents(&path);
            } else if name == "config.yaml" {
                self.settings(&path);
            } else if name == "users.yaml" {
                self.users(&path);
            } else if name == CATALOGUE {
                let read = self.file(&path, CATALOGUE_BYTES_MAX, |text| {
                    let what = |error: CatalogueError| error.to_string();
                    Catalogue::parse(text).map_err(|it| FileError { line: None, what: what(it) })
                });
                self.catalogue = read.unwrap_or_default();
            } else if name.ends_with(".cases.jsonl") {
                let text = self.file(&path, CASES_BYTES_MAX, |text| Ok(text.to_owned()));
                self.cases.extend(text.map(|text| (shown(&path), text)));
            } else if name.ends_with(".cedar") {
                let text = self.file(&path, PACK_BYTES_MAX, |text| Ok(text.to_owned()));
                self.packs.extend(text.map(|text| PackText { name: shown(&path), text }));
            } else {
                // A rule in a file that nobody reads protects nobody.
                self.flaw(&path, "nothing of a policy is called so; rename it or move it away");
            }
        }
    }

    pub(super) fn settings(&mut self, path: &Path) {
        self.global = self.file(path, FILE_BYTES_MAX, Global::parse);
    }

    pub(super) fn users(&mut self, path: &Path) {
        let parse = |text: &str| Users::parse(text, &KnownTools::default());
        self.users = self.file(path, FILE_BYTES_MAX, parse);
    }

    pub(super) fn agents(&mut self, dir: &Path) {
        let mut found = BTreeMap::new();
        for folder in self.entries(dir) {
            let file = folder.join("IDENTITY.md");
            match AgentId::parse(&name_of(&folder)) {
                Err(why) => self.flaw(&folder, &why.to_string()),
                Ok(agent) => {
                    let parse = |text: &str| Manifest::parse(&agent, text);
                    let manifest = self.file(&file, FILE_BYTES_MAX, parse);
                    found.extend(manifest.map(|it| (agent.as_str().to_owned(), it)));
                }
            }
        }
        self.manifests = Some(found);
    }

    /// What is in a folder, sorted.
    fn entries(&mut self, dir: &Path) -> Vec<PathBuf> {
        let listed = fs::read_dir(dir).and_then(|entries| {
            entries.map(|entry| entry.map(|it| it.path())).collect::<Result<Vec<_>, _>>()
        });
        let mut found = listed.unwrap_or_else(|error| {
            self.flaw(dir, &error.to_string());
            Vec::new()
        });
        found.sort();
        found
    }

    fn file<T>(
        &mut self,
        path: &Path,
        bytes_max: usize,
        parse: impl FnOnce(&str) -> Result<T, FileError>,
    ) -> Option<T> {
        let bytes = fs::metadata(path).map_or(0, |it| it.len());
        if bytes > bytes_max as u64 {
            self.flaw(path, &format!("{bytes} bytes, at most {bytes_max} are read"));
            return None;
        }
        let text = fs::read(path).map_err(|error| error.to_string());
        let text = text.and_then(|it| String::from_utf8(it).map_err(|_| "is not UTF-8".to_owned()));
        match text.map(|it| parse(&it)) {
            Ok(Ok(parsed)) => return Some(parsed),
            Ok(Err(FileError { line, what })) => {
                let (file, line) = (shown(path), line.unwrap_or(0));
                self.flaws.push(Flaw { file, line, rule: None, what });
            }
            Err(what) => self.flaw(path, &what),
        }
        None
    }

    pub(super) fn flaw(&mut self, path: &Path, what: &str) {
        let what = what.to_owned();
        self.flaws.push(Flaw { file: shown(path), line: 0, rule: None, what });
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl From<LoadError> for Flaw {
    fn from(error: LoadError) -> Self {
        let LoadError { pack, line, rule, what } = error;
        Self { file: pack, line, rule, what }
    }
}

impl std::fmt::Display for Flaw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { file, line, rule, what } = self;
        write!(f, "{file}")?;
        if *line > 0 {
            write!(f, ":{line}")?;
        }
        if let Some(rule) = rule {
            write!(f, ": rule `{rule}`")?;
        }
        write!(f, ": {what}")
    }
}
