//! Where version control keeps all versions of a work.

use crate::{Rows, marks};

/// Folders of version control.
const FOLDERS: [&str; 4] = [".git", ".hg", ".jj", ".svn"];
/// What holds the versions in each of them; in lower case.
static HOLDING: Rows = Rows::named("history.HOLDING");

/// Does the path lead through such a folder?
pub(super) fn is_inside(path: &str) -> bool {
    path.split('/').any(|it| FOLDERS.contains(&it))
}

/// Is it such a folder, or the part of it that holds versions? Patterns are tried.
pub(super) fn is_history(path: &str) -> bool {
    let path = path.trim_end_matches('/').to_lowercase();
    // Left behind by a `git` that was killed.
    if path.ends_with(".lock") {
        return false;
    }
    let mut parts = path.rsplit('/');
    let mut below = None;
    parts.any(|part| {
        let folder = FOLDERS.into_iter().find(|it| stands_for(part, it));
        let holds = folder.is_some_and(|folder| below.is_none_or(|it| is_holding(folder, it)));
        below = Some(part);
        holds
    })
}

/// A pattern stands for no name with a dot before it, unless it has that dot.
fn stands_for(part: &str, folder: &str) -> bool {
    part == folder
        || (part.starts_with('.') && marks::has_pattern(part) && marks::matches(part, folder))
}

/// A pattern right below such a folder is more than a file or two.
fn is_holding(folder: &str, part: &str) -> bool {
    marks::has_pattern(part) || HOLDING.get(folder).is_some_and(|it| it.contains(&part))
}
