//! The way that a path takes over links: whoever changes one of them changes where it leads.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Links that are followed, as many as the kernel follows.
const LINKS_MAX: usize = 40;

/// What a path meets on its way.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Way {
    /// Every link, where it really lies, and what it says.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// If it ends before its end: what would have to be made, from the first to the last.
    pub(crate) absent: Vec<PathBuf>,
}

impl Way {
    /// Follows an absolute path, name by name.
    pub(crate) fn of(path: &Path) -> Self {
        let mut way = Self::default();
        let mut at = PathBuf::from("/");
        let mut names = names(path);
        while let Some(name) = names.pop_front() {
            if name == ".." {
                at.pop();
                continue;
            }
            let next = at.join(&name);
            match fs::read_link(&next) {
                Ok(_) if way.links.len() == LINKS_MAX => return way,
                Ok(target) => {
                    if target.is_absolute() {
                        at = PathBuf::from("/");
                    }
                    for name in self::names(&target).into_iter().rev() {
                        names.push_front(name);
                    }
                    way.links.push((next, target));
                    continue;
                }
                Err(_) if next.symlink_metadata().is_err() => way.absent.push(next.clone()),
                Err(_) => {}
            }
            at = next;
        }
        way
    }
}

fn names(path: &Path) -> VecDeque<OsString> {
    let name = |it: Component<'_>| match it {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_link_on_the_way_is_met() {
        let dir = tempfile::tempdir().unwrap();
        let root = super::super::given::real(dir.path()).unwrap();
        let at = |it: &str| root.join(it);
        fs::create_dir_all(at("d/claude")).unwrap();
        symlink("d", at("conf")).unwrap();
        symlink("d/../conf/claude", at(".claude")).unwrap();
        let links = |it: &[(&str, &str)]| -> Vec<(PathBuf, PathBuf)> {
            it.iter().map(|(link, target)| (at(link), PathBuf::from(target))).collect()
        };
        let way = Way::of(&at(".claude"));
        assert_eq!(way.links, links(&[(".claude", "d/../conf/claude"), ("conf", "d")]));
        assert!(way.absent.is_empty());
        assert_eq!(Way::of(&at("d/claude")), Way::default());
        symlink(at("not/there"), at("nowhere")).unwrap();
        assert_eq!(
            Way::of(&at("nowhere/file")).absent,
            ["not", "not/there", "not/there/file"].map(at)
        );
        symlink("round", at("round")).unwrap();
        assert_eq!(Way::of(&at("round")).links.len(), LINKS_MAX);
    }
}
