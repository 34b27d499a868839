//! A desktop notification when a question waits: by the program `notify-send`, where it is there.
//!
//! It tells and decides nothing; whether anybody saw it is not known, and not needed.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use aegx::verify::printable;
use sandbox::{Piped, Said};
use vault::shape::redact;

/// The program, found by PATH.
const PROGRAM: &str = "notify-send";
/// What it needs of our environment to find the desktop.
const ENVIRONMENT: &[&str] =
    &["DBUS_SESSION_BUS_ADDRESS", "HOME", "LANG", "PATH", "XDG_RUNTIME_DIR"];
/// The longest body, in characters.
const BODY_CHARS_MAX: usize = 240;
/// Questions that are told once; beyond, all are forgotten and told anew.
const TOLD_MAX: usize = 1000;
/// So often at most: a model that asks in a loop is one nuisance, not a hundred.
const PAUSE: Duration = Duration::from_secs(2);

/// Tells the desktop of questions.
#[derive(Debug, Default)]
pub(super) struct Notifier(Mutex<Told>);

#[derive(Debug, Default)]
struct Told {
    questions: HashSet<String>,
    last: Option<Instant>,
}

impl Notifier {
    /// Tells that the question `id` waits, unless that was told, or the settings in `home` say not to. `about` is what it is
    /// about, in the words of whoever asked.
    pub(super) fn tell(&self, home: &Path, id: &str, about: &str) {
        if !self.is_news(id) || !is_on(home) {
            return;
        }
        let args = arguments(id, about);
        // It may wait for a desktop that does not answer; nobody here waits for it.
        let name = thread::Builder::new().name("notify".to_owned());
        let _ = name.spawn(move || {
            let named = |name: &&str| Some(((*name).to_owned(), std::env::var_os(name)?));
            let env: Vec<(String, OsString)> = ENVIRONMENT.iter().filter_map(named).collect();
            if let Ok((program, pipes)) =
                Piped::start(OsStr::new(PROGRAM), &args, &env, Said::WithOurs)
            {
                drop(pipes);
                program.end();
            }
        });
    }

    fn is_news(&self, id: &str) -> bool {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if told.last.is_some_and(|it| it.elapsed() < PAUSE) || told.questions.contains(id) {
            return false;
        }
        if told.questions.len() >= TOLD_MAX {
            told.questions.clear();
        }
        told.last = Some(Instant::now());
        told.questions.insert(id.to_owned())
    }
}

/// Does the operator want it? What cannot be read says nothing, and a notification changes nothing.
fn is_on(home: &Path) -> bool {
    crate::settings(home).ok().flatten().is_none_or(|it| it.notifications().desktop)
}

/// The arguments of the program: no shell reads them, and no option is made of somebody's words.
fn arguments(id: &str, about: &str) -> Vec<OsString> {
    let about = redact(about);
    let about = printable(&about).to_string();
    let cut: String = about.chars().take(BODY_CHARS_MAX).collect();
    // Desktops read a few tags in it.
    let cut = cut.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let short = id.get(..8).unwrap_or(id);
    let body = format!("{cut}\nlazaret approvals show {short}");
    ["--app-name=Lazaret", "--", "An agent's question waits for you", &body]
        .into_iter()
        .map(OsString::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_bounded_and_cannot_act() {
        let about =
            format!("run \u{1b}[2J<b>x</b> sk-ant-api03-{} {}", "A".repeat(90), "y".repeat(900));
        let args = arguments("3f2a19c0-0000", &about);
        let body = args.last().unwrap().to_str().unwrap();
        assert!(body.ends_with("\nlazaret approvals show 3f2a19c0"), "{body}");
        assert!(!body.contains('\u{1b}') && !body.contains('<'), "{body}");
        assert!(!body.contains("AAAAAAAA"), "{body}");
        assert!(body.chars().count() < 400, "{}", body.len());
        assert_eq!(args.get(1).unwrap(), "--");
    }

    #[test]
    fn a_question_is_told_once() {
        let notifier = Notifier::default();
        assert!(notifier.is_news("a"));
        assert!(!notifier.is_news("a"));
        assert!(!notifier.is_news("b"), "one after the other");
    }
}
