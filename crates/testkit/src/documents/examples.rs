//! The console examples of one document, run in order in a directory of their own.
//!
//! A block is a fence ` ```console `. A line that begins with `$` is a command, ended by `\` it goes on in the next one; the lines
//! below it are what it prints. In these `…` stands for any text, and a line of `…` alone for any lines. Nothing shown means
//! only that it must succeed. ` ```console no-run reason="…" ` is not run, and says why.
//!
//! No shell is started: a command is our program, or one of `export`, `cp`, `cat` and `printf TEXT > FILE`, which are done here.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::documents::page::{Block, Page, root};
use crate::documents::words;

/// How long one command may take.
const COMMAND_MAX: Duration = Duration::from_secs(60);

/// One command of a block, as it stands there.
struct Example {
    line: usize,
    command: String,
    shown: Vec<String>,
}

/// Runs the blocks of `page` whose commands are `program`'s, and gives what went wrong and how many ran.
#[must_use]
pub fn run(page: &Page, name: &str, program: &str) -> (usize, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["docs", "corpus", "reference"] {
        symlink(root().join(folder), dir.path().join(folder)).unwrap();
    }
    fs::create_dir(dir.path().join("home")).unwrap();
    let mut place = Place { dir: dir.path(), name, program, variables: Vec::new() };
    let (mut ran, mut wrong) = (0, Vec::new());
    for block in page.blocks() {
        // The guide has a test of its own.
        if page.name.starts_with("reference/") {
            continue;
        }
        let at = format!("{}:{}", page.name, block.line);
        match runnable(&block) {
            Ok(false) => {}
            Err(why) => wrong.push(format!("{at}: {why}")),
            Ok(true) if programs(&block).iter().any(|it| it != name) => {}
            Ok(true) => {
                for example in examples(&block) {
                    ran += 1;
                    if let Err(why) = place.run(&example) {
                        wrong.push(format!(
                            "{}:{}: $ {}\n{why}",
                            page.name, example.line, example.command
                        ));
                    }
                }
            }
        }
    }
    (ran, wrong)
}

/// Is it an example, and to be run?
fn runnable(block: &Block) -> Result<bool, &'static str> {
    let Some(rest) = block.info.strip_prefix("console") else { return Ok(false) };
    let reason = rest.trim().strip_prefix("no-run").map(|it| it.trim().strip_prefix("reason=\""));
    match reason {
        None if rest.is_empty() => Ok(true),
        None => Err("after `console` stands nothing, or `no-run reason=\"…\"`"),
        Some(Some(reason)) if reason.len() > 10 && reason.ends_with('"') => Ok(false),
        Some(_) => Err("`no-run` says why: `no-run reason=\"…\"`"),
    }
}

/// The programs of a block, but for what is done here.
fn programs(block: &Block) -> Vec<String> {
    let here = ["export", "cp", "cat", "printf"];
    let lines = examples(block).into_iter().map(|it| it.command);
    let last =
        lines.filter_map(|it| words::command(&it, "/").and_then(|it| it.words.into_iter().next()));
    last.filter(|it| !here.contains(&it.as_str())).collect()
}

/// Commands with what they print.
fn examples(block: &Block) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut goes_on = false;
    for (at, line) in block.lines.iter().enumerate() {
        let line = line.as_str();
        if goes_on && let Some(last) = found.last_mut() {
            last.command.push_str(line.trim_start());
        } else if let Some(command) = line.strip_prefix("$ ") {
            let line = block.line + at + 1;
            found.push(Example { line, command: command.to_owned(), shown: Vec::new() });
        } else if let Some(last) = found.last_mut() {
            last.shown.push(line.to_owned());
            continue;
        }
        let last = found.last_mut().unwrap();
        goes_on = last.command.ends_with('\\');
        if goes_on {
            last.command.pop();
        }
    }
    found
}

/// Where examples are run, and what they have exported.
struct Place<'a> {
    dir: &'a Path,
    name: &'a str,
    program: &'a str,
    variables: Vec<(String, String)>,
}

