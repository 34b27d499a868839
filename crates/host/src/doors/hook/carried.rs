//! Calls that were let through by a daemon which has ended in order since, as at an upgrade: the next one knows them by
//! this list when their results come, so that they are no alarm.
//!
//! The list allows nothing: what it names ran by the word of the daemon before. Of a call that could have read anything the
//! session is labelled already, when the daemon ends.

use std::collections::HashMap;
use std::path::Path;

use aegx::Digest;
use evidence::{Clock as _, SystemClock};
use hooks::ToolUse;
use model::{EffectKind, RawCall};
use monitor::{Asked, Begun};
use serde::{Deserialize, Serialize};

use super::session::{AskedCall, Hooked};
use super::{HookDoor, lock, tools};

/// The list in the state directory.
const FILE: &str = "calls-under-way.json";
/// The longest such list, in bytes.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// Calls that it names at most.
const CARRIED_MAX: usize = 4096;
/// How long a call is known by it: a longer one's result is an alarm again.
const KNOWN_SECONDS_MAX: i64 = 24 * 3600;

/// A call of a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Which {
    session: String,
    key: String,
}

/// What is known of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Carried {
    /// What it gives back can only be the user's own.
    StaysHere,
    /// What it gives back may be anybody's.
    Outside,
    /// The host asked its user: the kind of call, its digest and that of its arguments.
    Asked { kind: String, call: String, args: String },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    at: i64,
    calls: Vec<(Which, Carried)>,
}

/// What became of the result of such a call.
pub(super) enum Found {
    /// It is nobody's: no call of the daemon before.
    Unknown,
    /// The call, judged once more.
    Begun(Box<Begun>),
    /// What came was taken in as outside content.
    Heard,
}

/// Reads the list that the daemon before has left, and takes it away: it is for one daemon. What is not understood is as
/// if it were not there, and its calls are alarms.
pub(super) fn taken(home: &Path) -> HashMap<Which, Carried> {
    let path = home.join(FILE);
    let bytes = files::private::read_if_there(&path, FILE_BYTES_MAX).ok().flatten();
    let Some(bytes) = bytes else { return HashMap::new() };
    if files::private::remove(&path).is_err() {
        return HashMap::new();
    }
    let now = SystemClock.unix_seconds();
    let list: Option<List> = serde_json::from_slice(&bytes).ok();
    let is_fresh = |it: &List| (0..KNOWN_SECONDS_MAX).contains(&now.saturating_sub(it.at));
    let calls = list.filter(is_fresh).map(|it| it.calls).unwrap_or_default();
    calls.into_iter().take(CARRIED_MAX).collect()
}

impl AskedCall {
    pub(super) fn carried(&self) -> Carried {
        let (kind, call) = (self.kind.as_str().to_owned(), self.call.to_string());
        Carried::Asked { kind, call, args: self.args.to_string() }
    }

    fn of(carried: &Carried) -> Option<Self> {
        let Carried::Asked { kind, call, args } = carried else { return None };
        let digest = |it: &str| Digest::from_hex(it.as_bytes());
        Some(Self { kind: EffectKind::parse(kind)?, call: digest(call)?, args: digest(args)? })
    }
}

impl HookDoor<'_> {
    /// The daemon ends in order: every session is settled, and calls that are under way are written down for the next one.
    pub fn leave(&self) {
        self.keep_all_called();
        let sessions: Vec<_> = lock(&self.sessions).values().cloned().collect();
        // Those that no result has come of since the daemon before.
        let mut calls: Vec<(Which, Carried)> = lock(&self.carried).drain().collect();
        for session in sessions {
            let mut session = lock(&session);
            let is_trusted = self.is_trusted(&session);
            let id = session.who.session.as_str().to_owned();
            let of = |(key, it)| (Which { session: id.clone(), key }, it);
            calls.extend(session.carried(is_trusted).into_iter().map(of));
            // What cannot be settled counts as lost: that is the worse of the two.
            let _ = self.settle(&mut session);
        }
        calls.truncate(CARRIED_MAX);
        let list = List { at: SystemClock.unix_seconds(), calls };
        if list.calls.is_empty() {
            return;
        }
        if let Ok(text) = serde_json::to_vec(&list) {
            // Without it their results are alarms, as after a kill.
            let _ = files::private::replace(&self.home.join(FILE), &text);
        }
    }

    /// Takes in what a call of the daemon before gave back.
    pub(super) fn carried_over(
        &self,
        session: &Hooked,
        tool: &ToolUse,
        (key, output): (&str, &str),
    ) -> Result<Found, String> {
        let which = Which { session: session.who.session.as_str().to_owned(), key: key.to_owned() };
        let Some(carried) = lock(&self.carried).remove(&which) else { return Ok(Found::Unknown) };
        let args = tools::args_of(tool).to_string();
        let digest = tools::digest_of(tool);
        if let Some(asked) = AskedCall::of(&carried) {
            // Another call than the one that was asked about: nobody has said yes to it.
            if asked.args != digest {
                return Ok(Found::Unknown);
            }
            let confirmed = self.gate.monitor.confirm_call(&session.who, asked.kind, asked.call);
            confirmed.map_err(|error| error.to_string())?;
        }
        if carried != Carried::Outside {
            let asked = Asked::Tool(RawCall { tool: &tool.name, args: args.as_bytes() });
            if let Ok((_, begun)) = self.gate.monitor.begin(&session.who, &asked) {
                return Ok(Found::Begun(Box::new(begun)));
            }
        }
        self.hear_of_tool(session, tool, output)?;
        Ok(Found::Heard)
    }

    /// The turn of a session is over: nothing of it comes back any more.
    pub(super) fn forget_carried(&self, session: &Hooked) {
        let id = session.who.session.as_str();
        lock(&self.carried).retain(|it, _| it.session != id);
    }
}
