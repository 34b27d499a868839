//! From what was read to what is found: one row per check, each with what to do.

use super::namespaces::{Namespace, Own};
use super::process::Seccomp;
use super::read::Facts;

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It holds.
    Pass,
    /// A part of it holds.
    Weak,
    /// It does not hold.
    Fail,
    /// It could not be read, and counts as not holding.
    Unknown,
}

impl Status {
    /// As records have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Weak => "weak",
            Self::Fail => "fail",
            Self::Unknown => "unknown",
        }
    }
}

/// How bad it is if it does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Low,
    /// One wall less.
    Medium,
    /// A wall that others lean on.
    High,
}

impl Severity {
    /// As records have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// What was found by one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which check.
    pub id: &'static str,
    /// How it came out.
    pub status: Status,
    /// How bad it is if it does not hold.
    pub severity: Severity,
    /// What was seen, in words.
    pub what: String,
    /// What to do about it; empty if it holds.
    pub advice: &'static str,
    /// How much of the score it is worth.
    pub(super) weight: u8,
    /// Is there no `Full` without it?
    pub(super) needed: bool,
}

/// The checks, in the order in which they are shown. Their weights add up to 100.
pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    vec![
        container(facts),
        namespaces(facts),
        seccomp(facts),
        no_new_privileges(facts),
        capabilities(facts),
        user(facts),
        readonly_root(facts),
        limits(facts),
        module(facts),
    ]
}

/// Is the process in a box, by what the kernel says?
pub(super) fn is_contained(facts: &Facts) -> bool {
    [Namespace::Pid, Namespace::Mount].iter().all(|it| facts.whose(*it) == Own::Yes)
}

fn container(facts: &Facts) -> Finding {
    let seen: Vec<&str> = facts.markers.iter().map(|it| it.seen).collect();
    let seen = seen.join(", ");
    let (status, what) = match (is_contained(facts), seen.is_empty()) {
        (true, true) => (Status::Pass, "processes and mounts of its own".to_owned()),
        (true, false) => (Status::Pass, format!("processes and mounts of its own ({seen})")),
        (false, true) => (Status::Fail, "it sees the machine's processes or mounts".to_owned()),
        (false, false) => (Status::Fail, format!("{seen} says container, but the kernel does not")),
    };
    Finding {
        id: "container",
        status,
        severity: Severity::High,
        what,
        advice: "run it in a container, or start agents' commands with `lazaret exec`",
        weight: 15,
        needed: true,
    }
    .settled()
}

fn namespaces(facts: &Facts) -> Finding {
    let names = |whose: Own| {
        let all = facts.namespaces.iter().filter(|it| it.1 == whose);
        all.map(|it| it.0.as_str()).collect::<Vec<_>>().join(" ")
    };
    let (own, unknown) = (names(Own::Yes), names(Own::Unknown));
    // What must be own for processes to neither see nor reach others; a user namespace is one way to get there.
    let wanted = [Namespace::Pid, Namespace::Mount, Namespace::Network, Namespace::Ipc];
    let all = wanted.iter().all(|it| facts.whose(*it) == Own::Yes);
    let (status, what) = match (all, own.is_empty(), unknown.is_empty()) {
        (true, ..) => (Status::Pass, format!("own: {own}")),
        (false, false, _) => (Status::Weak, format!("own: {own}; pid mnt net ipc should be")),
        (false, true, true) => (Status::Fail, "all of them are the machine's".to_owned()),
        (false, true, false) => (Status::Unknown, format!("not known: {unknown}")),
    };
    Finding {
        id: "namespaces",
        status,
        severity: Severity::High,
        what,
        advice: "give it namespaces of its own: pid, mnt, net and ipc",
        weight: 15,
        needed: true,
    }
    .settled()
}

fn seccomp(facts: &Facts) -> Finding {
    let (status, what) = match facts.process.seccomp {
        Some(it @ (Seccomp::Filter | Seccomp::Strict)) => (Status::Pass, it.as_str()),
        Some(it @ Seccomp::Off) => (Status::Fail, it.as_str()),
        None => (Status::Unknown, "the kernel does not say"),
    };
    Finding {
        id: "seccomp",
        status,
        severity: Severity::High,
        what: what.to_owned(),
        advice: "filter system calls: see reference/seccomp-skill-profile.json",
        weight: 20,
        needed: true,
    }
    .settled()
}

