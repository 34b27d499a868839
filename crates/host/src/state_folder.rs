//! The state directory as agents may name it: by its path, by a link, from where they work, with `..` or with a pattern.
//! What lies there is what decisions stand on, so that a call that writes there changes the control plane, whatever the
//! directory is called.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use model::{Caller, SessionId};
use monitor::OwnPlaces;

use crate::trust::{place, real};

/// Files of the state directory that are told apart from links elsewhere; there are never more at its top.
const FILES_MAX: usize = 1000;
/// Signs by which a shell names several files at once.
const PATTERN: &[char] = &['*', '?', '[', '{'];

/// The state directory, and where sessions work.
#[derive(Debug)]
pub struct StateFolder {
    /// Without links.
    home: PathBuf,
    user_home: Option<PathBuf>,
    works_in: Mutex<HashMap<SessionId, PathBuf>>,
    /// The workspaces that sessions have from us, which may lie in the state directory.
    workspaces: Mutex<HashMap<SessionId, PathBuf>>,
}

impl StateFolder {
    /// The state directory `home`, of the user whose home is `user_home`.
    #[must_use]
    pub fn new(home: &Path, user_home: Option<PathBuf>) -> Self {
        let home = files::resolved(home).unwrap_or_else(|_| home.to_owned());
        Self { home, user_home, works_in: Mutex::default(), workspaces: Mutex::default() }
    }

    /// Notes where a session works: its relative paths begin there.
    pub fn works_in(&self, session: &SessionId, folder: Option<&Path>) {
        let mut all = self.works_in.lock().unwrap_or_else(PoisonError::into_inner);
        match folder {
            Some(folder) => drop(all.insert(session.clone(), folder.to_owned())),
            None => drop(all.remove(session)),
        }
    }

    /// Notes the workspace that a session has from us: patterns of the settings are compared from there.
    pub fn has_workspace(&self, session: &SessionId, root: Option<&Path>) {
        let mut all = self.workspaces.lock().unwrap_or_else(PoisonError::into_inner);
        match root {
            Some(root) => drop(all.insert(session.clone(), root.to_owned())),
            None => drop(all.remove(session)),
        }
    }

    /// From where the paths of a session begin, if that is known.
    fn begins_in(&self, session: &SessionId) -> Option<PathBuf> {
        let find = |all: &Mutex<HashMap<SessionId, PathBuf>>| {
            all.lock().unwrap_or_else(PoisonError::into_inner).get(session).cloned()
        };
        find(&self.works_in).or_else(|| find(&self.workspaces))
    }

    /// Does `path` lie in the state directory; or hold it, where that is to be `removed`?
    fn is_within(&self, path: &Path, removed: bool) -> bool {
        path.starts_with(&self.home) || (removed && self.home.starts_with(path))
    }

    /// Could a pattern name something there?
    fn is_matched(&self, pattern: &Path, removed: bool) -> bool {
        let is_plain = |it: &Component<'_>| !it.as_os_str().to_string_lossy().contains(PATTERN);
        let before: PathBuf = pattern.components().take_while(is_plain).collect();
        let before = real(&before);
        let rest: Vec<Component<'_>> = pattern.components().skip_while(is_plain).collect();
        if before.starts_with(&self.home) {
            return true;
        }
        let Ok(below) = self.home.strip_prefix(&before) else { return false };
        let below: Vec<Component<'_>> = below.components().collect();
        let fits = rest.iter().zip(&below).all(|(part, name)| {
            let text = |it: &Component<'_>| it.as_os_str().to_string_lossy().into_owned();
            fits(&text(part), &text(name))
        });
        fits && (rest.len() > below.len() || removed)
    }

    /// Is it a second name of a file that lies there?
    fn is_linked(&self, path: &Path) -> bool {
        let Ok(about) = fs::metadata(path) else { return false };
        if about.nlink() < 2 || !about.is_file() {
            return false;
        }
        let Ok(entries) = fs::read_dir(&self.home) else { return false };
        let mut own = entries.take(FILES_MAX).filter_map(|it| it.ok()?.metadata().ok());
        own.any(|it| (it.dev(), it.ino()) == (about.dev(), about.ino()))
    }
}

