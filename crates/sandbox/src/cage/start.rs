//! Making a cage, from outside: everything is in place before anything runs, and what holds is known.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::process::{Pid, getgid, getuid};

use super::belongings;
use super::bubblewrap::Bubblewrap;
use super::cgroup::Group;
use super::channel::{Channel, Word};
use super::error::{CageError, Step};
use super::first::{First, Tree, live};
use super::fresh::Fresh;
use super::kept::Kept;
use super::kernel_limits::{Bounds, need_a_group, write_existing};
use super::ladder::{Held, Hold, Rung};
use super::leave::Leave;
use super::running::Running;
use super::settings::{Cage, Inmate, Maker, Network};
use super::signals::Signals;
use super::stdio::no_directory_is_handed_over;
use super::sys::{self, NAMESPACES, Side};
use super::terminal::same_size;
use super::view::View;

/// A program in its cage that has not begun yet.
pub struct Waiting {
    pub(crate) held: Held,
    pub(crate) inner: Channel,
    pub(crate) running: Running,
    listener: Option<TcpListener>,
}

impl Cage {
    /// Puts everything in place. Nothing of the program runs before [`Waiting::begin`].
    ///
    /// `leave` is asked while the cage puts itself together (judging and recording take about as long); it must leave no
    /// thread behind.
    ///
    /// # Errors
    ///
    /// There is no leave, or it is for something else; what is needed does not hold, settings make no sense, or a step
    /// failed: nothing has run.
    pub fn put(
        &self,
        inmate: &Inmate,
        leave: impl FnOnce() -> Result<Leave, CageError> + Send,
    ) -> Result<Waiting, CageError> {
        let (mut ask, mut given) = (Some(leave), None);
        let waiting = self.make(inmate, &mut || {
            given = ask.take().map(|ask| ask()).transpose()?;
            Ok(())
        })?;
        let nobody = || CageError::Settings("nobody gave leave to run it".to_owned());
        given.ok_or_else(nobody)?.lets(inmate)?;
        Ok(waiting)
    }

    /// Makes a cage, takes it down and says what held. Nothing runs in it.
    ///
    /// # Errors
    ///
    /// As [`Cage::put`].
    pub fn trial(&self) -> Result<Held, CageError> {
        let nobody =
            Inmate { words: vec!["/bin/sh".into()], directory: "/".into(), ..Inmate::default() };
        self.make(&nobody, &mut || Ok(())).map(|it| it.held)
    }

    fn make(
        &self,
        inmate: &Inmate,
        meanwhile: &mut (dyn FnMut() -> Result<(), CageError> + Send),
    ) -> Result<Waiting, CageError> {
        inmate.program()?;
        no_directory_is_handed_over()?;
        let view = View::of(self)?;
        let mut kept = Kept::default();
        let mut both = || {
            kept = Kept::of(self, view.nested.clone());
            meanwhile()
        };
        let mut meanwhile = Once(Some(&mut both));
        let with = self.with_namespaces(inmate, &view, &mut meanwhile);
        let mut waiting = with.or_else(|why| match why {
            Without::For(why) => self.otherwise(inmate, &view, &why, &mut meanwhile),
            Without::Failed(error) => Err(error),
        })?;
        if let Some((rung, why)) = waiting.held.lacks(&self.needed()) {
            return Err(CageError::Required { rung, why });
        }
        if !waiting.held.is_a_cage() {
            return Err(CageError::NoCage(waiting.held.to_string()));
        }
        if waiting.held.holds(Rung::Namespaces) {
            kept.watch(view.kept.iter().chain(&view.covered).chain(&waiting.running.closed));
        }
        waiting.running.kept = kept;
        Ok(waiting)
    }

    fn with_namespaces(
        &self,
        inmate: &Inmate,
        view: &View,
        meanwhile: &mut Once<'_>,
    ) -> Result<Waiting, Without> {
        if self.without.contains(&Rung::Namespaces) {
            return Err(Without::For("left out".to_owned()));
        }
        if self.maker == Maker::Bubblewrap {
            return Err(Without::For("bubblewrap is to make them".to_owned()));
        }
        if !view.has_room_for(&inmate.directory) {
            let at = inmate.directory.display();
            let why =
                "the command would start in, is not among what it is given (--workspace, --read)";
            return Err(CageError::Settings(format!("`{at}`, which {why}")).into());
        }
        let (group, mut held) = self.group(false);
        let kinds = "user, mount, pid, ipc, uts, net, cgroup";
        held.note(Rung::Namespaces, Hold::Held(kinds.to_owned()));
        let ends = Ends::make()?;
        let born_into = group.as_ref().and_then(|it| it.born_into.as_ref());
        match sys::fork(NAMESPACES, born_into) {
            Ok(Side::Child) => {
                drop((ends.outside.0, ends.inner.0));
                let first = self.first(inmate, view, held, group.as_ref());
                live(first, ends.outside.1, ends.inner.1)
            }
            Ok(Side::Parent(child)) => {
                drop((ends.outside.1, ends.inner.1));
                map_users(child.pid).map_err(|error| Without::For(error.to_string()))?;
                join(group.as_ref(), child.pid)?;
                let running = Running::new(child, ends.outside.0, group, self.limits.wall_time);
                self.settle(running, view, ends.inner.0, meanwhile)
            }
            // Forbidden, or too many of them: what is left must hold without.
            Err(error) if error.kind() == std::io::ErrorKind::StorageFull => {
                Err(Without::For(NO_MORE.to_owned()))
            }
            Err(error) => Err(Without::For(format!("the system refuses them: {error}"))),
        }
    }

