//! From words to arguments, as bash does it: braces, tildes, parameters, substitutions, splitting.

use crate::arithmetic::evaluate;
use crate::braces::Braced;
use crate::engine::{forgotten, text};
use crate::limits::{FIELDS_MAX, MADE_BYTES_MAX, VALUE_BYTES_MAX};
use crate::marks::SPLIT;
use crate::syntax::{Part, Word};
use crate::{Engine, HOLE, HOME, Rule, State, UNSET, braces, marks, syntax};

/// Something quoted stood here: the argument exists though it may be empty.
const KEEP: char = '\u{E006}';

/// How the parts of a word are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct How {
    /// In double quotes.
    pub(super) quoted: bool,
    /// What is expanded becomes several arguments.
    pub(super) split: bool,
}

impl Engine {
    /// All arguments that the words become.
    pub(super) fn arguments(&mut self, words: &[Word], state: &mut State) -> Vec<String> {
        let mut arguments = Vec::new();
        for word in words {
            // Nothing more is made of it.
            if self.made > MADE_BYTES_MAX {
                arguments.push(HOLE.to_string());
                break;
            }
            match braces::expand(word) {
                Some(Braced::Words(words)) => {
                    for word in words {
                        self.split(&word, state, &mut arguments);
                    }
                }
                Some(Braced::TooMuch) => {
                    self.too_much();
                    arguments.push(HOLE.to_string());
                }
                None => self.split(word, state, &mut arguments),
            }
            if arguments.len() > FIELDS_MAX {
                self.too_much();
                arguments.truncate(FIELDS_MAX);
                break;
            }
        }
        arguments
    }

    fn split(&mut self, word: &Word, state: &mut State, arguments: &mut Vec<String>) {
        let raw = self.raw(&word.parts, state, How { quoted: false, split: true });
        let unset = |it: &str| it.chars().all(|it| it == UNSET || it == KEEP);
        for field in raw.split(SPLIT).filter(|it| !it.is_empty()) {
            arguments.push(match (unset(field), field.contains(UNSET), field.contains(KEEP)) {
                (true, true, false) => marks::GONE.to_owned(),
                (true, true, true) => UNSET.to_string(),
                _ => field.replace(KEEP, ""),
            });
        }
    }

    /// The word as one text: for assignments, redirections and patterns.
    pub(super) fn text(&mut self, word: &Word, state: &mut State) -> String {
        let raw = self.raw(&word.parts, state, How { quoted: false, split: false });
        raw.replace(KEEP, "").replace(SPLIT, " ")
    }

    /// The word of `${x:-…}`: its bare letters are split like those of a value.
    pub(super) fn alternative(&mut self, word: &Word, state: &mut State, how: How) -> String {
        let mut raw = String::new();
        for part in &word.parts {
            if let Part::Bare(text) = part
                && how.split
                && !how.quoted
                && !text.starts_with('~')
            {
                raw.push_str(&value(text, state, how));
            } else {
                raw.push_str(&self.raw(std::slice::from_ref(part), state, how));
            }
        }
        raw
    }

