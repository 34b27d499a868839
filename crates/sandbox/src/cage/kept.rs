//! What was not there when a command began and would be obeyed if it were there now: it is set aside when the command has
//! ended, and told. So are settings and hooks of repositories that it has made anywhere in a workspace, unless they are
//! what git itself makes.
//!
//! What is there is mounted over and cannot be changed. A name that is not there cannot be forbidden in a directory that
//! may be written. So such a file is there for a moment, until we look again, and it stays if we are killed before; then the
//! next cage keeps it.

mod aside;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use model::places;

use super::error::CageError;
use super::git::{self, Parts};
use super::given::{kept_places, real};
use super::listing::Listing;
use super::made::MadeKeys;
use super::nested::{Nested, opened_by_editors};
use super::rebase;
use super::settings::Cage;
use super::way::Way;

use aside::{Around, Before, Place, restore};

pub use aside::SetAside;

/// How the places of all workspaces looked before.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    before: Vec<(Place, Before)>,
    nested: Nested,
    workspaces: Vec<PathBuf>,
    /// What the person lets the command change.
    changed: Vec<PathBuf>,
    /// Steps of rebases that run something, and where they stand.
    steps: BTreeSet<(PathBuf, Vec<u8>)>,
    /// Where keys that commands make are remembered.
    state: Option<PathBuf>,
    /// Where files of git lead that lead nowhere yet.
    nowhere: Vec<PathBuf>,
    /// Submodules that were there, and links in their place.
    modules: BTreeSet<PathBuf>,
    /// What was set aside while the command ran.
    meanwhile: Vec<SetAside>,
    /// What is kept or covered by a mount, and which file that lies on.
    watched: Vec<(PathBuf, Option<Which>)>,
    /// What came to lie open, because somebody outside put another file in its place.
    open: Vec<PathBuf>,
}

/// One file, told from another that has its name later: where, which, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Which(u64, u64, Option<SystemTime>);

impl Which {
    fn of(at: &Path) -> Option<Self> {
        let meta = at.symlink_metadata().ok()?;
        Some(Self(meta.dev(), meta.ino(), meta.created().ok()))
    }
}

/// How often we look whether something was made that somebody outside would obey.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often a command may make one of these places while it runs.
const AGAIN_MAX: usize = 10;
/// Places that are looked at while it runs: those of the workspaces, and of about twenty repositories in them.
const LOOKED_AT_MAX: usize = 1500;

/// What git obeys of a repository that was not there before, seen from the directory that it is in.
const OF_NEW_REPOSITORIES: &[&str] =
    &[".git", ".git/commondir", ".git/config", ".git/config.worktree", ".git/hooks"];
/// The same of a directory that is a repository itself.
const OF_NEW_BARE: &[&str] = &["commondir", "config", "config.worktree", "hooks"];

impl Kept {
    /// Looks at the places of these workspaces and of the repositories in them. What is a file or directory is kept by
    /// other means.
    pub(crate) fn of(cage: &Cage, nested: Nested) -> Self {
        let (workspaces, home) = (&cage.workspaces, cage.home.as_deref());
        let (own, changed) = (workspaces.clone(), cage.changed.clone());
        let state = cage.state.clone();
        let mut kept = Self { workspaces: own, changed, state, ..Self::default() };
        kept.steps = rebase::running(&nested, &[], &[]);
        let of_home = places::SHELL_FILES.iter().filter_map(|it| Some(home?.join(it)));
        // Most of them are no links, or not there.
        let of_home = of_home.filter(|it| it.parent() != home || it.is_symlink());
        let led_by_git = nested.roots().flat_map(|it| git::leads(it));
        let mut ways: Vec<Place> =
            of_home.chain(led_by_git).map(|at| Place { at, is_above: false }).collect();
        let mut links: Vec<PathBuf> = Vec::new();
        let listed = Listing::of(workspaces.iter().map(PathBuf::as_path));
        for place in all_places(&nested, workspaces, &listed) {
            if links.iter().any(|it| place.at.starts_with(it)) {
                ways.push(place.clone());
            }
            // Hardly any of these is there.
            if !listed.may_have(&place.at) {
                kept.before.push((place, Before::Nothing));
                continue;
            }
            match place.at.symlink_metadata() {
                // What it lies in is closed to us, and kept as a whole.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
                Err(_) => kept.before.push((place, Before::Nothing)),
                Ok(meta) if meta.is_symlink() => {
                    links.push(place.at.clone());
                    ways.push(place.clone());
                    if let Ok(target) = std::fs::read_link(&place.at) {
                        kept.before.push((place, Before::Link(target)));
                    }
                }
                Ok(_) => {}
            }
        }
        ways.iter().for_each(|it| kept.add_way_to(it));
        let led_to = nested.roots().filter_map(|it| git::led_to(it));
        kept.nowhere.extend(led_to.filter(|it| !it.exists()));
        for parts in nested.roots().map(|it| Parts::of_modules(it)) {
            kept.modules.extend(parts.repositories.into_iter().chain(parts.links));
        }
        kept.nested = nested;
        kept
    }

