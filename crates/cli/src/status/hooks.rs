//! Which coding agents' hooks are wired, and when each was heard last.

use evidence::{Clock as _, SystemClock};
use serde_json::{Value, json};
use setup::{Host, Wiring, wiring};

use crate::home::Home;
use crate::output::{self, Paint};
use crate::wire::{surroundings, verify};

/// The hooks of one agent.
pub(super) struct OfHost {
    host: Host,
    /// What is wrong with its wiring; none if nothing is. A hook can be heard that is not wired here, as by a plugin.
    broken: Option<String>,
    is_wired: bool,
    /// When it called last, in seconds since 1970, while this daemon runs.
    last: Option<i64>,
    has_called: bool,
}

/// Every agent that is wired, or was heard since the daemon began; `doors` is what that says of itself.
pub(super) fn all(home: &Home, doors: Option<&Value>) -> Vec<OfHost> {
    // Without our hook program beside this one nothing of it can be wired.
    let around = surroundings(home, None).ok();
    let called = doors.and_then(|it| it.pointer("/hooks/called"));
    let all = Host::ALL.into_iter().map(|host| {
        let wired = around.as_ref().map(|it| wiring(it, host)).unwrap_or(Wiring::NotInstalled);
        let last = called.and_then(|it| it.get(host.as_str())?.as_i64());
        let (is_wired, broken) = match wired {
            Wiring::NotInstalled => (false, None),
            Wiring::Wired => (true, None),
            Wiring::Broken { why } => (true, Some(why)),
        };
        OfHost { host, broken, is_wired, last, has_called: false }
    });
    let mut all: Vec<OfHost> = all.filter(|it| it.is_wired || it.last.is_some()).collect();
    for it in &mut all {
        it.has_called = it.last.is_some() || verify::has_called(home, it.host).unwrap_or(false);
    }
    all
}

impl OfHost {
    pub(super) fn to_json(&self) -> Value {
        json!({
            "agent": self.host.as_str(),
            "wired": self.is_wired && self.broken.is_none(),
            "why": self.broken,
            "has_called": self.has_called,
            "last_called": self.last,
        })
    }

    pub(super) fn show(&self) {
        let paint = Paint::for_stdout();
        let heard = match (self.last, self.has_called) {
            (Some(at), _) => {
                let seconds = SystemClock.unix_seconds().saturating_sub(at);
                format!("it called {} ago", output::ago(seconds))
            }
            (None, true) => "it has called, and not since the daemon began".to_owned(),
            (None, false) => "it has not called yet".to_owned(),
        };
        let title = self.host.title();
        match &self.broken {
            Some(why) => {
                let why = aegx::verify::printable(why).to_string();
                let line = format!("hooks      {title}: {}; {heard}", paint.bad(&why));
                output::line(&line);
            }
            None => {
                let state = if self.is_wired { "wired" } else { "not wired by `lazaret init`" };
                output::told(false, &format!("hooks      {title}: {state}; {heard}"));
            }
        }
    }
}
