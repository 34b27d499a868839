//! Files that pass through us: their labels are exact, and whole whenever somebody is killed.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; the `in-tests` settings cover only `#[test]` functions"
)]
#![expect(clippy::disallowed_methods, reason = "files and processes of the test's own")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use model::{SessionId, Source, Taint, TaintTag};
use monitor::taint::label;
use store::workspace::{Registry, Written};
use tempfile::TempDir;

struct Place {
    _temp: TempDir,
    root: PathBuf,
    registry: Registry,
}

fn place() -> Place {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("work");
    fs::create_dir(&root).unwrap();
    let root = files::resolved(&root).unwrap();
    let registry = Registry::open(&temp.path().join("host")).unwrap();
    Place { _temp: temp, root, registry }
}

fn session(name: &str) -> SessionId {
    SessionId::parse(name).unwrap()
}

fn web() -> TaintTag {
    label(Source::Web, "https://evil.example", 7)
}

impl Place {
    fn write(
        &self,
        session: &SessionId,
        path: &str,
        text: &str,
        tag: Option<&TaintTag>,
    ) -> Option<TaintTag> {
        let content = text.as_bytes();
        let written = Written { path, content, tag, session, now: 9 };
        let label = self.registry.before_write(&self.root, &written).unwrap();
        fs::write(self.root.join(path), text).unwrap();
        label
    }

    fn marked(&self) -> Vec<String> {
        self.registry.marks(&self.root).unwrap().into_iter().map(|it| it.path).collect()
    }

    fn label(&self, path: &str, text: &str) -> Option<TaintTag> {
        self.registry.label(&self.root, path, text.as_bytes()).unwrap()
    }
}

#[test]
fn each_write_carries_the_label_that_the_session_had_then() {
    let place = place();
    let s1 = session("s1");
    place.registry.before(&place.root, &s1, 1).unwrap();
    assert_eq!(place.write(&s1, "early.md", "clean words", None), None);
    assert!(place.write(&s1, "late.md", "a page's words", Some(&web())).is_some());
    fs::write(place.root.join("aside.md"), "by another way").unwrap();
    let after = place.registry.after(&place.root, &s1, Some(&web()), 2).unwrap();
    assert_eq!(after.marked, ["aside.md"]);
    assert_eq!(place.marked(), ["aside.md", "late.md"]);
    assert_eq!(place.label("early.md", "clean words"), None);
    // What was written through us and changed by another way since is the session's as it is at the end.
    let s2 = session("s2");
    place.registry.before(&place.root, &s2, 3).unwrap();
    place.write(&s2, "both.md", "first", None);
    fs::write(place.root.join("both.md"), "second").unwrap();
    place.registry.after(&place.root, &s2, Some(&web()), 4).unwrap();
    assert!(place.marked().contains(&"both.md".to_owned()));
}

#[test]
fn a_label_follows_the_content_and_stays_with_the_file() {
    let place = place();
    let s1 = session("s1");
    place.registry.before(&place.root, &s1, 1).unwrap();
    place.write(&s1, "page.md", "the page", Some(&web()));
    // Under another name, written by a clean session, or over the old file.
    assert!(place.label("copy.md", "the page").is_some());
    assert!(place.write(&s1, "copy2.md", "the page", None).is_some());
    assert!(place.write(&s1, "page.md", "washed", None).is_some());
    assert_eq!(place.label("other.md", "the pages"), None);
    assert_eq!(place.label("empty.md", ""), None);
}

#[test]
fn a_secret_is_known_and_rubs_off_on_nobody() {
    let place = place();
    let secret = TaintTag { taint: Taint::SECRET_RISK, ..label(Source::File, "file .env", 1) };
    fs::write(place.root.join(".env"), "KEY=1").unwrap();
    place.registry.know(&place.root, b"KEY=1", &secret).unwrap();
    assert_eq!(place.label("x", "KEY=1").unwrap().taint, Taint::SECRET_RISK);
    let s1 = session("s1");
    let before = place.registry.before(&place.root, &s1, 2).unwrap();
    assert_eq!((before.preseed, before.marked), (Vec::new(), vec![".env".to_owned()]));
    fs::write(place.root.join("new.md"), "words").unwrap();
    assert_eq!(
        place.registry.after(&place.root, &s1, None, 3).unwrap().marked,
        Vec::<String>::new()
    );
    // Read back from the disk it is what it was.
    assert_eq!(place.label("x", "KEY=1").unwrap().taint, Taint::SECRET_RISK);
}

