//! The first process of a cage: it makes the tree, starts the program, passes signals on, and its end is the end of all.
//!
//! With namespaces it is number one inside, and the kernel ends everything with it. Without them it adopts what its
//! descendants leave behind and ends that itself.

use std::borrow::Cow;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, kill_process,
    kill_process_group, pidfd_open, set_child_subreaper, set_dumpable_behavior,
    set_parent_process_death_signal, setsid, wait,
};
use rustix::thread::CapabilitySet;

use super::channel::{Channel, Word};
use super::error::{CageError, Step};
use super::fresh::take_away;
use super::hosts;
use super::inmate::{Last, become_it, drop_capabilities};
use super::kept::LOOK_EVERY;
use super::kernel_limits::{self, Bounds, write_existing};
use super::ladder::{Held, Hold, Rung};
use super::memory::{Memory, Watch};
use super::mounts;
use super::seccomp::{self, Sockets};
use super::settings::{Cage, Inmate, Network, PROXY_PORT};
use super::sys::{self, Side};
use super::view::View;

/// What the first process is told.
pub(crate) struct First<'a> {
    pub(crate) cage: &'a Cage,
    pub(crate) inmate: &'a Inmate,
    pub(crate) view: &'a View,
    pub(crate) held: Held,
    pub(crate) tree: Tree,
    pub(crate) bounds: Bounds,
}

/// Which file tree the program sees, and who makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    /// One of its own, made by the first process.
    Own,
    /// One of its own, made by this program (bubblewrap).
    Made(PathBuf),
    /// The host's, as far as landlock lets it; this is for its temporary files.
    Host(PathBuf),
}

/// How often the first process looks for what its descendants left behind, and for what has come off in its tree.
fn timespec(pause: Duration) -> Timespec {
    Timespec { tv_sec: 0, tv_nsec: i64::from(pause.subsec_nanos()) }
}
/// Rounds of ending what is left where there is no namespace that ends with us.
const ROUNDS_MAX: u32 = 1000;
const ROUND_PAUSE: Duration = Duration::from_millis(1);

/// Does everything and ends. `outside` is for this process, `inner` for the one that becomes the program.
pub(crate) fn live(first: First<'_>, outside: Channel, inner: Channel) -> ! {
    let (tree, view) = (first.tree.clone(), first.view);
    let watch = match Memory::of(&tree, first.bounds) {
        Memory::Watched if !first.cage.without.contains(&Rung::Limits) => {
            Some(Watch::new(first.cage.limits.memory_bytes))
        }
        Memory::Watched | Memory::Group | Memory::Limit => None,
    };
    let done = begin(first, &outside, inner)
        .and_then(|inmate| follow(inmate, &outside, &tree, view, watch));
    let Err(error) = done else { sys::exit(0) };
    let word = match error {
        CageError::Step { step, why } => Word::Failed { step, why },
        other @ (CageError::Required { .. }
        | CageError::NoCage(_)
        | CageError::Settings(_)
        | CageError::Program { .. }) => {
            Word::Failed { step: "make a cage".to_owned(), why: other.to_string() }
        }
    };
    // If nobody listens any more, nobody needs to be told.
    let _gone = outside.say(&word);
    sys::exit(1)
}

/// Makes the cage and starts the last process in it.
fn begin(first: First<'_>, outside: &Channel, inner: Channel) -> Result<Pid, CageError> {
    let First { cage, inmate, view, mut held, tree, mut bounds } = first;
    // What is sent to the group of the one outside is not meant for us: it passes on what it is sent itself.
    setsid().step("begin a session")?;
    if tree == Tree::Own {
        // The kernel ends the whole namespace with us. Without one we have to stay and do it ourselves: that the one
        // outside is gone is heard on the channel.
        set_parent_process_death_signal(Some(Signal::KILL)).step("end with the one outside")?;
    }
    // While the one outside tells the kernel who is who.
    let filter = seccomp::program(sockets(&tree))?;
    match outside.hear().step("wait for users")? {
        Some((Word::Mapped, _)) => {}
        _ => sys::exit(1),
    }
    let (mut bare, mut proxy_port) = (None, None);
    if tree == Tree::Own {
        bounds.namespace = kernel_limits::processes(&cage.limits);
        proxy_port = own_names(&cage.network, outside)?;
        bare = Some(mounts::begin(view, cage.limits.fresh_bytes)?);
    } else {
        set_child_subreaper(Some(rustix::process::getpid())).step("adopt what is left behind")?;
    }
    held.note(
        Rung::Limits,
        match cage.without.contains(&Rung::Limits) {
            true => Hold::Missing("left out".to_owned()),
            false => kernel_limits::told(&cage.limits, bounds),
        },
    );
    // What this process remembers is nobody's business inside.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).step("keep our memory closed")?;
    let (own_tree, keeps) = (tree == Tree::Own, matches!(tree, Tree::Made(_)));
    match sys::fork_the_first().step("start a process")? {
        Side::Child => {
            let view = &all_covered(view, &inner);
            // While the one outside of it waits for the kernel to let the old tree go.
            if let Some(Err(error)) = bare.map(|it| it.furnish(view)) {
                let _gone = inner.say(&Word::Refused(error.to_string()));
                sys::exit(1)
            }
            let memory = Memory::of(&tree, bounds);
            let last = Last { cage, inmate, view, held, tree, proxy_port, filter, memory };
            let word = match become_it(last, &inner) {
                Err(CageError::Program { why, code, .. }) => Word::NotRun { why, code },
                Err(CageError::Step { step, why }) => Word::Failed { step, why },
                Err(other) => Word::Failed { step: "begin".to_owned(), why: other.to_string() },
                Ok(never) => match never {},
            };
            let _gone = inner.say(&word);
            sys::exit(1)
        }
        Side::Parent(child) => {
            drop((inner, bare));
            if own_tree {
                mounts::leave_the_old()?;
                // For what has to be put back; nobody inside can make this process do anything.
                drop_capabilities(CapabilitySet::SYS_ADMIN)?;
            } else if !keeps {
                drop_capabilities(CapabilitySet::empty())?;
            }
            outside.say(&Word::Settled).step("tell that all is settled")?;
            Ok(child.pid)
        }
    }
}

