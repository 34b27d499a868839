//! The filter of system calls: what no tool of an agent has a use for and every escape begins with.

use std::collections::BTreeMap;

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
const TERMINAL_REQUESTS: &[u64] = &[libc::TIOCSTI as u64, TIOCLINUX, libc::TIOCSETD as u64];
/// Pastes a selection of the console into its input.
const TIOCLINUX: u64 = 0x541C;
/// The low byte of a socket's type says what it is; the rest are flags.
const SOCKET_TYPE: u64 = 0xff;

/// Which sockets there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sockets {
    /// Those of the cage's own network, which leads nowhere.
    OwnNetwork,
    /// The network is the host's: TCP only (landlock says which port), nothing else.
    TcpOnly,
    /// The network is the host's, and nothing of it may be used.
    LocalOnly,
}

/// The filter, ready for the kernel.
pub(crate) fn program(sockets: Sockets) -> Result<BpfProgram, CageError> {
    let failed = |error: &dyn std::fmt::Display| CageError::step("seccomp", error);
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        DENIED_SYSCALLS.iter().map(|(_, number)| (*number, Vec::new())).collect();
    let clone = NEW_NAMESPACES
        .iter()
        .map(|flag| rule(&[(0, Op::MaskedEq(*flag as u64), *flag as u64)]))
        .collect::<Result<_, _>>()
        .map_err(|error| failed(&error))?;
    rules.insert(libc::SYS_clone, clone);
    let ioctl = TERMINAL_REQUESTS
        .iter()
        .map(|it| rule(&[(1, Op::Eq, *it)]))
        .collect::<Result<_, _>>()
        .map_err(|error| failed(&error))?;
    rules.insert(libc::SYS_ioctl, ioctl);
    let socket = socket_rules(sockets).map_err(|error| failed(&error))?;
    rules.insert(libc::SYS_socket, socket);
    let arch = std::env::consts::ARCH.try_into().map_err(|error| failed(&error))?;
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch)
        .map_err(|error| failed(&error))?;
    let program: BpfProgram = filter.try_into().map_err(|error| failed(&error))?;
    Ok(unknown_calls().into_iter().chain(program).collect())
}

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
    let raw = Op::MaskedEq(SOCKET_TYPE);
    Ok(match sockets {
        Sockets::OwnNetwork => vec![
            not(&[unix, inet, inet6, netlink])?,
            of_type(inet, raw.clone(), libc::SOCK_RAW)?,
            of_type(inet6, raw, libc::SOCK_RAW)?,
            // Of netlink only what tells of interfaces and routes (protocol 0).
            rule(&[(0, Op::Eq, netlink), (2, Op::Ne, 0)])?,
        ],
        Sockets::TcpOnly => {
            let mut rules = vec![not(&[unix, inet, inet6])?];
            for family in [inet, inet6] {
                for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_SEQPACKET] {
                    rules.push(of_type(family, raw.clone(), kind)?);
                }
                // TCP alone (0 or 6): multipath TCP, which landlock does not see, is a stream, too.
                rules.push(rule(&[
                    (0, Op::Eq, family),
                    (2, Op::Ne, 0),
                    (2, Op::Ne, libc::IPPROTO_TCP as u64),
                ])?);
            }
            rules
        }
        Sockets::LocalOnly => vec![not(&[unix])?],
    })
}

/// Calls that are newer than our list, `clone3` (whose flags a filter cannot see; programs take `clone` instead), and
/// the second interface of the processor: they do not exist.
///
/// This stands before the check of the processor's kind, which is only right for numbers that this kind has; another
/// kind is killed by that check whatever was decided here about numbers below.
fn unknown_calls() -> Vec<sock_filter> {
    let statement = |code, k| sock_filter { code, jt: 0, jf: 0, k };
    let nothing = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
    vec![
        statement(LOAD_WORD, 0),
        sock_filter { code: JUMP_IF_GREATER, jt: 1, jf: 0, k: NEWEST_SYSCALL },
        sock_filter { code: JUMP_IF_EQUAL, jt: 0, jf: 1, k: libc::SYS_clone3 as u32 },
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
