//! `lazaret send`: one message to an agent of the server that runs.

use clap::builder::NonEmptyStringValueParser;
use host::doors::client::Connection;
use model::ipc::Uuid;
use model::{AgentId, UserId};
use serde_json::{Value, json};

use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Send one message to an agent of the server that runs, and print the answer.
///
/// The server is that of `lazaret serve` on the same state directory. The message counts as the user's, with
/// their limits and budget; what they may not do over the network, this may not either.
///
/// A server has a policy of privacy, whose version is `serve.privacy.policyVersion`; before the first message, and after each
/// change of it, the user agrees to it: with --agree, if they have said so to you.
///
/// Try it:
///   lazaret send main "What is new?" --user ann --agree 1.0
///
/// Exit codes: 0 answered, 1 refused, 2 wrong usage, 3 could not work, or the turn was interrupted.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// The agent.
    #[arg(value_parser = AgentId::parse)]
    agent: AgentId,
    /// What to say.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    message: String,
    /// For whom, as users.yaml names them.
    #[arg(long, value_parser = UserId::parse)]
    user: UserId,
    /// Go on with this session instead of a new one.
    #[arg(long, value_name = "ID", value_parser = uuid)]
    session: Option<String>,
    /// The version of the policy that the user agrees to.
    #[arg(long, value_name = "VERSION")]
    agree: Option<String>,
    /// Print a JSON object with the session.
    #[arg(long)]
    json: bool,
}

fn uuid(text: &str) -> Result<String, String> {
    Uuid::parse(text)
        .map(|it| it.to_string())
        .ok_or_else(|| "no UUID, as a server names sessions".to_owned())
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    let opened = Connection::open(&home, "serve-send", &[]).map_err(Failure::unable)?;
    let Some(mut connection) = opened else {
        return Err(Failure::refused("no server runs there; start one with `lazaret serve`"));
    };
    let message = json!({
        "user": args.user.as_str(),
        "agent": args.agent.as_str(),
        "session": args.session,
        "content": args.message,
        "agree": args.agree,
    });
    connection.say(message.to_string().as_bytes()).map_err(Failure::unable)?;
    let answer = connection.end().map_err(Failure::unable)?;
    let text = |name: &str| answer.get(name).and_then(Value::as_str).unwrap_or_default();
    if answer.get("ok") != Some(&Value::Bool(true)) {
        let next = match text("kind") {
            "consent_required" => "; here: `--agree VERSION`",
            _ => "",
        };
        let why = format!("{}: {}{next}", text("kind"), text("error"));
        return Err(match text("kind") {
            "agent_not_found"
            | "model_invalid_key"
            | "model_invalid_request"
            | "message_too_large" => Failure::usage(why),
            "internal" | "init_failed" | "worker_error" | "workers_exhausted" | "shutting_down"
            | "model_overloaded" | "model_rate_limited" | "model_unreachable" => {
                Failure::unable(why)
            }
            _ => Failure::refused(why),
        });
    }
    let interrupted = answer.get("interrupted") == Some(&Value::Bool(true));
    if args.json {
        output::json(&json!({
            "session": text("session"), "content": text("content"), "interrupted": interrupted,
        }));
    } else {
        // No escape sequence of an agent reaches the terminal.
        for line in text("content").lines() {
            output::line(&aegx::verify::printable(line).to_string());
        }
    }
    if interrupted {
        output::note("the turn was interrupted: the answer is not whole");
        return Ok(Exit::Unable);
    }
    Ok(Exit::Done)
}