/// What the filter has to let through: in a network of its own nobody is reached.
fn sockets(tree: &Tree) -> Sockets {
    match tree {
        Tree::Own | Tree::Made(_) => Sockets::OwnNetwork,
        Tree::Host(_) => Sockets::None,
    }
}

/// The view with what was still looked for.
fn all_covered<'a>(view: &'a View, inner: &Channel) -> Cow<'a, View> {
    match inner.hear() {
        Ok(Some((Word::Cover(more), _))) if more.is_empty() => Cow::Borrowed(view),
        Ok(Some((Word::Cover(more), _))) => Cow::Owned(with_covered(view, more)),
        // The one outside is gone, and waits for nothing.
        Ok(_) | Err(_) => sys::exit(1),
    }
}

fn with_covered(view: &View, more: Vec<PathBuf>) -> View {
    let mut view = view.clone();
    view.covered.extend(more);
    view
}

/// What is its own besides the tree: users, a name, a network. Gives the port of the proxy, if there is a way out.
fn own_names(network: &Network, outside: &Channel) -> Result<Option<u16>, CageError> {
    // In a further user namespace a process would have every capability.
    write_existing("/proc/sys/user/max_user_namespaces", "0").step("end user namespaces")?;
    kernel_limits::watches();
    rustix::system::sethostname(hosts::NAME.as_bytes()).step("name the host")?;
    sys::loopback_up().step("switch the loopback on")?;
    match network {
        Network::None => Ok(None),
        Network::Proxy(_) => {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, PROXY_PORT)).step("listen")?;
            outside
                .say_with(&Word::Listening, Some(listener.as_fd()))
                .step("hand over the listener")?;
            Ok(Some(PROXY_PORT))
        }
    }
}

/// Passes signals on until the program has ended, and tells how it did.
fn follow(
    inmate: Pid,
    outside: &Channel,
    tree: &Tree,
    view: &View,
    mut memory: Option<Watch>,
) -> Result<(), CageError> {
    let handle = pidfd_open(inmate, PidfdFlags::empty()).step("follow the program")?;
    let (mut watched, mut looked) = (None, Instant::now());
    loop {
        if looked.elapsed() >= LOOK_EVERY {
            watched.iter().for_each(mounts::put_back);
            looked = Instant::now();
        }
        let mut ready = [PollFd::new(outside, PollFlags::IN), PollFd::new(&handle, PollFlags::IN)];
        let pause = memory.as_mut().map_or(LOOK_EVERY, |it| it.look().min(LOOK_EVERY));
        match poll(&mut ready, Some(&timespec(pause))) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(CageError::step("follow the program", error)),
        }
        if ready.first().is_some_and(|it| !it.revents().is_empty()) {
            match outside.hear().step("hear the one outside")? {
                Some((Word::Signal(number), _)) => pass_on(inmate, number),
                Some((Word::Watch(more), _)) if *tree == Tree::Own => {
                    watched = Some(with_covered(view, more));
                }
                Some(_) => {}
                // The one outside is gone: so is everything.
                None => {
                    let ended = end_all();
                    // If it was killed, nobody else takes this away.
                    if let Tree::Host(fresh) = tree {
                        take_away(fresh);
                    }
                    return ended;
                }
            }
        }
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid == inmate {
                end_all()?;
                let _gone = outside.say(&told(status));
                return Ok(());
            }
        }
    }
}

fn told(status: WaitStatus) -> Word {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Word::Exited(u8::try_from(code).unwrap_or(u8::MAX)),
        (None, Some(signal)) => Word::Killed(signal),
        (None, None) => Word::Exited(u8::MAX),
    }
}

/// To the program's whole group, as a terminal does.
fn pass_on(inmate: Pid, number: i32) {
    if let Some(signal) = Signal::from_named_raw(number) {
        // It may have ended a moment ago.
        let _gone = kill_process_group(inmate, signal);
    }
}

/// Ends whatever the program left behind. In a namespace the kernel does so when we exit.
///
/// # Errors
///
/// Something is still there, and nobody will end it: whoever relies on an end must know.
fn end_all() -> Result<(), CageError> {
    if rustix::process::getpid().as_raw_nonzero().get() == 1 {
        return Ok(());
    }
    for _ in 0..ROUNDS_MAX {
        while let Some(gone) = wait(WaitOptions::NOHANG).transpose() {
            if gone.is_err() {
                // There is nobody to wait for.
                return Ok(());
            }
        }
        let text = std::fs::read_to_string("/proc/thread-self/children").step(END_ALL)?;
        // Their own children come to us when they are gone, and are ended in the next round.
        for child in text.split_whitespace().filter_map(|it| Pid::from_raw(it.parse().ok()?)) {
            let _gone = kill_process(child, Signal::KILL);
        }
        std::thread::sleep(ROUND_PAUSE);
    }
    Err(CageError::step(END_ALL, "it begins anew faster than it is ended"))
}

const END_ALL: &str = "end what the program left behind";
