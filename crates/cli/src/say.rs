//! `lazaret say`: the user's own words to a session that is served.

use std::io::{self, Read};

use host::control::{self, AskError, REQUEST_BYTES_MAX, Request};
use model::SessionId;
use serde_json::{Value, json};

use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Say something to a session that `lazaret ipc` serves, as its user.
///
/// An agent's messages are not your words. What you say here is: a turn of yours begins with it, what you
/// name in it you have chosen, and what you ask for in it is asked for. It is recorded before it counts.
/// It is not sent to the agent: whoever runs the agent does that.
///
/// If the gate has just stopped something, the first thing that you say within five minutes may answer
/// it: a plain `yes` lets that one call pass once. See also `lazaret approvals`.
///
/// Try it:
///   lazaret say --session s1 "Please fetch https://example.org/news for me."
///   lazaret say --session s1 < words.txt
///
/// Exit codes: 0 said, 1 the session is not open there, 2 wrong usage, 3 no gate is running.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// To which session.
    #[arg(long, value_name = "ID", value_parser = SessionId::parse)]
    session: SessionId,
    /// The words; without them they are read from stdin.
    text: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let text = match &args.text {
        Some(text) => text.clone(),
        None => from_stdin()?,
    };
    if text.trim().is_empty() {
        return Err(Failure::usage("nothing is said: give the words, or write them to stdin"));
    }
    let request = Request::Say { session: args.session.clone(), text };
    let home = args.home.dir()?;
    let said = match control::ask(&control::socket_path(&home), &request) {
        Ok(said) => said,
        Err(AskError::Nobody) => {
            return Err(Failure::unable(format!(
                "no gate is running in `{}`: start `lazaret ipc --session {} …` there, then say it \
                 again",
                home.display(),
                args.session,
            )));
        }
        Err(AskError::Refused(error)) => return Err(Failure::refused(error)),
        Err(error) => return Err(Failure::unable(error)),
    };
    let field = |name: &str| said.get(name).and_then(Value::as_str).unwrap_or_default();
    if args.json {
        output::json(&json!({
            "session": args.session.as_str(),
            "answer": field("answer"),
            "record": field("record"),
        }));
        return Ok(Exit::Done);
    }
    output::line(&format!("said to {}", args.session));
    match field("answer") {
        "yes" => output::note("it was a yes to what was stopped: that call passes once"),
        "no" => output::note("it was a no to what was stopped"),
        "ambiguous" => output::note(
            "several things wait, and it is not clear to which of them it was a yes: name it, or \
             use `lazaret approvals`",
        ),
        _ => {}
    }
    Ok(Exit::Done)
}

fn from_stdin() -> Result<String, Failure> {
    let most = u64::try_from(REQUEST_BYTES_MAX).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    io::stdin().lock().take(most + 1).read_to_end(&mut bytes).map_err(Failure::unable)?;
    if bytes.len() > REQUEST_BYTES_MAX {
        let what = format!("at most {REQUEST_BYTES_MAX} bytes can be said at once");
        return Err(Failure::usage(what));
    }
    String::from_utf8(bytes).map_err(|_| Failure::usage("what stdin says is no UTF-8"))
}
