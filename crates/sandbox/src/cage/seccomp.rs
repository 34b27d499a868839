//! The filter of system calls: what no tool of an agent has a use for and every escape begins with.

mod tree;

use std::collections::{BTreeMap, BTreeSet};

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition,
    SeccompFilter, SeccompRule, sock_filter,
};

use super::error::CageError;

/// Refused whatever their arguments are: name and number.
pub const DENIED_SYSCALLS: &[(&str, c_long)] = &[
    // The file tree is as it was made.
    ("chroot", libc::SYS_chroot),
    ("fsconfig", libc::SYS_fsconfig),
    ("fsmount", libc::SYS_fsmount),
    ("fsopen", libc::SYS_fsopen),
    ("fspick", libc::SYS_fspick),
    ("mount", libc::SYS_mount),
    ("mount_setattr", libc::SYS_mount_setattr),
    ("move_mount", libc::SYS_move_mount),
    ("name_to_handle_at", libc::SYS_name_to_handle_at),
    ("open_by_handle_at", libc::SYS_open_by_handle_at),
    ("open_tree", libc::SYS_open_tree),
    ("open_tree_attr", OPEN_TREE_ATTR),
    ("pivot_root", libc::SYS_pivot_root),
    ("umount2", libc::SYS_umount2),
    // Other processes are not looked into.
    ("kcmp", libc::SYS_kcmp),
    ("move_pages", libc::SYS_move_pages),
    ("pidfd_getfd", libc::SYS_pidfd_getfd),
    ("process_madvise", libc::SYS_process_madvise),
    ("process_vm_readv", libc::SYS_process_vm_readv),
    ("process_vm_writev", libc::SYS_process_vm_writev),
    ("ptrace", libc::SYS_ptrace),
    // No further namespaces: in one of its own a process has every capability again.
    ("setns", libc::SYS_setns),
    ("unshare", libc::SYS_unshare),
    // The kernel's keys belong to the user, not to the tool.
    ("add_key", libc::SYS_add_key),
    ("keyctl", libc::SYS_keyctl),
    ("request_key", libc::SYS_request_key),
    // Large parts of the kernel, with a long list of past holes.
    ("bpf", libc::SYS_bpf),
    ("fanotify_init", libc::SYS_fanotify_init),
    ("io_uring_enter", libc::SYS_io_uring_enter),
    ("io_uring_register", libc::SYS_io_uring_register),
    ("io_uring_setup", libc::SYS_io_uring_setup),
    ("perf_event_open", libc::SYS_perf_event_open),
    ("userfaultfd", libc::SYS_userfaultfd),
    // The machine itself.
    ("acct", libc::SYS_acct),
    ("adjtimex", libc::SYS_adjtimex),
    ("clock_adjtime", libc::SYS_clock_adjtime),
    ("clock_settime", libc::SYS_clock_settime),
    ("delete_module", libc::SYS_delete_module),
    ("finit_module", libc::SYS_finit_module),
    ("init_module", libc::SYS_init_module),
    ("kexec_file_load", libc::SYS_kexec_file_load),
    ("kexec_load", libc::SYS_kexec_load),
    ("lookup_dcookie", libc::SYS_lookup_dcookie),
    ("migrate_pages", libc::SYS_migrate_pages),
    ("quotactl", libc::SYS_quotactl),
    ("quotactl_fd", libc::SYS_quotactl_fd),
    ("reboot", libc::SYS_reboot),
    ("setdomainname", libc::SYS_setdomainname),
    ("sethostname", libc::SYS_sethostname),
    ("settimeofday", libc::SYS_settimeofday),
    ("swapoff", libc::SYS_swapoff),
    ("swapon", libc::SYS_swapon),
    ("syslog", libc::SYS_syslog),
    ("vhangup", libc::SYS_vhangup),
    #[cfg(target_arch = "x86_64")]
    ("_sysctl", libc::SYS__sysctl),
    #[cfg(target_arch = "x86_64")]
    ("ioperm", libc::SYS_ioperm),
    #[cfg(target_arch = "x86_64")]
    ("iopl", libc::SYS_iopl),
    #[cfg(target_arch = "x86_64")]
    ("modify_ldt", libc::SYS_modify_ldt),
    #[cfg(target_arch = "x86_64")]
    ("sysfs", libc::SYS_sysfs),
    #[cfg(target_arch = "x86_64")]
    ("uselib", libc::SYS_uselib),
    #[cfg(target_arch = "x86_64")]
    ("ustat", libc::SYS_ustat),
];

/// Newer than what libc has; the same on every processor.
const OPEN_TREE_ATTR: c_long = 467;
const FCHMODAT2: c_long = 452;

/// Calls that reach beyond the cage where namespaces do not end them: whatever of the host's they name is the user's.
const DENIED_ON_THE_HOST: &[c_long] = &[
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_msgctl,
    libc::SYS_msgget,
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmget,
];
/// The same, if this argument names another process than the caller (0).
const OWN_ONLY_ON_THE_HOST: &[(c_long, u8)] = &[
    (libc::SYS_ioprio_set, 1),
    (libc::SYS_prlimit64, 0),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_setpriority, 1),
];

