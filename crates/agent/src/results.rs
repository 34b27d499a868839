//! The results of one step. They share one message, which has a limit; what of them is not shown is kept for a while, and
//! the model can ask for it.
//!
//! Nothing here is an effect: what is read again was judged, labelled and delivered as a whole before. A part of it stands
//! between marks of its own, since those that were around the whole may not be in it.

use std::collections::VecDeque;

use llm::ToolDefinition;
use scan::boundary::{Boundary, Nonce, wrap};
use serde_json::{Value, json};

use crate::compact;
use crate::message::Hooks;
use crate::outcome::{Fate, Outcome, RESULT_CHARS_MAX};

/// UTF-16 units that the results of one step have together. A message has at most 200,000; the rest is for the notes of what
/// was cut.
pub const STEP_UNITS_MAX: usize = 180_000;
/// Results of which the rest is kept; of more the oldest is forgotten.
const KEPT_MAX: usize = 16;
/// Bytes of all of them.
const KEPT_BYTES_MAX: usize = 16 << 20;

/// The tool that shows more of a result. It is the loop's own: no message for the gate has its name.
pub const RESULT_READ: &str = "result_read";

/// What a model is told of [`RESULT_READ`].
#[must_use]
pub fn result_read() -> ToolDefinition {
    ToolDefinition {
        name: RESULT_READ.to_owned(),
        description: "Show more of a result that was cut: `result` is the number in the note at its end, `offset` the character to begin with. The newest results of this conversation are kept for a while.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "result": {"type": "integer", "minimum": 0},
                "offset": {"type": "integer", "minimum": 0},
            },
            "required": ["result"],
            "additionalProperties": false,
        }),
    }
}

/// A part of a result that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Which result.
    number: u64,
    /// The character with which it begins.
    offset: usize,
}

/// Results of which not everything was shown.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    all: VecDeque<(u64, String)>,
    next: u64,
}

impl Kept {
    /// What a call of [`RESULT_READ`] gives; nothing if it is another tool's.
    pub(crate) fn answer(&self, name: &str, input: &Value) -> Option<Outcome> {
        if name != RESULT_READ {
            return None;
        }
        Some(self.part(input).unwrap_or_else(Outcome::failed))
    }

    fn part(&self, input: &Value) -> Result<Outcome, String> {
        let Value::Object(fields) = input else {
            return Err("the arguments must be an object".to_owned());
        };
        if let Some(other) = fields.keys().find(|it| !["result", "offset"].contains(&it.as_str())) {
            return Err(format!("`{RESULT_READ}` has no argument `{}`", other.escape_debug()));
        }
        let number =
            fields.get("result").and_then(Value::as_u64).ok_or("`result` must be a number")?;
        let offset = fields.get("offset").map_or(Some(0), Value::as_u64);
        let offset = offset.ok_or("`offset` must be a number")?;
        let found = self.all.iter().find(|it| it.0 == number);
        let (_, text) = found.ok_or_else(|| format!("nothing is kept of a result {number}"))?;
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = text.char_indices().nth(offset).and_then(|(at, _)| text.get(at..));
        let rest = rest.ok_or_else(|| {
            format!("result {number} has {} characters, and no more", text.chars().count())
        })?;
        let part = Some(Part { number, offset });
        Ok(Outcome { fate: Fate::Ran, text: rest.to_owned(), part })
    }

    /// Keeps a result, and gives its number; none if it is too long to be kept.
    fn keep(&mut self, text: &str) -> Option<u64> {
        if text.len() > KEPT_BYTES_MAX {
            return None;
        }
        let number = self.next;
        self.next = self.next.saturating_add(1);
        self.all.push_back((number, text.to_owned()));
        let bytes = |all: &VecDeque<(u64, String)>| all.iter().map(|it| it.1.len()).sum::<usize>();
        while self.all.len() > KEPT_MAX || bytes(&self.all) > KEPT_BYTES_MAX {
            self.all.pop_front();
        }
        Some(number)
    }

    /// The results of one step as the model is shown them, by the names of their tools.
    pub(crate) fn shown(&mut self, results: Vec<(&str, Outcome)>, hooks: &Hooks) -> Vec<Outcome> {
        let lines = hooks.compact_success_output.then_some(hooks.compact_output_threshold);
        let results: Vec<(Outcome, Option<String>)> = results
            .into_iter()
            .map(|(name, it)| {
                let short = lines.and_then(|most| compact::shorter(name, &it, most));
                (it, short)
            })
            .collect();
        let lengths: Vec<usize> = results
            .iter()
            .map(|(it, short)| units(short.as_ref().unwrap_or(&it.text)).min(RESULT_CHARS_MAX))
            .collect();
        let each = share(&lengths, STEP_UNITS_MAX).min(RESULT_CHARS_MAX);
        results.into_iter().map(|(it, short)| self.fitted(it, short, each)).collect()
    }

    /// The beginning of a result, and how to have the rest.
    fn fitted(&mut self, outcome: Outcome, short: Option<String>, units_max: usize) -> Outcome {
        let Outcome { fate, text, part } = outcome;
        if let Some(part) = part {
            return part.shown(&text, units_max);
        }
        if let Some(short) = short.filter(|it| units(it) <= units_max) {
            let more = match self.keep(&text) {
                Some(number) => {
                    format!("`{RESULT_READ}` with {{\"result\": {number}}} shows all of it")
                }
                None => "the rest is not kept".to_owned(),
            };
            return Outcome { fate, text: format!("{short}\n[shortened: {more}]"), part };
        }
        let shown = beginning(&text, units_max);
        if shown.len() == text.len() {
            return Outcome { fate, text, part };
        }
        let kept = self.keep(&text).map(|number| Part { number, offset: 0 });
        let text = format!("{shown}\n{}", rest(kept, shown, &text));
        Outcome { fate, text, part }
    }
}

