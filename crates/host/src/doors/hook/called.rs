//! When each host called last. It is kept in the state directory, so that it is known when no daemon runs; nothing depends on it.

use std::collections::BTreeMap;
use std::path::Path;

use super::{HookDoor, lock};

/// The file of the state directory.
const FILE: &str = "hooks-called.json";
/// The longest such file, in bytes.
const FILE_BYTES_MAX: u64 = 4096;
/// How old what is kept may be while hosts call on, in seconds.
const KEPT_EVERY_SECONDS: i64 = 60;

/// When each host called last, in seconds since 1970.
pub type Called = BTreeMap<String, i64>;

/// What is kept in the state directory `home`. What is not understood is as if nobody had called.
#[must_use]
pub fn called(home: &Path) -> Called {
    let bytes = files::private::read_if_there(&home.join(FILE), FILE_BYTES_MAX).ok().flatten();
    bytes.and_then(|it| serde_json::from_slice(&it).ok()).unwrap_or_default()
}

/// When hosts called, and what of it is kept.
#[derive(Debug, Default)]
pub(super) struct Times {
    last: Called,
    kept: Called,
}

impl Times {
    /// What was kept before.
    pub(super) fn of(home: &Path) -> Self {
        Self { last: Called::new(), kept: called(home) }
    }
}

impl HookDoor<'_> {
    /// A host calls.
    pub(super) fn calls(&self, host: &str, now: i64) {
        let mut times = lock(&self.called);
        times.last.insert(host.to_owned(), now);
        let kept = times.kept.get(host);
        if kept.is_none_or(|it| now.saturating_sub(*it) >= KEPT_EVERY_SECONDS) {
            self.keep_called(&mut times);
        }
    }

    /// Keeps what is not kept yet.
    pub(super) fn keep_all_called(&self) {
        self.keep_called(&mut lock(&self.called));
    }

    fn keep_called(&self, times: &mut Times) {
        let Times { last, kept } = times;
        if last.iter().all(|it| kept.get(it.0) == Some(it.1)) {
            return;
        }
        kept.extend(last.iter().map(|it| (it.0.clone(), *it.1)));
        if let Ok(bytes) = serde_json::to_vec(kept) {
            let _ = files::private::replace(&self.home.join(FILE), &bytes);
        }
    }

    /// When each host has called last since this door is open, in seconds since 1970.
    #[must_use]
    pub fn called(&self) -> Called {
        lock(&self.called).last.clone()
    }
}
