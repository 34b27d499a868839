//! How long a command takes to come and go: bare, in a cage of ours, in one of bubblewrap with the same namespaces, and
//! by `lazaret exec`, by turns in one run. `bench/exec/run` calls it with both programs.
//!
//! The cage of ours is made by this small process, which runs already: so much is due to the cage. The rest of `lazaret
//! exec` is the start of a large program, reading its words, judging the command and two records on disk.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a benchmark may stop where it cannot measure"
)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use monitor::terminal::vet;
use sandbox::cage::{Cage, Ending, Inmate, Leave};

/// Runs of each, after some that do not count.
const RUNS: usize = 200;
const WARM_UP: usize = 20;
/// At most this many times what bubblewrap takes: the cage, and `lazaret exec` with everything.
const CAGE_TARGET: f64 = 1.0;
const EXEC_TARGET: f64 = 2.2;
/// What the command of every cage is.
const PROGRAM: &str = "/bin/true";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let [lazaret, bwrap] = arguments.as_slice() else {
        return say("call bench/exec/run: it knows where both programs are");
    };
    let (workspace, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut bare = command(PROGRAM, &[""; 0], workspace.path());
    let mut bubblewrap = command(bwrap, &with_bubblewrap(workspace.path()), workspace.path());
    let mut exec = command(lazaret, &["exec", "--", PROGRAM], workspace.path());
    exec.env("LAZARET_HOME", home.path());
    let (cage, inmate) = cage(workspace.path(), home.path());
    let mut kinds: [(&str, &mut dyn FnMut() -> bool); 4] = [
        ("bare", &mut || bare.status().unwrap().success()),
        ("bubblewrap", &mut || bubblewrap.status().unwrap().success()),
        ("a cage of ours", &mut || in_a_cage(&cage, &inmate)),
        ("lazaret exec", &mut || exec.status().unwrap().success()),
    ];
    let mut times: [Vec<Duration>; 4] = Default::default();
    for run in 0..WARM_UP + RUNS {
        for ((name, kind), times) in kinds.iter_mut().zip(&mut times) {
            let begun = Instant::now();
            assert!(kind(), "{name} failed");
            if run >= WARM_UP {
                times.push(begun.elapsed());
            }
        }
    }
    for list in &mut times {
        list.sort();
    }
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    say(&format!("{cores} cores, {}; {RUNS} runs of each by turns", std::env::consts::ARCH));
    for ((name, _), list) in kinds.iter().zip(&times) {
        let at = |share: usize| list[list.len() * share / 100];
        say(&format!(
            "{name:14} p10 {:>9.3?}   p50 {:>9.3?}   p90 {:>9.3?}",
            at(10),
            at(50),
            at(90)
        ));
    }
    let middle = |list: &[Duration]| list[list.len() / 2].as_secs_f64();
    for (what, list, target) in
        [("a cage of ours", &times[2], CAGE_TARGET), ("lazaret exec", &times[3], EXEC_TARGET)]
    {
        let ratio = middle(list) / middle(&times[1]);
        let word = if ratio <= target { "met" } else { "MISSED" };
        say(&format!(
            "{what} takes {ratio:.2} times what bubblewrap takes (target {target:.1}): {word}"
        ));
    }
}

/// What `lazaret exec` would make.
fn cage(workspace: &Path, state: &Path) -> (Cage, Inmate) {
    let cage = Cage {
        workspaces: vec![workspace.to_owned()],
        home: std::env::home_dir(),
        state: Some(state.to_owned()),
        ..Cage::default()
    };
    let words = vec![PROGRAM.into()];
    (cage, Inmate { words, directory: workspace.to_owned(), ..Inmate::default() })
}

fn in_a_cage(cage: &Cage, inmate: &Inmate) -> bool {
    let leave = || Ok(Leave::of_person(vet(&inmate.words).unwrap()));
    let waiting = cage.put(inmate, leave).unwrap();
    waiting.begin().unwrap().wait().0.unwrap() == Ending::Exited(0)
}

/// The same namespaces and about the same tree, and no limits, no landlock, no filter and no record.
fn with_bubblewrap(workspace: &Path) -> Vec<String> {
    let words = "--unshare-all --unshare-user --disable-userns --die-with-parent --new-session --cap-drop ALL \
        --hostname lazaret --symlink usr/bin /bin --symlink usr/sbin /sbin --symlink usr/lib /lib --symlink \
        usr/lib64 /lib64 --ro-bind /usr /usr --ro-bind /etc /etc --ro-bind /opt /opt --proc /proc --dev /dev \
        --tmpfs /tmp --tmpfs /run --tmpfs /root";
    let mut words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    let workspace = workspace.display().to_string();
    words.extend(["--bind".to_owned(), workspace.clone(), workspace, PROGRAM.to_owned()]);
    words
}

#[expect(clippy::disallowed_methods, reason = "what is measured are processes")]
fn command(program: &str, words: &[impl AsRef<std::ffi::OsStr>], workspace: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(words).current_dir(workspace);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

fn say(text: &str) {
    let _closed = writeln!(std::io::stdout().lock(), "{text}");
}
