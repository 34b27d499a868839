//! The door for programs that want out: `lazaret proxy` and `lazaret exec --network` hand over a listener, and the
//! daemon answers there.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use serde_json::json;

use super::Doors;
use super::agent::kind_of;
use crate::ipc::Stop;
use crate::proxying::{ProxyRequest, Proxying};

impl Doors<'_> {
    /// Serves a proxy until whoever asked for it has gone.
    pub(super) fn way_out(&self, stream: &UnixStream, descriptors: Vec<OwnedFd>) {
        let Some(asked) = self.hear(stream) else { return };
        let request = match serde_json::from_slice::<ProxyRequest>(&asked) {
            Ok(request) => request,
            Err(error) => return self.say_error(stream, "usage", &error.to_string()),
        };
        let Some(listener) = descriptors.into_iter().next().map(TcpListener::from) else {
            return self.say_error(stream, "usage", "no listener was handed over");
        };
        let proxying =
            match Proxying::begin(self.gate, self.home, &request, (listener, &self.strangers)) {
                Ok(proxying) => proxying,
                Err(error) => return self.say_error(stream, kind_of(&error), &error.to_string()),
            };
        self.say_json(stream, &json!({ "ok": true }));
        if let Ok((over, never)) = UnixStream::pair()
            && let Ok((stopper, _stop)) = Stop::pair()
        {
            self.watch(stream, &never, &stopper);
            drop(over);
        }
        match proxying.end(self.gate) {
            Ok(()) => self.say_json(stream, &json!({ "ok": true })),
            Err(error) => self.say_error(stream, kind_of(&error), &error.to_string()),
        }
    }
}
