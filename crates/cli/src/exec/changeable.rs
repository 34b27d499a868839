//! What an agent in a cage can change. None of it may decide what runs outside of the cage.

use std::fs;
use std::path::{Path, PathBuf};

use sandbox::cage::{Access, Cage};

/// Links that are followed on the way to one place; beyond them anything may be there.
const LINKS_MAX: usize = 40;
/// What may stand before and behind a path within a word.
const BETWEEN: &[char] = &[
    ' ', '\t', '\n', '\'', '"', '`', '=', ':', ',', ';', '|', '&', '(', ')', '[', ']', '{', '}',
    '<', '>',
];

/// The places that whoever is in a cage can change. Without links.
#[derive(Clone, Debug, Default)]
pub(super) struct Changeable(Vec<PathBuf>);

impl Changeable {
    /// Those of this cage.
    pub(super) fn of(cage: &Cage) -> Self {
        let written = cage.belongings.iter().filter(|it| it.access == Access::Write);
        let all = cage.workspaces.iter().chain(&cage.changed).chain(written.map(|it| &it.at));
        Self(all.map(|it| files::resolved(it).unwrap_or_else(|_| it.clone())).collect())
    }

    /// Whether somebody who follows this absolute path goes through one of them: by its text, or by a link.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.is_passed(path, LINKS_MAX)
    }

    fn is_passed(&self, path: &Path, links: usize) -> bool {
        // By its text. `..` behind a link is another place, which is found below.
        if files::assert_within_base(Path::new("/"), path).is_ok_and(|it| self.is_in(&it)) {
            return true;
        }
        path.ancestors().any(|it| {
            if files::resolved(it).is_ok_and(|it| self.is_in(&it)) {
                return true;
            }
            let Ok(target) = fs::read_link(it) else { return false };
            let target = it.parent().unwrap_or(it).join(target);
            links == 0 || self.is_passed(&target, links - 1)
        })
    }

    fn is_in(&self, path: &Path) -> bool {
        self.0.iter().any(|it| path.starts_with(it))
    }

    /// Whether a word of a command line names one of them, anywhere in it. `~` is the user's home.
    pub(super) fn is_named_in(&self, word: &str, home: &Path) -> bool {
        let pieces = word.split(BETWEEN).chain([word]);
        let mut paths = pieces.filter_map(|piece| match piece.strip_prefix("~/") {
            Some(below) => Some(home.join(below)),
            // Behind an option without a space, too.
            None => Some(PathBuf::from(piece.get(piece.find('/')?..)?)),
        });
        paths.any(|it| self.has(&it))
    }

    /// The folders of a search path in which nothing that they can change is found.
    pub(super) fn without(&self, search: &std::ffi::OsStr) -> Option<std::ffi::OsString> {
        let folders = std::env::split_paths(search);
        std::env::join_paths(folders.filter(|it| it.is_absolute() && !self.has(it))).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_place_is_known_by_its_text_and_by_every_link_on_the_way() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| files::resolved(dir.path()).unwrap().join(name);
        for name in ["work/bin", "home/.claude/projects", "bin"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        for (link, target) in [
            ("home/in", "work"),
            ("home/through", "work/out"),
            ("work/out", "bin"),
            ("round", "round"),
        ] {
            symlink(at(target), at(link)).unwrap();
        }
        symlink("../work/bin", at("home/relative")).unwrap();
        let belonging =
            sandbox::cage::Belonging { at: at("home/.claude/projects"), access: Access::Write };
        let cage =
            Cage { workspaces: vec![at("work")], belongings: vec![belonging], ..Cage::default() };
        let changeable = Changeable::of(&cage);
        for inside in [
            "work",
            "work/not/there",
            "bin/../work/x",
            // Through it: what looks like a folder there may be a link.
            "work/../bin",
            "home/in/x",
            "home/through/tool",
            "home/relative/tool",
            "home/.claude/projects/x",
            "round/x",
        ] {
            assert!(changeable.has(&at(inside)), "{inside}");
        }
        for outside in ["bin/tool", "working", "home/.claude", "home"] {
            assert!(!changeable.has(&at(outside)), "{outside}");
        }
        let work = at("work").display().to_string();
        for word in [
            format!("{work}/server.js"),
            format!("--require={work}/x"),
            format!("-I{work}"),
            format!("cd '{work}' && npm start"),
            format!("file://{work}/x"),
            "~/in/server.py".to_owned(),
        ] {
            assert!(changeable.is_named_in(&word, &at("home")), "{word}");
        }
        for word in ["@scope/server@1.2", "server.js", "https://a.example/work", "/usr/bin", "~/x"]
        {
            assert!(!changeable.is_named_in(word, &at("home")), "{word}");
        }
        let search = std::env::join_paths([at("work/bin"), at("bin"), "bin".into(), "".into()]);
        assert_eq!(changeable.without(&search.unwrap()), Some(at("bin").into_os_string()));
    }
}
