//! The last steps before the program: what is still allowed is given up, one after the other, and then it runs.

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;

use rustix::process::{chdir, setsid};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, remove_capability_from_bounding_set,
    set_capabilities, set_capabilities_secure_bits, set_no_new_privs,
};
use seccompiler::BpfProgram;

use super::bubblewrap::Bubblewrap;
use super::channel::{Channel, Word};
use super::error::{CageError, Step};
use super::first::Tree;
use super::ladder::{Held, Hold, Rung};
use super::memory::Memory;
use super::seccomp::DENIED_SYSCALLS;
use super::settings::{Cage, Inmate};
use super::view::View;
use super::{bubblewrap, environment, landlock, limits, sys};

/// The highest capability that is tried to be given up; the kernel refuses numbers that it does not know.
const LAST_CAPABILITY: u32 = 63;

/// What the last steps need to know.
pub(crate) struct Last<'a> {
    pub(crate) cage: &'a Cage,
    pub(crate) inmate: &'a Inmate,
    pub(crate) view: &'a View,
    /// What holds so far.
    pub(crate) held: Held,
    pub(crate) tree: Tree,
    /// The port of our proxy, if there is a way to the network.
    pub(crate) proxy_port: Option<u16>,
    /// Which calls of the program the kernel refuses.
    pub(crate) filter: BpfProgram,
    /// Who bounds memory.
    pub(crate) memory: Memory,
}

/// Gives up what is left, waits for the word to begin, and becomes the program. Returns only if that failed.
pub(crate) fn become_it(last: Last<'_>, outside: &Channel) -> Result<Infallible, CageError> {
    let Last { cage, inmate, proxy_port, .. } = last;
    let (tree, mut held) = (last.tree.clone(), last.held.clone());
    if !matches!(tree, Tree::Made(_)) {
        let directory = inmate.directory.as_path();
        // In a tree of its own it would not be there; on the host's it would be, with nothing in it to be seen.
        let given =
            |fresh: &std::path::PathBuf| last.view.shows(directory) || directory.starts_with(fresh);
        if matches!(&tree, Tree::Host(fresh) if !given(fresh)) {
            let step = format!("enter {}", directory.display());
            return Err(CageError::step(step, "it was not given"));
        }
        chdir(directory).step(format!("enter {}", directory.display()))?;
    }
    if !matches!(tree, Tree::Made(_)) {
        drop_capabilities(CapabilitySet::empty())?;
    }
    setsid().step("begin a session")?;
    let terminal = if inmate.terminal { Some(terminal()?) } else { None };
    if !cage.without.contains(&Rung::Limits) {
        let and_memory = last.memory == Memory::Limit;
        limits::apply(&cage.limits, and_memory).step("set a limit")?;
    }
    if !matches!(tree, Tree::Made(_)) {
        // Bubblewrap needs what its system gives it, and gives it up itself.
        set_no_new_privs(true).step("give up new privileges")?;
    }
    let maker = give_up(&tree, &last, &mut held)?;
    let handed = terminal.as_ref().map(|it| it.0.as_fd());
    outside.say_with(&Word::Held(held), handed).step("tell what holds")?;
    match outside.hear().step("wait for the word to begin")? {
        Some((Word::Go, _)) => {}
        _ => return Err(CageError::step("begin", "nobody said so")),
    }
    if let Some((_, slave)) = terminal {
        rustix::stdio::dup2_stdin(&slave).step("take the terminal")?;
        rustix::stdio::dup2_stdout(&slave).step("take the terminal")?;
        rustix::stdio::dup2_stderr(&slave).step("take the terminal")?;
    }
    sys::close_on_exec_from(FIRST_AFTER_STDERR).step("keep descriptors outside")?;
    sys::default_signals().step("let signals be what they are")?;
    let words = match &maker {
        Some(maker) => {
            // Bubblewrap would end with a code that says nothing.
            bubblewrap::find_program(inmate)?;
            maker.words(&inmate.words)?
        }
        None => inmate.words.clone(),
    };
    let fresh = match &tree {
        Tree::Host(fresh) => Some(fresh.as_path()),
        Tree::Own | Tree::Made(_) => None,
    };
    Err(run(&words, inmate, &environment::added(&cage.network, proxy_port, fresh)))
}

