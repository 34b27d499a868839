//! Simple commands: assignments, words and redirections in any order.

use super::cursor::{Cursor, Read};
use super::word::is_name;
use super::{Assignment, Command, Kind, Part, Simple, Unreadable, Value, Word};

/// Builtins whose arguments can be assignments.
const DECLARING: [&str; 5] = ["declare", "typeset", "export", "readonly", "local"];

impl Cursor<'_> {
    pub(super) fn simple(&mut self) -> Read<Command> {
        let mut simple = Simple::default();
        let mut redirects = Vec::new();
        let mut declares = false;
        let start = self.at();
        loop {
            self.blanks();
            if let Some(it) = self.redirect()? {
                redirects.push(it);
                continue;
            }
            if (simple.words.is_empty() || declares)
                && let Some(assignment) = self.assignment()?
            {
                simple.assignments.push(assignment);
                continue;
            }
            let at = self.at();
            let Some(word) = self.word()? else { break };
            if simple.words.is_empty() {
                let name = literal(&word);
                if let Some(kind) = self.definition(&word, name.is_some())? {
                    return Ok(Command { kind, redirects });
                }
                let name = name.unwrap_or_default();
                declares = DECLARING.contains(&name.as_str());
                self.names.push(at);
                if name == "coproc" {
                    return self.coprocess(redirects);
                }
            }
            simple.words.push(word);
        }
        if self.at() == start {
            return Err(Unreadable("a command is missing"));
        }
        Ok(Command { kind: Kind::Simple(simple), redirects })
    }

    /// `name()` and a body.
    fn definition(&mut self, word: &Word, is_literal: bool) -> Read<Option<Kind>> {
        let from = self.at();
        self.blanks();
        if is_literal && self.take("(") {
            self.blanks();
            if self.take(")") {
                return Ok(Some(self.function(word)?));
            }
            return Err(Unreadable("a parenthesis stands where none can"));
        }
        self.seek(from);
        Ok(None)
    }

    /// `coproc`, a name if a compound command follows, and a command.
    fn coprocess(&mut self, mut redirects: Vec<super::Redirect>) -> Read<Command> {
        self.blanks();
        let length = self.rest().bytes().take_while(|it| is_name(*it)).count();
        let after = self.rest().get(length..).unwrap_or_default();
        let is_named = length > 0 && after.trim_start_matches([' ', '\t']).starts_with(['{', '(']);
        if is_named && after.starts_with([' ', '\t']) {
            self.skip(length);
            self.blanks();
        }
        let mut command = self.command()?;
        command.redirects.append(&mut redirects);
        Ok(command)
    }

    /// `name=value`, `name+=value`, `name[index]=value`, `name=(…)`.
    fn assignment(&mut self) -> Read<Option<Assignment>> {
        let from = self.at();
        let length = self.rest().bytes().take_while(|it| is_name(*it)).count();
        if length == 0 || self.peek().is_ascii_digit() {
            return Ok(None);
        }
        let name = self.rest().get(..length).unwrap_or_default().to_owned();
        self.skip(length);
        let index = if self.peek() == b'[' { self.index().unwrap_or_default() } else { None };
        let append = self.peek() == b'+' && self.peek_at(1) == b'=';
        if append {
            self.skip(1);
        }
        if !self.take("=") {
            self.seek(from);
            return Ok(None);
        }
        let value = if self.take("(") {
            Value::Array(self.elements()?)
        } else {
            Value::Scalar(self.word()?.unwrap_or_default())
        };
        Ok(Some(Assignment { name, index, append, value }))
    }

    fn elements(&mut self) -> Read<Vec<(Option<Word>, Word)>> {
        let mut elements = Vec::new();
        loop {
            self.lines()?;
            if self.take(")") {
                return Ok(elements);
            }
            let from = self.at();
            let mut key = self.index().unwrap_or_default();
            if key.is_some() && !self.take("=") {
                key = None;
                self.seek(from);
            }
            match self.word()? {
                Some(word) => elements.push((key, word)),
                None if key.is_some() => elements.push((key, Word::default())),
                None => return Err(Unreadable("a list has no end")),
            }
        }
    }
}

/// The text of a word in which nothing is expanded.
pub(crate) fn literal(word: &Word) -> Option<String> {
    let mut text = String::new();
    for part in &word.parts {
        match part {
            Part::Bare(it) | Part::Quoted(it) => text.push_str(it),
            Part::Double(_)
            | Part::Parameter(_)
            | Part::Substitution(_)
            | Part::Arithmetic(_)
            | Part::Process { .. } => return None,
        }
    }
    Some(text)
}
