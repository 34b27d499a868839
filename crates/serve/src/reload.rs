//! Files that change while the server runs: read whole, and what is not understood changes nothing.

use std::fmt::Display;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::{Value, json};
use vault::access::Issued;

use crate::app::{App, StartError};
use crate::certificate;
use crate::changes::{self, Change};
use crate::directory::{Directory, issued};
use crate::frame::{CardShown, ServerFrame};
use crate::holdback::clean;
use crate::limits::DEBOUNCE;
use crate::log::{About, Event};
use crate::restart;
use crate::rules;
use crate::server::is_exposed;

/// The state of the files that are watched.
type Stamps = Vec<(PathBuf, u64, i64, i64)>;

/// Files that are watched; more are not told apart.
const FILES_MAX: usize = 2000;

/// The folder of the state directory with rules of the operator's own.
const RULES: &str = "policy";
/// The longest file whose digest is recorded, in bytes; of a longer one its length is.
const DIGESTED_BYTES_MAX: u64 = 16 << 20;

/// What became of files that were read again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reloaded {
    /// What may protect less than before. It counts, is on record, and a person was told.
    pub weaker: Vec<String>,
    /// What else is different.
    pub changed: Vec<String>,
    /// What is other than at the start of the process, and counts after a restart alone.
    pub needs_restart: Vec<String>,
    /// What is not understood and stays as it was.
    pub refused: Vec<String>,
}

impl Reloaded {
    fn with(mut self, changes: &[Change]) -> Self {
        let owned = |is_weaker| changes::of(changes, is_weaker).into_iter().map(str::to_owned);
        self.weaker.extend(owned(true));
        self.changed.extend(owned(false));
        self
    }
}

/// Reads the files again, and looks at everybody who is connected by what they say now. What changed is on record first, and
/// a person is told where it may protect less, and what does not count before a restart.
///
/// INVARIANT (NothingSilent), INVARIANT (RecordThenAct).
///
/// # Errors
/// If the settings, the users or the rules are not understood: then everything stays as it was. If it cannot be recorded:
/// what was recorded before counts, such as the rules, and everything else stays as it was.
pub(crate) fn now(app: &App) -> Result<Reloaded, String> {
    let _one = one_at_a_time(app);
    // Before anything of it counts.
    let files = read(app)?;
    let rules = rules::again(app, digests(&app.parts.home))?;
    apply(app, files).map(|it| it.with(&rules))
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
    let _ = certificate::again(app);
    let is_other = Directory::load(&app.parts.home).is_ok_and(|it| {
        let before = app.directory();
        !changes::between(&before, &it.keeping(&before)).is_empty()
    });
    if is_other {
        let _ = settings(app);
    }
}

/// The files as they are now, if all of them are understood and may count.
fn read(app: &App) -> Result<(Directory, Vec<Issued>), String> {
    // A key that stands where it does not belong is not to stand in a log as well.
    let shown = |error: &dyn Display| clean(&error.to_string());
    let read = Directory::load(&app.parts.home).map_err(|error| shown(&error));
    let read = read.and_then(|directory| {
        // By what the server speaks: that it is to speak TLS counts after a restart.
        if is_exposed(app.address, app.certificate.is_some(), &directory.settings) {
            return Err(StartError::Exposed(app.address).to_string());
        }
        issued(&app.parts.home).map(|it| (directory, it)).map_err(|error| shown(&error))
    });
    read.inspect_err(|why| {
        app.log(Event::ReloadFailed, About::default(), json!({ "why": why }));
        // It stays as it was either way.
        let _ = app.record("settings_refused", refusal(why, None));
    })
}

/// What is recorded, and told, of what is not understood.
fn refusal(why: &str, agent: Option<&str>) -> Value {
    let alert = "settings are not understood, and stay as they were";
    json!({
        "alert": alert, "severity": "MEDIUM", "what": why, "error": why,
        "agent": agent, "stays": "as it was",
    })
}

fn settings(app: &App) -> Result<Reloaded, String> {
    apply(app, read(app)?)
}

