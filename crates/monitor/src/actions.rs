//! The host's own actions, seen like any other tool: what they do, and which fields decide where to.

use std::sync::{Arc, LazyLock};

use model::ipc::{Action, ActionName};
use model::{Call, CallError, Flow, RawCall, Reach, Role, ToolCall, Trust};
use serde_json::Value;

use crate::provenance::{Act, Shows};

/// What is known of one action.
struct Known {
    flow: Arc<Flow>,
    act: Act,
}

static KNOWN: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let known = |name: &ActionName| {
        let act = Act::named(name.as_str()).showing(shows(*name));
        Known { flow: Arc::new(flow(*name)), act }
    };
    ActionName::ALL.iter().map(known).collect()
});

/// What is in it where others may have written it: a page that looks like a list of names is still a page.
fn shows(name: ActionName) -> Shows {
    match name {
        ActionName::WebFetch
        | ActionName::BrowserNavigate
        | ActionName::BrowserSnapshot
        | ActionName::BrowserClick
        | ActionName::BrowserScreenshot
        | ActionName::SkillRead
        | ActionName::FileRead
        | ActionName::MemoryQuery
        | ActionName::MemoryRead
        | ActionName::MemoryList
        | ActionName::WebSearch
        | ActionName::LlmCall => Shows::Document,
        // A command may print anything; but names of files are mostly what is asked for.
        ActionName::ShellExec | ActionName::FileList | ActionName::FileSearch => Shows::Names,
        ActionName::MemoryWrite
        | ActionName::MemoryDelete
        | ActionName::BrowserLaunch
        | ActionName::BrowserType
        | ActionName::BrowserClose
        | ActionName::SkillPropose
        | ActionName::SkillList
        | ActionName::SchedulerListCron
        | ActionName::SchedulerGetHeartbeat
        | ActionName::SchedulerListTriggers
        | ActionName::SchedulerRemoveCron
        | ActionName::SchedulerAddCron
        | ActionName::SchedulerRunAt
        | ActionName::OauthCall
        | ActionName::AuditQuery
        | ActionName::FileWrite
        | ActionName::FileEdit => Shows::Rows,
    }
}

/// The action as a call of a tool.
pub(crate) fn as_call(action: &Action) -> Result<ToolCall, CallError> {
    let mut message = action.to_value();
    if let Value::Object(fields) = &mut message {
        // The name is no argument.
        fields.remove("action");
    }
    let message = message.to_string();
    let call = Call::parse(&RawCall { tool: action.name().as_str(), args: message.as_bytes() })?;
    let known = KNOWN.get(action.name() as usize);
    let flow = known.map_or_else(|| Arc::new(Flow::unknown()), |it| Arc::clone(&it.flow));
    Ok(ToolCall { call, flow })
}

/// What the action does, in the words of intent.
pub(crate) fn act(name: ActionName) -> Act {
    KNOWN.get(name as usize).map_or_else(Act::default, |it| it.act.clone())
}

fn flow(name: ActionName) -> Flow {
    use Reach::{Read, Send, Write};
    use Role::{Content, Destination, Target};
    use Trust::{Own, Trusted, Untrusted};
    match name {
        // To think, to remember and to open a browser harms nobody whatever it is about: what is
        // thought is the agent's word, and what is remembered keeps its label. So provenance looks
        // at them as it looks at reading.
        ActionName::LlmCall => of(Read, Untrusted, &[("messages", Content)]),
        ActionName::MemoryWrite => of(Read, Own, &[("content", Content), ("source", Content)]),
        ActionName::BrowserLaunch | ActionName::BrowserClose => of(Read, Own, &[]),
        // What memory gives back carries the tags of its rows.
        ActionName::MemoryQuery => of(Read, Trusted, &[("query", Content)]),
        ActionName::MemoryRead => of(Read, Trusted, &[("id", Target)]),
        ActionName::MemoryDelete => destructive(of(Write, Own, &[("id", Target)])),
        ActionName::MemoryList => of(Read, Trusted, &[]),
        ActionName::WebFetch | ActionName::BrowserNavigate => {
            egress(of(Read, Untrusted, &[("url", Destination)]))
        }
        ActionName::WebSearch => egress(of(Read, Untrusted, &[("query", Content)])),
        ActionName::BrowserSnapshot | ActionName::BrowserScreenshot => of(Read, Untrusted, &[]),
        ActionName::BrowserClick => egress(of(Send, Untrusted, &[("ref", Target)])),
        ActionName::BrowserType => egress(of(Send, Own, &[("text", Content)])),
        ActionName::SkillPropose => {
            of(Write, Own, &[("skill", Target), ("content", Content), ("reason", Content)])
        }
        ActionName::SkillRead => of(Read, Untrusted, &[("name", Target)]),
        ActionName::SkillList
        | ActionName::SchedulerListCron
        | ActionName::SchedulerGetHeartbeat
        | ActionName::SchedulerListTriggers
        | ActionName::AuditQuery => of(Read, Trusted, &[]),
        ActionName::OauthCall => egress(of(
            Send,
            Untrusted,
            &[("service", Destination), ("path", Target), ("body", Content)],
        )),
        // What a file gives back carries the file's label.
        ActionName::FileRead | ActionName::FileList => of(Read, Trusted, &[("path", Target)]),
        ActionName::FileSearch => of(Read, Trusted, &[("query", Content), ("path", Target)]),
        ActionName::FileWrite => of(Write, Own, &[("path", Target), ("content", Content)]),
        ActionName::FileEdit => {
            of(Write, Own, &[("path", Target), ("old", Content), ("new", Content)])
        }
        // A command can do whatever its cage lets it: change, erase, and send where there is a way out.
        ActionName::ShellExec => {
            destructive(egress(of(Send, Untrusted, &[("command", Content), ("dir", Target)])))
        }
        // What is scheduled is said to the agent again, when nobody looks.
        ActionName::SchedulerAddCron => {
            of(Write, Own, &[("schedule", Content), ("prompt", Content)])
        }
        ActionName::SchedulerRunAt => of(Write, Own, &[("datetime", Content), ("prompt", Content)]),
        ActionName::SchedulerRemoveCron => destructive(of(Write, Own, &[("id", Target)])),
    }
}

fn of(reach: Reach, output: Trust, roles: &[(&str, Role)]) -> Flow {
    let roles = roles.iter().map(|(name, role)| ((*name).to_owned(), *role)).collect();
    Flow { reach, output, egress: false, destructive: false, roles }
}

fn egress(flow: Flow) -> Flow {
    Flow { egress: true, ..flow }
}

fn destructive(flow: Flow) -> Flow {
    Flow { destructive: true, ..flow }
}
