//! The way out of a cage of a person's: our proxy, answering at a listener inside.

use std::net::TcpListener;
use std::path::Path;

use gateway::proxy::Token;
use host::{ProxyAccount, ProxyDoor, ProxyRequest};
use sandbox::cage::{Cage, Network};
use scan::net::Domains;

use super::presets::Preset;
use super::settings::Settings;
use crate::failure::Failure;
use crate::way_out::WayOut;

/// Who asks, and what they may reach at most.
pub(crate) struct Way(ProxyRequest);

impl Way {
    /// A way out, if one was asked for; the cage is told of it.
    pub(crate) fn of(
        settings: &Settings,
        preset: Option<&Preset>,
        cage: &mut Cage,
    ) -> Result<Option<Self>, Failure> {
        if !settings.network {
            return Ok(None);
        }
        let token = Token::random().map_err(Failure::unable)?;
        cage.network = Network::Proxy(format!("{}:{}", settings.agent, token.shown_once()));
        // Before anything is made for it.
        Domains::parse(&settings.allow)
            .map_err(|error| Failure::usage(format!("--allow: {error}")))?;
        let of_preset = preset.into_iter().flat_map(Preset::hosts).map(str::to_owned);
        let account = ProxyAccount {
            user: settings.user.as_str().to_owned(),
            agent: settings.agent.as_str().to_owned(),
            session: format!("exec-{}", std::process::id()),
            token: token.shown_once().to_owned(),
            allow: of_preset.chain(settings.allow.iter().cloned()).collect(),
        };
        Ok(Some(Self(ProxyRequest { accounts: vec![account], door: ProxyDoor::Exec })))
    }

    /// Answers at the listener, until the command has ended.
    pub(crate) fn serve(
        self,
        home: &Path,
        listener: Option<TcpListener>,
    ) -> Result<WayOut, Failure> {
        let listener = listener.ok_or_else(|| Failure::unable("the cage has no listener"))?;
        WayOut::begin(home, None, &self.0, listener)
    }
}