    /// Where we may not make namespaces: bubblewrap if it may, landlock and the filter alone if not.
    fn otherwise(
        &self,
        inmate: &Inmate,
        view: &View,
        why: &str,
        meanwhile: &mut Once<'_>,
    ) -> Result<Waiting, CageError> {
        belongings::need_own_tree(self, why)?;
        let left_out = self.without.contains(&Rung::Namespaces) || self.maker == Maker::Own;
        let may = match left_out {
            true => Err(String::new()),
            // Its network cannot be reached from here, so it cannot have a way out.
            false if self.network != Network::None => Err("bubblewrap has no way out".to_owned()),
            false => Bubblewrap::find(),
        };
        match may {
            Ok(program) => {
                let hold = Hold::Held("user, mount, pid, ipc, uts, net, by bubblewrap".to_owned());
                self.without_namespaces(inmate, view, hold, Some(program), meanwhile)
            }
            Err(more) => {
                let between = if more.is_empty() { "" } else { "; " };
                let why = format!("{why}{between}{more}");
                if self.network != Network::None {
                    let why = format!("{ONLY_IN_ITS_OWN} ({why})");
                    return Err(CageError::Required { rung: Rung::Namespaces, why });
                }
                let hold = Hold::Missing(why);
                self.without_namespaces(inmate, view, hold, None, meanwhile)
            }
        }
    }

    fn without_namespaces(
        &self,
        inmate: &Inmate,
        view: &View,
        namespaces: Hold,
        bubblewrap: Option<PathBuf>,
        meanwhile: &mut Once<'_>,
    ) -> Result<Waiting, CageError> {
        let (group, mut held) = self.group(true);
        held.note(Rung::Namespaces, namespaces);
        // Bubblewrap makes fresh places itself.
        let fresh = if bubblewrap.is_none() { Some(Fresh::make()?) } else { None };
        let ends = Ends::make().map_err(Without::into_error)?;
        match sys::fork(0, group.as_ref().and_then(|it| it.born_into.as_ref()))
            .step("start a process")?
        {
            Side::Child => {
                drop((ends.outside.0, ends.inner.0));
                let mut first = self.first(inmate, view, held, group.as_ref());
                let host = fresh.as_ref().map(|it| Tree::Host(it.path()));
                first.tree = bubblewrap.map(Tree::Made).or(host).unwrap_or(Tree::Own);
                live(first, ends.outside.1, ends.inner.1)
            }
            Side::Parent(child) => {
                drop((ends.outside.1, ends.inner.1));
                join(group.as_ref(), child.pid).map_err(Without::into_error)?;
                let mut running = Running::new(child, ends.outside.0, group, self.limits.wall_time);
                running.fresh = fresh;
                running.ends_itself = true;
                self.settle(running, view, ends.inner.0, meanwhile).map_err(Without::into_error)
            }
        }
    }

