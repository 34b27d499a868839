//! The files of an agent's workspace.
//!
//! INVARIANT (Confined): a path of an agent is a `Relative` or refused, and is opened beneath the workspace's
//! handle. INVARIANT (AbsorbBeforeDeliver): what a file gives back brings its label along, and what is written is
//! labelled before it is there.

mod list;
mod read;
mod search;
mod write;

use std::path::{Path, PathBuf};

use aegx::timestamp;
use files::{Dir, DirError, Relative};
use model::ipc::{FileEdit, FileList, FileRead, FileSearch, FileWrite};
use model::{SessionId, Source, Taint, TaintTag};
use monitor::target::class_of_file;
use monitor::{Output, Permit, Status, taint};
use policy::access::Glob;
use policy::{Target, Targets};
use scan::boundary::{self, Boundary, Nonce};
use serde_json::{Map, Value, json};
use store::workspace::{Registry, SIDECAR, WorkspaceError};

/// The longest file that is read or written, in bytes.
pub const FILE_BYTES_MAX: u64 = 4 << 20;

/// A workspace and the labels of what lies in it.
pub struct WorkspaceFiles {
    dir: Dir,
    root: PathBuf,
    registry: Registry,
    /// What is not read here.
    denied: Vec<Glob>,
}

impl WorkspaceFiles {
    /// The workspace that `dir` holds, which lies at `root`.
    #[must_use]
    pub fn new(dir: Dir, root: PathBuf, registry: Registry) -> Self {
        Self { dir, root, registry, denied: Vec::new() }
    }

    /// The same without what these patterns deny: nobody looks into it who looks into many files. Who names one is stopped
    /// at the gate.
    #[must_use]
    pub fn denying(self, denied: Vec<Glob>) -> Self {
        Self { denied, ..self }
    }

    /// Is it not to be looked into?
    fn is_denied(&self, path: &Relative) -> bool {
        if self.denied.is_empty() {
            return false;
        }
        let whole = format!("{}/{path}", self.root.display());
        [path.as_str(), &whole].iter().any(|it| monitor::is_denied(&self.denied, it))
    }

    pub(super) fn read(&self, permit: Permit<FileRead>, now: i64) -> Output {
        read::read(self, permit, now).unwrap_or_else(|stop| stop.0)
    }

    pub(super) fn write(&self, permit: Permit<FileWrite>, now: i64) -> Output {
        write::write(self, permit, now).unwrap_or_else(|stop| stop.0)
    }

    pub(super) fn edit(&self, permit: Permit<FileEdit>, now: i64) -> Output {
        write::edit(self, permit, now).unwrap_or_else(|stop| stop.0)
    }

    pub(super) fn list(&self, permit: Permit<FileList>) -> Output {
        list::list(self, permit).unwrap_or_else(|stop| stop.0)
    }

    pub(super) fn search(&self, permit: Permit<FileSearch>, now: i64) -> Output {
        search::search(self, permit, now).unwrap_or_else(|stop| stop.0)
    }

    /// Where it lies.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The label of what a command can read here.
    pub(super) fn before_command(&self) -> Result<Option<TaintTag>, WorkspaceError> {
        self.registry.worst(&self.root)
    }

    /// Labels what a command of the session has changed. Gives how many files are marked that were not before, and the
    /// label of what it could read.
    pub(super) fn after_command(
        &self,
        session: &SessionId,
        tag: Option<&TaintTag>,
        now: i64,
    ) -> Result<(usize, Option<TaintTag>), WorkspaceError> {
        let ran = self.registry.after_command(&self.root, session, tag, now)?;
        Ok((ran.after.marked.len(), ran.there))
    }

    /// The label of a file with this content. What is read of a secret file is known as a secret from then
    /// on, whatever it is called later.
    fn label(&self, path: &Relative, content: &[u8], now: i64) -> Result<Vec<TaintTag>, Stop> {
        let known = self.registry.label(&self.root, path.as_str(), content)?;
        let mut tags: Vec<TaintTag> = known.into_iter().collect();
        if is_secret(class_of_file(path.as_str())) {
            let origin = format!("file {path}");
            let secret =
                TaintTag { taint: Taint::SECRET_RISK, ..taint::label(Source::File, &origin, now) };
            self.registry.know(&self.root, content, &secret)?;
            // What is known already is not told twice.
            if !tags.iter().any(|it| it.taint.contains(secret.taint)) {
                tags.push(secret);
            }
        }
        Ok(tags)
    }
}

/// What is told in place of a result.
struct Stop(Output);

impl Stop {
    /// Nothing was done; in the host's own words.
    fn not_begun(why: impl Into<String>) -> Self {
        Self(Output::not_begun(why))
    }

    fn failed(why: impl Into<String>) -> Self {
        Self(Output { status: Status::Failed, ..Output::text(why.into()) })
    }

    /// It says something of a file that carries these labels.
    fn with(mut self, tags: impl IntoIterator<Item = TaintTag>) -> Self {
        self.0.tags.extend(tags);
        self
    }
}

impl From<DirError> for Stop {
    fn from(error: DirError) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<files::PathRefused> for Stop {
    fn from(refused: files::PathRefused) -> Self {
        Self::not_begun(format!("{}: {refused}", refused.rule))
    }
}

impl From<WorkspaceError> for Stop {
    fn from(error: WorkspaceError) -> Self {
        // INVARIANT (FailClosed): a file whose label is not known is not touched.
        Self::not_begun(format!("the labels of the workspace: {error}"))
    }
}

/// A path that an agent wrote.
fn path(text: &str) -> Result<Relative, Stop> {
    Ok(Relative::parse(text)?)
}

/// A path of which the agent may be silent.
fn path_or_base(text: Option<&str>) -> Result<Relative, Stop> {
    text.map_or_else(|| Ok(Relative::base()), path)
}

fn is_secret(targets: Targets) -> bool {
    targets.contains(Target::SecretFile) || targets.contains(Target::SensitiveFile)
}

/// The labels beside the files are the host's to write.
fn not_the_labels(path: &Relative) -> Result<(), Stop> {
    let is_ours = path
        .names()
        .any(|it| it.eq_ignore_ascii_case(SIDECAR) || it.starts_with(files::private::TEMPORARY));
    if is_ours {
        return Err(Stop::not_begun(format!("`{path}` is written by the host alone")));
    }
    Ok(())
}

/// Text of a file as an agent gets it: what somebody outside wrote stands between marks.
fn told(path: &Relative, text: &str, tags: &[TaintTag]) -> Result<String, Stop> {
    if !tags.iter().any(|it| taint::is_outside(it.taint)) {
        return Ok(text.to_owned());
    }
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|error| Stop::not_begun(error.to_string()))?;
    Ok(boundary::wrap(Boundary::File, path.as_str(), text, &Nonce::new(random)))
}

/// An answer, with the labels of what it holds.
fn answer(mut body: Map<String, Value>, tags: Vec<TaintTag>) -> Output {
    if !tags.is_empty() {
        body.insert("taint".to_owned(), json!(tag_values(&tags)));
    }
    Output { tags, ..Output::text(Value::Object(body).to_string()) }
}

fn fields<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

pub(super) fn tag_values(tags: &[TaintTag]) -> Vec<Value> {
    let value = |tag: &TaintTag| {
        json!({
            "source": tag.origin,
            "trust": if taint::is_outside(tag.taint) { "external" } else { "internal" },
            "flags": tag.taint.iter_names().collect::<Vec<_>>(),
            "timestamp": timestamp::from_unix(tag.unix_seconds),
        })
    };
    tags.iter().map(value).collect()
}
