//! What each command of a text reads, sends and gains, in the order in which they would run.
//!
//! For whoever looks at a chain of commands: a file that is read and then something that leaves.

use crate::judge::is_of_this_machine;
use crate::limits::KEPT_STEPS_MAX;
use crate::wrappers::RAISING;
use crate::{Call, Engine, Rows, Words, names, text};

/// One command of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Its name, without the path; empty for a redirection.
    pub program: String,
    /// Files whose content it shows or passes on, and words that may be such files.
    pub reads: Vec<String>,
    /// Something can leave the machine.
    pub sends: bool,
    /// It gains or gives rights.
    pub gains: bool,
    /// It prints a credential.
    pub reveals: bool,
}

impl Engine {
    /// Keeps what a command does.
    pub(super) fn step(&mut self, call: &Call<'_>) {
        let args: Vec<&str> = call.plain().iter().map(String::as_str).collect();
        let program = call.name.as_str();
        let mut step = Step { program: program.to_owned(), ..Step::default() };
        if names::interpreter(program).is_some() || program.ends_with("awk") {
            let input = call.stdin.map(text).unwrap_or_default();
            for code in args.iter().copied().chain([input.as_str()]) {
                step.reads.extend(pieces(code).map(str::to_owned));
                step.sends |= CONNECTING.iter().any(|it| has_word(code, it));
            }
        } else {
            if !LOOKS_AT_NAMES.contains(&program) && !RAISING.contains(&program) {
                step.reads.extend(read_args(program, &args).map(str::to_owned));
            }
            // What is only looked at there takes nothing along.
            let tells = ["create", "comment", "upload", "edit", "close", "review"];
            let writes = program == "gh"
                && args.iter().any(|it| tells.contains(it) || *it == "-f" || *it == "-F");
            step.sends = writes || sends(program, &args);
            step.gains = gains(program, &args);
            step.reveals = self.reveals(program, &args);
        }
        self.take_step(step);
    }

    pub(super) fn take_step(&mut self, step: Step) {
        match self.steps.len() < KEPT_STEPS_MAX {
            true => self.steps.push(step),
            false => self.too_much(),
        }
    }

    /// `echo $API_TOKEN`, `printenv`: what is printed is read.
    fn reveals(&self, program: &str, args: &[&str]) -> bool {
        let named = |text: &str| {
            let text = text.to_ascii_lowercase();
            CREDENTIAL_WORDS.iter().any(|it| text.contains(it))
        };
        match program {
            "echo" | "printf" => self.unset_names.iter().any(|it| named(it)),
            "printenv" => args.is_empty() || args.iter().any(|it| named(it)),
            "env" | "set" => args.is_empty(),
            _ => false,
        }
    }
}

/// The arguments whose files would be read. A key that is used to log in is not shown to anybody.
fn read_args<'a>(program: &str, args: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    let target_last = matches!(program, "cp" | "mv" | "install" | "ln");
    let count = if target_last { args.len().saturating_sub(1) } else { args.len() };
    let before = [""].into_iter().chain(args.iter().copied());
    let used = |(before, arg): &(&str, &str)| {
        let (option, _) = arg.split_once('=').unwrap_or((arg, ""));
        USES_KEY.contains(before) || USES_KEY.contains(&option)
    };
    let read = before.zip(args.iter().copied()).take(count).filter(move |it| !used(it));
    read.map(|(_, arg)| arg.rsplit('=').next().unwrap_or(arg))
}

/// Does something leave the machine? Loopback is the machine.
fn sends(program: &str, args: &[&str]) -> bool {
    let first = args.iter().find(|it| !it.starts_with('-')).copied().unwrap_or_default();
    let able = SENDERS.contains(&program)
        || SENDERS_WITH.get(program).is_some_and(|it| it.contains(&first));
    let local = || {
        let mut places = args.iter().filter(|it| names_a_place(it)).peekable();
        places.peek().is_some() && places.all(|it| is_of_this_machine(it))
    };
    let is_socket = |it: &&str| it.starts_with("/dev/tcp/") || it.starts_with("/dev/udp/");
    (able && !local()) || args.iter().any(is_socket)
}

fn gains(program: &str, args: &[&str]) -> bool {
    let opens = |it: &&str| {
        matches!(*it, "777" | "0777" | "a+rwx" | "+s" | "u+s" | "g+s" | "a+w" | "o+w")
            || it.len() == 4 && matches!(it.as_bytes().first(), Some(b'2' | b'4' | b'6'))
    };
    match program {
        "chmod" => args.iter().filter(|it| !it.contains('/')).any(opens),
        "aws" => args.contains(&"iam"),
        "kubectl" | "gcloud" | "az" => {
            args.iter().any(|it| it.contains("rolebinding") || it.contains("policy-binding"))
                || args.contains(&"role")
        }
        _ => GAINERS.contains(&program) || RAISING.contains(&program),
    }
}

/// Pieces of code that may be paths.
fn pieces(code: &str) -> impl Iterator<Item = &str> {
    let in_path = |it: char| it.is_alphanumeric() || "/._-~\\@".contains(it);
    code.split(move |it: char| !in_path(it)).filter(|it| it.contains(['.', '/']) || it.len() > 5)
}

/// Is `word` in `text`, and not as a part of a longer name?
pub(super) fn has_word(text: &str, word: &str) -> bool {
    let part = |it: Option<char>| it.is_some_and(|it| it == '_' || it.is_alphanumeric());
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|it| it.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|it| it.chars().next());
        let open = word.ends_with(|it: char| !it.is_alphanumeric());
        !part(before) && (open || !part(after))
    })
}

fn names_a_place(arg: &str) -> bool {
    let option = arg.starts_with(['-', '@', '{', '[']);
    let text = arg.contains(char::is_whitespace) || arg.contains(": ");
    !option && !text && (arg.contains(['.', ':']) || arg == "localhost")
}

/// They see that a file is there, not what is in it.
static LOOKS_AT_NAMES: Words = Words::named("steps.LOOKS_AT_NAMES");

/// The value of these options is used, not sent.
static USES_KEY: Words = Words::named("steps.USES_KEY");

static SENDERS: Words = Words::named("steps.SENDERS");

static SENDERS_WITH: Rows = Rows::named("steps.SENDERS_WITH");

static GAINERS: Words = Words::named("steps.GAINERS");

static CREDENTIAL_WORDS: Words = Words::named("steps.CREDENTIAL_WORDS");

/// Words of code that talks to other machines.
static CONNECTING: Words = Words::named("steps.CONNECTING");