/// Calls that set a file's mode, and which argument it is. A program that runs as its owner, or as its group, would be left
/// in the workspace for everybody on the machine.
const MODES: &[(c_long, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
    (libc::SYS_mknodat, 2),
];
/// Calls that make a file if their flags say so: the arguments for flags and mode. `openat2`, whose arguments a filter
/// cannot see, does not exist.
const MAKERS: &[(c_long, u8, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1, 2),
    (libc::SYS_openat, 2, 3),
];
/// Modes by which a program runs as the owner, or the group, of its file.
const SET_IDS: &[u64] = &[libc::S_ISUID as u64, libc::S_ISGID as u64];
const CREATE: u64 = libc::O_CREAT as u64;
/// The bit of `O_TMPFILE` that is its own.
const NAMELESS: u64 = (libc::O_TMPFILE & !libc::O_DIRECTORY) as u64;

/// The newest call that this list was written for (`file_setattr`). What is newer does not exist in a cage, nor do
/// the calls of the x32 interface, whose numbers lie above.
const NEWEST_SYSCALL: u32 = 469;

/// Flags of `clone` that make namespaces.
const NEW_NAMESPACES: &[i32] = &[
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWCGROUP,
];
/// Terminals are not written to as if by their user.
const TERMINAL_REQUESTS: &[u64] = &[libc::TIOCSTI, TIOCLINUX, libc::TIOCSETD];
/// Whoever opens a file with a lease on it waits for whoever has the lease, outside as well.
const FILE_REQUESTS: &[u64] = &[libc::F_SETLEASE as u64, libc::F_NOTIFY as u64];
/// Protocols of the internet that there may be: the usual one of a kind, and these. For others the kernel would load
/// what hardly anybody uses or looks at.
const PROTOCOLS: &[i32] = &[
    0,
    libc::IPPROTO_ICMP,
    libc::IPPROTO_TCP,
    libc::IPPROTO_UDP,
    libc::IPPROTO_ICMPV6,
    libc::IPPROTO_MPTCP,
];
/// Pastes a selection of the console into its input.
const TIOCLINUX: u64 = 0x541C;
/// The low byte of a socket's type says what it is; the rest are flags.
const SOCKET_TYPE: u64 = 0xff;

/// Which sockets there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sockets {
    /// Those of the cage's own network, which leads nowhere.
    OwnNetwork,
    /// The network and the file tree are the host's, and there is no socket at all: those with a path would lead to services
    /// of the host, and landlock does not see them.
    None,
}

/// The filter, ready for the kernel.
pub(crate) fn program(sockets: Sockets) -> Result<BpfProgram, CageError> {
    let failed = |error: &dyn std::fmt::Display| CageError::step("seccomp", error);
    let rules = by_arguments(sockets).map_err(|error| failed(&error))?;
    let arch = std::env::consts::ARCH.try_into().map_err(|error| failed(&error))?;
    let refused = SeccompAction::Errno(EPERM);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch)
        .map_err(|error| failed(&error))?;
    let program: BpfProgram = filter.try_into().map_err(|error| failed(&error))?;
    let denied = tree::refusing(&denied(sockets), EPERM).map_err(|error| failed(&error))?;
    Ok(unknown_calls().into_iter().chain(denied).chain(program).collect())
}

/// Calls that are refused whatever their arguments are.
fn denied(sockets: Sockets) -> BTreeSet<c_long> {
    let always = DENIED_SYSCALLS.iter().map(|(_, number)| *number);
    match sockets {
        Sockets::OwnNetwork => always.collect(),
        Sockets::None => always.chain(DENIED_ON_THE_HOST.iter().copied()).collect(),
    }
}

const EPERM: u32 = libc::EPERM as u32;

/// Calls that are refused with some arguments only.
fn by_arguments(
    sockets: Sockets,
) -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::BackendError> {
    let has = |argument: u8, bits: u64| (argument, Op::MaskedEq(bits), bits);
    let mut rules = BTreeMap::new();
    let clone = NEW_NAMESPACES.iter().map(|flag| rule(&[has(0, *flag as u64)]));
    rules.insert(libc::SYS_clone, clone.collect::<Result<_, _>>()?);
    let ioctl = TERMINAL_REQUESTS.iter().map(|it| rule(&[(1, Op::Eq, *it)]));
    rules.insert(libc::SYS_ioctl, ioctl.collect::<Result<_, _>>()?);
    let fcntl = FILE_REQUESTS.iter().map(|it| rule(&[(1, Op::Eq, *it)]));
    rules.insert(libc::SYS_fcntl, fcntl.collect::<Result<_, _>>()?);
    for (call, mode) in MODES {
        let set = SET_IDS.iter().map(|it| rule(&[has(*mode, *it)]));
        rules.insert(*call, set.collect::<Result<_, _>>()?);
    }
    for (call, flags, mode) in MAKERS {
        let ways = [CREATE, NAMELESS].into_iter();
        let made = ways.flat_map(|way| SET_IDS.iter().map(move |it| (way, *it)));
        let made = made.map(|(way, set)| rule(&[has(*flags, way), has(*mode, set)]));
        rules.insert(*call, made.collect::<Result<_, _>>()?);
    }
    rules.insert(libc::SYS_socket, socket_rules(sockets)?);
    rules.insert(libc::SYS_socketpair, pair_rules(sockets)?);
    match sockets {
        Sockets::OwnNetwork => {}
        Sockets::None => {
            for (call, who) in OWN_ONLY_ON_THE_HOST {
                rules.insert(*call, vec![rule(&[(*who, Op::Ne, 0)])?]);
            }
            // Of a whole user, whoever that argument names.
            let user = rule(&[(0, Op::Eq, libc::PRIO_USER as u64)])?;
            rules.entry(libc::SYS_setpriority).or_default().push(user);
            let user = rule(&[(0, Op::Eq, IOPRIO_WHO_USER)])?;
            rules.entry(libc::SYS_ioprio_set).or_default().push(user);
        }
    }
    Ok(rules)
}