impl Part {
    /// As much of the text that begins here as fits, between marks.
    fn shown(self, text: &str, units_max: usize) -> Outcome {
        let shown = beginning(text, units_max);
        let mut random = [0; 16];
        // INVARIANT (FailClosed): marks that somebody can guess are none.
        if let Err(error) = getrandom::fill(&mut random) {
            return Outcome::failed(error.to_string());
        }
        let source = format!("result {} from character {}", self.number, self.offset);
        let mut marked = wrap(Boundary::Tool, &source, shown, &Nonce::new(random));
        if shown.len() < text.len() {
            marked = format!("{marked}\n{}", rest(Some(self), shown, text));
        }
        Outcome { fate: Fate::Ran, text: marked, part: Some(self) }
    }
}

/// What is said of the part of a text that is not shown.
fn rest(kept: Option<Part>, shown: &str, text: &str) -> String {
    let shown = shown.chars().count();
    let left = text.chars().count().saturating_sub(shown);
    let more = match kept {
        Some(Part { number, offset }) => {
            let offset = offset.saturating_add(shown);
            format!(
                "`{RESULT_READ}` with {{\"result\": {number}, \"offset\": {offset}}} shows more"
            )
        }
        None => "they are not kept; ask for a part".to_owned(),
    };
    format!("[{left} more characters are not shown: {more}]")
}

/// The most that each may have, so that all together have `total`: what short ones leave is for the long ones.
fn share(lengths: &[usize], total: usize) -> usize {
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    let (mut left, mut waiting) = (total, sorted.len());
    for it in sorted {
        let fair = left.checked_div(waiting).unwrap_or(left);
        if it > fair {
            return fair;
        }
        left = left.saturating_sub(it);
        waiting = waiting.saturating_sub(1);
    }
    usize::MAX
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// As much of the beginning of a text as has so many UTF-16 units.
fn beginning(text: &str, units_max: usize) -> &str {
    let mut units = 0_usize;
    for (at, it) in text.char_indices() {
        units = units.saturating_add(it.len_utf16());
        if units > units_max {
            return text.get(..at).unwrap_or_default();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use scan::boundary::unwrapped;

    use super::*;

    fn ran(text: String) -> Outcome {
        Outcome { fate: Fate::Ran, text, part: None }
    }

    #[test]
    fn the_results_of_a_step_fit_into_one_message_and_short_ones_stay_whole() {
        let mut kept = Kept::default();
        let mut results = vec![("web_fetch", ran("short".to_owned()))];
        results.extend((0..63).map(|_| ("web_fetch", ran("😀".repeat(60_000)))));
        let shown = kept.shown(results, &Hooks::default());
        assert_eq!(shown[0].text, "short");
        let all: usize = shown.iter().map(|it| units(&it.text)).sum();
        assert!((170_000..200_000).contains(&all), "{all}");
        assert!(shown[1..].iter().all(|it| it.text.contains("more characters are not shown")));
        // Three large ones have as much as one may.
        let three = (0..3).map(|_| ("x", ran("é".repeat(60_000)))).collect();
        for it in kept.shown(three, &Hooks::default()) {
            assert!(it.text.starts_with(&"é".repeat(RESULT_CHARS_MAX)));
        }
        assert_eq!(share(&[], 10), usize::MAX);
        assert_eq!(share(&[1, 9, 9], 11), 5);
    }

    #[test]
    fn what_was_cut_is_read_to_its_end_and_what_is_not_kept_is_said_so() {
        let mut kept = Kept::default();
        let text: String = ('a'..='z').cycle().take(120_000).collect();
        let mut shown = kept.shown(vec![("web_fetch", ran(text.clone()))], &Hooks::default());
        let mut read = String::new();
        loop {
            let last = shown.pop().unwrap();
            let (piece, note) = match last.text.rsplit_once('\n') {
                Some((piece, note)) if note.starts_with('[') => (piece.to_owned(), note.to_owned()),
                Some(_) | None => (last.text, String::new()),
            };
            // All but the first are parts, between marks.
            let is_first = read.is_empty();
            read.push_str(if is_first { &piece } else { unwrapped(&piece).unwrap() });
            if note.is_empty() {
                break;
            }
            let input = note.split_once("with ").unwrap().1.split_once('}').unwrap().0;
            let input: Value = serde_json::from_str(&format!("{input}}}")).unwrap();
            let more = kept.answer(RESULT_READ, &input).unwrap();
            shown = kept.shown(vec![(RESULT_READ, more)], &Hooks::default());
        }
        assert_eq!(read, text);
        assert!(kept.answer("file_read", &json!({})).is_none());
        for wrong in [
            json!({}),
            json!("x"),
            json!({"result": 7}),
            json!({"result": 0, "offset": 120_000}),
            json!({"result": 0, "offset": -1}),
            json!({"result": 0, "path": "x"}),
        ] {
            assert_eq!(kept.answer(RESULT_READ, &wrong).unwrap().fate, Fate::Failed, "{wrong}");
        }
        let huge = kept.shown(vec![("x", ran("x".repeat(KEPT_BYTES_MAX + 1)))], &Hooks::default());
        assert!(huge[0].text.contains("they are not kept"));
        // The oldest is forgotten.
        for _ in 0..KEPT_MAX {
            kept.keep("y");
        }
        assert_eq!(kept.answer(RESULT_READ, &json!({"result": 0})).unwrap().fate, Fate::Failed);
    }
}