    fn first<'a>(
        &'a self,
        inmate: &'a Inmate,
        view: &'a View,
        held: Held,
        group: Option<&Group>,
    ) -> First<'a> {
        First {
            cage: self,
            inmate,
            view,
            held,
            tree: Tree::Own,
            bounds: Bounds {
                group_of_processes: group.is_some_and(|it| it.holds_processes),
                namespace: false,
                group_of_memory: group.is_some(),
            },
        }
    }

    fn group(&self, nothing_else: bool) -> (Option<Group>, Held) {
        let is_needed = nothing_else || need_a_group() || self.needed().contains(&Rung::Cgroup);
        let mut held = Held::default();
        let group = match self.without.contains(&Rung::Cgroup) {
            true => Err("left out".to_owned()),
            false => Group::make(&self.limits, is_needed),
        };
        match group {
            Ok(group) => {
                let mib = self.limits.memory_bytes >> 20;
                held.note(Rung::Cgroup, Hold::Held(format!("{mib} MiB of memory")));
                (Some(group), held)
            }
            Err(why) => {
                held.note(Rung::Cgroup, Hold::Missing(why));
                (None, held)
            }
        }
    }

    /// Lets the first process go on and hears what holds.
    fn settle(
        &self,
        mut running: Running,
        view: &View,
        inner: Channel,
        meanwhile: &mut Once<'_>,
    ) -> Result<Waiting, Without> {
        running.say(&Word::Mapped)?;
        // To judge and record waits for a disk, to look for secrets for directories.
        std::thread::scope(|scope| {
            let aside = std::thread::Builder::new()
                .spawn_scoped(scope, || meanwhile.run())
                .step("judge the command beside it")?;
            running.closed = view.rest(self);
            // If nobody is there to hear it, why is told below.
            let _gone = inner.say(&Word::Cover(running.closed.clone()));
            let panicked = |_| CageError::step("judge the command", "it panicked");
            aside.join().map_err(panicked).flatten()
        })?;
        // Before the program begins, so that none is lost between; and while the cage is still busy with itself.
        running.signals = Some(Signals::take().step("take signals")?);
        let listener = match self.network {
            Network::Proxy(_) => Some(running.listener()?),
            Network::None => None,
        };
        match inner.hear().step("hear what holds")? {
            Some((Word::Held(held), terminal)) => {
                running.terminal = terminal;
                running.settled()?;
                Ok(Waiting { held, inner, running, listener })
            }
            Some((Word::Failed { step, why }, _)) => Err(CageError::Step { step, why }.into()),
            Some((Word::Refused(why), _)) => Err(Without::For(why)),
            // One of both ended; if it could say why, it did so to the other channel.
            Some(_) | None => Err(running.why_not()),
        }
    }
}

impl Waiting {
    /// What holds it.
    #[must_use]
    pub fn held(&self) -> &Held {
        &self.held
    }

    /// Where our proxy is asked from inside. Whoever takes it answers there.
    pub fn take_listener(&mut self) -> Option<TcpListener> {
        self.listener.take()
    }

    /// Lets the program run.
    ///
    /// # Errors
    ///
    /// The cage is gone.
    pub fn begin(self) -> Result<Running, CageError> {
        let Self { inner, mut running, .. } = self;
        running.terminal.iter().for_each(same_size);
        let closed = std::mem::take(&mut running.closed);
        running.say(&Word::Watch(closed))?;
        inner.say(&Word::Go).step("let the program run")?;
        running.inner = Some(inner);
        Ok(running)
    }
}

/// Landlock knows ports and no addresses: at the port of our proxy every host of the world would be reached.
const ONLY_IN_ITS_OWN: &str = "a way out is one way only from a network of its own";

/// How the kernel says that there are none left is `No space left on device`.
const NO_MORE: &str = "the system allows no more of them (sysctl user.max_user_namespaces)";

/// Something that is done once, however many ways are tried.
struct Once<'a>(Option<&'a mut (dyn FnMut() -> Result<(), CageError> + Send)>);

impl Once<'_> {
    fn run(&mut self) -> Result<(), CageError> {
        self.0.take().map_or(Ok(()), |it| it())
    }
}

/// Why there are no namespaces: a reason to go on without, or none.
pub(crate) enum Without {
    For(String),
    Failed(CageError),
}

impl Without {
    fn into_error(self) -> CageError {
        match self {
            Self::For(why) => CageError::step("make a cage", why),
            Self::Failed(error) => error,
        }
    }
}

impl From<CageError> for Without {
    fn from(error: CageError) -> Self {
        Self::Failed(error)
    }
}

/// Both ends of both channels.
struct Ends {
    outside: (Channel, Channel),
    inner: (Channel, Channel),
}

impl Ends {
    fn make() -> Result<Self, Without> {
        let pair = || Channel::pair().step("make a channel");
        Ok(Self { outside: pair()?, inner: pair()? })
    }
}

/// Inside everybody is who they are outside, alone and without privilege.
fn map_users(pid: Pid) -> std::io::Result<()> {
    let dir = PathBuf::from(format!("/proc/{}", pid.as_raw_nonzero()));
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    write_existing(dir.join("setgroups"), "deny")?;
    write_existing(dir.join("uid_map"), &format!("{user} {user} 1"))?;
    write_existing(dir.join("gid_map"), &format!("{group} {group} 1"))
}

fn join(group: Option<&Group>, pid: Pid) -> Result<(), Without> {
    group.map_or(Ok(()), |it| it.take(pid).step("join the cgroup")).map_err(Without::from)
}

/// The outer end of the cage's terminal.
pub(crate) type Terminal = OwnedFd;
