//! A request becomes a policy: every path checked, and beside each the path that it really has.

use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path, PathBuf};

use model::places::{SECRET_DIRS, SECRET_FILES, SHELL_FILES, kept_at_the_top};

use super::{Kind, Network, Request};

/// Why there is no profile. Without one, nothing is started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// Whose secrets?
    #[error("there is no home directory, so that nobody knows where its secrets are")]
    NoHome,
    /// A kind that there is not.
    #[error("`{0}` is no kind of profile: read-only, workspace, network-allow-all or off")]
    Kind(String),
    /// A path that means different things in different places, or none.
    #[error("`{path}`: {why}")]
    Path {
        /// Which.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A path that cannot be looked at.
    #[error("`{path}` cannot be looked at: {error}")]
    Io {
        /// Which.
        path: String,
        /// What the system says.
        error: io::Error,
    },
    /// What contradicts itself.
    #[error("{0}")]
    Contradiction(&'static str),
}

/// What a profile is made of. All paths are absolute, plain and of one meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    pub(super) kind: Kind,
    pub(super) secret_dirs: BTreeSet<String>,
    pub(super) secret_files: BTreeSet<String>,
    pub(super) readable: BTreeSet<String>,
    pub(super) writable: BTreeSet<String>,
    pub(super) state: BTreeSet<String>,
    pub(super) own: BTreeSet<String>,
    pub(super) covered: BTreeSet<String>,
    pub(super) kept: BTreeSet<String>,
    pub(super) network: Network,
}

impl Policy {
    /// Checks what is asked for, and finds out where links lead.
    ///
    /// # Errors
    /// If there is no home, a path is not plain or cannot be looked at, or the request contradicts itself.
    pub fn look(request: &Request) -> Result<Self, PolicyError> {
        let network = network(request)?;
        let home = request.home.as_deref().ok_or(PolicyError::NoHome)?;
        let home = plain(home)?;
        if home == "/" {
            return Err(wrong(&home, "it is everybody's and no home"));
        }
        let below = |places: &[&str]| -> Result<BTreeSet<String>, PolicyError> {
            let mut found = BTreeSet::new();
            for place in places {
                found.extend(both(&format!("{home}/{place}"))?);
            }
            Ok(found)
        };
        let mut secret_dirs = below(SECRET_DIRS)?;
        let mut kept = below(SHELL_FILES)?;
        let mut state = below(&[OUR_OWN])?;
        state.extend(all_ways(&request.state)?);
        secret_dirs.extend(state.iter().cloned());
        let read_only = request.kind == Kind::ReadOnly;
        let wanted = request.workspace.iter().filter(|_| !read_only).chain(&request.allow_write);
        let writable = there(wanted)?;
        let own = all_ways(&request.own)?;
        if !own.is_subset(&writable) {
            return Err(PolicyError::Contradiction("what lies in our state was not given"));
        }
        if writable.contains("/") {
            return Err(wrong("/", "everything may not be written"));
        }
        for place in &writable {
            for name in kept_at_the_top() {
                kept.extend(both(&format!("{}/{name}", place.trim_end_matches('/')))?);
            }
        }
        kept.extend(all_ways(&request.kept)?);
        Ok(Self {
            kind: request.kind,
            state,
            own,
            covered: all_ways(&request.covered)?,
            secret_dirs,
            secret_files: below(SECRET_FILES)?,
            readable: there(request.allow_read.iter())?,
            writable,
            kept,
            network,
        })
    }
}

fn network(request: &Request) -> Result<Network, PolicyError> {
    let open = request.kind == Kind::NetworkAllowAll || request.network == Network::All;
    if open && !request.denied_domains.is_empty() {
        let why = "Seatbelt cannot deny a name: names are denied by the proxy, so choose it as the way out";
        return Err(PolicyError::Contradiction(why));
    }
    if request.kind == Kind::ReadOnly && !request.allow_write.is_empty() {
        return Err(PolicyError::Contradiction("a read-only profile writes nothing"));
    }
    Ok(if open { Network::All } else { request.network })
}