    /// What leads to a place over links stays as it is, and what is not there yet does not come to be there.
    fn add_way_to(&mut self, place: &Place) {
        let Way { links, absent } = Way::of(&place.at);
        if links.is_empty() {
            return;
        }
        let last = absent.len().saturating_sub(1);
        let absent = absent.into_iter().enumerate().map(|(number, at)| {
            (Place { at, is_above: number < last || place.is_above }, Before::Nothing)
        });
        let links = links
            .into_iter()
            .map(|(at, target)| (Place { at, is_above: false }, Before::Link(target)));
        for (place, before) in links.chain(absent) {
            let is_known = self.before.iter().any(|(it, _)| it.at == place.at);
            let is_within = self.workspaces.iter().any(|it| place.at.starts_with(it));
            if is_within && !is_known {
                self.before.push((place, before));
            }
        }
    }

    /// Remembers what is mounted over. The kernel takes such a mount away when somebody outside puts another file in the
    /// place of what it lies on; until that is mounted over again, it lies open to the command.
    #[cfg(target_os = "linux")]
    pub(crate) fn watch<'a>(&mut self, places: impl Iterator<Item = &'a PathBuf>) {
        self.watched = places.map(|it| (it.clone(), Which::of(it))).collect();
    }

    fn see_what_lies_open(&mut self, places_max: usize) {
        for (at, before) in self.watched.iter_mut().take(places_max) {
            let now = Which::of(at);
            if now.is_some() && now != *before {
                *before = now;
                if !self.open.contains(at) {
                    self.open.push(at.clone());
                }
            }
        }
    }

    /// Sets aside what is new while the command still runs.
    ///
    /// To be told by the kernel would be quicker, but it takes 20 ms to stop being told.
    ///
    /// # Errors
    ///
    /// It makes the same again and again: sooner or later somebody outside would obey it.
    pub(crate) fn look(&mut self) -> Result<(), CageError> {
        for (place, before) in self.before.iter().take(LOOKED_AT_MAX) {
            // What was taken away is put back at the end: it may be about to be made anew.
            if place.at.symlink_metadata().is_ok() {
                let (workspaces, nested, changed) = (&self.workspaces, &self.nested, &self.changed);
                let around = Around { workspaces, nested, changed };
                self.meanwhile.extend(restore(place, before, around));
            }
        }
        self.see_what_lies_open(LOOKED_AT_MAX);
        let again = self
            .meanwhile
            .iter()
            .find(|it| self.meanwhile.iter().filter(|other| other.at == it.at).count() > AGAIN_MAX);
        match again {
            Some(it) => {
                let step = format!("keep {}", it.at.display());
                Err(CageError::step(step, "the command makes it again and again"))
            }
            None => Ok(()),
        }
    }

    /// Sets aside what is new. Nothing of the command runs any more.
    pub(crate) fn restore(&mut self) -> Vec<SetAside> {
        self.see_what_lies_open(usize::MAX);
        let kept = std::mem::take(self);
        let Self { before, nested, workspaces, nowhere, modules, meanwhile, open, .. } = &kept;
        let around = Around { workspaces, nested, changed: &kept.changed };
        let mut aside = meanwhile.clone();
        aside.extend(open.iter().map(|at| SetAside { at: at.clone(), now: None }));
        for (place, before) in before {
            aside.extend(restore(place, before, around));
        }
        let made = nested.made();
        let new = |roots: &[PathBuf], places: &[&str]| -> Vec<SetAside> {
            let each = roots.iter().flat_map(|root| places.iter().map(move |it| (root, it)));
            each.filter_map(|(root, place)| {
                let place = Place { at: root.join(place), is_above: is_above(place) };
                restore(&place, &Before::Nothing, around)
            })
            .collect()
        };
        let nowhere: Vec<PathBuf> = nowhere.iter().filter_map(|it| real(it)).collect();
        aside.extend(new(&made.repositories, OF_NEW_REPOSITORIES));
        aside.extend(new(&made.bare, OF_NEW_BARE));
        aside.extend(new(&nowhere, OF_NEW_BARE));
        let mut is_cut = made.is_cut;
        for root in nested.roots().chain(&made.repositories) {
            let Parts { mut repositories, links, is_cut: more, .. } = Parts::of_modules(root);
            repositories.retain(|it| !modules.contains(it));
            aside.extend(new(&repositories, OF_NEW_BARE));
            for at in links.into_iter().filter(|it| !modules.contains(it)) {
                let link = Place { at, is_above: false };
                aside.extend(restore(&link, &Before::Nothing, around));
            }
            is_cut |= more;
        }
        let running = rebase::running(nested, &made.repositories, &made.bare);
        let steps = running.difference(&kept.steps).map(|it| it.0.clone());
        let of_editors = nested.roots().flat_map(|it| opened_by_editors(it));
        let of_editors = of_editors.filter(|it| !nested.obeyed.contains(it));
        for at in steps.collect::<BTreeSet<_>>().into_iter().chain(of_editors) {
            let place = Place { at, is_above: false };
            aside.extend(restore(&place, &Before::Nothing, around));
        }
        MadeKeys::note(kept.state.as_deref(), &made.keys);
        if is_cut {
            // Nobody knows what else is there.
            aside.extend(workspaces.iter().map(|it| SetAside { at: it.clone(), now: None }));
        }
        aside
    }
}

