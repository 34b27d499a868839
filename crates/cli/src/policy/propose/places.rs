//! Paths become folders: who read three files of a folder may read a fourth. What is too wide to be one folder's stays the
//! file that it was.

use std::collections::BTreeMap;

use super::cedar::is_listable;
use super::seen::Counts;

/// The most folders of one rule: each costs Cedar some operators.
const FOLDERS_MAX: usize = 40;
/// Names that an absolute folder has at least: `/home/ann/work`, not her home.
const ABSOLUTE_DEPTH_MIN: usize = 3;

/// Where something was done.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    /// Everything in these folders.
    pub(super) folders: BTreeMap<String, u64>,
    /// Just these.
    pub(super) files: Counts,
    /// Folders that were left out, as there are too many.
    pub(super) left_out: usize,
}

impl Places {
    /// The folders of `paths`, and what is in none.
    pub(super) fn of(paths: &Counts) -> Self {
        let mut places = Self::default();
        for (path, times) in paths {
            match folder(path) {
                Some(folder) => *places.folders.entry(folder.to_owned()).or_default() += times,
                None => *places.files.entry(path.clone()).or_default() += times,
            }
        }
        places.nest();
        while places.folders.len() > FOLDERS_MAX && places.climb() {
            places.nest();
        }
        places.cut();
        places
    }

    /// What lies in a folder that is there counts for it.
    fn nest(&mut self) {
        let all: Vec<String> = self.folders.keys().chain(self.files.keys()).cloned().collect();
        for inner in all {
            let outer = self.folders.keys().find(|it| is_within(&inner, it)).cloned();
            let Some(outer) = outer else { continue };
            let times = self.folders.remove(&inner).or_else(|| self.files.remove(&inner));
            if let Some(sum) = self.folders.get_mut(&outer) {
                *sum += times.unwrap_or_default();
            }
        }
    }

    /// Takes one of the deepest folders for the one that it lies in. Answers whether there was one.
    fn climb(&mut self) -> bool {
        let deep =
            self.folders.keys().filter_map(|it| Some((it.matches('/').count(), it, folder(it)?)));
        let Some((_, deepest, above)) = deep.max() else { return false };
        let (deepest, above) = (deepest.clone(), above.to_owned());
        let times = self.folders.remove(&deepest).unwrap_or_default();
        *self.folders.entry(above).or_default() += times;
        true
    }

    /// Keeps those that were seen most often.
    fn cut(&mut self) {
        let mut by_times: Vec<(u64, String)> =
            self.folders.iter().map(|(folder, times)| (*times, folder.clone())).collect();
        by_times.sort_unstable();
        let excess = by_times.len().saturating_sub(FOLDERS_MAX);
        self.left_out = excess;
        for (_, rare) in by_times.into_iter().take(excess) {
            self.folders.remove(&rare);
        }
    }
}

/// The nearest folder of a path that a rule can name and that is not too wide.
fn folder(path: &str) -> Option<&str> {
    let mut at = path;
    loop {
        at = at.rsplit_once('/')?.0;
        if is_too_wide(at) {
            return None;
        }
        if is_listable(at) {
            return Some(at);
        }
    }
}

fn is_too_wide(folder: &str) -> bool {
    let names = || folder.split('/').filter(|it| !it.is_empty());
    if names().any(|it| it == "..") {
        return true;
    }
    match folder.chars().next() {
        Some('/') => names().count() < ABSOLUTE_DEPTH_MIN,
        Some('~') => names().count() < 2,
        Some(_) => names().count() < 1,
        None => true,
    }
}

fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|it| it.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Places {
        fn covers(&self, path: &str) -> bool {
            self.files.contains_key(path) || self.folders.keys().any(|it| is_within(path, it))
        }
    }

    fn of(paths: &[&str]) -> Places {
        Places::of(&paths.iter().map(|it| ((*it).to_owned(), 1)).collect())
    }

    #[test]
    fn files_become_their_folder_and_folders_take_in_what_lies_in_them() {
        let places = of(&[
            "/home/ann/work/a.rs",
            "/home/ann/work/b.rs",
            "/home/ann/work/x/c.rs",
            "src/m.rs",
        ]);
        let folders: Vec<_> = places.folders.into_iter().collect();
        assert_eq!(folders, [("/home/ann/work".to_owned(), 3), ("src".to_owned(), 1)]);
        assert!(places.files.is_empty());
    }

    #[test]
    fn what_would_be_too_wide_stays_a_file() {
        let wide =
            ["/etc/passwd", "/home/ann/.bashrc", "~/.profile", "README.md", "../x/y", "/tmp/a/b"];
        let places = of(&wide);
        assert!(places.folders.is_empty(), "{:?}", places.folders);
        assert!(wide.iter().all(|it| places.covers(it)));
        assert!(!places.covers("/etc/shadow") && !places.covers("other.md"));
        assert!(of(&["~/src/a"]).covers("~/src/b"));
        assert!(!of(&["~/src/a"]).covers("~/srcs/b"));
    }

    #[test]
    fn many_folders_climb_until_they_fit() {
        let many: Vec<String> =
            (0..200).map(|it| format!("/home/ann/work/p{}/d{it}/f", it % 3)).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let places = of(&many);
        assert!(places.folders.len() <= FOLDERS_MAX);
        assert!(many.iter().all(|it| places.covers(it)), "{:?}", places.folders);
        assert!(!places.covers("/home/ann/other/f"));
    }
}
