//! `lazaret-hook HOST EVENT [--home DIR]`: hands a coding agent's hook to the daemon, and denies where nobody answers.
//!
//! It reads the host's JSON, passes it on over the daemon's socket, prints what comes back and exits as it
//! is told. It understands neither. Whatever fails, the answer is a denial in the host's own form, from a
//! table (`denials.txt`): hosts let a call run when its hook fails.

mod daemon;
mod denial;
mod exchange;
mod failure;
mod state;

use exchange::{Answer, Hello};
use failure::Failure;
use state::Home;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The time for everything. Hosts wait 10 s for a hook, and let the call run when it takes longer.
const DEADLINE: Duration = Duration::from_secs(5);
/// The longest name of a host or an event.
const NAME_BYTES_MAX: usize = 64;
/// The exit status by which hosts are told to block.
const BLOCKED: u8 = 2;

const HELP: &str = "\
Hands a coding agent's hook to Lazaret's daemon and prints the answer.

Usage: lazaret-hook HOST EVENT [--home DIR]

  HOST        claude, codex, cursor, gemini, copilot or opencode
  EVENT       the event, as the host names it
  --home DIR  the state directory, absolute [env: LAZARET_HOME] [default: ~/.lazaret]

The host's JSON is read from standard input. With --home the environment chooses neither daemon nor program.
Where the daemon does not answer, the answer is a denial. `lazaret init` sets up the hooks.
";

fn main() -> ExitCode {
    // A panic must not print over the denial.
    std::panic::set_hook(Box::new(|_| {}));
    let given: Vec<OsString> = std::env::args_os().skip(1).collect();
    let words: Vec<String> = given.iter().map(|it| it.to_string_lossy().into_owned()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let answer = match words.as_slice() {
        ["--help" | "-h"] => told(HELP),
        ["--version" | "-V"] => told(concat!("lazaret-hook ", env!("CARGO_PKG_VERSION"), "\n")),
        [host, _, ..] if !denial::is_host(host) => refused("the host is unknown"),
        [host, event] if is_name(event) => answer(host, event, None),
        // The bytes of the path, not what stands for them in a text.
        [host, event, "--home", _] if is_name(event) => answer(host, event, given.get(3)),
        _ => refused("needs HOST, EVENT and at most --home DIR"),
    };
    ExitCode::from(print(&answer))
}

/// Asks the daemon. Beside it a thread waits that denies in time, whatever blocks here.
fn answer(host: &str, event: &str, home: Option<&OsString>) -> Answer {
    let deadline = Instant::now() + DEADLINE;
    let hello = Hello { host: host.to_owned(), event: event.to_owned() };
    if watch(hello.clone()).is_err() {
        return denial::denial(host, event, &Failure::Broken);
    }
    let asked = std::panic::catch_unwind(|| {
        let home = Home::find(home.map(PathBuf::from))?;
        exchange::ask(&hello, &home, deadline)
    });
    if !has_the_word() {
        // The other thread is printing, and ends the process.
        loop {
            std::thread::park();
        }
    }
    match asked {
        Ok(Ok(answer)) => answer,
        Ok(Err(failure)) => denial::denial(host, event, &failure),
        Err(_) => denial::denial(host, event, &Failure::Broken),
    }
}

/// Starts the thread that denies when the time is over.
fn watch(hello: Hello) -> std::io::Result<()> {
    let watching = std::thread::Builder::new().spawn(move || {
        std::thread::sleep(DEADLINE);
        if has_the_word() {
            let denial = denial::denial(&hello.host, &hello.event, &Failure::Deadline);
            std::process::exit(i32::from(print(&denial)));
        }
    });
    watching.map(drop)
}

/// Returns true to the first who asks: one answer is printed, not two.
fn has_the_word() -> bool {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    !TAKEN.swap(true, Ordering::SeqCst)
}

/// Prints an answer and returns the exit status. What cannot be printed is not said, so then the status has to block.
fn print(answer: &Answer) -> u8 {
    let mut out = std::io::stdout().lock();
    let printed = out.write_all(&answer.stdout).and_then(|()| out.flush());
    let noted = std::io::stderr().lock().write_all(&answer.stderr);
    // A note beside an answer may get lost.
    let is_said = printed.is_ok() && (noted.is_ok() || !answer.stdout.is_empty());
    if is_said { answer.exit } else { BLOCKED }
}

fn told(text: &str) -> Answer {
    Answer { exit: 0, stdout: text.as_bytes().to_vec(), stderr: Vec::new() }
}

fn refused(why: &str) -> Answer {
    let stderr = format!("lazaret-hook: {why}. Next step: `lazaret-hook --help`.\n").into_bytes();
    Answer { exit: BLOCKED, stdout: Vec::new(), stderr }
}

/// Tells whether a word can stand in the line that greets the daemon.
fn is_name(word: &str) -> bool {
    !word.is_empty() && word.len() <= NAME_BYTES_MAX && word.bytes().all(|it| it.is_ascii_graphic())
}
