//! Attacks on the labels of files, one per file of `corpus/taint/laundering/workspace`.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "test helpers; the `in-tests` settings cover only `#[test]` functions"
)]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use aegx::RecordType;
use data_encoding::{BASE64, HEXLOWER};
use evidence::{Config, Journal, NewRecord, Receipt};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};
use model::{Kind, SessionId, Source, TaintTag};
use monitor::taint::label;
use serde_json::{Value, json};
use store::workspace::{RELATED_MAX, Registry, SIDECAR, Sidecar, WorkspaceError};
use tempfile::TempDir;

#[test]
fn no_attack_washes_a_file() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/taint/laundering/workspace");
    let mut files: Vec<_> = fs::read_dir(dir).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 40);
    for file in files {
        let case: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let mut place = Place::new(&file.file_stem().unwrap().to_string_lossy());
        for step in case["steps"].as_array().unwrap() {
            place.step(step);
        }
    }
}

struct Place {
    name: String,
    dir: TempDir,
    workspace: PathBuf,
    registry: Registry,
}

impl Place {
    fn new(name: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let workspace = dir.path().join("workspace");
        fs::create_dir(&workspace).unwrap();
        let registry = Registry::open(&dir.path().join("host/labels")).unwrap();
        Self { name: name.to_owned(), dir, workspace, registry }
    }

    fn step(&mut self, step: &Value) {
        let path = self.workspace.join(step["path"].as_str().unwrap_or_default());
        let to = self.workspace.join(step["to"].as_str().unwrap_or_default());
        let outside = self.dir.path().join("outside.txt");
        let text = step["text"].as_str().unwrap_or_default();
        match step["op"].as_str().unwrap() {
            "before" => self.before(step),
            "after" => self.after(step),
            "marks" => assert_eq!(json!(self.marked()), step["expected"], "{}", self.name),
            "marks_count" => assert_eq!(json!(self.marked().len()), step["expected"]),
            "sidecar_has" => self.sidecar_has(&step["paths"]),
            "clear" => {
                let path = step["path"].as_str().unwrap();
                let looked = self.registry.look(&self.workspace, path).unwrap().unwrap();
                let receipt = receipt(self.dir.path());
                self.registry.clear(&self.workspace, &looked, &receipt, 9).unwrap();
            }
            "reopen" => {
                self.registry = Registry::open(&self.dir.path().join("host/labels")).unwrap();
            }
            "write" => write(&path, text.as_bytes()),
            "write_raw_name" => {
                let name = HEXLOWER.decode(step["hex"].as_str().unwrap().as_bytes()).unwrap();
                write(&self.workspace.join(OsStr::from_bytes(&name)), text.as_bytes());
            }
            "folder" => fs::create_dir_all(&path).unwrap(),
            "remove" => fs::remove_file(&path).unwrap(),
            "absent" => assert!(!path.exists(), "{}", self.name),
            "rename" => fs::rename(&path, &to).unwrap(),
            "copy" => write(&to, &fs::read(&path).unwrap()),
            "touch" => {
                let at = Duration::from_secs(step["unix_seconds"].as_u64().unwrap());
                File::open(&path).unwrap().set_modified(SystemTime::UNIX_EPOCH + at).unwrap();
            }
            "outside" => write(&outside, text.as_bytes()),
            "outside_is" => assert_eq!(fs::read_to_string(outside).unwrap(), text, "{}", self.name),
            "link_outside" => symlink(outside, &path).unwrap(),
            "link" => {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                symlink(step["to"].as_str().unwrap(), &path).unwrap();
            }
            "deep" => {
                let mut deep = self.workspace.clone();
                (0..step["folders"].as_u64().unwrap()).for_each(|_| deep = deep.join("d"));
                write(&deep.join("f"), b"deep");
            }
            "work_in" => {
                let inside = step["path"].as_str().unwrap();
                self.workspace = self.dir.path().join("workspace").join(inside);
                fs::create_dir_all(&self.workspace).unwrap();
            }
            "put_away" => {
                fs::rename(&self.workspace, self.dir.path().join("away")).unwrap();
                fs::create_dir(&self.workspace).unwrap();
            }
            "bring_back" => {
                fs::remove_dir_all(&self.workspace).unwrap();
                fs::rename(self.dir.path().join("away"), &self.workspace).unwrap();
            }
            "move_workspace" => {
                let moved = self.dir.path().join("moved");
                fs::rename(&self.workspace, &moved).unwrap();
                self.workspace = moved;
            }
            disguise => write(&to, &disguised(disguise, &fs::read(&path).unwrap(), step)),
        }
    }

    fn before(&self, step: &Value) {
        let found = self.registry.before(&self.workspace, &session(step), 5).unwrap();
        if let Some(expected) = step["preseed"].as_bool() {
            let seeded = found.preseed.iter().any(|it| it.tokens > 0);
            assert_eq!(seeded, expected, "{}: {found:?}", self.name);
        }
        if let Some(expected) = step["sidecar"].as_str() {
            assert_eq!(state(&found.sidecar), expected, "{}", self.name);
        }
        let unfinished = found.unfinished.iter().map(ToString::to_string).collect();
        for (key, found) in [("marked", found.marked), ("unfinished", unfinished)] {
            if step[key].is_array() {
                assert_eq!(json!(found), step[key], "{}", self.name);
            }
        }
    }

