//! The loop guard: the same call again and again gets nobody further.

use serde_json::Value;

/// Counts how often the same call came in a row.
#[derive(Debug)]
pub(crate) struct Repeats {
    last: Option<(String, Value)>,
    count: usize,
    threshold: usize,
}

impl Repeats {
    /// A guard that objects when the same call came `threshold` times. Less than two would stop every call.
    pub(crate) fn new(threshold: usize) -> Self {
        Self { last: None, count: 0, threshold: threshold.max(2) }
    }

    /// Notes a call; the count, if it came too often.
    pub(crate) fn note(&mut self, name: &str, input: &Value) -> Result<(), usize> {
        let same = self.last.as_ref().is_some_and(|(n, i)| n == name && i == input);
        if !same {
            self.last = Some((name.to_owned(), input.clone()));
            self.count = 0;
        }
        self.count = self.count.saturating_add(1);
        if self.count >= self.threshold { Err(self.count) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_same_call_three_times_in_a_row_is_one_too_many() {
        let mut repeats = Repeats::new(3);
        let (one, other) = (json!({"url": "a"}), json!({"url": "b"}));
        for input in [&one, &one, &other, &one, &one] {
            assert!(repeats.note("web_fetch", input).is_ok());
        }
        assert!(repeats.note("web_search", &one).is_ok());
        assert!(repeats.note("web_fetch", &one).is_ok());
        assert!(repeats.note("web_fetch", &one).is_ok());
        assert_eq!(repeats.note("web_fetch", &one), Err(3));
    }
}
