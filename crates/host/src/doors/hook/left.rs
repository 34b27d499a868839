//! Sessions that were left: an agent that is killed says nothing, and many do not say that they end. Their labels are kept where they
//! are kept always; whoever goes on with one finds it again as tainted as it was.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::session::Hooked;
use super::{HookDoor, lock};

/// How often it is looked for them.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// How long a session may be silent; agents wait for their user overnight.
const SILENT_MAX: Duration = Duration::from_secs(24 * 3600);

/// What a look at a session shows.
#[derive(Debug)]
struct Look {
    id: String,
    /// Which session has started it.
    parent: Option<String>,
    /// For how long nothing was heard of it.
    silent: Duration,
    /// Is no call of it under way?
    is_idle: bool,
}

impl HookDoor<'_> {
    /// Settles and ends sessions whose agent is not there any more, or was silent for very long; not oftener than every few seconds.
    pub(in crate::doors) fn sweep(&self) {
        {
            let mut swept = lock(&self.swept);
            if swept.is_some_and(|it| it.elapsed() < LOOK_EVERY) {
                return;
            }
            *swept = Some(Instant::now());
        }
        // Those that others have started first: they tell them what they learn. Then these may be over, too.
        loop {
            let gone = lock(&self.seats).gone();
            let looks = self.looks();
            let ended = over(&looks, &gone).filter(|it| self.end_left(it)).count();
            if ended == 0 {
                break;
            }
        }
        let open: HashSet<String> = lock(&self.sessions).keys().cloned().collect();
        lock(&self.seats).forget(|it| !open.contains(it));
    }

    /// Makes room for one more session, which `parent` has started: the one ends that has been idle for longest.
    pub(super) fn make_room(&self, parent: Option<&str>) {
        if lock(&self.sessions).len() < self.sessions_max {
            return;
        }
        let looks = self.looks();
        for it in idle(&looks, parent) {
            if self.end_left(it) {
                return;
            }
        }
    }

    fn looks(&self) -> Vec<Look> {
        let all: Vec<_> = {
            let sessions = lock(&self.sessions);
            sessions.iter().map(|it| (it.0.clone(), Arc::clone(it.1))).collect()
        };
        let look = |(id, session): (String, Arc<_>)| {
            let session: &Hooked = &lock(&session);
            Look {
                id,
                parent: session.parent().map(str::to_owned),
                silent: session.seen.elapsed(),
                is_idle: session.waiting() == 0 && !session.is_watching(),
            }
        };
        all.into_iter().map(look).collect()
    }

    /// Ends a session, unless somebody has it in hand. It is found by nobody until it has ended, and may be opened again then.
    fn end_left(&self, look: &Look) -> bool {
        let mut sessions = lock(&self.sessions);
        // Nor one of which something was heard since.
        let is_left = |it: &Arc<Mutex<Hooked>>| {
            Arc::strong_count(it) == 1 && lock(it).seen.elapsed() >= look.silent
        };
        if !sessions.get(&look.id).is_some_and(is_left) {
            return false;
        }
        let Some(session) = sessions.remove(&look.id) else { return false };
        let mut session = lock(&session);
        // What cannot be settled counts as lost: that is the worse of the two.
        let _ = self.settle(&mut session);
        let _ = session.end(self.gate);
        true
    }
}

/// Those of which nobody will hear any more: of their own agents, or of those whose subagents they are.
fn over<'a>(looks: &'a [Look], gone: &HashSet<String>) -> impl Iterator<Item = &'a Look> {
    let parents = parents(looks);
    looks.iter().filter(move |it| {
        let is_over = it.silent >= SILENT_MAX || gone.contains(agent_of(&it.id));
        is_over && !parents.contains(&*it.id)
    })
}

/// Those that can give way, the one that was silent for longest first.
fn idle<'a>(looks: &'a [Look], parent: Option<&str>) -> Vec<&'a Look> {
    let parents = parents(looks);
    let may = |it: &&Look| {
        it.is_idle && !parents.contains(&*it.id) && parent.is_none_or(|parent| *parent != *it.id)
    };
    let mut all: Vec<&Look> = looks.iter().filter(may).collect();
    all.sort_by_key(|it| std::cmp::Reverse(it.silent));
    all
}

fn parents(looks: &[Look]) -> HashSet<&str> {
    looks.iter().filter_map(|it| it.parent.as_deref()).collect()
}

/// The session of the agent itself; `id` may be that of one of its subagents.
fn agent_of(id: &str) -> &str {
    let end = id.match_indices(':').nth(1).map_or(id.len(), |it| it.0);
    id.get(..end).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(id: &str, parent: Option<&str>, hours: u64, is_idle: bool) -> Look {
        let silent = Duration::from_secs(hours * 3600);
        Look { id: id.to_owned(), parent: parent.map(str::to_owned), silent, is_idle }
    }

    fn names<'a>(looks: impl IntoIterator<Item = &'a Look>) -> Vec<&'a str> {
        looks.into_iter().map(|it| &*it.id).collect()
    }

    #[test]
    fn who_is_gone_or_silent_for_a_day_is_over_once_nobody_below_is_left() {
        let gone = HashSet::from(["claude:gone".to_owned()]);
        let mut looks = vec![
            look("claude:here", None, 23, true),
            look("claude:gone", None, 0, false),
            look("claude:gone:a1", Some("claude:gone"), 0, true),
            look("codex:silent", None, 24, false),
            look("codex:parent", None, 24, true),
            look("codex:below", Some("codex:parent"), 1, true),
        ];
        assert_eq!(names(over(&looks, &gone)), ["claude:gone:a1", "codex:silent"]);
        looks.retain(|it| it.id != "claude:gone:a1");
        assert_eq!(names(over(&looks, &gone)), ["claude:gone", "codex:silent"]);
    }

    #[test]
    fn the_oldest_idle_one_gives_way() {
        let looks = [
            look("a:1", None, 3, true),
            look("a:1:x", Some("a:1"), 1, true),
            look("a:2", None, 5, false),
            look("a:3", None, 2, true),
            look("a:4", None, 4, true),
        ];
        assert_eq!(names(idle(&looks, None)), ["a:4", "a:3", "a:1:x"]);
        assert_eq!(names(idle(&looks, Some("a:4"))), ["a:3", "a:1:x"]);
    }
}
