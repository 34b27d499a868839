//! What a program of a skill would do, by the calls in it.

use model::skill::{Severity, SkillCheck};

use crate::code::{self, Act, Call, Program, Value, act};
use crate::commands::{self, Command};
use crate::finding::Findings;
use crate::hosts;
use crate::kind::Language;
use crate::places::{Place, Written, secret, written};
use crate::stance::Stance;
use crate::verify::Budget;

/// A piece of a program, and where it stands in its file.
pub(crate) struct Piece<'a> {
    pub(crate) language: Language,
    pub(crate) text: &'a str,
    pub(crate) start: usize,
    pub(crate) stance: Stance,
    pub(crate) has_file: &'a dyn Fn(&str) -> bool,
}

/// Reads a program and says what speaks against it.
pub(crate) fn check(piece: &Piece<'_>, budget: &mut Budget, found: &mut Findings<'_>) {
    let program = code::read(piece.language, piece.text);
    if !program.whole && piece.stance == Stance::Program {
        let why = "the program is too large or too deep to be read to its end";
        found.add(SkillCheck::Unread, Severity::Medium, (piece.start, piece.start), why);
    }
    let sends = of(&program, Act::Send).next().is_some() || program.calls.iter().any(is_posting);
    let socket = of(&program, Act::Socket).next();
    let talks = sends || socket.is_some();
    let mut place = |check, severity: Severity, (start, end): (usize, usize), why: String| {
        let span = (piece.start + start, piece.start + end);
        found.add(check, piece.stance.weigh(severity), span, why);
    };
    shells(&program, socket, &mut place);
    for call in &program.calls {
        let span = (call.start, call.end);
        match act(&call.name) {
            Some(Act::Eval) => evaluated(call, &mut place),
            Some(Act::Read) => read(call.args.first(), talks, span, &mut place),
            Some(Act::Write) => write(target(call), span, &mut place),
            Some(Act::Open) => {
                read(call.args.first(), talks, span, &mut place);
                if is_writing(call) {
                    write(call.args.first(), span, &mut place);
                }
            }
            Some(Act::Copy) => {
                read(call.args.first(), talks, span, &mut place);
                write(call.args.get(1), span, &mut place);
            }
            Some(Act::Shell | Act::Process | Act::Socket | Act::Stdio | Act::Send | Act::Fetch)
            | None => {}
        }
    }
    if sends {
        for span in &program.environment {
            let why = "it takes the whole environment, and the program sends something away";
            place(SkillCheck::CredentialExfiltration, Severity::High, *span, why.to_owned());
        }
    }
    for call in &program.calls {
        if let Some(why) = carried(call, piece.stance) {
            let span = (piece.start + call.start, piece.start + call.end);
            found.add(SkillCheck::CredentialExfiltration, Severity::Medium, span, why);
        }
    }
    run(piece, &program, budget, found);
}

fn of(program: &Program, wanted: Act) -> impl Iterator<Item = &Call> {
    program.calls.iter().filter(move |it| act(&it.name) == Some(wanted))
}

/// `fetch(url, { method: 'POST' })`, `urlopen(url, data=…)`, `irm -Method Post`.
fn is_posting(call: &Call) -> bool {
    let is_body = |name: &str| matches!(name, "body" | "data" | "json" | "files" | "infile");
    let is_method = |value: &Value| {
        value
            .as_text()
            .is_some_and(|it| ["post", "put", "patch"].contains(&it.to_ascii_lowercase().as_str()))
    };
    act(&call.name) == Some(Act::Fetch)
        && call
            .named
            .iter()
            .any(|(name, value)| is_body(name) || (name == "method" && is_method(value)))
}

