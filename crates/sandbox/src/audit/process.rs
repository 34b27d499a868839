//! What `/proc/self/status` and `/proc/self/limits` say.

use std::collections::BTreeMap;

/// How system calls are filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seccomp {
    /// Not at all.
    Off,
    /// Read, write and exit alone.
    Strict,
    /// By filters.
    Filter,
}

impl Seccomp {
    /// As records have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "disabled",
            Self::Strict => "strict",
            Self::Filter => "filter",
        }
    }
}

/// Sets of capabilities, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// In force.
    pub effective: u64,
    /// That can be put in force.
    pub permitted: u64,
    /// Kept across the start of another program.
    pub ambient: u64,
    /// The most that a program can get.
    pub bounding: u64,
}

impl Capabilities {
    /// All that the process has or can take without starting a program.
    #[must_use]
    pub fn held(self) -> u64 {
        self.effective | self.permitted | self.ambient
    }

    /// Those with which a process can leave its confinement or see what is others'.
    #[must_use]
    pub fn dangerous(self) -> Vec<&'static str> {
        let held = self.held();
        let has = |bit: u32| held.checked_shr(bit).is_some_and(|it| it & 1 == 1);
        DANGEROUS.iter().filter(|(bit, _)| has(*bit)).map(|(_, name)| *name).collect()
    }
}

/// With each of these walls can be taken down (`capabilities(7)`).
const DANGEROUS: &[(u32, &str)] = &[
    (1, "CAP_DAC_OVERRIDE"),
    (2, "CAP_DAC_READ_SEARCH"),
    (12, "CAP_NET_ADMIN"),
    (13, "CAP_NET_RAW"),
    (16, "CAP_SYS_MODULE"),
    (17, "CAP_SYS_RAWIO"),
    (19, "CAP_SYS_PTRACE"),
    (20, "CAP_SYS_PACCT"),
    (21, "CAP_SYS_ADMIN"),
    (22, "CAP_SYS_BOOT"),
    (25, "CAP_SYS_TIME"),
    (27, "CAP_MKNOD"),
    (33, "CAP_MAC_ADMIN"),
    (34, "CAP_SYSLOG"),
    (38, "CAP_PERFMON"),
    (39, "CAP_BPF"),
];

/// What is known of the process itself. What was not there, or was no number, is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// As whom it acts.
    pub user: Option<u32>,
    /// How its calls are filtered.
    pub seccomp: Option<Seccomp>,
    /// Can a program that it starts be more than itself?
    pub no_new_privileges: Option<bool>,
    /// What it may do beyond others.
    pub capabilities: Option<Capabilities>,
}

impl Process {
    /// Reads the text of `/proc/self/status`. Where a line stands twice, nothing is believed of it.
    #[must_use]
    pub fn parse(status: &str) -> Self {
        let mut lines: BTreeMap<&str, Option<&str>> = BTreeMap::new();
        for line in status.lines() {
            if let Some((name, value)) = line.split_once(':') {
                lines.entry(name).and_modify(|it| *it = None).or_insert(Some(value.trim()));
            }
        }
        let value = |name: &str| lines.get(name).copied().flatten();
        let set = |name: &str| value(name).and_then(|it| u64::from_str_radix(it, 16).ok());
        let capabilities = || {
            Some(Capabilities {
                effective: set("CapEff")?,
                permitted: set("CapPrm")?,
                // Kernels before 4.3 have none.
                ambient: if value("CapAmb").is_some() { set("CapAmb")? } else { 0 },
                bounding: set("CapBnd")?,
            })
        };
        // Real, effective, saved, of the file system: the effective one acts.
        let user = value("Uid").and_then(|it| it.split_whitespace().nth(1)?.parse().ok());
        let seccomp = value("Seccomp").and_then(|it| match it {
            "0" => Some(Seccomp::Off),
            "1" => Some(Seccomp::Strict),
            "2" => Some(Seccomp::Filter),
            _ => None,
        });
        let no_new_privileges = value("NoNewPrivs").and_then(|it| match it {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        });
        Self { user, seccomp, no_new_privileges, capabilities: capabilities() }
    }
}

/// How much the process and what it starts may use. `None`: without an end, or not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Processes and threads.
    pub processes: Option<u64>,
    /// Open files.
    pub open_files: Option<u64>,
    /// Memory, in bytes.
    pub memory: Option<u64>,
    /// All soft limits as they are written, by name.
    pub listed: BTreeMap<String, String>,
}

