//! Which coding agents' hooks are wired, and when each was heard last.

use evidence::{Clock as _, SystemClock};
use serde_json::{Value, json};
use setup::{Host, PastGateway, Wiring, past_gateway, wiring};

use crate::home::Home;
use crate::output::{self, Paint};
use crate::wire::verify::{self, Heard};
use crate::wire::{project_here, surroundings};

/// The hooks of one agent.
pub(super) struct OfHost {
    host: Host,
    /// What is wrong with its wiring; none if nothing is. A hook can be heard that is not wired here, as by a plugin.
    broken: Option<String>,
    is_wired: bool,
    /// When it called last, in seconds since 1970, if that is known.
    last: Option<i64>,
    has_called: bool,
    /// Its MCP servers that no gateway is before.
    servers: Vec<PastGateway>,
}

/// Every agent that is wired, or was heard; `doors` is what the daemon says of itself.
pub(super) fn all(home: &Home, doors: Option<&Value>) -> Vec<OfHost> {
    // Without our hook program beside this one nothing of it can be wired.
    let around = surroundings(home, project_here()).ok();
    let called = verify::called(home, doors);
    let all = Host::ALL.into_iter().map(|host| {
        let wired = around.as_ref().map(|it| wiring(it, host)).unwrap_or(Wiring::NotInstalled);
        let last = called.get(host.as_str()).copied();
        let (is_wired, broken) = match wired {
            Wiring::NotInstalled => (false, None),
            Wiring::Wired => (true, None),
            Wiring::Broken { why } => (true, Some(why)),
        };
        OfHost { host, broken, is_wired, last, has_called: last.is_some(), servers: Vec::new() }
    });
    let mut all: Vec<OfHost> = all.filter(|it| it.is_wired || it.last.is_some()).collect();
    for it in &mut all {
        let Some(around) = &around else { continue };
        let heard = verify::heard(home, around, &called, it.host);
        it.has_called |= heard.is_ok_and(|it| it != Heard::Never);
        it.servers = past_gateway(around, it.host);
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
            "past_gateway": verify::servers_json(&self.servers),
        })
    }

    pub(super) fn show(&self) {
        let paint = Paint::for_stdout();
        let heard = match (self.last, self.has_called) {
            (Some(at), _) => {
                let seconds = SystemClock.unix_seconds().saturating_sub(at);
                format!("it called {} ago", output::ago(seconds))
            }
            (None, true) => "it has called, and it is not known when".to_owned(),
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
        for it in &self.servers {
            let line = verify::server_line(self.host, it);
            output::line(&format!("servers    {}", paint.bad(&line)));
        }
    }
}