/// `ioprio_set` for all processes of a user.
const IOPRIO_WHO_USER: u64 = 3;

/// A rule that matches if all of these hold: argument, comparison, value.
fn rule(conditions: &[(u8, Op, u64)]) -> Result<SeccompRule, seccompiler::BackendError> {
    let conditions = conditions.iter().map(|(argument, op, value)| {
        SeccompCondition::new(*argument, Len::Dword, op.clone(), *value)
    });
    SeccompRule::new(conditions.collect::<Result<_, _>>()?)
}

fn socket_rules(sockets: Sockets) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let [unix, inet, inet6, netlink] =
        [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].map(|it| it as u64);
    let not =
        |families: &[u64]| rule(&families.iter().map(|it| (0, Op::Ne, *it)).collect::<Vec<_>>());
    let of_type =
        |family: u64, op: Op, kind: i32| rule(&[(0, Op::Eq, family), (1, op, kind as u64)]);
    let exotic = |family: u64| {
        let others = PROTOCOLS.iter().map(|it| (2, Op::Ne, *it as u64));
        rule(&std::iter::once((0, Op::Eq, family)).chain(others).collect::<Vec<_>>())
    };
    let raw = Op::MaskedEq(SOCKET_TYPE);
    Ok(match sockets {
        Sockets::OwnNetwork => vec![
            not(&[unix, inet, inet6, netlink])?,
            of_type(inet, raw.clone(), libc::SOCK_RAW)?,
            of_type(inet6, raw, libc::SOCK_RAW)?,
            exotic(inet)?,
            exotic(inet6)?,
            // Of netlink only what tells of interfaces and routes (protocol 0).
            rule(&[(0, Op::Eq, netlink), (2, Op::Ne, 0)])?,
        ],
        // No condition: always.
        Sockets::None => Vec::new(),
    })
}

/// Pairs are local. On the host's file tree one that is not bound to its other half for good could be connected to a
/// socket with a path, which landlock does not see.
fn pair_rules(sockets: Sockets) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let mut rules = vec![rule(&[(0, Op::Ne, libc::AF_UNIX as u64)])?];
    match sockets {
        Sockets::OwnNetwork => {}
        Sockets::None => {
            for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW] {
                rules.push(rule(&[(1, Op::MaskedEq(SOCKET_TYPE), kind as u64)])?);
            }
        }
    }
    Ok(rules)
}

/// Calls that are newer than our list, `clone3` and `openat2` (whose flags a filter cannot see; programs take `clone` and
/// `openat` instead), and the second interface of the processor: they do not exist.
///
/// This stands before the check of the processor's kind, which is only right for numbers that this kind has; another
/// kind is killed by that check whatever was decided here about numbers below.
fn unknown_calls() -> Vec<sock_filter> {
    let statement = |code, k| sock_filter { code, jt: 0, jf: 0, k };
    let nothing = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
    vec![
        statement(LOAD_WORD, 0),
        sock_filter { code: JUMP_IF_GREATER, jt: 2, jf: 0, k: NEWEST_SYSCALL },
        sock_filter { code: JUMP_IF_EQUAL, jt: 1, jf: 0, k: libc::SYS_clone3 as u32 },
        sock_filter { code: JUMP_IF_EQUAL, jt: 0, jf: 1, k: libc::SYS_openat2 as u32 },
        statement(RETURN, nothing),
    ]
}

/// `BPF_LD | BPF_W | BPF_ABS`: the call's number stands at the beginning of what a filter sees.
const LOAD_WORD: u16 = 0x20;
/// `BPF_JMP | BPF_JGT | BPF_K`.
const JUMP_IF_GREATER: u16 = 0x25;
/// `BPF_JMP | BPF_JEQ | BPF_K`.
const JUMP_IF_EQUAL: u16 = 0x15;
/// `BPF_RET | BPF_K`.
const RETURN: u16 = 0x06;

#[cfg(test)]
mod tests;
