//! Programs under test: they are started, told something, heard to their end, and asked to end.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// What a program left that has ended. What it printed is text, unless it was asked for as bytes.
#[derive(Debug)]
pub struct Ran<Out = String> {
    /// The exit code.
    pub code: i32,
    /// All of stdout.
    pub out: Out,
    /// All of stderr.
    pub err: String,
    /// The words that it was started with, for whoever reads why a test failed.
    words: String,
}

/// Ways to start a program in a test.
pub trait Run {
    /// Runs it to its end, with nothing on stdin.
    fn run(&mut self) -> Ran;

    /// Runs it to its end, with this on stdin.
    fn run_with(&mut self, stdin: impl Into<Vec<u8>>) -> Ran;

    /// Runs it to its end, with this on stdin, where what it prints need not be text.
    fn run_bytes(&mut self, stdin: impl Into<Vec<u8>>) -> Ran<Vec<u8>>;

    /// Starts it with a pipe on every side.
    fn start(&mut self) -> Child;

    /// Starts it, and waits for the first line that it prints.
    fn start_and_hear(&mut self) -> (Child, String);
}

impl Run for Command {
    fn run(&mut self) -> Ran {
        self.run_with("")
    }

    fn run_with(&mut self, stdin: impl Into<Vec<u8>>) -> Ran {
        let Ran { code, out, err, words } = self.run_bytes(stdin);
        Ran { code, out: text(out, &words), err, words }
    }

    fn run_bytes(&mut self, stdin: impl Into<Vec<u8>>) -> Ran<Vec<u8>> {
        let words = format!("{:?}", self.get_args().collect::<Vec<_>>());
        let mut child = self.start();
        let (mut input, bytes) = (child.stdin.take().unwrap(), stdin.into());
        // Beside the reading: it may print more than a pipe holds before it has read all. Not to read all is no mistake.
        let telling = std::thread::spawn(move || input.write_all(&bytes));
        let output = child.wait_with_output().unwrap();
        let _unread = telling.join().unwrap();
        let code = output.status.code();
        let code = code.unwrap_or_else(|| panic!("{words}: {}", output.status));
        Ran { code, out: output.stdout, err: text(output.stderr, &words), words }
    }

    fn start(&mut self) -> Child {
        self.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn start_and_hear(&mut self) -> (Child, String) {
        let mut child = self.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        (child, line)
    }
}

/// Asks a program to end, as a person or a service manager does, and waits until it has ended in order.
#[track_caller]
pub fn end(child: &mut Child) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

fn text(bytes: Vec<u8>, words: &str) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| panic!("{words}: {error}"))
}

impl<Out> Ran<Out> {
    /// Asserts that all went well.
    #[track_caller]
    pub fn good(self) -> Self {
        assert_eq!(self.code, 0, "{}: {}", self.words, self.err);
        self
    }

    /// Asserts the exit code, and that one line of stderr has all of these words.
    #[track_caller]
    pub fn fails(&self, code: i32, with: &[&str]) {
        assert_eq!(self.code, code, "{}: {}", self.words, self.err);
        let said = self.err.lines().any(|line| with.iter().all(|it| line.contains(it)));
        assert!(said, "{}: no line of stderr has all of {with:?}:\n{}", self.words, self.err);
    }
}

impl Ran {
    /// The lines of stdout, each of which is one JSON object.
    #[must_use]
    #[track_caller]
    pub fn objects(&self) -> Vec<Value> {
        let read = |line: &str| match serde_json::from_str(line) {
            Ok(value @ Value::Object(_)) => value,
            other => panic!("{}: `{line}` is no object: {other:?}; {}", self.words, self.err),
        };
        self.out.lines().map(read).collect()
    }

    /// The only line of stdout, which is one JSON object.
    #[must_use]
    #[track_caller]
    pub fn object(&self) -> Value {
        let mut all = self.objects();
        assert_eq!(all.len(), 1, "{}: {}{}", self.words, self.out, self.err);
        all.remove(0)
    }

    /// Stdout, if all went well and nothing else was said.
    #[track_caller]
    pub fn done(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}: {}", self.words, self.out);
        self.out.trim_end().to_owned()
    }

    /// The exit code, stdout and stderr.
    #[must_use]
    pub fn told(self) -> (i32, String, String) {
        (self.code, self.out, self.err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_program_is_told_and_heard_to_its_end() {
        let ran = sh("cat; echo no >&2; exit 3").run_with("a line\n");
        ran.fails(3, &["n", "o"]);
        assert_eq!(ran.told(), (3, "a line\n".to_owned(), "no\n".to_owned()));
        assert_eq!(sh("cat; echo fine").run().done(), "fine");
        assert_eq!(sh("printf '\\377'").run_bytes("").good().out, [0xff]);
    }

    #[test]
    fn more_than_a_pipe_holds_goes_in_and_comes_out_and_may_stay_unread() {
        let much = "x".repeat(1 << 20);
        assert_eq!(sh("cat").run_with(much.clone()).out, much);
        assert_eq!(sh("true").run_with(much).code, 0);
    }

    #[test]
    fn objects_are_lines() {
        let ran = sh("echo '{\"a\":1}'; echo '{}'").run().good();
        assert_eq!(ran.objects(), [serde_json::json!({"a": 1}), serde_json::json!({})]);
        assert_eq!(sh("echo '{}'").run().object(), serde_json::json!({}));
    }

    #[test]
    #[should_panic(expected = "`[1]` is no object")]
    fn what_is_no_object_is_wrong() {
        let _ = sh("echo '[1]'").run().objects();
    }

    #[test]
    #[should_panic(expected = "exit 1")]
    fn what_fails_is_not_good() {
        sh("exit 1").run().good();
    }

    #[test]
    fn a_first_line_is_waited_for_and_an_end_is_in_order() {
        let script = "trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done";
        let (mut child, line) = sh(script).start_and_hear();
        assert_eq!(line, "ready\n");
        end(&mut child);
    }
}
