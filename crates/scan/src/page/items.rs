//! The items of a style sheet or of a block in it: declarations, rules, and rules with an `@`.

use super::css::{Part, Token, component, inside};

/// One item.
#[derive(Clone, Debug)]
pub(super) enum Item<'p, 'a> {
    Declaration(&'p [Part<'a>]),
    /// What stands before the block, and the block.
    Rule(&'p [Part<'a>], &'p [Part<'a>]),
    /// The name, what follows it, and the block if there is one.
    At(&'p str, &'p [Part<'a>], Option<&'p [Part<'a>]>),
}

/// Reads one item after the other, as browsers do: what is no declaration is tried as a rule.
#[derive(Clone, Debug)]
pub(super) struct Items<'p, 'a> {
    rest: &'p [Part<'a>],
    top: bool,
}

impl<'p, 'a> Items<'p, 'a> {
    /// Of a whole style sheet.
    pub(super) fn of_sheet(parts: &'p [Part<'a>]) -> Self {
        Self { rest: parts, top: true }
    }

    /// Of a block, or of a `style` attribute.
    pub(super) fn of_block(parts: &'p [Part<'a>]) -> Self {
        Self { rest: parts, top: false }
    }

    /// Takes all up to a component that begins with one of the signs; gives that too, if it is there.
    fn until(&mut self, signs: &[char]) -> (&'p [Part<'a>], Option<&'p [Part<'a>]>) {
        let whole = self.rest;
        let mut count = 0;
        while let Some((one, after)) = component(self.rest) {
            self.rest = after;
            if one.first().is_some_and(|it| signs.iter().any(|sign| it.is(*sign))) {
                return (whole.get(..count).unwrap_or_default(), Some(one));
            }
            count += one.len();
        }
        (whole, None)
    }

    fn declaration(&mut self) -> Option<Item<'p, 'a>> {
        let mut ahead = self.rest.iter();
        let name = ahead.next()?.word()?;
        if !ahead.find(|it| !it.is_space())?.is(':') {
            return None;
        }
        let start = self.rest;
        let own = name.starts_with("--");
        let (value, end) = self.until(if own { &[';'] } else { &[';', '{'] });
        if end.and_then(<[Part<'_>]>::first).is_some_and(|it| it.is('{')) {
            self.rest = start;
            return None;
        }
        Some(Item::Declaration(value))
    }
}

impl<'p, 'a> Iterator for Items<'p, 'a> {
    type Item = Item<'p, 'a>;

    fn next(&mut self) -> Option<Item<'p, 'a>> {
        loop {
            let (first, after) = self.rest.split_first()?;
            let skipped = if self.top { first.token == Token::Mark } else { first.is(';') };
            if skipped || first.is_space() {
                self.rest = after;
                continue;
            }
            if let Token::At(name) = &first.token {
                self.rest = after;
                let (prelude, end) = self.until(&[';', '{']);
                let block = end.filter(|it| it.first().is_some_and(|it| it.is('{')));
                return Some(Item::At(name, prelude, block.map(inside)));
            }
            if !self.top
                && let Some(found) = self.declaration()
            {
                return Some(found);
            }
            let signs: &[char] = if self.top { &['{'] } else { &[';', '{'] };
            let (prelude, end) = self.until(signs);
            if let Some(block) = end.filter(|it| it.first().is_some_and(|it| it.is('{'))) {
                return Some(Item::Rule(prelude, inside(block)));
            }
        }
    }
}