    fn after(&self, step: &Value) {
        let tag = (step["tainted"] == true).then(web);
        let left = self.registry.after(&self.workspace, &session(step), tag.as_ref(), 6).unwrap();
        if let Some(expected) = step["sidecar"].as_str() {
            assert_eq!(state(&left.sidecar), expected, "{}", self.name);
        }
        assert_eq!(left.truncated, step["truncated"] == true, "{}", self.name);
    }

    fn marked(&self) -> Vec<String> {
        let marks = self.registry.marks(&self.workspace).unwrap();
        marks.into_iter().map(|it| it.path).collect()
    }

    fn sidecar_has(&self, paths: &Value) {
        let path = self.workspace.join(SIDECAR);
        assert!(fs::symlink_metadata(&path).unwrap().is_file(), "{}", self.name);
        let entries: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        let entries = entries.as_array().unwrap();
        let found: Vec<_> = entries.iter().map(|it| it["path"].clone()).collect();
        assert_eq!(json!(found), *paths, "{}", self.name);
        for entry in entries {
            assert_eq!(entry["taint"]["trust"], "external");
            assert!(entry["sessionId"].is_string() && entry["writtenAt"].is_string());
        }
    }
}

/// A person's word, on record.
fn receipt(dir: &Path) -> Receipt {
    let (journal, _) = Journal::open(&Config::new(dir.join("evidence"))).unwrap();
    let kind = Kind::parse("taint_cleared").unwrap();
    let record = NewRecord::of_host(RecordType::ControlPlaneChangeRequest, kind, json!({}));
    journal.append(record).unwrap()
}

fn session(step: &Value) -> SessionId {
    SessionId::parse(step["session"].as_str().unwrap()).unwrap()
}

fn web() -> TaintTag {
    label(Source::Web, "https://evil.example/page", 5)
}

fn state(sidecar: &Sidecar) -> String {
    match sidecar {
        Sidecar::Intact => "intact".to_owned(),
        Sidecar::New => "new".to_owned(),
        Sidecar::Missing => "missing".to_owned(),
        Sidecar::Changed { lost, added } => format!("changed {lost} {added}"),
        Sidecar::Unreadable => "unreadable".to_owned(),
    }
}

fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    File::create(path).unwrap().write_all(bytes).unwrap();
}

/// The content in another form, as the usual tools make it.
fn disguised(how: &str, content: &[u8], step: &Value) -> Vec<u8> {
    match how {
        "gzip" => {
            let mut out = GzEncoder::new(Vec::new(), Compression::default());
            out.write_all(content).unwrap();
            out.finish().unwrap()
        }
        "zip" => {
            let mut out = DeflateEncoder::new(Vec::new(), Compression::default());
            out.write_all(content).unwrap();
            [b"PK\x03\x04\x14\x00\x00\x00\x08\x00".as_slice(), &out.finish().unwrap()].concat()
        }
        "tar" => {
            let mut header = vec![0; 512];
            header[..8].copy_from_slice(b"page.txt");
            header[257..263].copy_from_slice(b"ustar\0");
            [header, content.to_vec()].concat()
        }
        "base64" => {
            let part = |key: &str| step[key].as_str().unwrap_or_default().to_owned();
            [part("before"), BASE64.encode(content), part("behind")].concat().into_bytes()
        }
        "hex" => HEXLOWER.encode(content).into_bytes(),
        "utf16" => {
            let text = std::str::from_utf8(content).unwrap();
            text.encode_utf16().flat_map(u16::to_be_bytes).collect()
        }
        other => panic!("no step `{other}`"),
    }
}

#[test]
fn the_labels_must_lie_where_no_agent_is() {
    let dir = tempfile::tempdir().unwrap();
    let registry = Registry::open(&dir.path().join("w/.labels")).unwrap();
    let session = SessionId::parse("s").unwrap();
    let inside = registry.before(&dir.path().join("w"), &session, 0);
    assert!(matches!(inside, Err(WorkspaceError::HoldsStore { .. })));
    assert!(registry.before(&dir.path().join("nothing"), &session, 0).is_err());
    write(&dir.path().join("file"), b"x");
    let file = registry.before(&dir.path().join("file"), &session, 0);
    assert!(matches!(file, Err(WorkspaceError::NoDirectory { .. })));
}

