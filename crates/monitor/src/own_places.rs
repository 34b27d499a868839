//! Where the host keeps what its decisions stand on: its settings, its journal, what people have trusted.
//!
//! The monitor judges the text of a call and opens no file. Who knows the disk says whether a path of a call leads there,
//! by whatever name, link or `..`; then the call touches secrets and the control plane, like any that names `.lazaret`.

use std::collections::HashSet;
use std::sync::Arc;

use model::Caller;
use policy::{Target, Targets};

use crate::denied_reads;
use crate::monitor::Monitor;
use crate::proposed::Proposed;
use crate::session::Session;
use crate::target;
use crate::understood::Understood;

/// Knows where the host keeps its own.
pub trait OwnPlaces: Send + Sync {
    /// Does `path`, as a call of `who` writes it, lie there, or would it be gone with `path` where that is `removed`?
    fn holds(&self, who: &Caller, path: &str, removed: bool) -> bool;

    /// Where `path`, as a call of `who` writes it, leads: without links, from where the session works. Nothing if that is
    /// not known.
    fn leads_to(&self, who: &Caller, path: &str) -> Vec<String> {
        let _ = (who, path);
        Vec::new()
    }
}

impl Monitor {
    /// The same with somebody who knows where the host keeps its own.
    #[must_use]
    pub fn with_own_places(mut self, own: Arc<dyn OwnPlaces>) -> Self {
        self.own_places = Some(own);
        self
    }

    /// A call as it is judged.
    pub(crate) fn propose(&self, session: &Session, understood: Understood, now: i64) -> Proposed {
        let touched = self.own_places.as_deref();
        let touched = touched.map_or(Targets::NONE, |it| own(it, session.who(), &understood));
        let mut proposed = Proposed::new(session, understood, now);
        proposed.touches(touched);
        let patterns = &session.posture().deny_read;
        let places = self.own_places.as_deref();
        let denied = denied_reads::of(patterns, places, session.who(), proposed.understood());
        proposed.reads_what_is_denied(denied);
        self.look_for_secrets(&mut proposed);
        proposed
    }
}

/// What a call touches of the host's own.
fn own(places: &dyn OwnPlaces, who: &Caller, asked: &Understood) -> Targets {
    let looked_at = Targets::NONE.with(Target::SecretFile);
    let changed = looked_at.with(Target::ControlPlane);
    let of_commands = asked.commands.iter().flat_map(|it| &it.reading.places).map(|place| {
        let (found, removed) = match place.access {
            shell::Access::Read | shell::Access::Execute => (looked_at, false),
            shell::Access::Write => (changed, false),
            shell::Access::Delete => (changed, true),
        };
        (place.path.as_str(), found, removed)
    });
    let named = target::named(asked);
    let of_arguments = named.iter().map(|it| (*it, changed, asked.call.flow.destructive));
    let touched = |(at, (path, _, removed)): &(usize, (&str, Targets, bool))| {
        // INVARIANT (FailClosed): what is not looked up may lie there.
        *at >= PLACES_MAX || places.holds(who, path, *removed)
    };
    let mut told = HashSet::new();
    of_commands
        .chain(of_arguments)
        .filter(|it| told.insert(*it))
        .enumerate()
        .take(PLACES_MAX + 1)
        .filter(touched)
        .fold(Targets::NONE, |sum, (_, (_, found, _))| sum.union(found))
}

/// Different paths of one call that are looked up. Beyond it the next one counts as one that lies there.
const PLACES_MAX: usize = 16_384;
