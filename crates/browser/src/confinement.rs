//! What confinement a browser really got: read from the system, not from what was asked for.

use std::fs;

use serde_json::{Value, json};

use crate::profile::RunsAs;

/// What holds for a browser that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confinement {
    /// Is it a user of its own, and not ours?
    pub own_user: bool,
    /// Can none of its processes get more rights than it has?
    pub no_new_privileges: bool,
    /// Does the system filter what the processes of pages ask of it?
    pub pages_filtered: bool,
    /// Do the processes of pages see no others?
    pub pages_apart: bool,
}

impl Confinement {
    /// Of the browser with this number, whose pages run in `pages`.
    pub(crate) fn seen(browser: u32, pages: &[u32], runs_as: RunsAs) -> Self {
        let all = |holds: &dyn Fn(&str) -> bool| {
            !pages.is_empty() && pages.iter().all(|it| holds(&status(*it)))
        };
        Self {
            own_user: matches!(runs_as, RunsAs::User(_)),
            no_new_privileges: field(&status(browser), "NoNewPrivs") == Some("1"),
            // 2: a filter.
            pages_filtered: all(&|it| field(it, "Seccomp") == Some("2")),
            // One number for each namespace that it is in.
            pages_apart: all(&|it| {
                field(it, "NSpid").is_some_and(|it| it.split_whitespace().count() > 1)
            }),
        }
    }

    /// Is it enough to show it a page? Without the sandbox of its own a page that breaks out of Chromium
    /// would be a program of ours.
    pub(crate) fn is_enough(self) -> bool {
        self.no_new_privileges && self.pages_filtered && self.pages_apart
    }

    /// For the agent and the record.
    pub(crate) fn told(self) -> Value {
        json!({
            "ownUser": self.own_user,
            "noNewPrivileges": self.no_new_privileges,
            "pagesApart": self.pages_apart,
            "pagesFiltered": self.pages_filtered,
            // Said and not enforced by the system: its network process could dial by itself if it were taken over.
            "network": "by the proxy, as the browser was told",
        })
    }
}

/// What the system says of a process; nothing if it is gone.
fn status(process: u32) -> String {
    fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default()
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|it| Some(it.strip_prefix(name)?.strip_prefix(':')?.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_does_not_hold() {
        let own = std::process::id();
        for pages in [&[][..], &[own], &[u32::MAX]] {
            let seen = Confinement::seen(own, pages, RunsAs::Ourselves);
            assert!(!seen.is_enough(), "{seen:?}");
            assert!(!seen.own_user);
        }
        assert_eq!(field("Seccomp_filters:\t1\nSeccomp:\t2\n", "Seccomp"), Some("2"));
    }
}
