//! A message to the agent: looked at, judged on the path of a call, recorded, and only then taken in.
//!
//! Threats: a canary that somebody plants to see whether the agent obeys strangers, and questions that press for its
//! instructions a little more each time. The user's own words are orders, and are not held against them: of what they say
//! only a canary that is dictated word for word counts, and a row of questions that press on. Of those who are not at their own
//! machine, and under the profile `paranoid`, any words that are to be said count, and a single question for the instructions.

use std::sync::Arc;

use evidence::AppendError;
use model::{Effect, Flow, Message, RawCall, Role, Source, Taint, TaintTag, ToolCall, Trust};
use policy::RISK_MAX;
use scan::text::{Author, Verdict as Signs};
use serde_json::json;

use super::{DOUBT, Spoken};
use crate::conversation::Heard;
use crate::deed::Deeds;
use crate::monitor::Monitor;
use crate::pipeline;
use crate::proposed::Proposed;
use crate::provenance::Act;
use crate::record;
use crate::refusal::Refusal;
use crate::session::Session;
use crate::understood::Understood;

/// The name of the effect, as of a call of a tool.
const TOOL: &str = "message_in";

impl Monitor {
    /// Looks at a text that reaches the agent, and notes what it says of the conversation, durably.
    pub(crate) fn look_at(
        &self,
        session: &Session,
        heard: &Heard<'_>,
        now: i64,
    ) -> Result<Spoken, Refusal> {
        let mut spoken =
            Spoken { principal: Some(record::principal_of(heard.source)), ..Spoken::default() };
        let author = match heard.source {
            Source::User | Source::System => Author::Principal,
            Source::Agent
            | Source::Web
            | Source::Tool
            | Source::Email
            | Source::Memory
            | Source::File
            | Source::Channel
            | Source::Skill => Author::Outsider,
        };
        let reading = scan::text::read(heard.text, author);
        for finding in &reading.findings {
            spoken.see(finding.rule, finding.category.as_str());
        }
        let mut taint = heard.source.taint();
        spoken.risk = match reading.verdict() {
            Signs::Clean => 0,
            Signs::Suspicious => DOUBT,
            Signs::Injection => RISK_MAX,
        };
        // The operator's own text may dictate what it likes; a user's is read for canaries all the same, and where they are not at
        // their own machine, for any words that are to be said.
        let is_user = heard.source == Source::User;
        let may_probe = session.user_may_probe();
        let forces = reading.forces_canary(heard.text) || !may_probe && reading.forces_phrase();
        let dictates = is_user && forces;
        if is_user && reading.asks_for_instructions() {
            // A policy of one's own may count it, too.
            spoken.risk = spoken.risk.max(DOUBT);
            if !may_probe {
                spoken.touches_prompt(true);
            }
        }
        if reading.verdict() == Signs::Injection || dictates {
            taint = taint.union(Taint::INJECTION_SUSPECT);
            taint = if dictates { taint } else { taint.union(Taint::UNTRUSTED) };
        }
        spoken.taint = Some(taint);
        if matches!(heard.source, Source::User | Source::Channel) {
            let crescendo = self.talks.hear(&**self.state(), session.who(), heard, now)?;
            if let Some(crescendo) = crescendo {
                spoken.see(crescendo.as_str(), "crescendo");
                spoken.touches_prompt(false);
            }
        }
        Ok(spoken)
    }

    /// Judges a message on the path of a call: understand, place, judge, settle. What is stopped is recorded here; what is
    /// let through is recorded by whoever takes it in, as what this gives back says.
    pub(crate) fn judge_message(
        &self,
        session: &mut Session,
        message: Message,
        label: &TaintTag,
        spoken: Spoken,
        now: i64,
    ) -> Result<record::Judged, Refusal> {
        let understood = understand(message)?;
        let mut proposed = self.propose(session, understood, now);
        proposed.speak(spoken);
        let ruling = self.weigh(&proposed);
        let ruling = self.settle(session, &mut proposed, ruling, now)?;
        let judged = record::Judged::new(&proposed, &ruling).map_err(AppendError::from)?;
        if ruling.decision().happens() {
            return Ok(judged);
        }
        let text = self.without_secrets(text_of(&proposed));
        let new = record::heard(session.who(), label, &text, Some(&judged));
        let verdict = pipeline::verdict(&proposed, &ruling, self.journal().append(new)?.id());
        let change = session.stopped(&proposed, &verdict, now);
        self.keep(session, &change)?;
        Err(Refusal::Stopped(Box::new(verdict)))
    }
}

fn text_of(proposed: &Proposed) -> &str {
    match &proposed.understood().effect {
        Effect::Message(message) => &message.text,
        Effect::Action(_) | Effect::Tool(_) | Effect::Host(_) => "",
    }
}

/// A message as a call of a tool: it looks at nothing, sends nothing, and is the user's own where it comes from them.
fn understand(message: Message) -> Result<Understood, Refusal> {
    let args = json!({ "text": &*message.text }).to_string();
    let call = model::Call::parse(&RawCall { tool: TOOL, args: args.as_bytes() })?;
    let flow = Flow {
        reach: model::Reach::Read,
        output: Trust::Own,
        egress: false,
        destructive: false,
        // Naming an address or a file reaches neither.
        roles: [("text".to_owned(), Role::Content)].into(),
    };
    Ok(Understood {
        effect: Effect::Message(message),
        call: ToolCall { call, flow: Arc::new(flow) },
        act: Act::default(),
        commands: Vec::new(),
        deeds: Deeds::Look,
        command: None,
    })
}