fn no_new_privileges(facts: &Facts) -> Finding {
    let (status, what) = match facts.process.no_new_privileges {
        Some(true) => (Status::Pass, "set"),
        Some(false) => (Status::Fail, "not set: a setuid program raises privileges"),
        None => (Status::Unknown, "the kernel does not say"),
    };
    Finding {
        id: "no_new_privs",
        status,
        severity: Severity::Medium,
        what: what.to_owned(),
        advice: "set it: `--security-opt no-new-privileges`, or NoNewPrivileges=yes in a unit",
        weight: 10,
        needed: true,
    }
    .settled()
}

fn capabilities(facts: &Facts) -> Finding {
    let (status, what) = match facts.process.capabilities {
        None => (Status::Unknown, "the kernel does not say".to_owned()),
        Some(it) if it.held() == 0 => (Status::Pass, "none".to_owned()),
        Some(it) => match it.dangerous().as_slice() {
            [] => (Status::Weak, format!("{} of the harmless ones", it.held().count_ones())),
            names => (Status::Fail, names.join(" ")),
        },
    };
    Finding {
        id: "capabilities",
        status,
        severity: Severity::High,
        what,
        advice: "drop them all: `--cap-drop=ALL`",
        weight: 10,
        needed: true,
    }
    .settled()
}

fn user(facts: &Facts) -> Finding {
    let own = facts.whose(Namespace::User) == Own::Yes;
    let (status, what) = match facts.process.user {
        Some(0) if own => (Status::Pass, "root in a user namespace of its own".to_owned()),
        Some(0) => (Status::Fail, "root".to_owned()),
        Some(id) => (Status::Pass, format!("uid {id}")),
        None => (Status::Unknown, "the kernel does not say".to_owned()),
    };
    Finding {
        id: "user",
        status,
        severity: Severity::High,
        what,
        advice: "run it as a user without rights of its own, not as root",
        weight: 5,
        needed: true,
    }
    .settled()
}

fn readonly_root(facts: &Facts) -> Finding {
    let (status, what) = match facts.readonly_root {
        Some(true) => (Status::Pass, "read-only"),
        Some(false) => (Status::Fail, "writable"),
        None => (Status::Unknown, "the list of mounts could not be read"),
    };
    Finding {
        id: "readonly_root",
        status,
        severity: Severity::Medium,
        what: what.to_owned(),
        advice: "mount the root read-only: `--read-only`, with a tmpfs where something is written",
        weight: 10,
        needed: true,
    }
    .settled()
}

fn limits(facts: &Facts) -> Finding {
    let limits = &facts.limits;
    let word = |name: &str, bound: Option<u64>| {
        bound.map_or_else(|| format!("{name} unbounded"), |it| format!("{name} {it}"))
    };
    let what =
        format!("{}, {}", word("processes", limits.processes), word("memory", limits.memory));
    let status = match (limits.processes, limits.memory) {
        (Some(_), Some(_)) => Status::Pass,
        (None, None) => Status::Fail,
        (Some(_), None) | (None, Some(_)) => Status::Weak,
    };
    Finding {
        id: "limits",
        status,
        severity: Severity::Medium,
        what,
        advice: "bound processes and memory: `--pids-limit 256 --memory 512m`",
        weight: 10,
        needed: true,
    }
    .settled()
}

/// Which landlock rules bind a process no file tells, so that this is worth little and `Full` does not need it.
fn module(facts: &Facts) -> Finding {
    let there = facts.modules.as_ref().map(|it| it.join(" "));
    let label = facts.label.as_deref().unwrap_or("none");
    let free = matches!(label, "none" | "unconfined" | "kernel") || label.contains("unconfined_t");
    // `/usr/sbin/x (complain)` is only watched.
    let (status, what) = match (free, label.ends_with("(complain)"), there) {
        (false, false, _) => (Status::Pass, format!("confined as `{label}`")),
        (false, true, _) => (Status::Weak, format!("`{label}` is watched and not confined")),
        (true, _, Some(there)) => {
            (Status::Weak, format!("not confined by a label; there are: {there}"))
        }
        (true, _, None) => (Status::Unknown, "the kernel does not say which there are".to_owned()),
    };
    Finding {
        id: "lsm",
        status,
        severity: Severity::Low,
        what,
        advice: "put it under a profile of AppArmor or a type of SELinux",
        weight: 5,
        needed: false,
    }
    .settled()
}

impl Finding {
    /// What holds needs no advice.
    fn settled(mut self) -> Self {
        if self.status == Status::Pass {
            self.advice = "";
        }
        self
    }
}
