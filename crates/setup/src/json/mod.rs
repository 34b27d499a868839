//! JSON that belongs to somebody else: read with the place of every value, and changed in its text.
//!
//! INVARIANT (OnlyOurs): a change touches the bytes of the value it is about and no others. After each
//! one the container is read again, and it must say what was meant, or the change is refused.

mod edit;
mod parse;
mod style;
#[cfg(test)]
mod tests;

use std::ops::Range;

use serde_json::{Map, Value};

pub(crate) use parse::{Comments, JsonError};

/// A step into a value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Step {
    /// A member of an object.
    Key(String),
    /// An element of an array.
    Index(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind,
}

/// What stands there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Scalar(Value),
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) key_start: usize,
    pub(crate) value: Node,
}

impl Node {
    pub(crate) fn value(&self) -> Value {
        match &self.kind {
            Kind::Object(members) => {
                let members = members.iter().map(|it| (it.key.clone(), it.value.value()));
                Value::Object(members.collect::<Map<_, _>>())
            }
            Kind::Array(elements) => Value::Array(elements.iter().map(Self::value).collect()),
            Kind::Scalar(value) => value.clone(),
        }
    }

    fn step(&self, step: &Step) -> Option<&Self> {
        match (&self.kind, step) {
            (Kind::Object(members), Step::Key(key)) => {
                members.iter().find(|it| it.key == *key).map(|it| &it.value)
            }
            (Kind::Array(elements), Step::Index(index)) => elements.get(*index),
            (Kind::Object(_) | Kind::Array(_) | Kind::Scalar(_), _) => None,
        }
    }

    /// Puts a node in the place of the one at `way`, which ended at `end` and is `longer` by so much now.
    fn put(&mut self, way: &[Step], new: Self, end: usize, longer: isize) {
        let Some((step, rest)) = way.split_first() else {
            *self = new;
            return;
        };
        self.span.end = self.span.end.saturating_add_signed(longer);
        let mut new = Some(new);
        let mut child = |node: &mut Self, is_meant: bool| {
            if node.span.start >= end {
                node.shift(longer);
            } else if let Some(new) = new.take_if(|_| is_meant) {
                node.put(rest, new, end, longer);
            }
        };
        match (&mut self.kind, step) {
            (Kind::Object(members), Step::Key(key)) => {
                for it in members {
                    if it.key_start >= end {
                        it.key_start = it.key_start.saturating_add_signed(longer);
                    }
                    child(&mut it.value, it.key == *key);
                }
            }
            (Kind::Array(elements), Step::Index(index)) => {
                elements.iter_mut().enumerate().for_each(|it| child(it.1, it.0 == *index));
            }
            (Kind::Object(_) | Kind::Array(_) | Kind::Scalar(_), _) => {}
        }
    }

    /// Moves everything by so many bytes.
    fn shift(&mut self, by: isize) {
        let moved = |at: usize| at.saturating_add_signed(by);
        self.span = moved(self.span.start)..moved(self.span.end);
        match &mut self.kind {
            Kind::Object(members) => members.iter_mut().for_each(|it| {
                it.key_start = moved(it.key_start);
                it.value.shift(by);
            }),
            Kind::Array(elements) => elements.iter_mut().for_each(|it| it.shift(by)),
            Kind::Scalar(_) => {}
        }
    }

    /// Where the entries of a container stand, names included.
    fn entries(&self) -> Vec<Range<usize>> {
        match &self.kind {
            Kind::Object(members) => {
                members.iter().map(|it| it.key_start..it.value.span.end).collect()
            }
            Kind::Array(elements) => elements.iter().map(|it| it.span.clone()).collect(),
            Kind::Scalar(_) => Vec::new(),
        }
    }
}

/// A text of JSON that can be changed in places.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    text: String,
    root: Node,
    comments: Comments,
}

impl Document {
    /// Reads a text. One without anything in it counts as an empty object.
    ///
    /// # Errors
    /// If it is not JSON, with the place.
    pub(crate) fn parse(text: &str, comments: Comments) -> Result<Self, JsonError> {
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let root = parse::parse(text, comments)?;
        Ok(Self { text: text.to_owned(), root, comments })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn root(&self) -> &Node {
        &self.root
    }

    pub(crate) fn value(&self) -> Value {
        self.root.value()
    }

    pub(crate) fn get(&self, path: &[Step]) -> Option<&Node> {
        path.iter().try_fold(&self.root, |node, step| node.step(step))
    }

    pub(crate) fn value_at(&self, path: &[Step]) -> Option<Value> {
        self.get(path).map(Node::value)
    }
}

/// A path of keys.
pub(crate) fn keys(path: &[&str]) -> Vec<Step> {
    path.iter().map(|it| Step::from(*it)).collect()
}

/// A path with one step more.
pub(crate) fn below(path: &[Step], step: impl Into<Step>) -> Vec<Step> {
    path.iter().cloned().chain(std::iter::once(step.into())).collect()
}
