//! `[[ … ]]`, `[ … ]` and `test`: whether they hold, where their words are known.

use crate::arithmetic::evaluate;
use crate::lines::compiled;
use crate::syntax::Word;
use crate::{Engine, HOLE, State, UNSET, Var, marks};

impl Engine {
    /// `[[ … ]]`.
    pub(super) fn condition(&mut self, words: &[Word], state: &mut State) {
        let words: Vec<String> = words.iter().map(|it| self.text(it, state)).collect();
        for word in &words {
            self.subscripts(&marks::plain(word), state);
        }
        if let [text, sign, pattern] = words.as_slice()
            && sign == "=~"
        {
            self.status = matched(text, pattern, state);
            return;
        }
        if words.iter().any(|it| it == "=~") {
            state.set_text("BASH_REMATCH", HOLE.to_string());
        }
        self.status = holds(&words, true, state);
    }
}

/// `=~`: what matched is kept for later.
fn matched(text: &str, pattern: &str, state: &mut State) -> Option<bool> {
    let is_known = |it: &str| !marks::has_hole(it) && !it.contains(UNSET);
    let regex = compiled(&marks::plain(pattern), true, false);
    let Some(regex) = regex.filter(|_| is_known(text) && is_known(pattern)) else {
        state.set_text("BASH_REMATCH", HOLE.to_string());
        return None;
    };
    let text = marks::plain(text);
    // What is quoted in a pattern stands for itself, and that is not seen here any more.
    let is_sure = |found: bool| (text.contains(&marks::plain(pattern)) == found).then_some(found);
    let Some(found) = regex.captures(&text) else {
        state.set("BASH_REMATCH", Var::List(Vec::new()));
        return is_sure(false);
    };
    let parts = found.iter().map(|it| it.map_or("", |it| it.as_str()).to_owned());
    let items = parts.enumerate().map(|(index, it)| (index.to_string(), it)).collect();
    state.set("BASH_REMATCH", Var::List(items));
    is_sure(true)
}

/// A number that every way to count reads alike.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
    is_plain && (digits == "0" || !digits.starts_with('0'))
}

/// `None`: only a run would show it. `patterns`: the right side of `=` is one.
pub(super) fn holds(words: &[String], patterns: bool, state: &mut State) -> Option<bool> {
    if words.iter().any(|it| marks::has_hole(it) || it.contains(UNSET)) {
        return None;
    }
    if let [sign, rest @ ..] = words
        && sign == "!"
        && !rest.is_empty()
    {
        return holds(rest, patterns, state).map(|it| !it);
    }
    let plain: Vec<String> = words.iter().map(|it| marks::plain(it)).collect();
    let plain: Vec<&str> = plain.iter().map(String::as_str).collect();
    match plain.as_slice() {
        [] => Some(false),
        [text] => Some(!text.is_empty()),
        ["-n", text] => Some(!text.is_empty()),
        ["-z", text] => Some(text.is_empty()),
        [left, sign, right] => {
            let same = match words.last() {
                Some(pattern) if patterns => marks::matches(pattern, left),
                Some(_) | None => left == right,
            };
            let mut both = || {
                // `[` counts by tens and refuses names, `[[` does neither: only what both read alike is known.
                let mut value = |it: &str| is_number(it).then(|| evaluate(it, state)).flatten();
                Some((value(left)?, value(right)?))
            };
            match *sign {
                // `shopt -s nocasematch` takes them for the same.
                "=" | "==" | "!=" if !same && left.eq_ignore_ascii_case(right) => None,
                "=" | "==" => Some(same),
                "!=" => Some(!same),
                "-eq" => both().map(|it| it.0 == it.1),
                "-ne" => both().map(|it| it.0 != it.1),
                "-lt" => both().map(|it| it.0 < it.1),
                "-le" => both().map(|it| it.0 <= it.1),
                "-gt" => both().map(|it| it.0 > it.1),
                "-ge" => both().map(|it| it.0 >= it.1),
                _ => None,
            }
        }
        _ => None,
    }
}