/// Paths of the operator. One that is not there is left out: who makes it later is not the operator.
fn there<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Result<BTreeSet<String>, PolicyError> {
    let mut found = BTreeSet::new();
    for path in paths {
        let path = plain(path)?;
        match files::resolved(Path::new(&path)) {
            Ok(_) => found.extend(both(&path)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(PolicyError::Io { path, error }),
        }
    }
    Ok(found)
}

/// Our state below a home.
const OUR_OWN: &str = ".lazaret";

/// Paths, there or not, by every way that leads to them.
fn all_ways<'a>(
    paths: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<BTreeSet<String>, PolicyError> {
    let mut found = BTreeSet::new();
    for path in paths {
        found.extend(both(&plain(path)?)?);
    }
    Ok(found)
}

/// A path as it is written and as it really is.
fn both(path: &str) -> Result<BTreeSet<String>, PolicyError> {
    let mut found = BTreeSet::new();
    follow(path, LINKS_MAX, &mut found)?;
    Ok(found)
}

/// So many links that lead nowhere yet are followed; the system follows no more of any.
const LINKS_MAX: usize = 40;

fn follow(path: &str, links: usize, found: &mut BTreeSet<String>) -> Result<(), PolicyError> {
    found.insert(path.to_owned());
    // What is not there yet lies where its nearest folder really is.
    let mut folder = Path::new(path);
    loop {
        match files::resolved(folder) {
            Ok(real) => {
                let rest = Path::new(path).strip_prefix(folder).unwrap_or(Path::new(""));
                // A joined empty path would end with a slash.
                let real = if rest.as_os_str().is_empty() { real } else { real.join(rest) };
                found.insert(plain(&real)?);
                return Ok(());
            }
            Err(error) if is_absent(&error) => {
                // A link to what is not there may lead somewhere tomorrow.
                if let Ok(target) = std::fs::read_link(folder) {
                    let rest = Path::new(path).strip_prefix(folder).unwrap_or(Path::new(""));
                    let links =
                        links.checked_sub(1).ok_or_else(|| wrong(path, "too many links"))?;
                    return follow(&led_to(folder, &target, rest)?, links, found);
                }
                match folder.parent() {
                    Some(parent) => folder = parent,
                    None => return Ok(()),
                }
            }
            Err(error) => return Err(PolicyError::Io { path: path.to_owned(), error }),
        }
    }
}

/// Where a link leads whose target is not there: by its text alone.
fn led_to(link: &Path, target: &Path, rest: &Path) -> Result<String, PolicyError> {
    let from = link.parent().unwrap_or(Path::new("/"));
    let mut whole = PathBuf::from("/");
    for part in from.join(target).join(rest).components() {
        match part {
            Component::Normal(part) => whole = whole.join(part),
            Component::ParentDir => drop(whole.pop()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    plain(&whole)
}

/// Nothing can be read there, so that there is nothing to close.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A path that everybody reads in the same way: absolute, of UTF-8, without `.`, `..` and slashes that say nothing.
fn plain(path: &Path) -> Result<String, PolicyError> {
    let shown = path.to_string_lossy();
    let text = path.to_str().ok_or_else(|| wrong(&shown, "it is no UTF-8"))?;
    if text.is_empty() {
        return Err(wrong(text, "it is empty"));
    }
    if !path.is_absolute() {
        return Err(wrong(text, "it is relative"));
    }
    if text.contains('\0') {
        return Err(wrong("", "there is a zero byte in it"));
    }
    if text.split('/').any(|it| it == "..") {
        return Err(wrong(text, "there is `..` in it"));
    }
    let parts: Vec<&str> = path
        .components()
        .filter_map(|it| match it {
            Component::Normal(part) => part.to_str(),
            Component::Prefix(_)
            | Component::RootDir
            | Component::CurDir
            | Component::ParentDir => None,
        })
        .collect();
    Ok(format!("/{}", parts.join("/")))
}

fn wrong(path: &str, why: &'static str) -> PolicyError {
    PolicyError::Path { path: path.to_owned(), why }
}
