//! Selectors of style sheets as they are written; `fit.rs` holds them against elements.

use std::rc::Rc;

use super::attribute::{Attribute, attribute};
use super::css::{Part, Token, component, inside, split, trim};
use super::pseudo::{Pseudo, pseudo_class, pseudo_element};

/// The selectors of a rule.
#[derive(Debug, Default)]
pub(super) struct List {
    pub(super) selectors: Vec<Selector>,
    /// One of them has a name in it that not every browser knows; those pass over the whole rule.
    pub(super) doubtful: bool,
    /// Lists within lists below this one.
    pub(super) depth: usize,
}

/// A selector, read from its end: what the element is, then what stands above or before it.
#[derive(Debug)]
pub(super) struct Selector {
    pub(super) subject: Compound,
    pub(super) above: Vec<(Relation, Compound)>,
    pub(super) specificity: Specificity,
}

/// How it ranks among others: ids, then classes and attributes, then names.
pub(super) type Specificity = (usize, usize, usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Ancestor,
    Parent,
    /// The element right before.
    Next,
    /// Any element before, of the same parent.
    Later,
}

/// What one element must be.
#[derive(Debug, Default)]
pub(super) struct Compound {
    pub(super) tag: Option<String>,
    pub(super) ids: Vec<String>,
    pub(super) classes: Vec<String>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) pseudos: Vec<Pseudo>,
}

/// By which word rules are looked up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Id(String),
    Class(String),
    Tag(String),
    Any,
}