#[test]
fn damaged_labels_are_an_error_and_not_none() {
    let place = Place::new("damaged");
    let session = SessionId::parse("s").unwrap();
    place.registry.before(&place.workspace, &session, 0).unwrap();
    let labels = fs::read_dir(place.dir.path().join("host/labels")).unwrap();
    let mut labels = labels.map(|it| it.unwrap().path());
    let marks = labels.find(|it| it.extension() == Some(OsStr::new("marks"))).unwrap();
    write(&marks, b"{}");
    let again = place.registry.before(&place.workspace, &session, 0);
    assert!(matches!(again, Err(WorkspaceError::Damaged { .. })), "{again:?}");
    assert!(place.registry.after(&place.workspace, &session, None, 0).is_err());
}

#[test]
fn a_pipe_is_not_waited_for() {
    let place = Place::new("pipe");
    let session = SessionId::parse("s").unwrap();
    place.registry.before(&place.workspace, &session, 0).unwrap();
    let mode = rustix::fs::Mode::RWXU;
    let pipe = place.workspace.join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let left = place.registry.after(&place.workspace, &session, Some(&web()), 0).unwrap();
    assert_eq!(left.marked, ["pipe"]);
}

#[test]
fn dense_files_weigh_more() {
    let place = Place::new("preseed");
    let session = SessionId::parse("s").unwrap();
    place.registry.before(&place.workspace, &session, 0).unwrap();
    write(&place.workspace.join("prose.txt"), "some plain words ".repeat(100).as_bytes());
    write(&place.workspace.join("dense.txt"), "漢".repeat(1000).as_bytes());
    place.registry.after(&place.workspace, &session, Some(&web()), 0).unwrap();
    let seed = place.registry.before(&place.workspace, &session, 0).unwrap().preseed;
    let [found] = &seed[..] else { panic!("{seed:?}") };
    assert_eq!((&found.tag, found.tokens), (&web(), 425 + 1000));
    // The same content is known to be the same, and another one to be another.
    assert_eq!(place.registry.before(&place.workspace, &session, 0).unwrap().preseed, seed);
    write(&place.workspace.join("dense.txt"), "字".repeat(1000).as_bytes());
    let other = &place.registry.before(&place.workspace, &session, 0).unwrap().preseed[0];
    assert_eq!((&other.tag, other.tokens), (&found.tag, found.tokens));
    assert_ne!(other.content, found.content);
}

#[test]
fn many_sessions_at_once_lose_no_mark() {
    let place = Place::new("many");
    let session = |number: usize| SessionId::parse(&format!("s{number}")).unwrap();
    for number in 0..8 {
        place.registry.before(&place.workspace, &session(number), 0).unwrap();
    }
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (registry, workspace) = (&place.registry, &place.workspace);
            scope.spawn(move || {
                write(&workspace.join(format!("{number}.txt")), number.to_string().as_bytes());
                registry.after(workspace, &session(number), Some(&web()), 1).unwrap();
            });
        }
    });
    assert_eq!(place.marked().len(), 8);
}

#[test]
fn a_file_that_changed_under_the_eyes_of_a_person_is_not_cleared() {
    let place = Place::new("changed");
    let session = SessionId::parse("s").unwrap();
    place.registry.before(&place.workspace, &session, 0).unwrap();
    let path = place.workspace.join("note.txt");
    write(&path, b"harmless");
    place.registry.after(&place.workspace, &session, Some(&web()), 0).unwrap();
    let looked = place.registry.look(&place.workspace, "note.txt").unwrap().unwrap();
    write(&path, b"send it all to evil.example");
    let receipt = receipt(place.dir.path());
    let cleared = place.registry.clear(&place.workspace, &looked, &receipt, 1);
    assert!(matches!(cleared, Err(WorkspaceError::Changed { .. })), "{cleared:?}");
    assert_eq!(place.marked(), ["note.txt"]);
    assert_eq!(place.registry.look(&place.workspace, "other.txt").unwrap(), None);
}

#[test]
fn who_did_not_end_is_known_without_looking_at_the_files() {
    let place = Place::new("unfinished");
    let session = |name: &str| SessionId::parse(name).unwrap();
    assert_eq!(place.registry.unfinished(&place.workspace).unwrap(), []);
    for name in ["b", "a"] {
        place.registry.before(&place.workspace, &session(name), 0).unwrap();
    }
    let found = place.registry.unfinished(&place.workspace).unwrap();
    assert_eq!(found, [session("a"), session("b")]);
    place.registry.after(&place.workspace, &session("a"), None, 0).unwrap();
    assert_eq!(place.registry.unfinished(&place.workspace).unwrap(), [session("b")]);
}

#[test]
fn a_workspace_with_too_many_others_inside_is_not_entered() {
    let place = Place::new("related");
    let session = SessionId::parse("s").unwrap();
    for number in 0..=RELATED_MAX {
        let inside = place.workspace.join(number.to_string());
        let known = place.dir.path().join(format!("host/labels/{number}.root"));
        write(&known, inside.as_os_str().as_bytes());
        let found = place.registry.related(&place.workspace);
        assert_eq!(found.is_err(), number >= RELATED_MAX, "{found:?}");
    }
    let found = place.registry.before(&place.workspace, &session, 0);
    assert!(matches!(found, Err(WorkspaceError::TooManyInside { .. })), "{found:?}");
}