/// Files that are gathered, or a credential with a file, in the body of a request to an address that stands in the program.
fn carried(call: &Call, stance: Stance) -> Option<String> {
    if act(&call.name) != Some(Act::Send) && !is_posting(call) {
        return None;
    }
    let named = call.named.iter().filter(|it| matches!(it.0.as_str(), "url" | "uri"));
    let values = call.args.iter().chain(named.map(|it| &it.1));
    let address = values.filter_map(Value::as_text).find(|it| it.contains("://"))?;
    // What a document shows may go to a placeholder.
    let host = hosts::of_url(address)
        .filter(|it| stance != Stance::Document || hosts::is_somebodys(it))?;
    let made = &call.sent;
    let foreign = made.of_credentials.iter().find(|it| !hosts::is_of(&host, it));
    match foreign {
        _ if made.of_files && made.of_trees => {
            Some(format!("it gathers files and sends what stands in them to `{}`", shown(&host)))
        }
        Some(name) if made.of_files => {
            Some(format!("it sends `{}` and a file to `{}`", shown(name), shown(&host)))
        }
        Some(_) | None => None,
    }
}

/// A socket, and a shell that is tied to it.
fn shells(
    program: &Program,
    socket: Option<&Call>,
    place: &mut impl FnMut(SkillCheck, Severity, (usize, usize), String),
) {
    let client = program.calls.iter().find(|it| {
        it.args.iter().any(|it| {
            it.as_text().is_some_and(|it| it.to_ascii_lowercase().contains("sockets.tcpclient"))
        })
    });
    let Some(socket) = socket.or(client) else { return };
    let tied = of(program, Act::Stdio).next();
    let is_shell = |call: &&Call| {
        matches!(act(&call.name), Some(Act::Process | Act::Shell | Act::Stdio))
            && words(call)
                .first()
                .is_some_and(|it| SHELLS.contains(&it.rsplit(['/', '\\']).next().unwrap_or(it)))
    };
    let shell = program.calls.iter().find(is_shell);
    let evaluates = client.and_then(|_| of(program, Act::Eval).next());
    if let Some(other) = tied.or(shell).or(evaluates) {
        let why = format!("it opens a socket, and `{}` ties a shell to it", shown(&other.name));
        place(SkillCheck::ReverseShell, Severity::Critical, (socket.start, socket.end), why);
    }
}

/// Programs that take commands.
const SHELLS: &[&str] =
    &["sh", "bash", "zsh", "dash", "ksh", "cmd", "cmd.exe", "powershell", "powershell.exe", "pwsh"];

fn evaluated(call: &Call, place: &mut impl FnMut(SkillCheck, Severity, (usize, usize), String)) {
    let span = (call.start, call.end);
    match call.args.first() {
        Some(value) if value.is_decoded() => {
            let why = format!("`{}` runs what was written in an encoding", shown(&call.name));
            place(SkillCheck::EncodedPayload, Severity::Critical, span, why);
        }
        Some(Value::Name(name)) if is_fetched(name) => {
            let why = format!("`{}` runs what another machine sends", shown(&call.name));
            place(SkillCheck::ShellExecution, Severity::Critical, span, why);
        }
        // A text that stands there is read like any other; nothing is nothing.
        Some(Value::Text { .. }) | None => {}
        Some(Value::Name(_) | Value::Number(_) | Value::List(_) | Value::Unknown) => {
            let why = format!("`{}` runs code that is only known when it runs", shown(&call.name));
            place(SkillCheck::ShellExecution, Severity::Medium, span, why);
        }
    }
}

/// Did it come from a server? `requests.get().text`, `urllib.request.urlopen().read()`.
fn is_fetched(name: &str) -> bool {
    name.match_indices("()").any(|(at, _)| {
        name.get(..at).is_some_and(|it| matches!(act(it), Some(Act::Fetch | Act::Send)))
    }) || name.to_ascii_lowercase().contains("downloadstring")
}

