//! Tasks that the user hands on: what a text says is to be done.

use super::asked::singular;
use super::norm::{fold, words};
use super::words::{FOLLOWING, List, SAYING, TASKS};

/// Does the user hand on the tasks themselves: `follow the instructions in …`, `do what it says`?
pub(super) fn hands_on_tasks(text: &str) -> bool {
    let folded = fold(text);
    let all: Vec<_> = words(&folded).collect();
    let is = |word: &str, list: &List| list.has(word) || list.has(singular(word));
    let says = all.iter().any(|it| SAYING.has(it.as_ref()));
    let (mut following, mut task) = (None, None);
    for (at, word) in all.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|it| all.get(it)).map(AsRef::as_ref);
        if is(word, &TASKS) && !matches!(before, Some("following" | "these")) {
            // `follow … the instructions`.
            if following.is_some_and(|it: usize| at.saturating_sub(it) <= 8) {
                return true;
            }
            task = Some(at);
        }
        if FOLLOWING.has(word.as_ref()) {
            let next = all.get(at.saturating_add(1)).map_or("", AsRef::as_ref);
            let near = all.iter().skip(at.saturating_add(1)).take(5);
            let mut them = near.clone().map(AsRef::as_ref);
            // `the tasks that … . Do all of them.`, `he asks for … . Please do that.`
            let again = them.any(|it| {
                ["them", "it", "those", "everything", "all", "that", "this", "so"].contains(&it)
            });
            if again && (task.is_some() || (says && word == "do")) {
                return true;
            }
            // `do what … says`, `do for him what …`.
            let what = near.clone().any(|it| it == "what" || it == "whatever");
            if what && (says || next == "what" || next == "whatever") {
                return true;
            }
            following = Some(at);
        }
    }
    // `give them what they need`.
    let wants = ["need", "needs", "want", "wants", "ask", "asks"];
    all.windows(5).any(|it| match it {
        [give, _, what, they, want] => {
            give == "give" && what == "what" && they.len() <= 4 && wants.contains(&want.as_ref())
        }
        _ => false,
    })
}