/// So many lines of limits are kept; kernels have sixteen.
const LIMITS_MAX: usize = 32;
/// Bounds beyond these bind nobody: they are the kernel's own defaults for the whole machine.
const PROCESSES_BOUND_MAX: u64 = 1 << 15;
const MEMORY_BOUND_MAX: u64 = 1 << 40;
/// Each of these bounds memory: all addresses, or those that are the process's own.
const MEMORY_LIMITS: &[&str] = &["Max address space", "Max data size"];

impl Limits {
    /// Reads the text of `/proc/self/limits`.
    #[must_use]
    pub fn parse(limits: &str) -> Self {
        let mut listed = BTreeMap::new();
        for line in limits.lines().skip(1).take(LIMITS_MAX) {
            // `Max open files            1024                 524288               files`: names have single blanks.
            let mut columns = line.split("  ").map(str::trim).filter(|it| !it.is_empty());
            if let (Some(name), Some(soft)) = (columns.next(), columns.next()) {
                listed.insert(name.to_owned(), soft.to_owned());
            }
        }
        let number = |name: &str| listed.get(name).and_then(|it: &String| it.parse::<u64>().ok());
        Self {
            processes: number("Max processes").filter(|it| *it <= PROCESSES_BOUND_MAX),
            open_files: number("Max open files"),
            memory: MEMORY_LIMITS
                .iter()
                .filter_map(|it| number(it))
                .filter(|it| *it <= MEMORY_BOUND_MAX)
                .min(),
            listed,
        }
    }

    /// The same, where a cgroup bounds what the process's own limits do not.
    #[must_use]
    pub fn and_cgroup(mut self, pids_max: Option<&str>, memory_max: Option<&str>) -> Self {
        let number = |it: Option<&str>| it.and_then(|it| it.trim().parse::<u64>().ok());
        let least = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
        let pids = number(pids_max).filter(|it| *it <= PROCESSES_BOUND_MAX);
        let memory = number(memory_max).filter(|it| *it <= MEMORY_BOUND_MAX);
        self.processes = least(self.processes, pids);
        self.memory = least(self.memory, memory);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "Name:\tx\nUid:\t1000\t1001\t1000\t1000\nCapPrm:\t00000000a80425fb\n\
        CapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\nCapAmb:\t0000000000000000\n\
        NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n";

    #[test]
    fn a_status_is_read() {
        let read = Process::parse(STATUS);
        assert_eq!(read.user, Some(1001));
        assert_eq!(read.seccomp, Some(Seccomp::Filter));
        assert_eq!(read.no_new_privileges, Some(true));
        let capabilities = read.capabilities.unwrap();
        assert_eq!(capabilities.held(), 0xa804_25fb, "permitted ones can be put in force");
        let dangerous = capabilities.dangerous();
        assert_eq!(dangerous, ["CAP_DAC_OVERRIDE", "CAP_NET_RAW", "CAP_MKNOD"]);
    }

    #[test]
    fn a_name_with_a_line_in_it_says_nothing() {
        // A process can be called anything; the kernel escapes line ends in names, and we do not rely on it.
        let read = Process::parse(&format!(
            "Seccomp:\t2\n{}",
            STATUS.replace("Seccomp:\t2", "Seccomp:\t0")
        ));
        assert_eq!(read.seccomp, None);
        assert_eq!(
            Process::parse("Seccomp:\t3\nNoNewPrivs: yes\nUid: x\nCapEff: g\n"),
            Process::default()
        );
    }

    #[test]
    fn limits_are_read_and_bounds_that_bind_nobody_are_none() {
        let text = "Limit                     Soft Limit           Hard Limit           Units     \n\
            Max processes             127246               127246               processes \n\
            Max open files            1024                 524288               files     \n\
            Max address space         unlimited            unlimited            bytes     \n";
        let read = Limits::parse(text);
        assert_eq!((read.processes, read.open_files, read.memory), (None, Some(1024), None));
        assert_eq!(read.listed.len(), 3);
        let bound = read.and_cgroup(Some("256\n"), Some("536870912\n"));
        assert_eq!((bound.processes, bound.memory), (Some(256), Some(536_870_912)));
        let open = Limits::default().and_cgroup(Some("max"), Some("9223372036854771712"));
        assert_eq!((open.processes, open.memory), (None, None));
    }
}
