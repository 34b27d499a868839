//! Searching files for a text. Files with secrets are not looked into unless they are named.

use files::{Kind, Relative};
use model::TaintTag;
use model::ipc::FileSearch;
use monitor::target::class_of_file;
use monitor::{Output, Permit, Scrubs};
use policy::Target;
use serde_json::{Value, json};

use super::{FILE_BYTES_MAX, Stop, WorkspaceFiles, answer, fields, path_or_base, told};

/// Places that are given when the message does not say how many.
const RESULTS_DEFAULT: u64 = 100;
/// Files that one search looks into.
const FILES_MAX: usize = 20_000;
/// Bytes that one search looks at.
const SEARCHED_BYTES_MAX: u64 = 256 << 20;
/// Folders inside each other.
const DEPTH_MAX: usize = 32;
/// How much of a line is shown, in bytes.
const LINE_BYTES_MAX: usize = 500;

pub(super) fn search(
    files: &WorkspaceFiles,
    permit: Permit<FileSearch>,
    now: i64,
) -> Result<Output, Stop> {
    let scrubs = permit.scrubs();
    let wanted = permit.spend();
    let path = path_or_base(wanted.path.as_ref().map(|it| it.as_str()))?;
    let query = wanted.query.as_str();
    if query.is_empty() {
        return Err(Stop::not_begun("`query` is empty; give a text to look for"));
    }
    let most = wanted.max_results.map_or(RESULTS_DEFAULT, |it| it.get());
    let mut hunt = Hunt {
        files,
        query,
        scrubs,
        most: usize::try_from(most).unwrap_or(usize::MAX),
        now,
        results: Vec::new(),
        tags: Vec::new(),
        files_left: FILES_MAX,
        bytes_left: SEARCHED_BYTES_MAX,
        skipped: 0,
        whole: true,
    };
    if files.dir.stat(&path)?.kind == Kind::Folder {
        hunt.folder(&path, 0)?;
    } else {
        // Whoever names a file was judged by its name.
        hunt.text(&path, files.dir.read(&path, FILE_BYTES_MAX)?)?;
    }
    let body = fields([
        ("results", json!(hunt.results)),
        ("truncated", json!(!hunt.whole)),
        ("skippedSecretFiles", json!(hunt.skipped)),
    ]);
    Ok(answer(body, hunt.tags))
}

struct Hunt<'a> {
    files: &'a WorkspaceFiles,
    query: &'a str,
    scrubs: Scrubs,
    most: usize,
    now: i64,
    results: Vec<Value>,
    tags: Vec<TaintTag>,
    files_left: usize,
    bytes_left: u64,
    skipped: usize,
    whole: bool,
}

impl Hunt<'_> {
    fn is_over(&self) -> bool {
        self.results.len() >= self.most || self.files_left == 0 || self.bytes_left == 0
    }

    fn folder(&mut self, path: &Relative, depth: usize) -> Result<(), Stop> {
        let (found, whole) = self.files.dir.list(path)?;
        self.whole &= whole;
        for it in found {
            if self.is_over() {
                self.whole = false;
                return Ok(());
            }
            let Some(child) = it.name.and_then(|name| path.child(&name).ok()) else {
                self.whole = false;
                continue;
            };
            if self.files.is_denied(&child) {
                self.skipped += 1;
                continue;
            }
            match it.stat.kind {
                Kind::File if class_of_file(child.as_str()).contains(Target::SecretFile) => {
                    self.skipped += 1;
                }
                Kind::File => match self.file(&child) {
                    // Too long, with other names, gone by now: not looked into.
                    Err(stop) if stop.0.status == monitor::Status::Failed => self.whole = false,
                    done => done?,
                },
                Kind::Folder if depth >= DEPTH_MAX => self.whole = false,
                Kind::Folder => match self.folder(&child, depth + 1) {
                    Err(stop) if stop.0.status == monitor::Status::Failed => self.whole = false,
                    done => done?,
                },
                Kind::Link | Kind::Special => {}
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Relative) -> Result<(), Stop> {
        self.files_left = self.files_left.saturating_sub(1);
        let bytes = self.files.dir.read_of_one_name(path, FILE_BYTES_MAX)?;
        self.bytes_left = self.bytes_left.saturating_sub(bytes.len() as u64);
        self.text(path, bytes)
    }

    fn text(&mut self, path: &Relative, bytes: Vec<u8>) -> Result<(), Stop> {
        // What is no text has no lines.
        let Ok(text) = std::str::from_utf8(&bytes) else { return Ok(()) };
        if !text.contains(self.query) {
            return Ok(());
        }
        let tags = self.files.label(path, &bytes, self.now)?;
        for (number, line) in (1_u64..).zip(text.lines()).filter(|it| it.1.contains(self.query)) {
            if self.results.len() >= self.most {
                self.whole = false;
                break;
            }
            let line = self.scrubs.clean(line);
            let shown = line.get(..line.floor_char_boundary(LINE_BYTES_MAX)).unwrap_or_default();
            let shown = told(path, shown, &tags)?;
            self.results.push(json!({ "path": path.as_str(), "line": number, "text": shown }));
        }
        for tag in tags {
            if !self.tags.contains(&tag) {
                self.tags.push(tag);
            }
        }
        Ok(())
    }
}