fn read(
    value: Option<&Value>,
    talks: bool,
    span: (usize, usize),
    place: &mut impl FnMut(SkillCheck, Severity, (usize, usize), String),
) {
    let Some(path) = value.and_then(Value::as_text) else { return };
    let (severity, what) = match (secret(path), talks) {
        (Place::Secret | Place::System, true) => {
            (Severity::Critical, "and the program sends something away")
        }
        (Place::Secret, false) => (Severity::High, "a secret of the person"),
        (Place::System, false) => (Severity::Low, "the system's users"),
        (Place::Environment, true) => {
            (Severity::Low, "the project's settings, and the program sends something away")
        }
        (Place::Environment, false) | (Place::Plain, _) => return,
    };
    let why = format!("it reads `{}`: {what}", shown(path));
    place(SkillCheck::CredentialExfiltration, severity, span, why);
}

fn write(
    value: Option<&Value>,
    span: (usize, usize),
    place: &mut impl FnMut(SkillCheck, Severity, (usize, usize), String),
) {
    let Some(path) = value.and_then(Value::as_text) else { return };
    let (check, severity, what) = match written(path) {
        Written::Plain => return,
        Written::Memory => {
            (SkillCheck::MemoryPoisoning, Severity::Critical, "what an agent remembers")
        }
        Written::Instructions => {
            (SkillCheck::MemoryPoisoning, Severity::High, "what instructs agents")
        }
        Written::Settings => {
            (SkillCheck::Permissions, Severity::High, "settings that agents or tools obey")
        }
        Written::Startup => {
            (SkillCheck::ShellExecution, Severity::High, "what a shell runs when it starts")
        }
    };
    place(check, severity, span, format!("it writes `{}`: {what}", shown(path)));
}

/// The file that a call writes: its first text, or the one with the name that PowerShell has for it.
fn target(call: &Call) -> Option<&Value> {
    let named =
        call.named.iter().find(|it| matches!(it.0.as_str(), "path" | "filepath" | "literalpath"));
    named.map(|it| &it.1).or(call.args.first())
}

fn is_writing(call: &Call) -> bool {
    let named = call.named.iter().find(|it| it.0 == "mode").map(|it| &it.1);
    let mode = named.or_else(|| call.args.get(1)).and_then(Value::as_text);
    mode.is_some_and(|it| it.len() <= 4 && it.contains(['w', 'a', 'x', '+']))
}

/// The words of a command that a call starts.
fn words(call: &Call) -> Vec<String> {
    let mut all = Vec::new();
    for value in &call.args {
        match value {
            Value::Text { text, .. } => all.push(text.to_string()),
            Value::List(items) => {
                all.extend(items.iter().map(|it| it.as_text().unwrap_or("*").to_owned()));
            }
            Value::Name(_) | Value::Number(_) | Value::Unknown => {}
        }
    }
    all
}

/// Commands that the program starts, and texts of commands, read as such.
fn run(piece: &Piece<'_>, program: &Program, budget: &mut Budget, found: &mut Findings<'_>) {
    for call in &program.calls {
        let wanted = act(&call.name);
        let all = words(call);
        let text = match wanted {
            Some(Act::Shell) => all.first().cloned().unwrap_or_default(),
            // One text with spaces is for a shell; words are quoted, so that none is read as two.
            Some(Act::Process | Act::Stdio) if all.len() == 1 => all.concat(),
            Some(Act::Process | Act::Stdio) => {
                all.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(" ")
            }
            _ => continue,
        };
        if text.trim().is_empty() {
            continue;
        }
        let span = (piece.start + call.start, piece.start + call.end);
        if call.args.iter().any(Value::is_decoded) {
            let why = format!("`{}` runs what was written in an encoding", shown(&call.name));
            found.add(
                SkillCheck::EncodedPayload,
                piece.stance.weigh(Severity::Critical),
                span,
                why,
            );
        }
        if !budget.command() {
            return;
        }
        let command =
            Command { text: &text, stance: piece.stance, is_sure: true, has_file: piece.has_file };
        for fact in commands::facts(&command) {
            found.add(fact.check, fact.severity, span, fact.why);
        }
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"-_./:=@%+,~".contains(&it);
    if !word.is_empty() && word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A name or a path in a sentence.
fn shown(text: &str) -> String {
    text.chars().take(60).flat_map(char::escape_debug).collect()
}
