//! `lazaret approvals show`: one question in full, for people and for programs.

use aegx::timestamp;
use evidence::{Clock, SystemClock};
use monitor::approvals::Approval;
use monitor::{Reason, ShownArg, ShownValue};
use serde_json::{Value, json};

use super::deed;
use super::text::{self, quoted};
use super::{find, parse_id};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Show one question in full: what is to happen, to whom it goes, why it was stopped.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// The question, as the list names it.
    #[arg(value_name = "ID", value_parser = parse_id)]
    id: String,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let (_, found) = find(&args.home, &args.id, SystemClock.unix_seconds())?;
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
    let arg = |it: &ShownArg| json!({ "name": it.name, "value": it.value, "hidden_chars": it.hidden_chars, "tail": it.tail });
    let value = |it: &ShownValue| json!({ "param": it.param, "value": it.value, "label": it.label, "source": it.source });
    json!({
        "id": it.id.to_string(),
        "state": it.state.as_str(),
        "session": question.call.session.as_str(),
        "user": question.user.as_str(),
        "agent": question.agent.as_str(),
        "sub_agent": (!shown.sub_agent.is_empty()).then_some(&shown.sub_agent),
        "action": question.call.action.as_str(),
        "action_sha256": question.call.digest.to_string(),
        "tool": shown.tool,
        "args": shown.args.iter().map(arg).collect::<Vec<_>>(),
        "destinations": shown.destinations,
        "reasons": shown.reasons.iter().map(|it| json!({ "rule": it.rule, "why": it.why })).collect::<Vec<_>>(),
        "hidden_reasons": shown.hidden_reasons,
        "values": shown.values.iter().map(value).collect::<Vec<_>>(),
        "origin": shown.origin,
        "created": timestamp::from_unix(question.created),
        "expires": timestamp::from_unix(question.expires),
        "answered": answer,
        "deed": deed::sentence(it),
        "place": shown.kind.as_ref().map(|it| &it.place),
        "stopped": it.hindered.as_ref().map(|it| json!({
            "rule": it.rule, "reason": it.why, "time": timestamp::from_unix(it.at),
        })),
    })
}

/// A question for people, each line fit for a terminal.
pub(super) fn lines(it: &Approval) -> Vec<String> {
    let question = &it.question;
    let shown = &question.shown;
    let session = &question.call.session;
    let sub_agent = match shown.sub_agent.as_str() {
        "" => String::new(),
        name => format!(", sub-agent {}", quoted(name)),
    };
    let (agent, user) = (&question.agent, &question.user);
    let who = format!("agent {agent}{sub_agent} for {user}, session {session}");
    let what = format!("{} ({})", text::name(&shown.tool), question.call.action.as_str());
    let mut items = vec![
        ("approval", format!("{}  {}", it.id, it.state.as_str())),
        ("who", text::seen(&who)),
        ("what", what),
        ("deed", deed::sentence(it)),
    ];
    let place = shown.kind.iter().flat_map(|it| &it.place);
    items.extend(place.map(|it| ("place", quoted(it))));
    items.extend(shown.destinations.iter().map(|it| ("to", quoted(it))));
    items.extend(shown.args.iter().map(|it| ("with", argument(it))));
    let why = |it: &Reason| format!("{} [{}]", text::seen(&it.why), text::seen(&it.rule));
    items.extend(shown.reasons.iter().map(|it| ("why", why(it))));
    if shown.hidden_reasons > 0 {
        items.push(("why", format!("{} more reasons are NOT shown", shown.hidden_reasons)));
    }
    items.extend(shown.values.iter().filter(|it| !it.source.is_empty()).map(|it| {
        let (value, param) = (quoted(&it.value), text::name(&it.param));
        let (source, label) = (quoted(&it.source), text::seen(&it.label));
        ("from", format!("{value} in {param} comes from {source} ({label})"))
    }));
    if !shown.origin.is_empty() {
        items.push(("outside", format!("the session has last read {}", quoted(&shown.origin))));
    }
    let time = timestamp::from_unix;
    let times = format!("asked {}, until {}", time(question.created), time(question.expires));
    items.push(("time", times));
    if let Some((answer, record)) = &it.answered {
        let (word, by) = (answer.word.as_str(), text::seen(answer.by.as_str()));
        let said = format!("{word} by {by} at {}: {}", time(answer.at), quoted(&answer.reason));
        items.push(("answered", said));
        items.push(("record", text::seen(record)));
    }
    if let Some(stopped) = &it.hindered {
        let (why, rule) = (text::seen(&stopped.why), text::seen(&stopped.rule));
        let when = time(stopped.at);
        items.push(("stopped", format!("although approved, at {when}: {why} [{rule}]")));
    }
    items.iter().flat_map(|(label, text)| text::item(label, text)).collect()
}

fn argument(it: &ShownArg) -> String {
    // What is no text is JSON, with quotes of its own.
    let part = |text: &str| if it.is_text { quoted(text) } else { text::seen(text) };
    let beginning = format!("{} = {}", text::name(&it.name), part(&it.value));
    match it.hidden_chars {
        0 => beginning,
        count => {
            format!("{beginning} … {count} characters are NOT shown … {}", part(&it.tail))
        }
    }
}
