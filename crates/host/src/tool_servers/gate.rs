//! What the session with a server asks of us: its list is judged here. A call was judged before it came, and whatever else a
//! server says or asks is for nobody.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ::mcp::{
    Answered, Begun, Call, Delivery, Gate as Judge, GateError, Kind, Listing, Offer, Ticket,
};
use aegx::RecordType;
use evidence::{Journal, NewRecord};
use model::Caller;
use monitor::Monitor;
use serde_json::{Value, json};

use crate::doors::mcp::servers::Brings;
use crate::doors::mcp::{Kept, LINE, Listed, Taken, may_list, on_record, started_by, take_in};
use crate::gate::Gate;

/// The gate of one server of one session.
pub(super) struct SessionGate {
    monitor: Arc<Monitor>,
    journal: Arc<Journal>,
    home: PathBuf,
    who: Caller,
    lists: Mutex<Lists>,
}

#[derive(Default)]
struct Lists {
    known: Kept,
    listed: Listed,
    /// By which line the server of this session was started or reached: trust is for that, and not for its name.
    started_by: Option<String>,
}

impl SessionGate {
    pub(super) fn of(gate: &Gate, home: &Path, who: &Caller) -> Self {
        Self {
            monitor: Arc::clone(&gate.monitor),
            journal: Arc::clone(&gate.journal),
            home: home.to_owned(),
            who: who.clone(),
            lists: Mutex::default(),
        }
    }

    /// What the words of this session's server bring along now.
    pub(super) fn brings(&self, server: &str, now: i64) -> Brings {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let Lists { known, started_by, .. } = &mut *lists;
        match known.now(&self.home) {
            Ok(known) => known.brings(server, started_by.as_deref(), now),
            // Whoever cannot be looked up is not trusted.
            Err(_) => Brings::of_unknown(server, now),
        }
    }
}

impl Judge for SessionGate {
    fn tools(&self, server: &str, page: Listing<'_>) -> Result<::mcp::Listed, GateError> {
        let tools = page.items;
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let Lists { known, listed, started_by } = &mut *lists;
        let own = started_by.as_deref();
        // What is found in a list is on record once for each session.
        let taken = take_in(&self.home, known, listed, (server, own, page), |_| false);
        let Taken { held, cleaned, found, .. } = taken.map_err(|it| GateError(it.to_string()))?;
        for (kind, content) in found {
            record(&self.journal, &self.who, kind, content);
        }
        let may = may_list(&self.monitor, &self.who, listed, server, tools).map_err(GateError)?;
        let names = tools.iter().filter_map(|it| it.get("name")?.as_str());
        let hidden = if may { Vec::new() } else { names.map(str::to_owned).collect() };
        Ok(::mcp::Listed { hidden, held, cleaned: cleaned.into_iter().collect() })
    }

    fn offers(&self, _: &str, _: Offer, _: Listing<'_>) -> Result<Vec<String>, GateError> {
        Err(GateError("nothing but tools is used".to_owned()))
    }

    fn begin(&self, call: &Call<'_>) -> Result<Begun, GateError> {
        Ok(match call.kind {
            // INVARIANT (OneGate): the one who calls has spent a permit for exactly this.
            Kind::Tool => Begun::Allowed(Ticket::new("permitted")),
            Kind::Resource
            | Kind::Prompt
            | Kind::Completion
            | Kind::Subscription
            | Kind::List
            | Kind::Task
            | Kind::Instructions
            | Kind::Sampling
            | Kind::Elicitation
            | Kind::Roots
            | Kind::Notification
            | Kind::Other => {
                let reason = "of a server that a manifest names, nothing but its tools is used";
                Begun::Denied { reason: reason.to_owned() }
            }
        })
    }

    fn finish(&self, ticket: Ticket, _: &Value, _: bool) -> Result<Delivery, GateError> {
        drop(ticket);
        // It is looked at as the output of the call.
        Ok(Delivery::AsItCame)
    }

    fn lost(&self, ticket: Ticket) {
        drop(ticket);
    }

    fn unsent(&self, ticket: Ticket) {
        drop(ticket);
    }

    fn answer(&self, _: &str, _: Answered) -> Result<(), GateError> {
        Err(GateError("nobody was asked".to_owned()))
    }

    fn lifecycle(&self, server: &str, event: &str, detail: &Value) {
        let content = json!({ "server": server, "event": event, "detail": on_record(detail) });
        record(&self.journal, &self.who, "mcp_lifecycle", content);
        let Some(by) = started_by(detail) else { return };
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.started_by = Some(by.sha256.clone());
        let content = json!({ "server": server, LINE: by.sha256 });
        // What cannot be kept stops its list.
        let noted = lists.known.now(&self.home).and_then(|it| it.note_line(&self.home, server, by));
        if noted.is_ok_and(|is_other| is_other) {
            record(&self.journal, &self.who, "mcp_line_changed", content);
        }
    }
}

/// INVARIANT (NothingSilent): what happens to servers and their definitions.
pub(super) fn record(journal: &Journal, who: &Caller, kind: &'static str, content: Value) {
    let record = NewRecord {
        session: Some(who.session.clone()),
        agent: Some(who.agent.clone()),
        ..NewRecord::of_host(RecordType::GuardDecision, model::Kind::of_static(kind), content)
    };
    // What was refused stays refused.
    let _ = journal.append(record);
}
