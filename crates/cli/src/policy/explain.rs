//! `lazaret policy explain`.

use std::io;
use std::path::PathBuf;

use model::ipc::read_json;
use policy::FactSheet;
use policy::access::Origin;
use serde_json::{Map, Value, json};

use super::folder::Loaded;
use super::judge::{Call, judge};
use super::{live, show};
use crate::check::{Line, Lines};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Say what is decided of a call, and by which rules and layers.
///
/// FACTS are words: the effect, then `fact=value`, lists with commas. What is not said is what an
/// ordinary call of the user in a clean session has. The facts:
///
///   principal           USER SYS WEB TOOL SKILL CHANNEL EXTERNAL: who caused it
///   taint               CROSS_SESSION INJECTION_SUSPECT PROXY_DERIVED SECRET_RISK SKILL_OUTPUT
///                       TOOL_OUTPUT UNTRUSTED WEB_DERIVED
///   profile             paranoid, standard, yolo
///   taint_permille      share of outside content; taint_permille_max, over_budget
///   asked_for           true if the user asked for just this
///   risk                0 to 3
///   sinks               untrusted_destination, untrusted_target, untrusted_content, foreign_secret
///   targets             control_plane, durable_memory, secret_file, sensitive_file, blocked_domain,
///                       tunnel_domain, unlisted_domain, private_address, oversized,
///                       exfiltration
///   confirmed           nothing, kind, exactly
///   programs, commands  what would run: `programs=git commands=git+push` (a blank is `+`)
///   classes             read, write, delete, execute, network, privilege and so on
///   paths               read:PATH, write:PATH, delete:PATH, run:PATH
///   hosts               HOST, HOST:PORT, SCHEME://HOST:PORT
///   recipients          who gets something
///   unread, cut         true if not all of these could be read, or there are too many
///   user, agent, tool, door
///
/// Without FACTS, reads JSON objects with the same keys from stdin, one per line, and answers each
/// in order, with its `id`. Besides the facts they can hold `args`, `remote` and `sub_agent`, for
/// the layers.
///
/// Exit codes: 0 allowed, 1 not (now); 2 a broken policy or facts that mean nothing. A batch from
/// stdin exits 0 when all lines were answered.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// The effect, then facts: `tool_send principal=CHANNEL taint=UNTRUSTED`.
    facts: Vec<String>,
    /// A policy folder, in place of the state directory; see `lazaret policy --help`.
    #[arg(long, value_name = "DIR")]
    policy: Option<PathBuf>,
    /// The session comes over the network.
    #[arg(long)]
    remote: bool,
    /// The arguments of the tool, a JSON object; for the layer of operations.
    #[arg(long, value_name = "JSON")]
    args: Option<String>,
    /// The sub-agent that calls.
    #[arg(long, value_name = "NAME")]
    sub_agent: Option<String>,
    /// Print one JSON object per call.
    #[arg(long)]
    json: bool,
}

/// The longest line from stdin, in bytes.
const LINE_BYTES_MAX: usize = 10 << 20;

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let loaded = match live::load(&args.home, args.policy.as_deref())? {
        Ok(loaded) => loaded,
        Err(flaws) => return Ok(show::flaws(&flaws, args.json)),
    };
    if !args.json {
        output::note(&loaded.source.to_string());
    }
    if args.facts.is_empty() {
        return batch(args, &loaded);
    }
    let sheet = FactSheet::from_words(&args.facts.join(" ")).map_err(Failure::usage)?;
    let origin = if args.remote { Origin::Remote } else { Origin::Local };
    let call_args = args.args.as_deref().map_or(Ok(Map::new()), object);
    let call_args = call_args.map_err(|why| Failure::usage(format!("--args: {why}")))?;
    let call = Call { sheet, args: call_args, origin, sub_agent: args.sub_agent.clone() };
    let judged = judge(&loaded, &call);
    if args.json {
        output::json(&show::judged_json(&judged, &loaded.source));
    } else {
        show::judged(&judged);
    }
    Ok(if judged.decision().happens() { Exit::Done } else { Exit::Refused })
}

fn batch(args: &Args, loaded: &Loaded) -> Result<Exit, Failure> {
    if args.remote || args.args.is_some() || args.sub_agent.is_some() {
        let what = "--remote, --args and --sub-agent go with FACTS; on stdin they are keys";
        return Err(Failure::usage(what));
    }
    let mut lines = Lines::new(io::stdin().lock(), LINE_BYTES_MAX);
    loop {
        let line = lines.next().map_err(|error| Failure::unable(format!("stdin: {error}")))?;
        let (id, call) = match line {
            Line::End => return Ok(Exit::Done),
            Line::TooLong => {
                (Value::Null, Err(format!("a line has at most {LINE_BYTES_MAX} bytes")))
            }
            Line::Whole(bytes) => read(bytes),
        };
        if !answer(args.json, loaded, id, call) {
            return Ok(Exit::Done);
        }
    }
}

fn read(bytes: &[u8]) -> (Value, Result<Call, String>) {
    match std::str::from_utf8(bytes).map_err(|_| "not UTF-8".to_owned()).and_then(object) {
        Ok(mut fields) => {
            let id = fields.remove("id").unwrap_or_default();
            (id, Call::read(&fields))
        }
        Err(why) => (Value::Null, Err(why)),
    }
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    match read_json(text.as_bytes()) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err("a JSON object is wanted".to_owned()),
        Err(why) => Err(why.to_string()),
    }
}

/// Answers whether anybody is still reading.
fn answer(as_json: bool, loaded: &Loaded, id: Value, call: Result<Call, String>) -> bool {
    match call {
        Err(error) if as_json => output::json(&json!({"id": id, "error": error})),
        Err(error) => output::line(&aegx::verify::printable(&format!("error: {error}"))),
        Ok(call) => {
            let judged = judge(loaded, &call);
            if !as_json {
                show::judged(&judged);
                return output::line("");
            }
            let mut fields = show::judged_json(&judged, &loaded.source);
            if let Some(fields) = fields.as_object_mut() {
                fields.insert("id".to_owned(), id);
            }
            output::json(&fields)
        }
    }
}
