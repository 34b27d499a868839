//! A session is opened at the gate, with the tools of plugins and of servers.

use std::path::Path;

use model::{Caller, ToolDef};
use monitor::{Admission, OpenError, Opening, StateError};
use policy::access::McpServer;

use super::{SessionOptions, record_refused};
use crate::executor::Offers;
use crate::gate::{Gate, GateError};
use crate::ipc::Stop;
use crate::tool_servers::{self, ToolServers};

/// What a session is opened with.
pub(super) struct Opens<'a> {
    pub(super) gate: &'a Gate,
    pub(super) home: &'a Path,
    pub(super) who: &'a Caller,
    pub(super) options: &'a SessionOptions,
    pub(super) admission: &'a Admission,
}

impl Opens<'_> {
    /// Opens it. Servers are started and listed in a session, and it has their tools when they have said what those are.
    pub(super) fn with_tools(
        &self,
        plugins: &Offers,
        servers: &[McpServer],
        stop: &Stop,
        notes: &mut Vec<String>,
    ) -> Result<ToolServers, GateError> {
        let mut tools: Vec<ToolDef> = plugins.definitions().cloned().collect();
        tools.extend(tool_servers::connections(servers));
        self.open(tools.clone())?;
        if servers.is_empty() {
            return Ok(ToolServers::default());
        }
        let started = ToolServers::start(self.gate, self.home, self.who, servers, stop, notes);
        tools.extend(started.definitions().cloned());
        if let Err(error) = self.open(tools) {
            // It is refused already; that it cannot be ended in order either changes nothing.
            let _ = self.gate.monitor.end_session(self.who);
            return Err(error);
        }
        Ok(started)
    }

    fn open(&self, tools: Vec<ToolDef>) -> Result<(), GateError> {
        let Self { gate, who, options, admission, .. } = *self;
        let opening = Opening {
            who: who.clone(),
            principal: options.starter.principal(),
            profile: options.profile.unwrap_or(admission.profile()),
            parent: options.starter.parent().cloned(),
            admission: admission.clone(),
            approver: options.approver,
            tools,
        };
        gate.monitor.open_session(opening).map_err(|error| {
            record_refused(gate, who, &error.to_string());
            let another = matches!(error, OpenError::State(StateError::NotYours { .. }));
            if another { GateError::refused(error) } else { GateError::unable(error) }
        })
    }
}
