//! `${…}`: the value of a variable, and what is done with it.

use crate::arithmetic::evaluate;
use crate::expand::{How, value, values};
use crate::limits::{MATCH_STEPS_MAX, TRIED_LETTERS_MAX, VALUE_BYTES_MAX};
use crate::syntax::{Change, Parameter, Word, ansi_c};
use crate::{Engine, HOLE, Rule, State, UNSET, Var, marks};

/// What a name stands for.
enum Found {
    Unset,
    One(String),
    /// All of a list; joined by `*`.
    Many(Vec<String>, bool),
}

impl Engine {
    pub(super) fn parameter(
        &mut self,
        parameter: &Parameter,
        state: &mut State,
        how: How,
    ) -> String {
        if matches!(parameter.change, Change::Names) {
            let names: Vec<String> =
                state.vars.keys().filter(|it| it.starts_with(&parameter.name)).cloned().collect();
            return values(&names, false, state, how);
        }
        let found = self.find_value(parameter, state);
        match (&parameter.change, found) {
            (Change::Length, found) => length(&found),
            (Change::Default { sign, or_empty, word }, found) => {
                self.defaulted(parameter, (*sign, *or_empty), word, found, state, how)
            }
            (Change::Slice { offset, length }, Found::Many(list, joined)) => {
                let offset = self.number(offset, state);
                let length = length.as_ref().map(|it| self.number(it, state));
                let Some(part) = slice_list(&list, parameter, offset, length) else {
                    return HOLE.to_string();
                };
                values(&part, joined, state, how)
            }
            (_, Found::Many(list, joined)) => {
                let list: Vec<String> =
                    list.iter().map(|it| self.changed(&parameter.change, it, state)).collect();
                values(&list, joined, state, how)
            }
            (Change::None, Found::Unset) => {
                self.unset_names.push(parameter.name.clone());
                UNSET.to_string()
            }
            (_, Found::Unset) => {
                let text = self.changed(&parameter.change, "", state);
                if text.is_empty() { UNSET.to_string() } else { value(&text, state, how) }
            }
            (_, Found::One(text)) => {
                let text = self.changed(&parameter.change, &text, state);
                value(&text, state, how)
            }
        }
    }

    fn find_value(&mut self, parameter: &Parameter, state: &mut State) -> Found {
        let mut name = parameter.name.clone();
        if parameter.indirect {
            if matches!(name.as_str(), "@" | "*") {
                return state.args.last().cloned().map_or(Found::Unset, |it| {
                    state.get(&it).map_or(Found::Unset, |var| Found::One(var.first()))
                });
            }
            let target = if name == "#" {
                state.args.last().cloned()
            } else {
                state.get(&name).map(|it| it.first())
            };
            match target {
                None => return Found::Unset,
                Some(it) if marks::has_hole(&it) => return Found::One(HOLE.to_string()),
                Some(it) => name = it,
            }
        }
        if matches!(name.as_str(), "@" | "*") {
            return Found::Many(state.args.clone(), name == "*");
        }
        let index = parameter.index.as_ref().map(|it| marks::plain(&self.text(it, state)));
        self.names_parent |= name == "PPID";
        let Some(var) = state.get(&name) else { return Found::Unset };
        match index.as_deref() {
            None => Found::One(var.first()),
            Some("@") => Found::Many(var.all(), false),
            Some("*") => Found::Many(var.all(), true),
            Some(index) => element(&var, index, state),
        }
    }

    fn defaulted(
        &mut self,
        parameter: &Parameter,
        (sign, or_empty): (char, bool),
        word: &Word,
        found: Found,
        state: &mut State,
        how: How,
    ) -> String {
        let text = match found {
            Found::Unset => None,
            Found::One(text) if or_empty && text.is_empty() => None,
            Found::One(text) => Some(value(&text, state, how)),
            Found::Many(list, _) if list.is_empty() => None,
            Found::Many(list, joined) => Some(values(&list, joined, state, how)),
        };
        match (sign, text) {
            ('+', None) => String::new(),
            ('+', Some(_)) | ('-', None) => self.alternative(word, state, how),
            ('=', None) => {
                let text = self.text(word, state);
                state.set_text(&parameter.name, text.clone());
                value(&text, state, how)
            }
            (_, None) => UNSET.to_string(),
            (_, Some(text)) => text,
        }
    }

