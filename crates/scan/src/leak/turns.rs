//! What was given out of a prompt over several answers: a piece in each is still the whole.

use serde::{Deserialize, Serialize};

use super::grams::GRAM_BYTES;
use super::look::Look;
use super::{Kind, Leak, Registry, Rule, merged, scan};

/// How much of the end of earlier answers is kept, in bytes: a passage may be cut in two.
const TAIL_BYTES_MAX: usize = 2048;
/// Letters of the prompt that are followed as one cell.
const CELL_LETTERS: usize = 8;
/// Cells that are followed: those of a prompt of 256 KiB.
const CELLS_MAX: usize = 32 * 1024;
/// Pieces from which on they are more than chance.
const PIECES_MIN: u32 = 3;
/// Letters that were given out altogether, at least, and their share of the prompt in percent.
const GIVEN_LETTERS_MIN: usize = 64;
const GIVEN_PERCENT: usize = 15;
/// Letters that were given out from which on the share does not matter, some sixty words.
const GIVEN_LETTERS_MUCH: usize = 320;

/// What one user has heard of one prompt. The caller keeps it for as long as the prompt is in use, however many sessions
/// that takes; pieces of a streamed answer are given to it like answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turns {
    /// Of which prompt; another one begins anew.
    prompt: Option<String>,
    /// The end of the answers so far.
    tail: String,
    /// Which cells of the prompt were given out, one bit each.
    given: Vec<u64>,
    pieces: u32,
}

impl Turns {
    /// Compares an answer with the prompt, alone and together with what went before. Spans are in `text`.
    pub fn add(&mut self, registry: &Registry, text: &str) -> Vec<Leak> {
        if self.prompt.as_deref() != registry.prompt_hash() {
            *self = Self { prompt: registry.prompt_hash().map(str::to_owned), ..Self::default() };
        }
        let mut leaks = scan(registry, text);
        leaks.extend(self.across(registry, text));
        if let Some(certain) = self.is_much_given(registry, text)
            && !leaks.iter().any(|it| it.certain)
        {
            leaks.push(Leak { certain, ..pieces(0, text.len()) });
        }
        self.keep_tail(text);
        merged(leaks)
    }

    /// Forgets the words of the last answers: what is written to disk says which parts of the prompt were given out, and
    /// quotes nothing. A passage that is cut in two by a restart is then seen as two pieces.
    #[must_use]
    pub fn without_words(&self) -> Self {
        Self { tail: String::new(), ..self.clone() }
    }

    /// What lies across the end of the last answer and the beginning of this one.
    fn across(&self, registry: &Registry, text: &str) -> Option<Leak> {
        if self.tail.is_empty() {
            return None;
        }
        let head = text.get(..text.floor_char_boundary(TAIL_BYTES_MAX)).unwrap_or(text);
        let joined = format!("{}{head}", self.tail);
        let cut = self.tail.len();
        let goes_on = Look::new(registry, &joined).goes_on_at(cut);
        let lies_across = |it: &Leak| {
            let is_whole = match it.kind {
                Kind::InternalToken | Kind::InternalFunction | Kind::TemplateVariable => true,
                Kind::PromptText => goes_on,
                Kind::PromptStructure | Kind::Paraphrase | Kind::Translation | Kind::Unread => {
                    false
                }
            };
            is_whole && it.certain && it.start < cut && it.end > cut
        };
        let found = scan(registry, &joined).into_iter().find(lies_across)?;
        Some(pieces(0, text.floor_char_boundary(found.end - cut)))
    }

    /// Marks what this answer gives out. Is it much together with what went before, and is that certain? What is much only
    /// by its length may have come together in months of honest answers: a person looks at it.
    fn is_much_given(&mut self, registry: &Registry, text: &str) -> Option<bool> {
        let before = self.given_cells();
        let given = &mut self.given;
        Look::new(registry, text.get(..text.floor_char_boundary(BYTES_MAX)).unwrap_or(text)).hits(
            |hit| {
                if is_fact(registry, hit.in_prompt) {
                    return;
                }
                // Whole cells alone: the edge of a passage is not all of a cell.
                let first = hit.in_prompt.div_ceil(CELL_LETTERS);
                let past = (hit.in_prompt + GRAM_BYTES) / CELL_LETTERS;
                (first..past).for_each(|cell| mark(given, cell));
            },
        );
        let now = self.given_cells();
        if now == before {
            return None;
        }
        self.pieces = self.pieces.saturating_add(1);
        let letters = now * CELL_LETTERS;
        let facts: usize = registry.facts.iter().map(|it| it.end - it.start).sum();
        let share = letters * 100 / registry.letters.saturating_sub(facts).max(1);
        let certain = letters >= GIVEN_LETTERS_MIN && share >= GIVEN_PERCENT;
        let is_much = self.pieces >= PIECES_MIN && (certain || letters >= GIVEN_LETTERS_MUCH);
        is_much.then_some(certain)
    }

    fn given_cells(&self) -> usize {
        self.given.iter().map(|it| it.count_ones() as usize).sum()
    }

    fn keep_tail(&mut self, text: &str) {
        let text = text.get(text.ceil_char_boundary(text.len().saturating_sub(TAIL_BYTES_MAX))..);
        self.tail.push_str(text.unwrap_or_default());
        let from = self.tail.len().saturating_sub(TAIL_BYTES_MAX);
        self.tail.drain(..self.tail.ceil_char_boundary(from));
    }
}

/// Of a longer answer the beginning is marked; it is compared whole all the same.
const BYTES_MAX: usize = 1 << 20;

fn mark(given: &mut Vec<u64>, cell: usize) {
    if cell >= CELLS_MAX {
        return;
    }
    let word = cell / 64;
    if given.len() <= word {
        given.resize(word + 1, 0);
    }
    if let Some(bits) = given.get_mut(word) {
        *bits |= 1 << (cell % 64);
    }
}

/// Does the passage begin in a sentence that the assistant is there to tell people?
fn is_fact(registry: &Registry, in_prompt: usize) -> bool {
    let next = registry.facts.partition_point(|it| it.start <= in_prompt);
    let last = next.checked_sub(1).and_then(|it| registry.facts.get(it));
    last.is_some_and(|it| in_prompt < it.end)
}

fn pieces(start: usize, end: usize) -> Leak {
    let (kind, rule) = (Kind::PromptText, Rule::Pieces);
    Leak { rule, kind, certain: true, encoded: false, start, end }
}
