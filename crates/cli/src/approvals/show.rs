//! `lazaret approvals show`: one question in full, for people and for programs.

use aegx::timestamp;
use aegx::verify::printable;
use evidence::{Clock, SystemClock};
use model::ipc::Uuid;
use monitor::approvals::Approval;
use serde_json::{Value, json};

use super::{find, parse_id};
use crate::home::Home;
use crate::output;
use crate::run::{Exit, Failure};

/// Show one question in full: what is to happen, to whom it goes, why it was stopped.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// The question, as the list names it.
    #[arg(value_name = "ID", value_parser = parse_id)]
    id: Uuid,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let (_, found) = find(&args.home, args.id, SystemClock.unix_seconds())?;
    if args.json {
        output::json(&value(&found));
    } else {
        let _ = lines(&found).iter().all(|it| output::line(it));
    }
    Ok(Exit::Done)
}

/// A question for programs.
pub(super) fn value(it: &Approval) -> Value {
    let question = &it.question;
    let shown = &question.shown;
    let answer = it.answered.as_ref().map(|(answer, record)| {
        json!({
            "answer": answer.word.as_str(),
            "by": answer.by.as_str(),
            "reason": answer.reason,
            "time": timestamp::from_unix(answer.at),
            "record": record,
        })
    });
    let arg = |it: &monitor::ShownArg| json!({ "name": it.name, "value": it.value, "hidden_chars": it.hidden_chars });
    let value = |it: &monitor::ShownValue| json!({ "param": it.param, "value": it.value, "label": it.label, "source": it.source });
    json!({
        "id": it.id.to_string(),
        "state": it.state.as_str(),
        "session": question.call.session.as_str(),
        "user": question.user.as_str(),
        "agent": question.agent.as_str(),
        "action": question.call.action.as_str(),
        "action_sha256": question.call.digest.to_string(),
        "tool": shown.tool,
        "args": shown.args.iter().map(arg).collect::<Vec<_>>(),
        "destinations": shown.destinations,
        "reasons": shown.reasons.iter().map(|it| json!({ "rule": it.rule, "why": it.why })).collect::<Vec<_>>(),
        "values": shown.values.iter().map(value).collect::<Vec<_>>(),
        "origin": shown.origin,
        "created": timestamp::from_unix(question.created),
        "expires": timestamp::from_unix(question.expires),
        "answered": answer,
    })
}

/// A question for people, each line fit for a terminal.
pub(super) fn lines(it: &Approval) -> Vec<String> {
    let question = &it.question;
    let shown = &question.shown;
    let mut lines = vec![
        format!("approval  {}  {}", it.id, it.state.as_str()),
        format!(
            "who       agent {} for {}, session {}",
            question.agent, question.user, question.call.session
        ),
        format!("what      {} ({})", shown.tool, question.call.action.as_str()),
    ];
    lines.extend(shown.destinations.iter().map(|it| format!("to        {it}")));
    for arg in &shown.args {
        let more = match arg.hidden_chars {
            0 => String::new(),
            count => format!("… and {count} more characters that are NOT shown"),
        };
        lines.push(format!("with      {} = {}{more}", arg.name, arg.value));
    }
    lines.extend(shown.reasons.iter().map(|it| format!("why       {} [{}]", it.why, it.rule)));
    for value in shown.values.iter().filter(|it| !it.source.is_empty()) {
        lines.push(format!(
            "from      `{}` in `{}` comes from {} ({})",
            value.value, value.param, value.source, value.label
        ));
    }
    if !shown.origin.is_empty() {
        lines.push(format!("outside   the session has last read {}", shown.origin));
    }
    let until = timestamp::from_unix(question.expires);
    lines
        .push(format!("time      asked {}, until {until}", timestamp::from_unix(question.created)));
    if let Some((answer, record)) = &it.answered {
        let (word, at) = (answer.word.as_str(), timestamp::from_unix(answer.at));
        lines.push(format!("answered  {word} by {} at {at}: {}", answer.by, answer.reason));
        lines.push(format!("record    {record}"));
    }
    lines.iter().map(|it| printable(it)).collect()
}
