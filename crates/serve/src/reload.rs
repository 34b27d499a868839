//! Files that change while the server runs: read whole, and what is not understood changes nothing.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use serde_json::json;

use crate::app::App;
use crate::directory::{Directory, issued};
use crate::frame::{CardShown, ServerFrame};
use crate::limits::DEBOUNCE;
use crate::log::{About, Event};

/// The state of the files that are watched.
type Stamps = Vec<(PathBuf, u64, i64, i64)>;

/// Files that are watched; more are not told apart.
const FILES_MAX: usize = 2000;

/// Reads the files again, and looks at everybody who is connected by what they say now.
///
/// # Errors
/// If a file is not understood: then everything stays as it was.
pub(crate) fn now(app: &App) -> Result<(), String> {
    let read = Directory::load(&app.parts.home).map_err(|error| error.to_string());
    let read = read.and_then(|directory| {
        issued(&app.parts.home).map(|it| (directory, it)).map_err(|error| error.to_string())
    });
    let (directory, issued) = read.inspect_err(|why| {
        app.log(Event::ReloadFailed, About::default(), json!({ "why": why }));
    })?;
    let before = app.directory();
    let after = Arc::new(directory);
    *app.directory.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&after);
    // What was opened by the old files does not outlive its turn.
    app.parts.runtime.reloaded();
    let moment = app.now();
    app.sockets.again(|known| after.again(known, &issued, moment));
    app.log(Event::AccessReloaded, About::default(), json!({}));
    if before.settings != after.settings {
        app.log(Event::ConfigReloaded, About::default(), json!({}));
    }
    for (agent, why) in &after.broken {
        let about = About { agent: Some(agent), ..About::default() };
        app.log(Event::ReloadFailed, about, json!({ "why": why }));
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
    loop {
        tokio::time::sleep(DEBOUNCE).await;
        let found = app.blocking(|app| stamps(&app.parts.home)).await.unwrap_or_default();
        if found == last && found != applied {
            applied.clone_from(&found);
            // What was wrong is in the log.
            let _ = app.blocking(now).await;
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
    found
}

fn note(path: &Path, found: &mut Stamps) {
    if let Ok(about) = fs::metadata(path) {
        found.push((path.to_owned(), about.ino(), about.mtime(), about.mtime_nsec()));
    }
}
