//! A child works and says what it was promised; it is killed at some moment; then the test looks whether what was promised
//! is there. The child is a test of the same program, which does nothing when it is run by itself.

use std::fmt::Display;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const DIR: &str = "LAZARET_CRASH_CHILD_DIR";
const ROUND: &str = "LAZARET_CRASH_CHILD_ROUND";
/// How often the child is killed; `LAZARET_CRASH_KILLS=1000` for the long run.
const KILLS: &str = "LAZARET_CRASH_KILLS";
/// What stands before a promise, wherever in a line the test harness lets it begin.
const MARK: &str = "promised: ";

/// What a child is told.
pub struct Child {
    /// Where it works.
    pub dir: PathBuf,
    /// How many children were killed before it.
    pub round: u64,
}

impl Child {
    /// Nothing where the test is run by itself.
    #[must_use]
    pub fn of_this_process() -> Option<Self> {
        let dir = std::env::var_os(DIR)?.into();
        let round = std::env::var(ROUND).ok()?.parse().ok()?;
        Some(Self { dir, round })
    }
}

/// Tells the parent what the child was promised.
#[expect(clippy::print_stdout, reason = "how the child tells the parent")]
pub fn promise(what: impl Display) {
    println!("{MARK}{what}");
}

/// How often to kill, unless the environment says otherwise.
#[must_use]
pub fn kills(default: u64) -> u64 {
    std::env::var(KILLS).ok().and_then(|it| it.parse().ok()).unwrap_or(default)
}

/// From which moment on a child may be killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// From before it is at work.
    ItsStart,
    /// Well into the work, however slow the machine is.
    TheFirstPromise,
}

/// Starts children of one test, one after the other, and kills them.
pub struct Killer<'a> {
    test: &'a str,
    dir: &'a Path,
    round: u64,
    random: u64,
}

impl<'a> Killer<'a> {
    /// Of the test with this full name, at work in `dir`.
    #[must_use]
    pub fn new(test: &'a str, dir: &'a Path) -> Self {
        Self { test, dir, round: 0, random: 0x2545_f491_4f6c_dd1d }
    }

    /// Starts a child, kills it between `from` and so much later, and gives what it was promised.
    pub fn kill(&mut self, from: From, within: Duration) -> Vec<String> {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([self.test, "--exact", "--nocapture", "--test-threads=1"])
            .env(DIR, self.dir)
            .env(ROUND, self.round.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.round += 1;
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut promises = output
            .lines()
            .map_while(Result::ok)
            .filter_map(|line| line.split_once(MARK).map(|(_, promise)| promise.to_owned()));
        let mut promised = Vec::new();
        if from == From::TheFirstPromise {
            promised.extend(promises.next());
        }
        std::thread::sleep(self.moment(within));
        child.kill().unwrap();
        promised.extend(promises);
        child.wait().unwrap();
        promised
    }

    /// Another one each time, and the same ones in every run.
    fn moment(&mut self, within: Duration) -> Duration {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let micros = u64::try_from(within.as_micros()).unwrap();
        Duration::from_micros(self.random % micros.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Not a test of its own: what the child does when the test below starts it.
    #[test]
    fn child() {
        let Some(Child { dir, round }) = Child::of_this_process() else { return };
        std::fs::write(dir.join(round.to_string()), "").unwrap();
        promise(format_args!("round {round}"));
        std::thread::sleep(Duration::from_secs(60));
        promise("the end");
    }

    #[test]
    fn a_child_is_killed_and_its_promises_are_known() {
        let dir = tempfile::tempdir().unwrap();
        let mut killer = Killer::new("crash::tests::child", dir.path());
        for round in 0..2 {
            let promised = killer.kill(From::TheFirstPromise, Duration::ZERO);
            assert_eq!(promised, [format!("round {round}")]);
            assert!(dir.path().join(round.to_string()).exists());
        }
    }
}
