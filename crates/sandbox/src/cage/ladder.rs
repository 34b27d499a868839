//! What holds a process: rungs that stack. Which of them hold is a value, recorded and shown.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One kind of confinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rung {
    /// A file tree, processes, names and a network of its own.
    Namespaces,
    /// The kernel's rules for files, TCP, signals and abstract sockets.
    Landlock,
    /// System calls that are refused; no new privileges; no capability.
    Seccomp,
    /// A profile of macOS' kernel for files, the network and other programs' services.
    Seatbelt,
    /// Limits of each process.
    Limits,
    /// Limits of all processes together.
    Cgroup,
}

impl Rung {
    /// All of them, from the widest.
    pub const ALL: &[Self] = &[
        Self::Namespaces,
        Self::Landlock,
        Self::Seccomp,
        Self::Seatbelt,
        Self::Limits,
        Self::Cgroup,
    ];

    /// Those that this system may have: of each is told whether it holds.
    pub const HERE: &[Self] = match cfg!(target_os = "linux") {
        true => &[Self::Namespaces, Self::Landlock, Self::Seccomp, Self::Limits, Self::Cgroup],
        false => &[Self::Seatbelt, Self::Limits],
    };

    /// Those without which nothing runs unless somebody allows a weaker cage.
    pub const ALWAYS: &[Self] = match cfg!(target_os = "linux") {
        true => &[Self::Namespaces, Self::Landlock],
        false => &[Self::Seatbelt],
    };

    /// Those without which no program of a skill runs.
    pub const FOR_SKILLS: &[Self] = match cfg!(target_os = "linux") {
        true => &[Self::Namespaces, Self::Landlock, Self::Seccomp, Self::Limits],
        false => &[Self::Seatbelt, Self::Limits],
    };

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Landlock => "landlock",
            Self::Seccomp => "seccomp",
            Self::Seatbelt => "seatbelt",
            Self::Limits => "limits",
            Self::Cgroup => "cgroup",
        }
    }

    /// The rung of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.as_str() == name)
    }
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether a rung holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "state", content = "detail")]
pub enum Hold {
    /// It holds, and how.
    Held(String),
    /// It does not, and why.
    Missing(String),
}

/// What holds a process, rung by rung.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    rungs: Vec<(Rung, Hold)>,
}

impl Held {
    pub(crate) fn note(&mut self, rung: Rung, hold: Hold) {
        self.rungs.retain(|(it, _)| *it != rung);
        self.rungs.push((rung, hold));
        self.rungs.sort_by_key(|(it, _)| *it);
    }

    /// Each rung with its state.
    #[must_use]
    pub fn rungs(&self) -> &[(Rung, Hold)] {
        &self.rungs
    }

    /// Does this rung hold?
    #[must_use]
    pub fn holds(&self, rung: Rung) -> bool {
        self.rungs.iter().any(|(it, hold)| *it == rung && matches!(hold, Hold::Held(_)))
    }

    /// The first rung of these that does not hold, and why.
    #[must_use]
    pub fn lacks(&self, needed: &[Rung]) -> Option<(Rung, String)> {
        let rung = needed.iter().copied().find(|it| !self.holds(*it))?;
        let why = self.rungs.iter().find_map(|(it, hold)| match hold {
            Hold::Missing(why) if *it == rung => Some(why.clone()),
            Hold::Missing(_) | Hold::Held(_) => None,
        });
        Some((rung, why.unwrap_or_else(|| "there is none on this system".to_owned())))
    }

    /// What does not hold of what is always required, and why: nothing if it does.
    #[must_use]
    pub fn weaker(&self) -> Option<String> {
        let lacks = |it: &Rung| self.lacks(&[*it]).map(|(rung, why)| format!("no {rung} ({why})"));
        let all: Vec<String> = Rung::ALWAYS.iter().filter_map(lacks).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    /// The names of those that hold.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        let held = self.rungs.iter().filter(|(_, hold)| matches!(hold, Hold::Held(_)));
        held.map(|(rung, _)| rung.as_str()).collect()
    }

    /// Are files and system calls confined at all? Less is no cage.
    #[must_use]
    pub fn is_a_cage(&self) -> bool {
        let files = self.holds(Rung::Namespaces) || self.holds(Rung::Landlock);
        self.holds(Rung::Seatbelt) || self.holds(Rung::Seccomp) && files
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (rung, hold)) in self.rungs.iter().enumerate() {
            let between = if i == 0 { "" } else { ", " };
            match hold {
                Hold::Held(how) => write!(f, "{between}{rung} ({how})")?,
                Hold::Missing(why) => write!(f, "{between}no {rung} ({why})")?,
            }
        }
        Ok(())
    }
}
