//! What the host puts around the words of others: the names of its fields, marks with a number, a label.
//!
//! None of it came from outside, so none of it counts as outside tokens; and the same page that comes twice is the same
//! content, though its marks have another number each time.

use std::borrow::Cow;

use model::Effect;
use scan::boundary;
use serde_json::Value;

use crate::understood::Understood;

/// The field in which answers of ours say what label they carry.
const LABEL: &str = "taint";

/// The words of others in an output, without what the host has put around them. Of what is not in a form that the host
/// gave it, that is all.
pub(crate) fn words_of_others<'a>(asked: &Understood, body: &'a str) -> Cow<'a, str> {
    let Effect::Action(_) = &asked.effect else { return Cow::Borrowed(body) };
    let Ok(Value::Object(fields)) = serde_json::from_str(body) else { return Cow::Borrowed(body) };
    let mut words = String::with_capacity(body.len());
    for (name, value) in &fields {
        match value {
            Value::String(text) => add(&mut words, boundary::inside(text).unwrap_or(text)),
            // Further in, names of fields and numbers may be others' too.
            Value::Array(_) | Value::Object(_) if name != LABEL => {
                let mut value = value.clone();
                // Their numbers are ours, and other ones each time.
                model::replace_texts(&mut value, &|it| boundary::inside(it).map(str::to_owned));
                add(&mut words, &value.to_string());
            }
            Value::Array(_) | Value::Object(_) => {}
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    Cow::Owned(words)
}

fn add(words: &mut String, text: &str) {
    if !words.is_empty() && !text.is_empty() {
        words.push('\n');
    }
    words.push_str(text);
}

#[cfg(test)]
mod tests {
    use model::ipc;
    use scan::boundary::{Boundary, Nonce, wrap};
    use serde_json::json;

    use super::*;
    use crate::actions;

    fn fetched() -> Understood {
        let action = ipc::parse(br#"{"action":"web_fetch","url":"https://a.example/"}"#).unwrap();
        let (call, act) = (actions::as_call(&action).unwrap(), actions::act(action.name()));
        let effect = Effect::Action(Box::new(action));
        let deeds = crate::deed::Deeds::OfTool;
        Understood { effect, call, act, command: None, commands: Vec::new(), deeds }
    }

    #[test]
    fn the_same_page_is_the_same_words_whatever_its_marks_are() {
        let body = |nonce: u8, code: u16| {
            let text =
                wrap(Boundary::Fetched, "a.example", "The ferry sails.", &Nonce::new([nonce; 16]));
            json!({"status": code, "content": text, "taint": [{"source": "a.example"}]}).to_string()
        };
        let asked = fetched();
        let first = words_of_others(&asked, &body(1, 200)).into_owned();
        assert_eq!(first, " source=\"a.example\">\nThe ferry sails.\n");
        assert_eq!(first, words_of_others(&asked, &body(2, 203)));
    }

    #[test]
    fn the_same_rows_are_the_same_words_whatever_their_marks_are() {
        let body = |nonce: u8| {
            let text = wrap(Boundary::Memory, "a.example", "The ferry.", &Nonce::new([nonce; 16]));
            json!({"results": [{"content": text, "id": 1}]}).to_string()
        };
        let asked = fetched();
        let first = words_of_others(&asked, &body(1)).into_owned();
        assert!(first.contains("The ferry."), "{first}");
        assert_eq!(first, words_of_others(&asked, &body(2)));
    }

    #[test]
    fn what_is_not_in_our_form_counts_whole() {
        let asked = fetched();
        let marked = wrap(Boundary::Fetched, "a", "words", &Nonce::new([1; 16]));
        for body in ["no json", "[1]", "\"text\"", marked.as_str()] {
            assert_eq!(words_of_others(&asked, body), body);
        }
        // Marks that do not enclose all of a field are its words.
        let around = format!("before {marked}");
        let body = json!({"content": around, "rows": [{"key": "value", "n": 1}]}).to_string();
        let words = words_of_others(&asked, &body).into_owned();
        assert!(words.contains(&around) && words.contains(r#"{"key":"value","n":1}"#), "{words}");
    }
}
