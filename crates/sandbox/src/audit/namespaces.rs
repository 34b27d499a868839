//! Which namespaces are the process's own, and which are the machine's.

/// A kind of namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Namespace {
    /// Users and capabilities.
    User,
    /// Processes.
    Pid,
    /// Mounts.
    Mount,
    /// Network.
    Network,
    /// Messages between processes.
    Ipc,
    /// The machine's name.
    Uts,
    /// Control groups.
    Cgroup,
}

impl Namespace {
    /// All that are looked at.
    pub const ALL: [Self; 7] =
        [Self::User, Self::Pid, Self::Mount, Self::Network, Self::Ipc, Self::Uts, Self::Cgroup];

    /// Its name below `/proc/self/ns`, and in records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Pid => "pid",
            Self::Mount => "mnt",
            Self::Network => "net",
            Self::Ipc => "ipc",
            Self::Uts => "uts",
            Self::Cgroup => "cgroup",
        }
    }

    /// The number that the kernel gives the machine's own (`include/uapi/linux/nsfs.h`; mounts and network since 6.18).
    fn first(self) -> u64 {
        match self {
            Self::Ipc => 0xEFFF_FFFF,
            Self::Uts => 0xEFFF_FFFE,
            Self::User => 0xEFFF_FFFD,
            Self::Pid => 0xEFFF_FFFC,
            Self::Cgroup => 0xEFFF_FFFB,
            Self::Network => 0xEFFF_FFF9,
            Self::Mount => 0xEFFF_FFF8,
        }
    }

    /// Did the kernel not fix the number before 6.18? Then the first ones that it hands out are the machine's: nothing
    /// makes a namespace before the machine's own are made.
    fn is_counted(self) -> bool {
        matches!(self, Self::Network | Self::Mount)
    }
}

/// The first number that kernels hand out.
const COUNTED_FROM: u64 = 0xF000_0000;
/// So many numbers may be used up before the machine's own mounts are made.
const COUNTED_MOUNTS: u64 = 4;

/// Whose a namespace is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Own {
    /// Made for us, or for those that we are locked up with.
    Yes,
    /// The machine's.
    No,
    /// It cannot be told.
    Unknown,
}

/// What is known when one kind is judged.
pub(super) struct Seen<'a> {
    /// Where `/proc/self/ns/…` points: `mnt:[4026531841]`.
    pub(super) own: Option<&'a str>,
    /// The same of process 1.
    pub(super) first: Option<&'a str>,
    /// Are all interfaces but `lo` one end of a pair, whose other end is elsewhere? None at all is all of them.
    pub(super) paired: Option<bool>,
}

/// Whose a namespace is. `pid_is_own`: process 1 is not the machine's, and says nothing by being in the same one.
pub(super) fn whose(kind: Namespace, seen: &Seen<'_>, pid_is_own: bool) -> Own {
    let Some(own) = seen.own.and_then(|it| number(kind, it)) else { return Own::Unknown };
    if own == kind.first() {
        return Own::No;
    }
    if !kind.is_counted() {
        return Own::Yes;
    }
    if kind == Namespace::Mount && own < COUNTED_FROM.saturating_add(COUNTED_MOUNTS) {
        return Own::No;
    }
    let first = seen.first.and_then(|it| number(kind, it));
    match first {
        Some(first) if first != own => Own::Yes,
        Some(_) if !pid_is_own => Own::No,
        Some(_) | None if kind == Namespace::Mount && pid_is_own => Own::Yes,
        Some(_) | None => match seen.paired {
            // A machine without a card looks the same; who is not root may not ask its process 1.
            Some(true) if kind == Namespace::Network && pid_is_own => Own::Yes,
            Some(false) if kind == Namespace::Network => Own::No,
            Some(_) | None => Own::Unknown,
        },
    }
}

/// The number in `pid:[4026531836]`.
fn number(kind: Namespace, link: &str) -> Option<u64> {
    let rest = link.strip_prefix(kind.as_str())?.strip_prefix(":[")?.strip_suffix(']')?;
    rest.bytes().all(|it| it.is_ascii_digit()).then(|| rest.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen<'a>(own: &'a str, first: Option<&'a str>) -> Seen<'a> {
        Seen { own: Some(own), first, paired: None }
    }

    #[test]
    fn the_machines_own_are_known_by_their_numbers() {
        for kind in Namespace::ALL {
            let link = format!("{}:[{}]", kind.as_str(), kind.first());
            assert_eq!(whose(kind, &seen(&link, None), false), Own::No, "{link}");
            assert_eq!(whose(kind, &seen(&link, None), true), Own::No, "{link}");
        }
    }

    #[test]
    fn in_a_container_process_1_is_in_the_same_ones_and_they_are_own_all_the_same() {
        let link = "pid:[4026532567]";
        assert_eq!(whose(Namespace::Pid, &seen(link, Some(link)), true), Own::Yes);
        let link = "mnt:[4026532565]";
        assert_eq!(whose(Namespace::Mount, &seen(link, Some(link)), true), Own::Yes);
        assert_eq!(whose(Namespace::Mount, &seen(link, Some(link)), false), Own::No);
        assert_eq!(whose(Namespace::Mount, &seen(link, None), false), Own::Unknown);
        assert_eq!(whose(Namespace::Mount, &seen("mnt:[4026531841]", None), true), Own::No);
    }

    #[test]
    fn a_network_without_a_way_out_or_with_the_end_of_a_pair_is_own() {
        let link = "net:[4026532569]";
        let paired = |paired| Seen { own: Some(link), first: Some(link), paired };
        assert_eq!(whose(Namespace::Network, &paired(Some(true)), true), Own::Yes);
        assert_eq!(whose(Namespace::Network, &paired(Some(false)), true), Own::No);
        assert_eq!(whose(Namespace::Network, &paired(Some(true)), false), Own::No, "as process 1");
        assert_eq!(whose(Namespace::Network, &paired(None), true), Own::Unknown);
        let alone = Seen { own: Some(link), first: None, paired: Some(true) };
        assert_eq!(whose(Namespace::Network, &alone, true), Own::Yes);
        assert_eq!(
            whose(Namespace::Network, &alone, false),
            Own::Unknown,
            "a machine without a card"
        );
    }

    #[test]
    fn a_link_that_is_none_says_nothing() {
        for link in [
            "",
            "pid",
            "pid:[]",
            "pid:[x]",
            "pid:[+1]",
            "net:[4026532569]",
            "pid:[99999999999999999999]",
        ] {
            assert_eq!(whose(Namespace::Pid, &seen(link, None), false), Own::Unknown, "{link}");
        }
    }
}
