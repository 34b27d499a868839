//! Which files there are inside: the system to read, the workspaces to write, fresh places, and no secret.
//!
//! What is not named does not exist. Secrets that lie in something that is named are covered, at their own place and
//! where a link leads.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use model::places;

use super::belongings;
use super::closed;
use super::error::CageError;
use super::git;
use super::given::{SYSTEM, allowed, changeable, kept_places, may_be_changed, real};
use super::listing::Listing;
use super::made::MadeKeys;
use super::nested::Nested;
use super::settings::{Access, Belonging, Cage, Line};
use super::toolchains::{self, TOOLCHAINS};

/// Files and directories of the system that hold secrets.
const SYSTEM_SECRETS: &[&str] = &[
    "/etc/NetworkManager/system-connections",
    "/etc/apt/auth.conf",
    "/etc/apt/auth.conf.d",
    "/etc/bind/rndc.key",
    "/etc/boto.cfg",
    "/etc/ceph",
    "/etc/chrony.keys",
    "/etc/chrony/chrony.keys",
    "/etc/cni",
    "/etc/consul.d",
    "/etc/cryptsetup-keys.d",
    "/etc/davfs2/secrets",
    "/etc/dovecot/private",
    "/etc/exim4/passwd.client",
    "/etc/freeradius",
    "/etc/gitlab",
    "/etc/gitlab-runner",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/ipsec.d/private",
    "/etc/ipsec.secrets",
    "/etc/iscsi/iscsid.conf",
    "/etc/krb5.keytab",
    "/etc/kubernetes",
    "/etc/lazaret",
    "/etc/ldap.secret",
    "/etc/letsencrypt",
    "/etc/libnss-ldap.secret",
    "/etc/msmtprc",
    "/etc/mysql/debian.cnf",
    "/etc/netplan",
    "/etc/nomad.d",
    "/etc/ntp.keys",
    "/etc/openvpn",
    "/etc/pki/tls/private",
    "/etc/polkit-1",
    "/etc/postfix/sasl_passwd",
    "/etc/postfix/sasl_passwd.db",
    "/etc/ppp",
    "/etc/racoon",
    "/etc/rancher",
    "/etc/rndc.key",
    "/etc/samba/credentials",
    "/etc/secrets",
    "/etc/security/opasswd",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/sssd",
    "/etc/ssl/private",
    "/etc/ssh",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/swanctl",
    "/etc/vault.d",
    "/etc/wireguard",
    "/etc/wpa_supplicant",
];
/// Leads to `/tmp` inside, unless something below it is there.
pub(crate) const OTHER_TMP: &str = "/var/tmp";

/// How deep a directory of secrets is searched for links, and how many entries of one.
const SECRET_DEPTH_MAX: u32 = 2;
const ENTRIES_MAX: usize = 1000;
/// Secret files of workspaces that are covered.
const COVERED_MAX: usize = 1000;

/// The files inside, in the order in which they are put there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct View {
    /// Links of the system's root, as they are.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// To read: at the same place as outside.
    pub(crate) readable: Vec<PathBuf>,
    /// To write: at the same place as outside.
    pub(crate) writable: Vec<PathBuf>,
    /// Files of which there is a copy at the same place, to write.
    pub(crate) copied: Vec<PathBuf>,
    /// Sockets of ours, and where they are found.
    pub(crate) lines: Vec<Line>,
    /// Fresh and empty, to write.
    pub(crate) fresh: Vec<PathBuf>,
    /// Directories within the writable that stay where they are, because of what lies in them.
    pub(crate) pinned: Vec<PathBuf>,
    /// Within the writable, but only to read.
    pub(crate) kept: Vec<PathBuf>,
    /// Not to be seen, although what they lie in is.
    pub(crate) covered: Vec<PathBuf>,
    /// What lies further down in the workspaces.
    pub(crate) nested: Nested,
    /// Of the readable, what people have installed for themselves.
    pub(crate) installed: Vec<PathBuf>,
    /// Is it root's, so that settings which are closed to others have to be covered as well ([`View::rest`])?
    pub(crate) is_roots: bool,
}

