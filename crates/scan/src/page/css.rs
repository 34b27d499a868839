//! Style sheets as tokens, by the rules of browsers: where strings, addresses, brackets, comments and
//! escapes end decides which declarations count, so nothing is guessed here.

use std::borrow::Cow;

use super::lex::Reader;

/// A token. Names have their escapes resolved and keep their case.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Space,
    Word(Cow<'a, str>),
    /// A name and the bracket behind it.
    Call(Cow<'a, str>),
    /// `@name`.
    At(Cow<'a, str>),
    /// `#name`, and whether it is one that an element can have.
    Hash(Cow<'a, str>, bool),
    Text(Cow<'a, str>),
    Url(Cow<'a, str>),
    /// A string or an address that ends where it must not.
    Broken,
    Number(f64),
    Share(f64),
    /// A number and its unit in lower case.
    Length(f64, Cow<'a, str>),
    /// `<!--` or `-->`.
    Mark,
    /// Any other sign, brackets among them.
    Sign(char),
}

/// A token and, if it opens a bracket, how many tokens further that closes or the text ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part<'a> {
    pub(super) token: Token<'a>,
    /// Where it begins and ends in the text, in bytes.
    pub(super) at: usize,
    pub(super) end: usize,
    reach: usize,
}

impl Part<'_> {
    pub(super) fn is(&self, sign: char) -> bool {
        self.token == Token::Sign(sign)
    }

    pub(super) fn word(&self) -> Option<&str> {
        if let Token::Word(word) = &self.token { Some(word) } else { None }
    }

    pub(super) fn sign(&self) -> Option<char> {
        if let Token::Sign(sign) = self.token { Some(sign) } else { None }
    }

    /// The name of a function, in any case.
    pub(super) fn call(&self) -> Option<&str> {
        if let Token::Call(name) = &self.token { Some(name) } else { None }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Token::Text(text) = &self.token { Some(text) } else { None }
    }

    /// What may be an address: in `url(…)` or in quotes.
    pub(super) fn address(&self) -> Option<&str> {
        if let Token::Url(text) = &self.token { Some(text) } else { self.text() }
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.word().is_some_and(|it| it.eq_ignore_ascii_case(word))
    }

    pub(super) fn is_space(&self) -> bool {
        self.token == Token::Space
    }
}

/// All tokens of a text. A bracket is closed by its own kind only, as browsers have it.
pub(super) fn tokens(text: &str) -> Vec<Part<'_>> {
    let mut reader = Reader::new(text);
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut open: Vec<(usize, char)> = Vec::new();
    while let Some((at, token, end)) = reader.token() {
        let here = parts.len();
        match token {
            Token::Call(_) | Token::Sign('(') => open.push((here, ')')),
            Token::Sign('[') => open.push((here, ']')),
            Token::Sign('{') => open.push((here, '}')),
            Token::Sign(sign) if open.last().is_some_and(|it| it.1 == sign) => {
                let opener = open.pop().map_or(here, |it| it.0);
                parts.get_mut(opener).into_iter().for_each(|it| it.reach = here - opener);
            }
            Token::Space
            | Token::Word(_)
            | Token::At(_)
            | Token::Hash(..)
            | Token::Text(_)
            | Token::Url(_)
            | Token::Broken
            | Token::Number(_)
            | Token::Share(_)
            | Token::Length(..)
            | Token::Mark
            | Token::Sign(_) => {}
        }
        parts.push(Part { token, at, end, reach: 0 });
    }
    let end = parts.len();
    for (opener, _) in open {
        parts.get_mut(opener).into_iter().for_each(|it| it.reach = end - opener);
    }
    parts
}

/// The first component of a value (a token, or a bracket with all that is in it) and the rest.
pub(super) fn component<'p, 'a>(parts: &'p [Part<'a>]) -> Option<(&'p [Part<'a>], &'p [Part<'a>])> {
    let count = parts.first()?.reach + 1;
    Some(parts.split_at_checked(count).unwrap_or((parts, &[])))
}

/// What stands inside the bracket that a component begins with.
pub(super) fn inside<'p, 'a>(component: &'p [Part<'a>]) -> &'p [Part<'a>] {
    let reach = component.first().map_or(0, |it| it.reach);
    component.get(1..reach.min(component.len()).max(1)).unwrap_or_default()
}

/// The components of a value, blanks left out.
pub(super) fn components<'p, 'a>(
    parts: &'p [Part<'a>],
) -> impl Iterator<Item = &'p [Part<'a>]> + Clone {
    let mut rest = parts;
    std::iter::from_fn(move || {
        loop {
            let (one, after) = component(rest)?;
            rest = after;
            if !one.first().is_some_and(Part::is_space) {
                return Some(one);
            }
        }
    })
}

/// Cut at a sign that stands in no bracket.
pub(super) fn split<'p, 'a>(
    parts: &'p [Part<'a>],
    at: char,
) -> impl Iterator<Item = &'p [Part<'a>]> {
    let mut rest = Some(parts);
    std::iter::from_fn(move || {
        let whole = rest?;
        let mut count = 0;
        let mut left = whole;
        while let Some((one, after)) = component(left) {
            if one.first().is_some_and(|it| it.is(at)) {
                rest = Some(after);
                return whole.get(..count);
            }
            count += one.len();
            left = after;
        }
        rest = None;
        Some(whole)
    })
}

/// Without blanks at the ends.
pub(super) fn trim<'p, 'a>(mut parts: &'p [Part<'a>]) -> &'p [Part<'a>] {
    while let Some((first, rest)) = parts.split_first()
        && first.is_space()
    {
        parts = rest;
    }
    while let Some((last, rest)) = parts.split_last()
        && last.is_space()
    {
        parts = rest;
    }
    parts
}

/// The address that a component of a value is: `url(…)`, or in quotes.
pub(super) fn address_of<'p>(item: &'p [Part<'_>]) -> Option<&'p str> {
    let first = item.first()?;
    match first.call() {
        Some(name) if name.eq_ignore_ascii_case("url") => item.get(1)?.text(),
        Some(_) => None,
        None => first.address(),
    }
}