#[test]
fn a_copy_of_a_secret_file_is_known_although_nobody_read_the_file_through_us() {
    let place = place();
    let put = |path: &str, text: &str| fs::write(place.root.join(path), text).unwrap();
    put(".env", "API_KEY=0123456789");
    put(".env.local", "# as the example has it");
    put(".env.example", "# as the example has it");
    put("kubeconfig", "users: []");
    place.registry.before(&place.root, &session("s1"), 1).unwrap();
    let is_secret = |path: &str, text: &str| {
        place.label(path, text).is_some_and(|it| it.taint == Taint::SECRET_RISK)
    };
    // By whatever way it came there, under whatever name.
    assert!(is_secret("notes.txt", "API_KEY=0123456789"));
    assert!(is_secret(".env.example", "API_KEY=0123456789"));
    assert!(is_secret("a/b", "users: []"));
    assert!(!is_secret(".env.example", "# as the example has it"));
    assert!(!is_secret("notes.txt", "something else"));
    // It is nobody's word from outside: nothing is marked, and no sidecar is written for it.
    assert_eq!(place.marked(), [] as [String; 0]);
    assert!(!place.root.join(".ax-taint.json").exists());
    // What is in such a file by the end of a session is known as well, and nothing is forgotten.
    put(".env", "API_KEY=other");
    place.registry.after(&place.root, &session("s1"), None, 2).unwrap();
    assert!(is_secret("x", "API_KEY=other") && is_secret("x", "API_KEY=0123456789"));
}

#[test]
fn a_workspace_that_was_swapped_for_a_link_is_not_looked_up_elsewhere() {
    let place = place();
    let s1 = session("s1");
    place.registry.before(&place.root, &s1, 1).unwrap();
    place.write(&s1, "page.md", "a page's words", Some(&web()));
    let elsewhere = place.root.with_file_name("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::rename(&place.root, place.root.with_file_name("away")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &place.root).unwrap();
    let label = place.registry.label(&place.root, "page.md", b"a page's words");
    assert!(label.is_err(), "{label:?}");
    let (path, content, now) = ("new.md", b"x".as_slice(), 2);
    let written = Written { path, content, tag: Some(&web()), session: &s1, now };
    assert!(place.registry.before_write(&place.root, &written).is_err());
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn a_file_that_changed_without_a_new_length_or_time_is_seen() {
    let place = place();
    let path = place.root.join("a.md");
    fs::write(&path, "words of the user").unwrap();
    let old = fs::metadata(&path).unwrap().modified().unwrap();
    let s1 = session("s1");
    place.registry.before(&place.root, &s1, 1).unwrap();
    fs::write(&path, "words of the pagee").unwrap();
    fs::write(&path, "words of the page").unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    place.registry.after(&place.root, &s1, Some(&web()), 2).unwrap();
    assert_eq!(place.marked(), ["a.md"]);
}

const CHILD: &str = "LAZARET_PASSING_CRASH_CHILD";
const KILLS: u64 = 25;

/// Not a test of its own: what the child does when the test below starts it.
#[test]
#[expect(clippy::print_stdout, reason = "how the child tells the parent what it was promised")]
fn child() {
    let Ok(dir) = std::env::var(CHILD) else { return };
    let dir = Path::new(&dir);
    let registry = Registry::open(&dir.join("host")).unwrap();
    let root = dir.join("work");
    let s1 = session("s1");
    registry.before(&root, &s1, 1).unwrap();
    for number in 0.. {
        let (path, text) = (format!("f{}", number % 50), format!("content {number}"));
        let tag = web();
        let written = Written {
            path: &path,
            content: text.as_bytes(),
            tag: Some(&tag),
            session: &s1,
            now: 2,
        };
        registry.before_write(&root, &written).unwrap();
        println!("durable {text}");
        fs::write(root.join(&path), &text).unwrap();
        if number % 10 == 9 {
            registry.after(&root, &s1, Some(&tag), 3).unwrap();
            registry.before(&root, &s1, 4).unwrap();
        }
    }
}

#[test]
fn whoever_is_killed_leaves_the_old_labels_or_the_new_ones_whole() {
    let temp = tempfile::tempdir().unwrap();
    fs::create_dir(temp.path().join("work")).unwrap();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..KILLS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["passing::child", "--exact", "--nocapture"])
            .env(CHILD, temp.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        thread::sleep(Duration::from_millis(20 + random % 150));
        child.kill().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let promised: Vec<String> = out
            .lines()
            .map_while(Result::ok)
            .filter_map(|it| it.strip_prefix("durable ").map(str::to_owned))
            .collect();
        child.wait().unwrap();
        let registry = Registry::open(&temp.path().join("host")).unwrap();
        let root = temp.path().join("work");
        // Nothing is torn, and what was promised is kept.
        registry.marks(&root).unwrap();
        for text in promised {
            let label = registry.label(&root, "anywhere", text.as_bytes()).unwrap();
            assert!(label.is_some(), "{text}");
        }
        let unfinished = registry.unfinished(&root).unwrap();
        for it in unfinished {
            registry.after(&root, &it, Some(&web()), 5).unwrap();
        }
    }
    let left = fs::read_dir(temp.path().join("host")).unwrap();
    let left: Vec<_> = left.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!left.iter().any(|it| it.ends_with(".passed")), "{left:?}");
}
