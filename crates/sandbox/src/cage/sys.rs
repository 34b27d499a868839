//! The calls to the kernel that no safe library has. All of this crate's `unsafe` is here.
//!
//! JUSTIFICATION for each: there is no other way to ask the kernel for it, and each function is safe for every
//! input that its types allow.

use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};

use rustix::process::Pid;

/// Which side of a fork this is.
pub(crate) enum Side {
    /// The one that was there before, with a handle on the other.
    Parent(Child),
    /// The new one.
    Child,
}

/// A process that was started here.
pub(crate) struct Child {
    /// Its number, as its parent sees it.
    pub(crate) pid: Pid,
    /// A handle that never means another process.
    pub(crate) handle: OwnedFd,
}

/// Namespaces that a new process is born into.
pub(crate) const NAMESPACES: u64 = (libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWCGROUP) as u64;

/// Forks, into new namespaces if `flags` name some, and into a group of processes if one is given.
///
/// Refused where this process has more than one thread: the child would hold locks that nobody opens any more.
pub(crate) fn fork(flags: u64, group: Option<&OwnedFd>) -> io::Result<Side> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("a process with several threads cannot make a cage"));
    }
    end_of_children_is_told();
    copy(flags, group)
}

/// Whoever started us may have left it to the kernel to forget how children ended: then nobody inside or outside would
/// learn of it. Who has a handler of its own keeps it.
#[expect(unsafe_code, reason = "signals are set by libc only")]
fn end_of_children_is_told() {
    // SAFETY: all zeroes is a valid value of this struct of plain data.
    let mut now: libc::sigaction = unsafe { mem::zeroed() };
    // SAFETY: nothing is set, and `now` outlives the call.
    let asked = unsafe { libc::sigaction(libc::SIGCHLD, std::ptr::null(), &raw mut now) };
    if asked == 0 && now.sa_sigaction == libc::SIG_IGN {
        // SAFETY: setting the default action runs no code of ours.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    }
}

/// Does the kernel know the call by which processes are made? A filter like ours says that it does not.
#[expect(unsafe_code, reason = "a system call that no safe wrapper offers")]
pub(crate) fn has_clone3() -> bool {
    // SAFETY: a size of 0 is refused by the kernel before it reads the first argument; nothing is made.
    let answer =
        unsafe { libc::syscall(libc::SYS_clone3, std::ptr::null::<libc::c_void>(), 0_usize) };
    answer != -1 || io::Error::last_os_error().raw_os_error() != Some(libc::ENOSYS)
}

/// Forks the first process of a cage, which [`fork`] has made: it has one thread, and no `/proc` to tell so.
pub(crate) fn fork_the_first() -> io::Result<Side> {
    copy(0, None)
}

/// Copies this process. It has one thread.
#[expect(unsafe_code, reason = "only the kernel can copy a process")]
fn copy(flags: u64, group: Option<&OwnedFd>) -> io::Result<Side> {
    let mut handle: RawFd = -1;
    // SAFETY: all zeroes is a valid value of this struct of integers.
    let mut args: libc::clone_args = unsafe { mem::zeroed() };
    args.flags = flags | libc::CLONE_PIDFD as u64;
    args.pidfd = (&raw mut handle) as u64;
    args.exit_signal = libc::SIGCHLD as u64;
    if let Some(group) = group {
        args.flags |= INTO_CGROUP;
        args.cgroup = group.as_raw_fd() as u64;
    }
    // SAFETY: without CLONE_VM and CLONE_THREAD this is a fork: the child has memory of its own. There is one thread,
    // so no lock is held by another. `args` and `handle` outlive the call.
    let pid = unsafe {
        libc::syscall(libc::SYS_clone3, &raw mut args, mem::size_of::<libc::clone_args>())
    };
    match pid {
        -1 => Err(match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::ENOSYS) => io::Error::other(NO_CLONE3),
            error => error,
        }),
        0 => Ok(Side::Child),
        pid => {
            // SAFETY: the kernel has just put a descriptor of ours there.
            let handle = unsafe { OwnedFd::from_raw_fd(handle) };
            let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
            let pid = pid.ok_or_else(|| io::Error::other("a process without a number"))?;
            Ok(Side::Parent(Child { pid, handle }))
        }
    }
}

/// Every kernel that has landlock has this call: somebody refuses it, as our own filter does.
const NO_CLONE3: &str = "clone3 is refused, as in every cage: within one, no other is made";

/// `CLONE_INTO_CGROUP`, which does not fit into the type that libc gives it.
const INTO_CGROUP: u64 = 0x2_0000_0000;

/// Ends this process at once: nothing that the one outside has left to do is done twice.
#[expect(
    unsafe_code,
    reason = "std only knows how to exit with everything that was registered for it"
)]
pub(crate) fn exit(code: i32) -> ! {
    // SAFETY: ends the process; nothing is run in it any more.
    unsafe { libc::_exit(code) }
}

/// Sets what a mount forbids, and every mount below it as well if asked.
#[expect(unsafe_code, reason = "rustix does not have mount_setattr")]
pub(crate) fn restrict_mount(mount: impl AsFd, attributes: u64, below: bool) -> io::Result<()> {
    let attr = libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let flags = libc::AT_EMPTY_PATH | if below { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is an empty C string, `attr` outlives the call and its size is given.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_fd().as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attr,
            mem::size_of::<libc::mount_attr>(),
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Marks every descriptor from this one on as one that ends with `exec`.
#[expect(unsafe_code, reason = "rustix does not have close_range")]
pub(crate) fn close_on_exec_from(first: u32) -> io::Result<()> {
    // SAFETY: only sets a flag on descriptors; whoever owns them still does.
    let done =
        unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Switches the loopback interface on.
#[expect(unsafe_code, reason = "an interface is switched on by ioctl")]
pub(crate) fn loopback_up() -> io::Result<()> {
    let socket = rustix::net::socket(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::DGRAM,
        None,
    )?;
    // SAFETY: all zeroes is a valid value of this struct of plain data.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = *from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: `request` is what this ioctl reads, and outlives the call.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw mut request) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// No signal is blocked and each does what it does by default: what a program expects to begin with.
#[expect(unsafe_code, reason = "signal masks are changed by libc only")]
pub(crate) fn default_signals() -> io::Result<()> {
    // SAFETY: all zeroes is a valid value; `sigemptyset` makes it the empty set in any case.
    let mut none: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: `none` is a set of ours.
    unsafe { libc::sigemptyset(&raw mut none) };
    for signal in 1..=LAST_SIGNAL {
        // SAFETY: setting the default action runs no code of ours; signals that cannot be set are an error we pass over.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: `none` outlives the call; the old mask is not asked for.
    let done =
        unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut()) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The last real-time signal.
const LAST_SIGNAL: i32 = 64;
