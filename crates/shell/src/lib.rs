//! Shell commands, read as the shell will read them.
//!
//! A command is parsed, expanded and followed without being run, until nothing that is quoted,
//! encoded or wrapped is left. The result is a normal form; what every command in it touches; and a
//! decision. Two other parsers must see the same commands. What cannot be read is a question, never
//! allowed, but for keys to press, which no shell runs.

mod acts;
mod agree;
mod arithmetic;
mod awk;
mod braces;
mod builtins;
mod code;
mod conditions;
mod engine;
mod expand;
mod finding;
mod fix;
mod follow;
pub mod fuzzing;
mod gathered;
mod hidden;
mod history;
mod judge;
mod letters;
mod limits;
mod lines;
mod listed;
mod loops;
mod many;
mod marks;
mod names;
mod params;
mod paths;
mod places;
mod printing;
mod reading;
mod revealed;
mod rule;
mod settings;
mod shells;
mod simple;
mod spelled;
mod state;
mod steps;
mod syntax;
mod tables;
mod told;
mod tools;
mod variables;
mod words;
mod wrappers;

pub use acts::{Act, Done};
pub use fix::Fix;
pub use judge::Blocklist;
pub use rule::Rule;
pub use steps::Step;
pub use told::Told;

use std::rc::Rc;

use engine::{Engine, Input, Output, from_network, text, unknown};
use marks::{HOLE, NETWORK, UNSET};
use simple::Call;
use state::{HOME, State, Var};
use tables::{Rows, Words};

/// What should happen with a command; the later, the stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// Nothing speaks against it.
    Allow,
    /// A person should be asked.
    StepUp,
    /// It must not run, whoever says so.
    Deny,
}

model::rules! {
    /// What a command does.
    pub enum Class {
        Read = "read",
        Write = "write",
        Delete = "delete",
        Execute = "execute",
        Network = "network",
        Privilege = "privilege",
        Credentials = "credentials",
        Persistence = "persistence",
        PackageInstall = "package_install",
        LogTampering = "log_tampering",
    }
}

impl Class {
    fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.as_str() == word)
    }
}

/// What is done with a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It is read, or only named.
    Read,
    /// It is written or changed.
    Write,
    /// It is deleted.
    Delete,
    /// It is run.
    Execute,
}

/// A path that a command names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// What is done with it.
    pub access: Access,
    /// In one spelling: `~` for the home, patterns and unknown parts as they are shown.
    pub path: String,
}

/// Something that speaks against a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it asks for on its own.
    pub decision: Decision,
    /// `shell-…`.
    pub rule: Rule,
    /// In one sentence.
    pub reason: String,
}

/// A command that was read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The strictest of the findings.
    pub decision: Decision,
    /// The finding that decided; `None` if nothing speaks against the command.
    pub decisive: Option<Finding>,
    /// All that speaks against it.
    pub findings: Vec<Finding>,
    /// What would run: expanded, decoded, unwrapped.
    pub normalized: String,
    /// What it does, each once, in order.
    pub classes: Vec<Class>,
    /// What it touches.
    pub places: Vec<Place>,
    /// The machines that it names.
    pub hosts: Vec<String>,
    /// What each command does, in the order in which they would run.
    pub steps: Vec<Step>,
    /// The programs, and what they are told to do.
    pub told: Told,
    /// What it does that lasts or goes out.
    pub acts: Vec<Done>,
    /// A safer way. For the model only, never shown to a person.
    pub fix: Option<Fix>,
}

/// Reads a command with the default blocklist.
#[must_use]
pub fn read(command: &str) -> Reading {
    read_with(command, &Blocklist::default())
}

/// Reads a command that starts at the top of the workspace.
#[must_use]
pub fn read_with(command: &str, blocklist: &Blocklist) -> Reading {
    read_from(command, blocklist, "")
}

/// Reads a command that starts in `folder`, a relative path below the workspace.
#[must_use]
pub fn read_from(command: &str, blocklist: &Blocklist, folder: &str) -> Reading {
    let blocklist = Rc::new(blocklist.clone());
    let mut engine = Engine::new(&blocklist);
    if command.len() > limits::COMMAND_BYTES_MAX {
        engine.too_much();
        return finished(engine);
    }
    let cleaned = hidden::cleaned(command);
    if let Some(reason) = cleaned.reason {
        engine.ask(Rule::Hidden, reason);
    }
    follow(&cleaned.text, folder, &mut engine);
    // What nobody sees can be data, and the shell sees it.
    if let Some(raw) = cleaned.raw {
        let mut other = Engine::new(&blocklist);
        follow(&raw, folder, &mut other);
        engine.absorb(other, |it| it.decision == Decision::Deny || is_telling(it));
    }
    // Escapes that only look like those of the shell: who reads over them sees another command.
    if let Some(text) = hidden::unescaped(&cleaned.text) {
        let mut other = Engine::new(&blocklist);
        follow(&text, folder, &mut other);
        let strictest = |it: &Engine| it.findings.iter().map(|it| it.decision).max();
        if strictest(&other) >= strictest(&engine) {
            std::mem::swap(&mut engine, &mut other);
            engine.absorb(other, |_| true);
        }
    }
    finished(engine)
}

/// Does it say more than that a text cannot be followed?
fn is_telling(finding: &Finding) -> bool {
    !matches!(finding.rule, Rule::Unreadable | Rule::Disagree | Rule::UnknownCommand)
}

fn follow(text: &str, folder: &str, engine: &mut Engine) {
    match syntax::parse(text, 0) {
        Ok((script, names)) => {
            if let Err(disagreement) = agree::check(text, &names) {
                engine.ask(Rule::Disagree, disagreement);
            }
            let mut state = State { start: folder.to_owned(), ..State::default() };
            engine.script(&script, &mut state, None);
        }
        Err(_) if hidden::are_keys(text) => {}
        Err(error) => engine.ask(Rule::Unreadable, format!("it cannot be read: {}", error.0)),
    }
}

/// Says more than that a command is on the list.
const TELLING: [Rule; 4] = [Rule::RemoteCode, Rule::ReverseShell, Rule::EraseRoot, Rule::ForkBomb];

fn finished(mut engine: Engine) -> Reading {
    if engine.unended {
        engine.ask(Rule::Endless, "it goes on without an end, and nobody waits for it");
    }
    let decision = engine.findings.iter().map(|it| it.decision).max().unwrap_or(Decision::Allow);
    let mut strict = engine.findings.iter().filter(|it| it.decision == decision);
    let telling = strict.clone().find(|it| TELLING.contains(&it.rule));
    let decisive = telling.or_else(|| strict.next()).cloned();
    let fix = fix::propose(&engine.findings);
    Reading {
        decision,
        decisive,
        findings: engine.findings,
        normalized: engine.normal,
        classes: engine.classes.into_iter().collect(),
        places: engine.places,
        hosts: engine.hosts,
        steps: engine.steps,
        told: engine.told,
        acts: engine.acts,
        fix,
    }
}
