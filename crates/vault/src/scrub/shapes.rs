//! The forms of secrets that can be guessed: they are not looked for, but who tries them all is noticed.

use std::collections::HashSet;
use std::sync::Arc;

use super::needles::number;
use crate::secret::Secret;

/// So many values in one text that have such a form are told apart.
const SHAPED_MAX: usize = 10_000;

/// The forms of values, each with the place of a name. Words have none: every text has many of each length.
#[derive(Default)]
pub(super) struct Shapes(Vec<(usize, Shape)>);

#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape {
    bytes: usize,
    has_letters: bool,
}

impl Shapes {
    pub(super) fn new(values: &[(usize, Arc<Secret>)]) -> Self {
        let shape = |(place, secret): &(usize, Arc<Secret>)| Some((*place, shape(secret.plain())?));
        Self(values.iter().filter_map(shape).collect())
    }

    /// What in a text has the form of one: the place of its name, and a number for each that is like no other.
    pub(super) fn find(&self, text: &str) -> Vec<(usize, u64)> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let mut found = HashSet::new();
        for piece in text.split(|it: char| !it.is_ascii_alphanumeric()) {
            let Some(shape) = shape(piece) else { continue };
            for (place, _) in self.0.iter().filter(|(_, it)| *it == shape) {
                found.insert((*place, number(piece.as_bytes())));
            }
            if found.len() >= SHAPED_MAX {
                break;
            }
        }
        found.into_iter().collect()
    }
}

/// Digits alone, or letters and digits.
fn shape(value: &str) -> Option<Shape> {
    let plain = value.bytes().all(|it| it.is_ascii_alphanumeric());
    let has_digits = value.bytes().any(|it| it.is_ascii_digit());
    let has_letters = value.bytes().any(|it| it.is_ascii_alphabetic());
    (plain && has_digits).then_some(Shape { bytes: value.len(), has_letters })
}