    fn number(&mut self, word: &Word, state: &mut State) -> Option<i64> {
        let text = marks::plain(&self.text(word, state));
        evaluate(&text, state)
    }

    /// A prompt is expanded when it is shown: what it substitutes is run.
    pub(super) fn prompt(&mut self, text: &str, state: &mut State) -> String {
        if !text.contains(['$', '`', '\\']) {
            return text.to_owned();
        }
        match super::syntax::quoted(text, self.depth + 1) {
            Ok(parts) => {
                let how = How { quoted: true, split: false };
                let shown = super::expand::kept(&self.raw(&parts, state, how));
                if text.contains('\\') { format!("{shown}{HOLE}") } else { shown }
            }
            Err(_) => {
                self.ask(Rule::Unreadable, "it shows a prompt that cannot be read");
                HOLE.to_string()
            }
        }
    }

    /// What a change makes of one value.
    fn changed(&mut self, change: &Change, text: &str, state: &mut State) -> String {
        match change {
            Change::None | Change::Length | Change::Names | Change::Default { .. } => {
                text.to_owned()
            }
            Change::Slice { offset, length } => {
                let offset = self.number(offset, state);
                let length = length.as_ref().map(|it| self.number(it, state));
                slice(text, offset, length).unwrap_or_else(|| HOLE.to_string())
            }
            Change::Strip { suffix, longest, pattern } => {
                let pattern = self.text(pattern, state);
                strip(text, &pattern, *suffix, *longest)
            }
            Change::Replace { all, anchor, pattern, with } => {
                let pattern = self.text(pattern, state);
                let with = marks::plain(&self.text(with, state));
                if *all && !marks::has_pattern(&pattern) && anchor.is_none() && !pattern.is_empty()
                {
                    return self.replaced(text, &marks::plain(&pattern), &with);
                }
                let replaced = replace(text, &pattern, &with, *all, *anchor);
                replaced.unwrap_or_else(|| {
                    self.too_much();
                    HOLE.to_string()
                })
            }
            Change::Case { sign, all } => with_case(text, *sign, *all),
            Change::Transform('E') => ansi_c(text),
            Change::Transform('U') => text.to_uppercase(),
            Change::Transform('L') => text.to_lowercase(),
            Change::Transform('u') => with_case(text, '^', false),
            Change::Transform('Q' | 'K' | 'k') => format!("'{}'", text.replace('\'', "'\\''")),
            Change::Transform('P') => self.prompt(text, state),
            Change::Transform(_) => HOLE.to_string(),
        }
    }
}

fn element(var: &Var, index: &str, state: &mut State) -> Found {
    let items = match var {
        Var::Text(text) => return Found::One(text.clone()),
        Var::List(items) => items,
    };
    let by_key = |key: &str| items.iter().find(|it| it.0 == key).map(|it| it.1.clone());
    let found = by_key(index).or_else(|| {
        let number = evaluate(index, state)?;
        if number < 0 {
            let back = usize::try_from(number.unsigned_abs()).ok()?;
            return items.get(items.len().checked_sub(back)?).map(|it| it.1.clone());
        }
        by_key(&number.to_string())
    });
    if marks::has_hole(index) {
        return Found::One(HOLE.to_string());
    }
    found.map_or(Found::Unset, Found::One)
}

fn length(found: &Found) -> String {
    match found {
        Found::Unset => "0".to_owned(),
        Found::One(text) if marks::has_hole(text) => HOLE.to_string(),
        Found::One(text) => text.chars().filter(|it| *it != UNSET).count().to_string(),
        Found::Many(list, _) => list.len().to_string(),
    }
}

fn slice(text: &str, offset: Option<i64>, length: Option<Option<i64>>) -> Option<String> {
    if marks::has_hole(text) {
        return None;
    }
    let letters: Vec<char> = text.chars().collect();
    let (from, to) = bounds(letters.len(), offset?, length.map_or(Some(None), |it| it.map(Some))?)?;
    Some(letters.get(from..to)?.iter().collect())
}