    /// The text of parts, with marks.
    pub(super) fn raw(&mut self, parts: &[Part], state: &mut State, how: How) -> String {
        let mut raw = String::new();
        if self.made > MADE_BYTES_MAX {
            return HOLE.to_string();
        }
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Bare(text) => {
                    let text = if index == 0 && !how.quoted { tilde(text) } else { text.into() };
                    raw.push_str(&marks::with_patterns(&text));
                }
                Part::Quoted(text) => {
                    raw.push(KEEP);
                    raw.push_str(text);
                }
                Part::Double(parts) => {
                    let inside = self.raw(parts, state, How { quoted: true, split: how.split });
                    // `"$@"` without arguments is no argument at all.
                    let only_list = matches!(
                        parts.as_slice(),
                        [Part::Parameter(it)] if it.name == "@" || is_list(it)
                    );
                    if !(only_list && inside.chars().all(|it| it == UNSET)) {
                        raw.push(KEEP);
                        raw.push_str(&inside);
                    }
                }
                Part::Parameter(parameter) => {
                    raw.push_str(&self.parameter(parameter, state, how));
                }
                Part::Substitution(script) => {
                    let output = self.substitution(script, state);
                    raw.push_str(&value(&output, state, how));
                }
                Part::Arithmetic(text) => raw.push_str(&self.arithmetic(text, state)),
                Part::Process { script, is_input } => {
                    raw.push_str(&self.process(script, *is_input, state));
                }
            }
            if raw.len() > VALUE_BYTES_MAX {
                self.too_much();
                return text(&forgotten(raw.as_bytes()));
            }
        }
        self.made += raw.len();
        if self.made > MADE_BYTES_MAX {
            self.too_much();
            return text(&forgotten(raw.as_bytes()));
        }
        raw
    }

    /// The value of an expression as text.
    pub(super) fn arithmetic(&mut self, text: &str, state: &mut State) -> String {
        let expanded = if text.contains(['$', '`', '"', '\\']) {
            match syntax::quoted(text, self.depth) {
                Ok(parts) => {
                    let how = How { quoted: true, split: false };
                    self.raw(&parts, state, how).replace([KEEP, '"'], "")
                }
                Err(_) => return HOLE.to_string(),
            }
        } else {
            text.to_owned()
        };
        let plain = marks::plain(&expanded);
        if let Some(value) = evaluate(&plain, state) {
            return value.to_string();
        }
        // Values of variables are read as expressions, and their subscripts are expanded.
        let names = plain.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
        let values: Vec<String> =
            names.filter_map(|it| state.vars.get(it)).map(super::state::Var::first).collect();
        for value in values {
            self.subscripts(&value, state);
        }
        HOLE.to_string()
    }

    /// `x[$(command)]` where an expression or a name is expected: the command is run.
    pub(super) fn subscripts(&mut self, text: &str, state: &mut State) {
        if !text.contains('[') || !(text.contains("$(") || text.contains('`')) {
            return;
        }
        self.ask(Rule::Dynamic, "it hides a command in a subscript");
        if let Ok(parts) = syntax::quoted(text, self.depth + 1) {
            self.raw(&parts, &mut state.clone(), How { quoted: true, split: false });
        }
    }
}

/// Without the signs that only matter while a word is expanded.
pub(super) fn kept(raw: &str) -> String {
    raw.replace(KEEP, "")
}

fn is_list(parameter: &syntax::Parameter) -> bool {
    let index = parameter.index.as_ref().map(|it| it.parts.as_slice());
    matches!(index, Some([Part::Bare(text)]) if text == "@")
}

fn tilde(text: &str) -> String {
    match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{HOME}{rest}"),
        Some(rest) if rest.starts_with('+') => {
            format!("{}{}", super::state::HERE, rest.strip_prefix('+').unwrap_or_default())
        }
        Some(_) | None => text.to_owned(),
    }
}

/// A value as it enters a word: split and with patterns, unless it is quoted.
pub(super) fn value(text: &str, state: &State, how: How) -> String {
    if how.quoted || !how.split {
        return text.to_owned();
    }
    let ifs = state.ifs();
    text.chars().map(|it| if ifs.contains(it) { SPLIT } else { marks::pattern(it) }).collect()
}

/// Several values: `"$@"` keeps them apart, `"$*"` joins them.
pub(super) fn values(list: &[String], joined: bool, state: &State, how: How) -> String {
    let separator = if how.quoted && joined {
        state.ifs().chars().next().map(String::from).unwrap_or_default()
    } else if how.quoted && how.split {
        format!("{SPLIT}{KEEP}")
    } else if how.split {
        SPLIT.to_string()
    } else {
        " ".to_owned()
    };
    let list: Vec<String> = list.iter().map(|it| value(it, state, how)).collect();
    list.join(&separator)
}