/// The rungs of the process itself. Where bubblewrap makes the tree, it is handed the filter to put it on last.
fn give_up(tree: &Tree, last: &Last<'_>, held: &mut Held) -> Result<Option<Bubblewrap>, CageError> {
    let left_out = |rung| last.cage.without.contains(&rung);
    let missing = || Hold::Missing("left out".to_owned());
    let hold = match tree {
        _ if left_out(Rung::Landlock) => missing(),
        Tree::Own => landlock::over_own_tree(last.view)?,
        Tree::Host(fresh) => landlock::over_host_tree(last.view, fresh)?,
        Tree::Made(_) => Hold::Missing("bubblewrap cannot make it".to_owned()),
    };
    held.note(Rung::Landlock, hold);
    let (hold, maker) = match tree {
        _ if left_out(Rung::Seccomp) => (missing(), None),
        Tree::Made(program) => {
            let maker = Bubblewrap::new(program, last)?;
            (Hold::Held(refused_calls()), Some(maker))
        }
        Tree::Own | Tree::Host(_) => {
            seccompiler::apply_filter(&last.filter).step("seccomp")?;
            (Hold::Held(refused_calls()), None)
        }
    };
    held.note(Rung::Seccomp, hold);
    Ok(maker)
}

fn refused_calls() -> String {
    format!("{} calls refused", DENIED_SYSCALLS.len())
}

/// The first descriptor after stdin, stdout and stderr.
const FIRST_AFTER_STDERR: u32 = 3;

/// Becomes the program.
#[expect(clippy::disallowed_methods, reason = "this is where a process is started, in its cage")]
fn run(words: &[OsString], inmate: &Inmate, more: &[(&str, OsString)]) -> CageError {
    let (program, rest) = match words.split_first() {
        Some((program, rest)) => (program.as_os_str(), rest),
        None => (OsStr::new(""), [].as_slice()),
    };
    let mut command = std::process::Command::new(program);
    command.args(rest).env_clear();
    command.envs(inmate.environment.iter().map(|(name, value)| (name, value)));
    command.envs(more.iter().map(|(name, value)| (name, value)));
    let error = command.exec();
    let code = if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 };
    let program = program.to_string_lossy().into_owned();
    CageError::Program { program, why: error.to_string(), code }
}

/// A terminal of the cage's own: what is outside, what is inside.
fn terminal() -> Result<(OwnedFd, OwnedFd), CageError> {
    let step = "make a terminal";
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let outside = openpt(flags).step(step)?;
    grantpt(&outside).step(step)?;
    unlockpt(&outside).step(step)?;
    let inside = ioctl_tiocgptpeer(&outside, flags).step(step)?;
    rustix::process::ioctl_tiocsctty(&inside).step(step)?;
    Ok((outside, inside))
}

/// No capability but these now, and none by any program that is started.
pub(crate) fn drop_capabilities(but: CapabilitySet) -> Result<(), CageError> {
    for number in 0..=LAST_CAPABILITY {
        let Some(capability) = capability(number) else { continue };
        match remove_capability_from_bounding_set(capability) {
            // We have no say in it, and can start nothing with it either.
            Ok(()) | Err(rustix::io::Errno::PERM) => {}
            // The kernel knows no more of them.
            Err(rustix::io::Errno::INVAL) => break,
            Err(error) => return Err(CageError::step("give up capabilities", error)),
        }
    }
    let _needs_a_capability_itself = set_capabilities_secure_bits(
        CapabilitiesSecureBits::NO_ROOT | CapabilitiesSecureBits::NO_ROOT_LOCKED,
    );
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: but, permitted: but, inheritable: none };
    set_capabilities(None, sets).step("give up capabilities")
}

fn capability(number: u32) -> Option<CapabilitySet> {
    1u64.checked_shl(number).map(CapabilitySet::from_bits_retain)
}