impl OwnPlaces for StateFolder {
    fn holds(&self, who: &Caller, path: &str, removed: bool) -> bool {
        let text = path.trim().strip_prefix("file://").unwrap_or(path.trim());
        let text = if text == "~" { "~/" } else { text };
        let here = {
            let all = self.works_in.lock().unwrap_or_else(PoisonError::into_inner);
            all.get(&who.session).cloned()
        };
        // Whoever works nowhere that is known names nothing but absolute paths.
        let here = match here {
            Some(here) => here,
            None if text.starts_with(['/', '~']) => PathBuf::from("/"),
            None => return false,
        };
        let user_home = self.user_home.as_deref();
        let by_text = place(text, &here, user_home);
        if text.contains(PATTERN) && self.is_matched(&by_text, removed) {
            return true;
        }
        // With `..` behind a link the text leads elsewhere than the system does.
        let by_system = as_the_system_goes(text, &here, user_home);
        [by_text.clone(), real(&by_text), by_system.clone()]
            .iter()
            .any(|it| self.is_within(it, removed))
            || self.is_linked(&by_system)
    }

    fn leads_to(&self, who: &Caller, path: &str) -> Vec<String> {
        let text = path.trim().strip_prefix("file://").unwrap_or(path.trim());
        let here = match self.begins_in(&who.session) {
            Some(here) => here,
            None if text.starts_with(['/', '~']) => PathBuf::from("/"),
            None => return Vec::new(),
        };
        let user_home = self.user_home.as_deref();
        let by_text = place(text, &here, user_home);
        let all = [real(&by_text), as_the_system_goes(text, &here, user_home), by_text];
        let mut found: Vec<String> = all.iter().map(|it| it.display().to_string()).collect();
        // What lies in the user's home is also known from there.
        let from_home = user_home.into_iter().flat_map(|home| {
            let below = all.iter().filter_map(|it| it.strip_prefix(home).ok());
            below.map(|it| format!("~/{}", it.display())).collect::<Vec<_>>()
        });
        found.extend(from_home);
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Where `text` leads when each link is followed before the `..` behind it.
fn as_the_system_goes(text: &str, here: &Path, user_home: Option<&Path>) -> PathBuf {
    let (base, rest) = match text.strip_prefix("~/").zip(user_home) {
        Some((rest, home)) => (home, rest),
        None => (here, text),
    };
    let whole: PathBuf = base.components().chain(Path::new(rest).components()).collect();
    let there = whole.ancestors().find_map(|it| Some((it, files::resolved(it).ok()?)));
    let Some((above, found)) = there else { return whole };
    let rest = whole.strip_prefix(above).unwrap_or(Path::new(""));
    // What is not there has no links.
    place(&rest.to_string_lossy(), &found, None)
}

/// Does a name fit a pattern? Behind a set or a brace anything does. Each sign is looked at against each end of the name
/// once, so that no pattern takes long.
fn fits(pattern: &str, name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    // For each length of the name's beginning: is it what the pattern has said so far?
    let mut reached: Vec<bool> = (0..=name.len()).map(|it| it == 0).collect();
    for sign in pattern.chars() {
        match sign {
            '[' | '{' => return reached.contains(&true),
            '*' => {
                let mut any = false;
                reached.iter_mut().for_each(|it| {
                    any |= *it;
                    *it = any;
                });
            }
            _ => {
                let mut before = false;
                let is_next = |at: usize| name.get(at).is_some_and(|it| sign == '?' || *it == sign);
                for (at, it) in reached.iter_mut().enumerate() {
                    let was = std::mem::replace(it, before && at > 0 && is_next(at - 1));
                    before = was;
                }
            }
        }
    }
    reached.last() == Some(&true)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use model::{AgentId, Kind, UserId};

    use super::*;

    struct World {
        dir: tempfile::TempDir,
        folder: StateFolder,
        who: Caller,
    }

    fn world() -> World {
        let dir = tempfile::tempdir().unwrap();
        let root = files::resolved(dir.path()).unwrap();
        for name in ["keep", "work/deep", "user"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        files::private::replace(&root.join("keep/trust.json"), b"{}").unwrap();
        let who = Caller {
            session: SessionId::parse("s").unwrap(),
            user: UserId::parse("me").unwrap(),
            agent: AgentId::parse("a").unwrap(),
            door: Kind::of_static("hook"),
        };
        let folder = StateFolder::new(&root.join("keep"), Some(root.join("user")));
        folder.works_in(&who.session, Some(&root.join("work")));
        World { dir, folder, who }
    }

    #[test]
    fn the_directory_is_known_by_every_name() {
        let World { dir, folder, who } = world();
        let root = files::resolved(dir.path()).unwrap();
        symlink(root.join("keep"), root.join("work/link")).unwrap();
        symlink(root.join("keep/trust.json"), root.join("work/file")).unwrap();
        symlink(root.join("keep/policy"), root.join("work/deep/dangling")).unwrap();
        fs::hard_link(root.join("keep/trust.json"), root.join("work/twin")).unwrap();
        let absolute = root.join("keep/observe.json").display().to_string();
        for path in [
            absolute.as_str(),
            "../keep/trust.json",
            "deep/../../keep/new",
            "link/trust.json",
            "link/../keep/x",
            "file",
            "twin",
            "../user/../keep/policy/own.cedar",
            "~/../keep/trust.json",
            "../k*/trust.json",
            "../[k]eep/x",
            "../keep",
            &format!("file://{absolute}"),
        ] {
            assert!(folder.holds(&who, path, false), "{path}");
        }
        for path in ["notes.md", "deep/x", "..", "../keeper/x", "../user/keep", "", "*.md", "../k"]
        {
            assert!(!folder.holds(&who, path, false), "{path}");
        }
    }

    #[test]
    fn where_a_path_leads_is_told_from_where_the_session_works() {
        let World { dir, folder, who } = world();
        let root = files::resolved(dir.path()).unwrap();
        symlink(root.join("user"), root.join("work/link")).unwrap();
        let leads = |path: &str| folder.leads_to(&who, path);
        let there = |path: &str| root.join(path).display().to_string();
        assert!(leads("link/vault/x").contains(&there("user/vault/x")));
        assert!(leads("link/vault/x").contains(&"~/vault/x".to_owned()));
        assert!(leads("deep/../a").contains(&there("work/a")));
        folder.works_in(&who.session, None);
        assert_eq!(leads("a"), [""; 0]);
        folder.has_workspace(&who.session, Some(&root.join("work")));
        assert!(leads("a").contains(&there("work/a")));
    }

    #[test]
    fn what_is_removed_takes_along_what_lies_in_it() {
        let World { dir, folder, who } = world();
        let root = dir.path().display().to_string();
        for path in ["..", &root, "/", "../*", "../kee?"] {
            assert!(folder.holds(&who, path, true), "{path}");
        }
        let in_home = StateFolder::new(&dir.path().join("user"), Some(dir.path().to_owned()));
        assert!(in_home.holds(&who, "~", true) && !in_home.holds(&who, "~", false));
        assert!(!folder.holds(&who, ".", true));
        assert!(!folder.holds(&who, "*", true));
    }

    #[test]
    fn who_works_nowhere_names_absolute_paths() {
        let World { dir, folder, mut who } = world();
        who.session = SessionId::parse("other").unwrap();
        assert!(!folder.holds(&who, "../keep/trust.json", false));
        let absolute = dir.path().join("work/../keep/trust.json").display().to_string();
        assert!(folder.holds(&who, &absolute, false));
    }
}
