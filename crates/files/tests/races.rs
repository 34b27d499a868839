//! Somebody swaps folders for links while others read and write through us. Nothing outside is touched.
//!
//! `LAZARET_LONG_TESTS=1` makes it thirty seconds long.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]
#![expect(clippy::disallowed_methods, reason = "files of the test's own")]

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use files::{Dir, Relative};

const SHORT: Duration = Duration::from_secs(3);
const LONG: Duration = Duration::from_secs(30);

/// A folder, a link to outside, a file that is a link: one after the other under the same names.
fn swap(base: &Path, outside: &Path, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        fs::rename(base.join("d"), base.join("away")).unwrap();
        for target in [outside, Path::new(".."), Path::new("/")] {
            // Whoever works through us may have made a folder there.
            let _ = symlink(target, base.join("d"));
            let _ = fs::remove_file(base.join("d"));
        }
        while fs::rename(base.join("away"), base.join("d")).is_err() {
            let _ = fs::remove_dir_all(base.join("d"));
        }
        // The last name, too.
        let _ = fs::remove_file(base.join("d/f.txt"));
        let _ = symlink(outside.join("f.txt"), base.join("d/f.txt"));
        let _ = fs::remove_file(base.join("d/f.txt"));
        let _ = fs::write(base.join("d/f.txt"), "inside");
    }
}

#[test]
fn nothing_outside_is_ever_touched() {
    let temp = tempfile::tempdir().unwrap();
    let (base, outside) = (temp.path().join("base"), temp.path().join("outside"));
    fs::create_dir_all(base.join("d")).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(base.join("d/f.txt"), "inside").unwrap();
    fs::write(outside.join("f.txt"), "OUTSIDE").unwrap();
    // What `..` would lead to.
    fs::write(temp.path().join("f.txt"), "OUTSIDE").unwrap();
    let time = if std::env::var_os("LAZARET_LONG_TESTS").is_some() { LONG } else { SHORT };
    let (stop, reads, writes) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let dir = Dir::open(&base).unwrap();
    let (file, new) = (Relative::parse("d/f.txt").unwrap(), Relative::parse("d/new.txt").unwrap());
    thread::scope(|scope| {
        scope.spawn(|| swap(&base, &outside, &stop));
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                if let Ok(bytes) = dir.read(&file, 1 << 20) {
                    assert_ne!(bytes, b"OUTSIDE");
                    reads.fetch_add(1, Ordering::Relaxed);
                }
                if let Ok((found, _)) = dir.list(&Relative::parse("d").unwrap()) {
                    assert!(found.iter().all(|it| it.name.as_deref() != Some("base")));
                }
            }
        });
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let written = dir.replace(&new, b"through us").is_ok();
                writes.fetch_add(u64::from(written), Ordering::Relaxed);
                let _ = dir.remove(&new);
                let _ = dir.create(&new, b"through us");
                let _ = dir.rename(&new, &Relative::parse("d/moved.txt").unwrap());
                let _ = dir.remove(&Relative::parse("d/moved.txt").unwrap());
                let _ = dir.create_folders(&Relative::parse("d/e").unwrap());
            }
        });
        let begun = Instant::now();
        while begun.elapsed() < time {
            thread::sleep(Duration::from_millis(50));
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(fs::read(outside.join("f.txt")).unwrap(), b"OUTSIDE");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    let around: Vec<_> =
        fs::read_dir(temp.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(around.len(), 3, "{around:?}");
    // It was a race, and not a wall.
    let (reads, writes) = (reads.into_inner(), writes.into_inner());
    let told = format!("{reads} reads and {writes} writes in {} seconds", time.as_secs());
    writeln!(io::stdout(), "{told}").unwrap();
    assert!(reads > 0 && writes > 0);
}