/// Every place of these workspaces and repositories, and before it the directory that it lies in; then what else git
/// obeys. Each is spelled without links above it, as far as that is there.
fn all_places(nested: &Nested, workspaces: &[PathBuf], listed: &Listing) -> Vec<Place> {
    let mut all: Vec<Place> = Vec::new();
    let below = places_and_above();
    for root in nested.roots() {
        let of_root = below.iter().map(|(it, is_above)| (root.join(it), *is_above));
        all.extend(of_root.map(|(at, is_above)| Place { at, is_above }));
    }
    // A link of the home may lead to one that is not there yet.
    let of_shells =
        |it: &PathBuf| places::SHELL_FILES.iter().map(|name| it.join(name)).collect::<Vec<_>>();
    let of_shells = workspaces.iter().flat_map(of_shells);
    all.extend(of_shells.map(|at| Place { at, is_above: false }));
    let mut known: HashSet<PathBuf> = all.iter().map(|it| it.at.clone()).collect();
    // Hundreds of places lie in a few directories.
    let mut reals: HashMap<PathBuf, Option<PathBuf>> = HashMap::new();
    for at in kept_places(nested) {
        let Some((above, name)) = at.parent().zip(at.file_name()) else {
            all.push(Place { at, is_above: false });
            continue;
        };
        let of_above = || if listed.may_have(above) { real(above) } else { None };
        let dir = match reals.get(above) {
            Some(dir) => dir,
            None => reals.entry(above.to_owned()).or_insert_with(of_above),
        };
        let at = dir.as_ref().map(|it| it.join(name)).unwrap_or(at);
        if known.insert(at.clone()) {
            all.push(Place { at, is_above: false });
        }
    }
    all
}

/// Every place of a workspace, and before it the directories that it lies in, which are only on the way to it.
fn places_and_above() -> Vec<(&'static str, bool)> {
    let kept: HashSet<&str> = places::kept_at_the_top().collect();
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    for place in places::kept_at_the_top() {
        let above = place.rmatch_indices('/').filter_map(|(at, _)| place.get(..at));
        for it in above.chain([place]).filter(|it| seen.insert(*it)) {
            all.push((it, !kept.contains(it)));
        }
    }
    all
}

/// Is it only on the way to something that is kept?
fn is_above(place: &str) -> bool {
    let below = |it: &str| it.strip_prefix(place).is_some_and(|rest| rest.starts_with('/'));
    let mut all = places::kept_at_the_top();
    all.clone().all(|it| it != place) && all.any(below)
}
