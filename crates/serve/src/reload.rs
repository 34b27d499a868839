//! Files that change while the server runs: read whole, and what is not understood changes nothing.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::app::App;
use crate::changes::{self, Change};
use crate::directory::{Directory, issued};
use crate::frame::{CardShown, ServerFrame};
use crate::limits::DEBOUNCE;
use crate::log::{About, Event};
use crate::rules;

/// The state of the files that are watched.
type Stamps = Vec<(PathBuf, u64, i64, i64)>;

/// Files that are watched; more are not told apart.
const FILES_MAX: usize = 2000;

/// The folder of the state directory with rules of the operator's own.
const RULES: &str = "policy";
/// The longest file whose digest is recorded, in bytes; of a longer one its length is.
const DIGESTED_BYTES_MAX: u64 = 16 << 20;

/// Reads the files again, and looks at everybody who is connected by what they say now. What changed is on record first, and
/// a person is told where it may protect less.
///
/// INVARIANT (NothingSilent), INVARIANT (RecordThenAct).
///
/// # Errors
/// If a file is not understood, or it cannot be recorded: then everything stays as it was.
pub(crate) fn now(app: &App) -> Result<(), String> {
    let _one = one_at_a_time(app);
    rules::again(app, digests(&app.parts.home))?;
    settings(app)
}

/// What is read last counts last.
fn one_at_a_time(app: &App) -> MutexGuard<'_, ()> {
    app.reloading.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whatever was written while the server started.
fn at_start(app: &App) {
    let _one = one_at_a_time(app);
    // What is wrong is in the log.
    let _ = rules::again(app, digests(&app.parts.home));
    let is_other = Directory::load(&app.parts.home).is_ok_and(|it| {
        let before = app.directory();
        !changes::between(&before, &it.keeping(&before)).is_empty()
    });
    if is_other {
        let _ = settings(app);
    }
}

fn settings(app: &App) -> Result<(), String> {
    let read = Directory::load(&app.parts.home).map_err(|error| error.to_string());
    let read = read.and_then(|directory| {
        issued(&app.parts.home).map(|it| (directory, it)).map_err(|error| error.to_string())
    });
    let (directory, issued) = read.inspect_err(|why| {
        app.log(Event::ReloadFailed, About::default(), json!({ "why": why }));
        // It stays as it was either way.
        let _ = app.record("settings_refused", json!({ "error": why, "stays": "as it was" }));
    })?;
    let before = app.directory();
    let after = Arc::new(directory.keeping(&before));
    let changes = changes::between(&before, &after);
    for (agent, why) in after.broken.iter().filter(|it| !before.broken.contains(it)) {
        let content = json!({ "agent": agent, "error": why, "stays": "as it was" });
        app.record("settings_refused", content).map_err(|error| error.to_string())?;
        let about = About { agent: Some(agent), ..About::default() };
        app.log(Event::ReloadFailed, about, json!({ "why": why }));
    }
    app.record("settings_reloaded", said(app, &changes)).map_err(|error| error.to_string())?;
    *app.directory.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&after);
    if !changes.is_empty() || after.broken.is_empty() {
        // What was opened by the old files does not outlive its turn.
        app.parts.runtime.reloaded();
    }
    let moment = app.now();
    app.sockets.again(|known| after.again(known, &issued, moment));
    app.log(Event::AccessReloaded, About::default(), json!({}));
    if before.global != after.global {
        let details = changes::to_json(&changes);
        app.log(Event::ConfigReloaded, About::default(), details);
    }
    if before.manifests != after.manifests || before.users != after.users {
        app.log(Event::RosterReloaded, About::default(), json!({}));
        app.sockets.say(|known| {
            let agents = after.open_to(known).into_iter().map(CardShown::from).collect();
            ServerFrame::RosterUpdated { agents }.to_text()
        });
    }
    Ok(())
}

/// What is recorded of a reload: the files, and what changed. What may be weaker is an alert.
fn said(app: &App, changes: &[Change]) -> Value {
    let mut content = json!({
        "files": digests(&app.parts.home),
        "changes": changes::to_json(changes),
    });
    let weaker: Vec<&str> =
        changes.iter().filter(|it| it.is_weaker).map(|it| it.what.as_str()).collect();
    if let (false, Some(fields)) = (weaker.is_empty(), content.as_object_mut()) {
        fields.insert("alert".to_owned(), "settings that may protect less were read".into());
        fields.insert("severity".to_owned(), "MEDIUM".into());
        fields.insert("what".to_owned(), weaker.join("; ").into());
    }
    content
}

/// The digests of the files, by their paths in the state directory.
fn digests(home: &Path) -> Value {
    let files = stamps(home).into_iter().map(|(path, ..)| {
        let name = path.strip_prefix(home).unwrap_or(&path).display().to_string();
        let digest = match files::private::read(&path, DIGESTED_BYTES_MAX) {
            Ok(bytes) => aegx::Digest::of(&bytes).to_string(),
            Err(error) => error.to_string(),
        };
        (name, Value::from(digest))
    });
    Value::Object(files.collect())
}

/// Closes sockets whose tokens have ended by themselves.
pub(crate) fn look_again(app: &App) {
    let Ok(issued) = issued(&app.parts.home) else { return };
    let (directory, now) = (app.directory(), app.now());
    app.sockets.again(|known| directory.again(known, &issued, now));
}

/// Reads the files again whenever they are others, and quiet.
pub(crate) async fn watch(app: Arc<App>) {
    let mut applied = app.blocking(|app| stamps(&app.parts.home)).await.unwrap_or_default();
    let mut last = applied.clone();
    app.blocking(at_start).await.unwrap_or_default();
    loop {
        tokio::time::sleep(DEBOUNCE).await;
        let found = app.blocking(|app| stamps(&app.parts.home)).await.unwrap_or_default();
        if found == last && found != applied {
            let rules = app.parts.home.join(RULES);
            let of = |stamps: &Stamps, in_rules: bool| -> Stamps {
                stamps.iter().filter(|it| it.0.starts_with(&rules) == in_rules).cloned().collect()
            };
            if of(&found, true) != of(&applied, true) {
                // What was wrong is in the log.
                let again = |app: &App| {
                    let _one = one_at_a_time(app);
                    rules::again(app, digests(&app.parts.home))
                };
                let _ = app.blocking(again).await;
            }
            let is_other = of(&found, false) != of(&applied, false);
            applied.clone_from(&found);
            if is_other {
                // What was wrong is in the log.
                let again = |app: &App| {
                    let _one = one_at_a_time(app);
                    settings(app)
                };
                let _ = app.blocking(again).await;
            }
        }
        last = found;
        app.blocking(look_again).await.unwrap_or_default();
    }
}

fn stamps(home: &Path) -> Stamps {
    let mut found = Vec::new();
    for path in [home.join("config.yaml"), home.join("users.yaml"), home.join("access.json")] {
        note(&path, &mut found);
    }
    let agents = host::agents(home).unwrap_or_default();
    for agent in agents.iter().take(FILES_MAX) {
        note(&host::manifest_path(home, agent), &mut found);
    }
    let rules = fs::read_dir(home.join(RULES)).into_iter().flatten().filter_map(Result::ok);
    let mut rules: Vec<PathBuf> = rules.map(|it| it.path()).take(FILES_MAX).collect();
    rules.sort();
    rules.iter().for_each(|it| note(it, &mut found));
    found
}

fn note(path: &Path, found: &mut Stamps) {
    if let Ok(about) = fs::metadata(path) {
        found.push((path.to_owned(), about.ino(), about.mtime(), about.mtime_nsec()));
    }
}