impl List {
    /// Of a rule: nothing for what no browser takes for selectors. `outer` are those of the rule around.
    pub(super) fn of_rule(parts: &[Part<'_>], outer: Option<&Rc<List>>) -> Option<Self> {
        if nesting(parts) <= BRACKETS_MAX {
            return Self::parse(parts, outer);
        }
        let mut list = Self::default();
        list.add(Selector::unreadable());
        Some(list)
    }

    /// Stands for the element that something else must stand so to.
    pub(super) fn anchor() -> Self {
        let mut list = Self::default();
        let subject = Compound::of(Pseudo::Anchor);
        list.add(Selector { subject, above: Vec::new(), specificity: (0, 0, 0) });
        list
    }

    pub(super) fn is_anchor(&self) -> bool {
        let is = |it: &Selector| it.subject.pseudos.iter().any(|it| matches!(it, Pseudo::Anchor));
        self.selectors.first().is_some_and(is)
    }

    /// The same of a part of it, in brackets.
    pub(super) fn parse(parts: &[Part<'_>], outer: Option<&Rc<List>>) -> Option<Self> {
        let mut list = Self::default();
        for one in split(parts, ',') {
            list.add(Selector::parse(trim(one), outer)?);
        }
        Some(list)
    }

    /// The same where single selectors may be passed over: in `:is` and `:where`.
    pub(super) fn parse_forgiving(parts: &[Part<'_>], outer: Option<&Rc<List>>) -> Self {
        let mut list = Self::default();
        split(parts, ',')
            .filter_map(|one| Selector::parse(trim(one), outer))
            .for_each(|it| list.add(it));
        list
    }

    fn add(&mut self, selector: Selector) {
        let all = || selector.above.iter().map(|it| &it.1).chain([&selector.subject]);
        let pseudos = || all().flat_map(|it| &it.pseudos);
        self.doubtful |= pseudos().any(Pseudo::is_doubtful);
        self.depth = self.depth.max(1 + pseudos().map(Pseudo::depth).max().unwrap_or(0));
        self.selectors.push(selector);
    }

    pub(super) fn specificity(&self) -> Specificity {
        self.selectors.iter().map(|it| it.specificity).max().unwrap_or_default()
    }
}

impl Selector {
    fn parse(parts: &[Part<'_>], outer: Option<&Rc<List>>) -> Option<Self> {
        let mut above: Vec<(Relation, Compound)> = Vec::new();
        let mut relation: Option<Relation> = None;
        let mut rest = parts;
        let nested = outer.is_some() && !parts.iter().any(|it| it.is('&'));
        let leading = parts.first().and_then(combinator).is_some();
        if let Some(outer) = outer.filter(|_| nested || leading) {
            above.push((Relation::Ancestor, Compound::of(Pseudo::is(Rc::clone(outer)))));
            relation = Some(Relation::Ancestor);
        } else if leading {
            return None;
        }
        while let Some(first) = rest.first() {
            if first.is_space() {
                relation = relation.or(Some(Relation::Ancestor));
                rest = rest.get(1..)?;
                continue;
            }
            if let Some(sign) = combinator(first) {
                if !matches!(relation, None | Some(Relation::Ancestor)) {
                    return None;
                }
                relation = Some(sign);
                rest = rest.get(1..)?;
                continue;
            }
            // Of each compound the relation to the one after it is kept, so it moves one to the left.
            if let Some(last) = above.last_mut() {
                last.0 = relation.take()?;
            }
            let (compound, after) = Compound::parse(rest, outer)?;
            above.push((Relation::Ancestor, compound));
            (relation, rest) = (None, after);
            if above.len() > COMPOUNDS_MAX {
                return Some(Self::unreadable());
            }
        }
        if !matches!(relation, None | Some(Relation::Ancestor)) {
            return None;
        }
        let specificity = above.iter().fold((0, 0, 0), |sum, it| plus(sum, it.1.specificity()));
        let (_, subject) = above.pop()?;
        above.reverse();
        Some(Self { subject, above, specificity })
    }

    /// Stands for what is too much to be read: it may select anything.
    fn unreadable() -> Self {
        let subject = Compound::of(Pseudo::Doubtful);
        Self { subject, above: Vec::new(), specificity: (COMPOUNDS_MAX, 0, 0) }
    }

    /// Does it select a box before or after a text?
    pub(super) fn is_generated(&self) -> bool {
        self.subject.pseudos.iter().any(|it| matches!(it, Pseudo::Generated))
    }

    /// Does it select a part of a shadow tree from outside?
    pub(super) fn is_part(&self) -> bool {
        self.subject.pseudos.iter().any(|it| matches!(it, Pseudo::Part(_)))
    }

    pub(super) fn key(&self) -> Key {
        let subject = &self.subject;
        if let Some(id) = subject.ids.first() {
            Key::Id(id.to_ascii_lowercase())
        } else if let Some(class) = subject.classes.first() {
            Key::Class(class.to_ascii_lowercase())
        } else if let Some(tag) = &subject.tag {
            Key::Tag(tag.clone())
        } else {
            Key::Any
        }
    }
}

/// How deep brackets stand in brackets.
fn nesting(parts: &[Part<'_>]) -> usize {
    let (mut deep, mut most) = (0_usize, 0);
    for part in parts {
        match part.sign() {
            Some('(' | '[' | '{') => deep += 1,
            Some(')' | ']' | '}') => deep = deep.saturating_sub(1),
            Some(_) | None => deep += usize::from(part.call().is_some()),
        }
        most = most.max(deep);
    }
    most
}

fn plus(a: Specificity, b: Specificity) -> Specificity {
    (a.0 + b.0, a.1 + b.1, a.2 + b.2)
}

fn combinator(part: &Part<'_>) -> Option<Relation> {
    match part.sign()? {
        '>' => Some(Relation::Parent),
        '+' => Some(Relation::Next),
        '~' => Some(Relation::Later),
        _ => None,
    }
}

impl Compound {
    fn of(pseudo: Pseudo) -> Self {
        Self { pseudos: vec![pseudo], ..Self::default() }
    }

    fn specificity(&self) -> Specificity {
        let own = (
            self.ids.len(),
            self.classes.len() + self.attributes.len(),
            usize::from(self.tag.is_some()),
        );
        self.pseudos.iter().fold(own, |sum, it| plus(sum, it.specificity()))
    }

    fn parse<'p, 'a>(
        parts: &'p [Part<'a>],
        outer: Option<&Rc<List>>,
    ) -> Option<(Self, &'p [Part<'a>])> {
        let mut compound = Self::default();
        let mut rest = compound.name(parts);
        let mut some = rest.len() < parts.len();
        while let Some(first) = rest.first() {
            if first.is_space() || combinator(first).is_some() {
                break;
            }
            rest = compound.part(rest, outer)?;
            some = true;
        }
        some.then_some((compound, rest))
    }

    /// `p`, `*`, `svg|p`: the name at the beginning.
    fn name<'p, 'a>(&mut self, parts: &'p [Part<'a>]) -> &'p [Part<'a>] {
        let any = |it: &Part<'_>| it.is('*');
        let mut rest = parts;
        if let [space, bar, name, ..] = parts
            && bar.is('|')
            && (any(space) || space.word().is_some())
            && (any(name) || name.word().is_some())
        {
            if !any(space) {
                self.pseudos.push(Pseudo::Doubtful);
            }
            rest = parts.get(2..).unwrap_or_default();
        }
        match rest.split_first() {
            Some((first, after)) if any(first) => after,
            Some((first, after)) => match first.word() {
                Some(word) => {
                    self.tag = Some(word.to_ascii_lowercase());
                    after
                }
                None => rest,
            },
            None => rest,
        }
    }

    fn part<'p, 'a>(
        &mut self,
        parts: &'p [Part<'a>],
        outer: Option<&Rc<List>>,
    ) -> Option<&'p [Part<'a>]> {
        let (first, after) = component(parts)?;
        if let Token::Hash(id, valid) = &first.first()?.token {
            self.ids.push(id.to_string());
            return valid.then_some(after);
        }
        match first.first()?.sign()? {
            '&' => self.pseudos.push(match outer {
                Some(outer) => Pseudo::is(Rc::clone(outer)),
                None => Pseudo::Scope,
            }),
            '[' => self.attributes.push(attribute(trim(inside(first)))?),
            '.' => {
                let (class, after) = after.split_first()?;
                self.classes.push(class.word()?.to_owned());
                return Some(after);
            }
            ':' => {
                let element = after.first()?.is(':');
                let (one, after) = component(if element { after.get(1..)? } else { after })?;
                self.pseudos.push(if element {
                    pseudo_element(one)?
                } else {
                    pseudo_class(one, outer)?
                });
                return Some(after);
            }
            _ => return None,
        }
        Some(after)
    }
}

/// Brackets within brackets in one selector.
const BRACKETS_MAX: usize = 16;
/// Compounds in one selector; nobody writes more.
const COMPOUNDS_MAX: usize = 32;
