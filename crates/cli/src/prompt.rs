//! `lazaret prompt`: the system prompt that answers of a session are compared with.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use host::control::{self, AskError, PromptAct, Request};
use model::SessionId;
use scan::leak::PROMPT_BYTES_MAX;
use serde_json::{Map, Value, json};

use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Guard a session's system prompt: what the agent says is compared with it.
///
/// An answer that gives the prompt away, word for word, in other words or in pieces over several answers,
/// is stopped. The prompt itself is kept nowhere: the record has its SHA-256, the store has names and hashes.
///
/// Try it:
///   lazaret prompt register prompt.txt --session s1
///   lazaret prompt register --token ZEBRA_9 --session s1
///   lazaret prompt clear --session s1
///
/// Exit codes: 0 done, 1 the session is not open there, 2 wrong usage, 3 no gate is running.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compare answers with this prompt from now on, in the place of the one before.
    Register(RegisterArgs),
    /// Say which prompt is registered, by its hash.
    Show(SessionArgs),
    /// Compare answers with it no longer.
    Clear(SessionArgs),
}

#[derive(clap::Args)]
struct SessionArgs {
    #[command(flatten)]
    home: Home,
    /// Of which session.
    #[arg(long, value_name = "ID", value_parser = SessionId::parse)]
    session: SessionId,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
struct RegisterArgs {
    /// A file with the prompt; without it names alone are looked for.
    #[arg(value_name = "FILE", required_unless_present = "tokens")]
    prompt: Option<PathBuf>,
    /// A name that must not be said; may be given several times.
    #[arg(long = "token", value_name = "NAME")]
    tokens: Vec<String>,
    /// A file with a text of the prompt that may be said; may be given several times.
    #[arg(long = "public", value_name = "FILE")]
    public: Vec<PathBuf>,
    #[command(flatten)]
    of: SessionArgs,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Command::Register(args) => register(args),
        Command::Show(args) => {
            let shown = ask(args, PromptAct::Show {})?;
            let hash = shown.get("prompt_sha256").and_then(Value::as_str);
            let tokens = shown.get("tokens").and_then(Value::as_u64);
            tell(args, &json!({ "prompt_sha256": hash, "tokens": tokens }), || match tokens {
                Some(count) => told("registered", hash, count),
                None => "no prompt is registered: the fixed list is looked for".to_owned(),
            })
        }
        Command::Clear(args) => {
            let done = ask(args, PromptAct::Clear {})?;
            tell(args, &json!({ "record": done.get("record") }), || "cleared".to_owned())
        }
    }
}

fn register(args: &RegisterArgs) -> Result<Exit, Failure> {
    let prompt = args.prompt.as_deref().map(read).transpose()?;
    let public = args.public.iter().map(|it| read(it)).collect::<Result<_, _>>()?;
    let act = PromptAct::Register { prompt, tokens: args.tokens.clone(), public };
    let done = ask(&args.of, act)?;
    let hash = done.get("prompt_sha256").and_then(Value::as_str);
    let tokens = done.get("tokens").and_then(Value::as_u64).unwrap_or_default();
    if done.get("truncated") == Some(&Value::Bool(true)) {
        output::note(&format!("it is longer than {PROMPT_BYTES_MAX} bytes: the beginning counts"));
    }
    let shown = json!({
        "prompt_sha256": hash, "record": done.get("record"), "tokens": tokens,
        "truncated": done.get("truncated"),
    });
    tell(&args.of, &shown, || told("registered", hash, tokens))
}

fn told(what: &str, hash: Option<&str>, tokens: u64) -> String {
    let names = output::count(tokens, "name");
    match hash {
        Some(hash) => format!("{what} {hash}, {names} looked for"),
        None => format!("{what} {names}, no prompt"),
    }
}

fn tell(args: &SessionArgs, shown: &Value, line: impl Fn() -> String) -> Result<Exit, Failure> {
    if args.json {
        output::json(shown);
    } else {
        output::line(&line());
    }
    Ok(Exit::Done)
}

fn ask(args: &SessionArgs, act: PromptAct) -> Result<Map<String, Value>, Failure> {
    let home = args.home.dir()?;
    let request = Request::Prompt { session: args.session.clone(), act };
    match control::ask(&control::socket_path(&home), &request) {
        Ok(done) => Ok(done),
        Err(AskError::Nobody) => Err(Failure::unable(format!(
            "no gate is running in `{}`: the session `{}` is open nowhere",
            home.display(),
            args.session
        ))),
        Err(AskError::Refused(why)) => Err(Failure::refused(why)),
        Err(error) => Err(Failure::unable(error)),
    }
}

/// A file of a prompt: whatever it is called, and a pipe as well.
fn read(path: &Path) -> Result<String, Failure> {
    let failed =
        |error: &dyn std::fmt::Display| Failure::usage(format!("`{}`: {error}", path.display()));
    let most = u64::try_from(control::REQUEST_BYTES_MAX).unwrap_or(u64::MAX);
    let file = std::fs::File::open(path).map_err(|error| failed(&error))?;
    let mut bytes = Vec::new();
    let read = std::io::Read::read_to_end(&mut std::io::Read::take(file, most), &mut bytes);
    read.map_err(|error| failed(&error))?;
    String::from_utf8(bytes).map_err(|_| failed(&"it is no UTF-8"))
}