impl Place<'_> {
    fn run(&mut self, example: &Example) -> Result<(), String> {
        let pwd = self.dir.to_str().unwrap();
        let Some(found) = words::command(&example.command, pwd) else {
            return Err("needs a shell; give a reason not to run it".to_owned());
        };
        let words: Vec<&str> = found.words.iter().map(String::as_str).collect();
        let (code, printed) = match words.as_slice() {
            ["export", pair] => {
                let (name, value) = pair.split_once('=').ok_or("no value")?;
                self.variables.push((name.to_owned(), value.to_owned()));
                (0, String::new())
            }
            ["cp", from, to] => {
                let copied = fs::copy(self.dir.join(from), self.dir.join(to));
                copied.map(|_| (0, String::new())).map_err(|error| error.to_string())?
            }
            ["printf", text, ">", file] if !text.contains(['%', '\\']) => {
                let made = fs::File::create_new(self.dir.join(file));
                let written = made.and_then(|mut it| it.write_all(text.as_bytes()));
                written.map(|()| (0, String::new())).map_err(|error| error.to_string())?
            }
            ["cat", file] => {
                let read = fs::read_to_string(self.dir.join(file));
                (0, read.map_err(|error| error.to_string())?)
            }
            [program, args @ ..] if *program == self.name => self.start(args, found.stdin)?,
            _ => return Err(format!("only `{}`, export, cp, cat and printf are run", self.name)),
        };
        if example.shown.is_empty() {
            return if code == 0 { Ok(()) } else { Err(format!("exit {code}:\n{printed}")) };
        }
        let lines: Vec<&str> = printed.lines().collect();
        let shown: Vec<&str> = example.shown.iter().map(String::as_str).collect();
        if code < 2 && fits(&shown, &lines) {
            Ok(())
        } else {
            Err(format!("exit {code}, and prints:\n{printed}"))
        }
    }

    /// Runs our program; stdout, then stderr.
    fn start(&self, args: &[&str], stdin: Option<String>) -> Result<(i32, String), String> {
        let output = tempfile::tempfile_in(self.dir).unwrap();
        let mut command = Command::new(self.program);
        command.args(args).current_dir(self.dir).env_clear();
        command.env("HOME", self.dir.join("home")).env("PATH", "/usr/bin:/bin").env("USER", "me");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(output.try_clone().unwrap()).stderr(output.try_clone().unwrap());
        let mut child = command.spawn().unwrap();
        if let Some(text) = stdin {
            child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        }
        let end = Instant::now() + COMMAND_MAX;
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if Instant::now() > end {
                child.kill().unwrap();
                child.wait().unwrap();
                return Err(format!("takes more than {COMMAND_MAX:?}"));
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let printed = read_from_start(output);
        Ok((status.code().unwrap_or(-1), printed))
    }
}

fn read_from_start(mut file: fs::File) -> String {
    use std::io::{Read as _, Seek as _};
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Do the lines fit what is shown? A line of `…` alone is any lines, `…` within one any text.
fn fits(shown: &[&str], lines: &[&str]) -> bool {
    match shown {
        [] => lines.is_empty(),
        ["…" | "...", rest @ ..] => {
            (0..=lines.len()).any(|at| lines.get(at..).is_some_and(|it| fits(rest, it)))
        }
        [first, rest @ ..] => match lines {
            [line, others @ ..] => {
                line_fits(first.trim_end(), line.trim_end()) && fits(rest, others)
            }
            [] => false,
        },
    }
}

fn line_fits(shown: &str, line: &str) -> bool {
    let mut parts = shown.split('…');
    let Some(mut rest) = parts.next().and_then(|it| line.strip_prefix(it)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_fits_what_is_printed_or_not() {
        assert!(fits(&["a", "…", "c"], &["a", "b", "b", "c"]) && fits(&["a…c"], &["abbc"]));
        assert!(fits(&["…"], &[]) && fits(&["a b"], &["a b  "]));
        assert!(
            !fits(&["a"], &["a", "b"]) && !fits(&["a", "b"], &["a"]) && !fits(&["a…c"], &["abb"])
        );
    }
}
