//! Attempts to get out of a cage, each one a file of `corpus/escape` that really runs inside, on every rung that this
//! machine offers, as root and as an ordinary user; and how a cage behaves to those who mean no harm.
//!
//! This executable starts itself to make each cage, because a process that makes one must have one thread.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::indexing_slicing, reason = "as above")]
#![expect(clippy::panic, reason = "as above")]
#![expect(
    clippy::disallowed_methods,
    reason = "the harness starts processes, listens and writes files"
)]

mod attempts;
mod behaviour;
mod case;
mod child;
mod memory;
mod obeyed;
mod probe;
mod services;
mod workspaces;
mod world;
mod zeph;

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// Cages at a time: most of them wait for something.
const AT_ONCE: usize = 4;

/// One test: its name, and what fails if the claim is false.
struct Test {
    name: String,
    run: Box<dyn Fn() + Send + Sync>,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().map(String::as_str) == Some(child::WORD) {
        return child::main(&args[1]);
    }
    let wanted: Vec<&String> = args.iter().filter(|it| !it.starts_with('-')).collect();
    let mut tests = attempts::all();
    tests.extend(behaviour::all());
    tests.extend(obeyed::all());
    tests.extend(workspaces::all());
    tests.extend(zeph::all());
    tests.retain(|it| wanted.is_empty() || wanted.iter().any(|part| it.name.contains(*part)));
    if args.iter().any(|it| it == "--list") {
        tests.iter().for_each(|it| say(&format!("{}: test", it.name)));
        return;
    }
    if let Some(code) = memory::run_there(&args) {
        std::process::exit(code);
    }
    std::panic::set_hook(Box::new(|_| {}));
    // Other users may not be able to reach the place where this was built.
    let above = memory::place(1);
    let dir = tempfile::Builder::new().prefix("escape-").tempdir_in(above).unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::copy(std::env::current_exe().unwrap(), dir.path().join("escape")).unwrap();
    PROGRAM.set(dir.path().join("escape").to_str().unwrap().to_owned()).unwrap();
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(test) = tests.get(next.fetch_add(1, Ordering::SeqCst)) {
                    match catch_unwind(AssertUnwindSafe(|| (test.run)())) {
                        Ok(()) => say(&format!("test {} ... ok", test.name)),
                        Err(why) => {
                            let why = why
                                .downcast::<String>()
                                .map(|it| *it)
                                .or_else(|why| why.downcast::<&str>().map(|it| (*it).to_owned()));
                            let why = why.unwrap_or_default();
                            say(&format!("test {} ... FAILED\n  {why}", test.name));
                            failed.lock().unwrap().push(test.name.clone());
                        }
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    drop(dir);
    let passed = tests.len() - failed.len();
    let word = if failed.is_empty() { "ok" } else { "FAILED" };
    failed.iter().for_each(|it| say(&format!("failed: {it}")));
    say(&format!("\ntest result: {word}. {passed} passed; {} failed;", failed.len()));
    std::process::exit(i32::from(!failed.is_empty()));
}

/// This executable, where everybody can start it.
pub(crate) fn program() -> &'static str {
    PROGRAM.get().unwrap()
}

static PROGRAM: OnceLock<String> = OnceLock::new();

fn say(line: &str) {
    writeln!(std::io::stdout().lock(), "{line}").unwrap();
}