fn apply(app: &App, (directory, issued): (Directory, Vec<Issued>)) -> Result<Reloaded, String> {
    let before = app.directory();
    let after = Arc::new(directory.keeping(&before));
    let changes = changes::between(&before, &after);
    let mut refused = Vec::new();
    for (agent, found) in &after.broken {
        let why = &clean(found);
        refused.push(format!("agents/{agent}: {why}"));
        if before.broken.iter().any(|it| it.0 == *agent && it.1 == *found) {
            continue;
        }
        let content = refusal(why, Some(agent));
        app.record("settings_refused", content).map_err(|error| error.to_string())?;
        let about = About { agent: Some(agent), ..About::default() };
        app.log(Event::ReloadFailed, about, json!({ "why": why }));
    }
    let needs_restart = restart::needed(&app.begun, &after);
    let is_known = needs_restart == restart::needed(&app.begun, &before);
    let content = said(app, &changes, &needs_restart, is_known);
    app.record("settings_reloaded", content).map_err(|error| error.to_string())?;
    *app.directory.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&after);
    app.bounds();
    if !changes.is_empty() || after.broken.is_empty() {
        // What was opened by the old files does not outlive its turn.
        refused.extend(not_again(app));
    }
    if let Err(why) = certificate::again(app) {
        refused.push(format!("serve.tls: {why}"));
    }
    let moment = app.now();
    app.look_again(|known| after.again(known, &issued, moment));
    app.log(Event::AccessReloaded, About::default(), json!({}));
    if before.global != after.global {
        let mut details = changes::to_json(&changes);
        if let Some(fields) = details.as_object_mut() {
            fields.insert("needsRestart".to_owned(), json!(needs_restart));
        }
        app.log(Event::ConfigReloaded, About::default(), details);
    }
    if before.manifests != after.manifests || before.users != after.users {
        app.log(Event::RosterReloaded, About::default(), json!({}));
        app.sockets.say(|known| {
            let agents = after.open_to(known).into_iter().map(CardShown::from).collect();
            ServerFrame::RosterUpdated { agents }.to_text()
        });
    }
    Ok(Reloaded { needs_restart, refused, ..Reloaded::default() }.with(&changes))
}

/// Has the runtime read again what it keeps of the files. Gives what it did not understand, which is told.
fn not_again(app: &App) -> Vec<String> {
    let refused = app.parts.runtime.reloaded();
    let refused: Vec<String> = refused.iter().map(|it| clean(it)).collect();
    for why in &refused {
        app.log(Event::ReloadFailed, About::default(), json!({ "why": why }));
        // It stays as it was either way.
        let _ = app.record("settings_refused", refusal(why, None));
    }
    refused
}

/// What is recorded of a reload: the files, and what changed. What may be weaker is an alert, and so is what does not count
/// yet, unless that is known.
fn said(app: &App, changes: &[Change], needs_restart: &[String], is_known: bool) -> Value {
    let mut content = json!({
        "files": digests(&app.parts.home),
        "changes": changes::to_json(changes),
        "needsRestart": needs_restart,
    });
    let weaker = changes::of(changes, true);
    let waits = !needs_restart.is_empty() && !is_known;
    let alert = match (weaker.is_empty(), waits) {
        (true, false) => return content,
        (true, true) => "settings that count after a restart alone were read",
        (false, _) => "settings that may protect less were read",
    };
    let mut what = weaker.join("; ");
    if waits {
        let separator = if what.is_empty() { "" } else { "; " };
        what = format!("{what}{separator}needsRestart: {}", needs_restart.join(", "));
    }
    if let Some(fields) = content.as_object_mut() {
        fields.insert("alert".to_owned(), alert.into());
        fields.insert("severity".to_owned(), "MEDIUM".into());
        fields.insert("what".to_owned(), what.into());
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
    app.look_again(|known| directory.again(known, &issued, now));
}

/// Reads the files again whenever they are others, and quiet.
pub(crate) async fn watch(app: Arc<App>) {
    let mut applied = app.blocking(watched).await.unwrap_or_default();
    let mut last = applied.clone();
    app.blocking(at_start).await.unwrap_or_default();
    loop {
        tokio::time::sleep(DEBOUNCE).await;
        let found = app.blocking(watched).await.unwrap_or_default();
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

/// The files that are watched: those of the state directory, and those of the certificate.
fn watched(app: &App) -> Stamps {
    let mut found = stamps(&app.parts.home);
    if let Some(files) = &app.directory().settings.tls {
        note(&files.cert, &mut found);
        note(&files.key, &mut found);
    }
    found
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