impl View {
    /// What a cage shows.
    pub(crate) fn of(cage: &Cage) -> Result<Self, CageError> {
        let is_roots = rustix::process::geteuid().is_root();
        let mut view = Self { is_roots, ..Self::default() };
        view.system();
        let home = cage.home.as_deref();
        cage.workspaces.iter().try_for_each(|it| changeable(it, cage))?;
        cage.readable.iter().try_for_each(|it| allowed(it, cage))?;
        let given =
            |it: &Path| cage.workspaces.iter().chain(&cage.readable).any(|dir| it.starts_with(dir));
        if let Some(other) = cage.shown.iter().find(|it| !given(it)) {
            let why = "lies in no workspace and nothing else that is given, so it cannot be shown";
            return Err(CageError::Settings(format!("`{}` {why}", other.display())));
        }
        view.writable.clone_from(&cage.workspaces);
        view.nested = Nested::find(&cage.workspaces, &cage.readable)?;
        git::check(&view.nested)?;
        let made = MadeKeys::read(cage.state.as_deref());
        view.nested.secrets.retain(|it| !made.has(it));
        let may = |it: &PathBuf| may_be_changed(it, cage, &view.nested);
        cage.changed.iter().try_for_each(may)?;
        // Later: what was just found is listed, also if somebody has made it a moment before.
        let known = cage.workspaces.iter().map(PathBuf::as_path).chain(home);
        let known = Listing::of(known.chain([Path::new(closed::SETTINGS)]));
        // What the system lies in is no home: a fresh one would be a right to write there.
        let is_systems = |it: &&Path| SYSTEM.iter().any(|dir| Path::new(dir).starts_with(it));
        if let Some(home) = home.filter(|it| !is_systems(it)) {
            view.fresh.push(home.to_owned());
            // A link may lead to anything; what it leads to can be named.
            let there = TOOLCHAINS.iter().map(|it| home.join(it));
            let there = there.filter(|it| is_there(it, &known));
            let there = there.filter(|it| real(it).as_ref() == Some(it));
            view.installed.extend(there.filter(|it| !holds_a_token(it)));
            view.readable.extend(view.installed.iter().cloned());
        }
        view.readable.extend(cage.readable.iter().cloned());
        view.belongings(cage)?;
        view.lines.clone_from(&cage.lines);
        view.fresh.extend(["/tmp", "/dev/shm"].map(PathBuf::from));
        let below = |it: &PathBuf| it.starts_with(OTHER_TMP);
        if view.readable.iter().chain(&view.writable).chain(&view.fresh).any(below) {
            view.fresh.push(PathBuf::from(OTHER_TMP));
        }
        view.cover(cage, &known)?;
        view.keep(cage, &known);
        Ok(view)
    }

    fn system(&mut self) {
        for path in SYSTEM.iter().map(PathBuf::from) {
            match fs::read_link(&path) {
                Ok(target) => self.links.push((path, target)),
                Err(_) if path.exists() => self.readable.push(path),
                Err(_) => {}
            }
        }
    }

    /// Gives what is an agent's own.
    fn belongings(&mut self, cage: &Cage) -> Result<(), CageError> {
        belongings::check(cage)?;
        for Belonging { at, access } in &cage.belongings {
            let list = match access {
                Access::Read => &mut self.readable,
                Access::Write => &mut self.writable,
                Access::Copy => &mut self.copied,
            };
            list.push(at.clone());
        }
        Ok(())
    }

    /// Covers every secret that would be seen, by its own name or because a link leads there.
    fn cover(&mut self, cage: &Cage, known: &Listing) -> Result<(), CageError> {
        let mut secrets: Vec<PathBuf> = SYSTEM_SECRETS.iter().map(PathBuf::from).collect();
        if let Some(home) = &cage.home {
            secrets.extend(places::SECRET_FILES.iter().map(|it| home.join(it)));
            let dirs = places::SECRET_DIRS.iter().map(|it| home.join(it));
            for dir in dirs.filter(|it| known.may_have(it)) {
                links_below(&dir, SECRET_DEPTH_MAX, &mut secrets);
                secrets.push(dir);
            }
        }
        secrets.extend(cage.state.clone());
        secrets.extend(self.nested.secrets.iter().cloned());
        // The login of an agent is no secret from that agent.
        let is_own = |it: &Path| cage.belongings.iter().any(|by| it.starts_with(&by.at));
        secrets.retain(|it| is_there(it, known) && !cage.shown.contains(it) && !is_own(it));
        // A link is not covered itself: what it leads to is.
        let mut secrets: Vec<PathBuf> = secrets.iter().filter_map(|it| real(it)).collect();
        secrets.retain(|it| self.shows(it) && !cage.shown.contains(it) && !is_own(it));
        secrets.sort();
        secrets.dedup();
        self.covered = secrets;
        // What lies in something covered is covered with it.
        let all: BTreeSet<PathBuf> = self.covered.iter().cloned().collect();
        let lies_in_another = |it: &Path| it.ancestors().skip(1).any(|up| all.contains(up));
        self.covered.retain(|it| !lies_in_another(it));
        if self.covered.len() > COVERED_MAX {
            let why = format!("more than {COVERED_MAX} secret files: give a smaller workspace");
            return Err(CageError::Settings(why));
        }
        Ok(())
    }

