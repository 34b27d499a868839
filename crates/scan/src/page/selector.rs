//! Selectors of style sheets: names, classes, ids, attributes, and what stands above.

use super::declare::{split, unescape};
use super::tree::{Content, Element, Id, Tree};

/// A selector, read from its end: what the element is, then what stands above it.
#[derive(Debug)]
pub(super) struct Selector {
    subject: Compound,
    above: Vec<(Relation, Compound)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Ancestor,
    Parent,
}

/// What one element must be.
#[derive(Debug, Default)]
struct Compound {
    tag: Option<String>,
    ids: Vec<String>,
    classes: Vec<String>,
    attributes: Vec<(String, Option<String>)>,
}

/// By which word rules are looked up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Id(String),
    Class(String),
    Tag(String),
    Any,
}

impl Selector {
    /// `None` for what is not understood: pseudo-classes, siblings.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let spaced = text.replace('>', " > ");
        let mut above: Vec<(Relation, Compound)> = Vec::new();
        let mut relation = Relation::Ancestor;
        for word in split(&spaced, ' ').flat_map(words).filter(|it| !it.is_empty()) {
            if word == ">" {
                relation = Relation::Parent;
                continue;
            }
            // Of each compound the relation to the one after it is kept, so it moves one to the left.
            if let Some(last) = above.last_mut() {
                last.0 = relation;
            }
            above.push((Relation::Ancestor, Compound::parse(word)?));
            relation = Relation::Ancestor;
            if above.len() > COMPOUNDS_MAX {
                return None;
            }
        }
        let (_, subject) = above.pop()?;
        above.reverse();
        Some(Self { subject, above })
    }

    /// How it ranks among others: ids, then classes and attributes, then names.
    pub(super) fn specificity(&self) -> (usize, usize, usize) {
        let all = self.above.iter().map(|it| &it.1).chain([&self.subject]);
        all.fold((0, 0, 0), |(ids, classes, tags), it| {
            (
                ids + it.ids.len(),
                classes + it.classes.len() + it.attributes.len(),
                tags + usize::from(it.tag.is_some()),
            )
        })
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

    /// Does it select `element`, which stands below `path`? Counts what it looks at in `steps`.
    pub(super) fn selects(
        &self,
        tree: &Tree,
        path: &[Id],
        element: &Element,
        steps: &mut usize,
    ) -> bool {
        if !self.subject.fits(element, steps) {
            return false;
        }
        let mut left = path.iter().rev().filter_map(|id| match &tree.get(*id)?.content {
            Content::Element(element) => Some(element),
            Content::Root | Content::Text(_) | Content::Comment(_) => None,
        });
        self.above.iter().all(|(relation, compound)| match relation {
            Relation::Parent => left.next().is_some_and(|it| compound.fits(it, steps)),
            Relation::Ancestor => left.any(|it| compound.fits(it, steps)),
        })
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    split(text, '\n').flat_map(|it| split(it, '\t')).flat_map(|it| split(it, '\r'))
}

impl Compound {
    fn parse(text: &str) -> Option<Self> {
        let mut compound = Self::default();
        let mut rest = text;
        if let Some(after) = rest.strip_prefix('*') {
            rest = after;
        } else if rest.strip_prefix(":root").is_some() {
            compound.tag = Some("html".to_owned());
            rest = rest.strip_prefix(":root").unwrap_or_default();
        } else {
            let (tag, after) = name(rest);
            compound.tag = (!tag.is_empty()).then(|| tag.to_ascii_lowercase());
            rest = after;
        }
        while let Some(sign) = rest.chars().next() {
            rest = rest.strip_prefix(sign)?;
            if sign == '[' {
                let (inside, after) = rest.split_once(']')?;
                compound.attributes.push(attribute(inside)?);
                rest = after;
                continue;
            }
            let (word, after) = name(rest);
            rest = after;
            match sign {
                _ if word.is_empty() => return None,
                '.' => compound.classes.push(word),
                '#' => compound.ids.push(word),
                _ => return None,
            }
        }
        Some(compound)
    }

    /// Classes and ids in any case: in old pages they are compared so.
    fn fits(&self, element: &Element, steps: &mut usize) -> bool {
        *steps += 1;
        if self.tag.as_ref().is_some_and(|it| !it.eq_ignore_ascii_case(&element.name.local)) {
            return false;
        }
        if !self.ids.is_empty() {
            let id = element.attribute("id").unwrap_or_default();
            if self.ids.iter().any(|it| !it.eq_ignore_ascii_case(id)) {
                return false;
            }
        }
        if !self.classes.is_empty() {
            let classes = element.attribute("class").unwrap_or_default();
            *steps += classes.len() / 8 * self.classes.len();
            let has = |it: &String| {
                classes.split_ascii_whitespace().any(|one| it.eq_ignore_ascii_case(one))
            };
            if !self.classes.iter().all(has) {
                return false;
            }
        }
        self.attributes.iter().all(|(name, wanted)| {
            *steps += element.attributes.len();
            let found = element.attribute(name);
            wanted.as_ref().map_or(found.is_some(), |it| {
                found.is_some_and(|found| it.eq_ignore_ascii_case(found))
            })
        })
    }
}

/// `name` or `name=value`; other comparisons are not understood.
fn attribute(inside: &str) -> Option<(String, Option<String>)> {
    let (name, value) = match inside.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (inside, None),
    };
    let name = name.trim().to_ascii_lowercase();
    let known =
        !name.is_empty() && name.chars().all(|it| it.is_alphanumeric() || it == '-' || it == '_');
    let value = value.map(|it| unescape(it.trim().trim_matches(['"', '\''])));
    known.then_some((name, value))
}

/// The name at the start, with escapes resolved, and the rest.
fn name(text: &str) -> (String, &str) {
    let mut escaped = false;
    let end = text.find(|it: char| {
        let part = escaped;
        escaped = it == '\\' && !part;
        !(part || escaped || it.is_alphanumeric() || it == '-' || it == '_' || !it.is_ascii())
    });
    let (name, rest) = text.split_at_checked(end.unwrap_or(text.len())).unwrap_or((text, ""));
    (unescape(name), rest)
}

/// Compounds in one selector; nobody writes more.
const COMPOUNDS_MAX: usize = 16;
