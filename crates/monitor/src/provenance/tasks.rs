//! Tasks that the user hands on: what a text says is to be done.

use super::asked::singular;
use super::words::{FOLLOWING, List, SAYING, TASKS};

/// Where the user hands on the tasks themselves among `all` words: `follow the instructions in …`, `do what it says`.
pub(super) fn hands_on_tasks<S: AsRef<str>>(all: &[S]) -> Option<usize> {
    let is = |word: &str, list: &List| list.has(word) || list.has(singular(word));
    let says = all.iter().any(|it| SAYING.has(it.as_ref()));
    let (mut following, mut task) = (None, None);
    for (at, word) in all.iter().map(AsRef::as_ref).enumerate() {
        let before = at.checked_sub(1).and_then(|it| all.get(it)).map(AsRef::as_ref);
        if is(word, &TASKS) && !matches!(before, Some("following" | "these")) {
            // `follow … the instructions`.
            if following.is_some_and(|it: usize| at.saturating_sub(it) <= 8) {
                return following;
            }
            task = Some(at);
        }
        if FOLLOWING.has(word) {
            let next = all.get(at.saturating_add(1)).map_or("", AsRef::as_ref);
            let near = all.iter().map(AsRef::as_ref).skip(at.saturating_add(1)).take(5);
            let mut them = near.clone();
            // `the tasks that … . Do all of them.`, `he asks for … . Please do that.`
            let again = them.any(|it| {
                ["them", "it", "those", "everything", "all", "that", "this", "so"].contains(&it)
            });
            if again && (task.is_some() || (says && word == "do")) {
                return Some(at);
            }
            // `do what … says`, `do for him what …`.
            let what = near.clone().any(|it| it == "what" || it == "whatever");
            if what && (says || next == "what" || next == "whatever") {
                return Some(at);
            }
            following = Some(at);
        }
    }
    // `give them what they need`.
    let wants = ["need", "needs", "want", "wants", "ask", "asks"];
    all.windows(5).position(|it| match it {
        [give, _, what, they, want] => {
            let (give, what, they) = (give.as_ref(), what.as_ref(), they.as_ref());
            give == "give" && what == "what" && they.len() <= 4 && wants.contains(&want.as_ref())
        }
        _ => false,
    })
}
