//! A proxy at a listener: served by the daemon where one runs, else here.

use std::net::TcpListener;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;

use host::doors::client::Connection;
use host::{ProxyRequest, Proxying};

use crate::failure::Failure;
use crate::gate::setup::{self, Gate};
use crate::handed;
use crate::output;

/// Whoever answers.
pub(crate) enum WayOut {
    /// The daemon, until this connection ends.
    Daemon(Connection),
    /// This process, which has the gate.
    Here(Box<(Gate, Proxying)>),
}

impl WayOut {
    /// Answers at `listener` as `request` says.
    pub(crate) fn begin(
        home: &Path,
        policy: Option<&Path>,
        request: &ProxyRequest,
        listener: TcpListener,
    ) -> Result<Self, Failure> {
        let asked = serde_json::to_vec(request).map_err(Failure::unable)?;
        if let Some(connection) = handed::over(home, "proxy", &[listener.as_fd()], &asked, policy)?
        {
            return Ok(Self::Daemon(connection));
        }
        let (policy, catalogue) = setup::rules_of(home, policy)?;
        let gate = Gate::open_with_keys(home, policy, catalogue, |_, _| ())?;
        match Proxying::begin(&gate, home, request, (listener, &Arc::default())) {
            Ok(proxying) => Ok(Self::Here(Box::new((gate, proxying)))),
            Err(error) => {
                gate.close()?;
                Err(error.into())
            }
        }
    }

    /// Ends it in order.
    pub(crate) fn end(self) -> Result<(), Failure> {
        match self {
            Self::Daemon(mut connection) => match connection.end() {
                // What used it has ended by itself, and is no failure.
                Err(_) => {
                    output::note(
                        "the daemon has ended meanwhile: from then on there was no way out",
                    );
                    Ok(())
                }
                said => handed::ended(said).map(drop),
            },
            Self::Here(both) => {
                let (gate, proxying) = *both;
                let ended = proxying.end(&gate);
                gate.close()?;
                Ok(ended?)
            }
        }
    }
}