    /// What else is to be covered: secrets beside programs, and for root what is closed to others. To look for it takes as
    /// long as the rest of the view, and is done while the cage puts itself together.
    pub(crate) fn rest(&self, cage: &Cage) -> Vec<PathBuf> {
        let mut rest = match self.is_roots {
            true => closed::to_others(Path::new(closed::SETTINGS)),
            false => Vec::new(),
        };
        let secrets = toolchains::secrets(&self.installed).into_iter();
        // A link is not covered itself: what it leads to is.
        rest.extend(secrets.filter_map(|it| if it.is_symlink() { real(&it) } else { Some(it) }));
        rest.iter_mut().for_each(closed::tell_shortly);
        rest.sort();
        rest.dedup();
        // What somebody has given or shown is theirs to give.
        let given = [&cage.workspaces, &cage.readable, &cage.shown];
        let is_given = |it: &Path| given.iter().any(|all| all.iter().any(|by| it.starts_with(by)));
        let is_covered = |it: &Path| self.covered.iter().any(|by| it.starts_with(by));
        rest.retain(|it| self.shows(it) && !is_given(it) && !is_covered(it));
        rest
    }

    /// Is this seen inside?
    pub(crate) fn shows(&self, path: &Path) -> bool {
        self.readable.iter().chain(&self.writable).any(|it| path.starts_with(it))
    }

    /// Is this a directory inside?
    pub(crate) fn has_room_for(&self, dir: &Path) -> bool {
        let mut all = self.readable.iter().chain(&self.writable).chain(&self.fresh);
        self.shows(dir) || all.any(|it| it.starts_with(dir))
    }

    /// Keeps what git, shells, editors and agents obey, and pins the directories on the way to it: whoever could
    /// rename `.git` could make another one.
    fn keep(&mut self, cage: &Cage, known: &Listing) {
        let home = cage.home.as_deref();
        let mut paths = kept_places(&self.nested);
        for dir in self.writable.iter().map(PathBuf::as_path).chain(home) {
            // What the shell runs may be a link of the home that leads here.
            paths.extend(places::SHELL_FILES.iter().map(|it| dir.join(it)));
        }
        paths.retain(|it| !cage.changed.iter().any(|by| it.starts_with(by)));
        let mut paths: Vec<PathBuf> = paths.iter().filter_map(|it| there(it, known)).collect();
        paths.dedup();
        let written = |it: &Path| self.writable.iter().any(|dir| it.starts_with(dir));
        self.kept = paths.iter().filter_map(|it| real(it)).filter(|it| written(it)).collect();
        for path in self.kept.iter().chain(&self.covered) {
            for dir in self.writable.iter().filter(|it| path.starts_with(it)) {
                let parents = path.ancestors().skip(1).take_while(|it| it != dir);
                self.pinned.extend(parents.map(Path::to_owned));
            }
        }
        for list in [&mut self.pinned, &mut self.kept] {
            list.sort();
            list.dedup();
        }
        // A directory that is kept itself needs no pin, and what is covered is kept by that.
        let lies_in = |it: &Path, all: &[PathBuf]| {
            it.ancestors().any(|up| all.binary_search_by(|at| at.as_path().cmp(up)).is_ok())
        };
        self.pinned.retain(|it| !lies_in(it, &self.kept));
        self.kept.retain(|it| !lies_in(it, &self.covered));
    }
}

fn is_there(path: &Path, known: &Listing) -> bool {
    known.may_have(path) && path.symlink_metadata().is_ok()
}

/// A path if it is there. Where it cannot be looked at, the directory above that is closed: it stays as it is, as a whole.
fn there(path: &Path, known: &Listing) -> Option<PathBuf> {
    if !known.may_have(path) {
        return None;
    }
    let is_closed = |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    path.ancestors().find_map(|it| match it.symlink_metadata() {
        Ok(_) => Some(Some(it.to_owned())),
        Err(error) if is_closed(&error) => None,
        Err(_) => Some(None),
    })?
}

/// Settings of a toolchain may hold the password of a registry; then they are not shown.
fn holds_a_token(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "toml")
        && fs::read(path).map_or(true, |it| it.windows(TOKEN.len()).any(|it| it == TOKEN))
}

/// How a password is called there.
const TOKEN: &[u8] = b"token";

/// Links in a directory of secrets: a key may lie where its link leads.
fn links_below(dir: &Path, depth: u32, into: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.take(ENTRIES_MAX).filter_map(Result::ok) {
        match entry.file_type() {
            Ok(kind) if kind.is_symlink() => into.push(entry.path()),
            Ok(kind) if kind.is_dir() && depth > 1 => links_below(&entry.path(), depth - 1, into),
            Ok(_) | Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