fn slice_list(
    list: &[String],
    parameter: &Parameter,
    offset: Option<i64>,
    length: Option<Option<i64>>,
) -> Option<Vec<String>> {
    let mut list = list.to_vec();
    if matches!(parameter.name.as_str(), "@" | "*") {
        list.insert(0, "bash".to_owned());
    }
    let (from, to) = bounds(list.len(), offset?, length.map_or(Some(None), |it| it.map(Some))?)?;
    list.get(from..to).map(<[String]>::to_vec)
}

fn bounds(size: usize, offset: i64, length: Option<i64>) -> Option<(usize, usize)> {
    let size = i64::try_from(size).ok()?;
    let from = if offset < 0 { size.checked_add(offset)? } else { offset };
    let from = if from < 0 { size } else { from.min(size) };
    let to = match length {
        None => size,
        Some(it) if it < 0 => size.checked_add(it)?,
        Some(it) => from.checked_add(it)?.min(size),
    };
    Some((usize::try_from(from).ok()?, usize::try_from(to.max(from)).ok()?))
}

fn strip(text: &str, pattern: &str, suffix: bool, longest: bool) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() > TRIED_LETTERS_MAX * 8 {
        return HOLE.to_string();
    }
    let whole = |from: usize, to: usize| -> String {
        letters.get(from..to).unwrap_or_default().iter().collect()
    };
    let size = letters.len();
    let mut steps = MATCH_STEPS_MAX;
    let mut cuts: Vec<usize> = (0..=size).collect();
    // From the shortest to the longest that goes.
    if suffix != longest {
        cuts.reverse();
    }
    for cut in cuts {
        let (gone, kept) = if suffix {
            (whole(cut, size), whole(0, cut))
        } else {
            (whole(0, cut), whole(cut, size))
        };
        if marks::matches_within(pattern, &gone, &mut steps) {
            return kept;
        }
        if steps == 0 {
            return HOLE.to_string();
        }
    }
    text.to_owned()
}

/// `None`: it is longer than one value may be.
fn replace(
    text: &str,
    pattern: &str,
    with: &str,
    all: bool,
    anchor: Option<char>,
) -> Option<String> {
    if pattern.is_empty() {
        return Some(match anchor {
            Some('#') => format!("{with}{text}"),
            Some(_) => format!("{text}{with}"),
            None => text.to_owned(),
        });
    }
    if !marks::has_pattern(pattern) && anchor.is_none() {
        return Some(text.replacen(&marks::plain(pattern), with, 1));
    }
    let letters: Vec<char> = text.chars().collect();
    if letters.len() > TRIED_LETTERS_MAX {
        return Some(HOLE.to_string());
    }
    let part = |from: usize, to: usize| -> String {
        letters.get(from..to).unwrap_or_default().iter().collect()
    };
    let mut result = String::new();
    let mut steps = MATCH_STEPS_MAX;
    let mut at = 0;
    while at < letters.len() {
        let may_start = anchor != Some('#') || at == 0;
        let ends = (at + 1..=letters.len()).rev();
        let end = ends
            .filter(|it| may_start && (anchor != Some('%') || *it == letters.len()))
            .find(|it| marks::matches_within(pattern, &part(at, *it), &mut steps));
        if steps == 0 {
            return Some(HOLE.to_string());
        }
        if result.len() > VALUE_BYTES_MAX {
            return None;
        }
        match end {
            Some(end) => {
                result.push_str(with);
                at = end;
                if !all {
                    break;
                }
            }
            None => {
                result.extend(letters.get(at));
                at += 1;
            }
        }
    }
    Some(result + &part(at, letters.len()))
}

fn with_case(text: &str, sign: char, all: bool) -> String {
    let change = |letter: char| -> String {
        match sign {
            '^' => letter.to_uppercase().collect(),
            ',' => letter.to_lowercase().collect(),
            _ if letter.is_lowercase() => letter.to_uppercase().collect(),
            _ => letter.to_lowercase().collect(),
        }
    };
    let mut letters = text.chars();
    if all {
        return letters.map(change).collect();
    }
    letters.next().map(change).unwrap_or_default() + letters.as_str()
}
