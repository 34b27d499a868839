//! What happens around a call: it is announced, files are looked at before and after it, and it is settled.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use hooks::{Speaker, ToolUse};
use monitor::Begun;
use serde_json::json;

use super::session::{Hooked, key_of};
use super::{HookDoor, lock};
use crate::trust;

/// Names of parameters that hold a path, in part or whole.
const PATHS: &[&str] = &["path", "file", "dir"];
/// Files that one call is told of.
const TOLD_MAX: usize = 8;

impl HookDoor<'_> {
    /// A call was let through.
    pub(super) fn begins(&self, session: &mut Hooked, tool: &ToolUse, begun: Begun) {
        self.announce(session, tool, true);
        self.look_at_files(session, tool);
        if begun.fetches() {
            self.watch(session, tool);
        }
        if hooks::dialect(session.host).hides_failed && tool.speaker(session.host) != Speaker::Host
        {
            session.may_go_unheard(key_of(tool), tool);
        }
        session.begin(key_of(tool), begun);
    }

    /// Tells of files that changed since the last call ended, and that no door saw anybody write.
    pub(super) fn look_at_files(&self, session: &Hooked, tool: &ToolUse) {
        let id = session.who.session.as_str();
        let changed = lock(&self.stamps).begins(id, &key_of(tool));
        let count = u64::try_from(changed.len()).unwrap_or(u64::MAX);
        self.changed.fetch_add(count, Ordering::Relaxed);
        for path in changed.iter().take(TOLD_MAX) {
            let content = json!({
                "file": path.display().to_string(),
                "host": session.host.as_str(),
                "session": id,
                "why": "a file changed between two calls, and no door saw who wrote it",
            });
            self.record("door_missed", &content);
        }
    }

    /// A call has come back, and touched these files.
    pub(super) fn ends(&self, session: &Hooked, tool: &ToolUse, touched: Vec<PathBuf>) {
        let id = session.who.session.as_str();
        lock(&self.stamps).ended(id, &key_of(tool), touched.into_iter());
    }

    /// Files in folders that are trusted which a call read or wrote, as far as it names them.
    pub(super) fn touched(&self, session: &Hooked, tool: &ToolUse, begun: &Begun) -> Vec<PathBuf> {
        let (Some(cwd), Ok(trust)) = (&session.cwd, self.trust()) else { return Vec::new() };
        let commands = [begun.paths_read(), begun.paths_written()].concat();
        let real = |text: &str| {
            let path = trust::place(text, cwd, self.user_home.as_deref());
            files::resolved(&path).ok().filter(|it| it.is_file() && trust.covers(it))
        };
        paths_named(tool).chain(commands).filter_map(real).collect()
    }

    /// The turn of a session is over: calls that have not come back are settled.
    pub(super) fn settle(&self, session: &mut Hooked) -> Result<(), String> {
        let watched = session.take_watched_still();
        self.note_brought(session, &watched)?;
        let is_trusted = self.is_trusted(session);
        lock(&self.stamps).settled(session.who.session.as_str());
        self.forget_carried(session);
        session.settle(self.gate, is_trusted)
    }
}

/// The arguments of a call that name places.
pub(super) fn paths_named(tool: &ToolUse) -> impl Iterator<Item = &str> {
    tool.args.iter().filter_map(|(name, value)| {
        let (name, text) = (name.to_ascii_lowercase(), value.as_str()?);
        let is_path = PATHS.iter().any(|it| name.contains(it));
        // A pattern names a place where it begins with one.
        let leads = text.starts_with(['/', '~']) || text.starts_with("..");
        let is_pattern = leads && (name.contains("pattern") || name.contains("glob"));
        (is_path || is_pattern).then_some(text)
    })
}
