//! The two spellings of facts: `tool_send principal=WEB taint=UNTRUSTED`, and a JSON object.

use model::EffectKind;
use model::ipc::read_json;
use serde_json::Value;

use super::sheet::{FactSheet, Form, Given, Key, SheetError, effect};

impl FactSheet {
    /// Reads words: the effect, then `fact=value`, lists with commas.
    ///
    /// # Errors
    /// If a word is no fact.
    pub fn from_words(text: &str) -> Result<Self, SheetError> {
        let mut words = text.split_whitespace();
        let kind = effect(words.next().ok_or(SheetError::NoEffect)?)?;
        let mut pairs = vec![(Key::Effect, Given::Text(kind.as_str()))];
        for word in words {
            let (name, value) = word
                .split_once('=')
                .ok_or_else(|| SheetError::NoPair(word.escape_debug().to_string()))?;
            let key = key(name)?;
            pairs.push((key, spelled(key, value)?));
        }
        fill(kind, pairs)
    }

    /// Reads a JSON object with the same facts.
    ///
    /// # Errors
    /// If it is no JSON of one meaning, or a key is no fact.
    pub fn from_json(text: &str) -> Result<Self, SheetError> {
        let value = read_json(text.as_bytes()).map_err(|why| SheetError::Json(why.to_string()))?;
        Self::from_value(&value)
    }

    /// Reads a JSON object that was read before.
    ///
    /// # Errors
    /// If a key is no fact.
    pub fn from_value(value: &Value) -> Result<Self, SheetError> {
        let Value::Object(map) = value else {
            return Err(SheetError::Json("facts are an object".to_owned()));
        };
        let pairs = map.iter().map(|(name, value)| Ok((key(name)?, given(value))));
        let pairs = pairs.collect::<Result<Vec<_>, SheetError>>()?;
        let said = map.get("effect").and_then(Value::as_str);
        fill(effect(said.ok_or(SheetError::NoEffect)?)?, pairs)
    }
}

fn fill(kind: EffectKind, pairs: Vec<(Key, Given<'_>)>) -> Result<FactSheet, SheetError> {
    let mut sheet = FactSheet::new(kind)?;
    let mut seen = Vec::new();
    for (key, value) in pairs {
        if seen.contains(&key) {
            return Err(SheetError::Twice(key.as_str().to_owned()));
        }
        seen.push(key);
        sheet.set(key, &value)?;
    }
    Ok(sheet)
}

fn key(name: &str) -> Result<Key, SheetError> {
    Key::parse(name).ok_or_else(|| SheetError::UnknownKey(name.escape_debug().to_string()))
}

fn spelled(key: Key, value: &str) -> Result<Given<'_>, SheetError> {
    Ok(match key.form() {
        Form::Text => Given::Text(value),
        Form::List if value.is_empty() => Given::List(Vec::new()),
        // In words a blank is spelled `+`.
        Form::List if key == Key::Commands => {
            Given::List(value.split(',').map(|it| it.replace('+', " ").into()).collect())
        }
        Form::List => Given::List(value.split(',').map(Into::into).collect()),
        Form::Number => {
            Given::Number(value.parse().map_err(|_| key.refuse(value, "a whole number"))?)
        }
        Form::Bool => match value {
            "true" => Given::Bool(true),
            "false" => Given::Bool(false),
            _ => return Err(key.refuse(value, "true or false")),
        },
    })
}

fn given(value: &Value) -> Given<'_> {
    match value {
        Value::String(text) => Given::Text(text),
        Value::Bool(it) => Given::Bool(*it),
        Value::Number(number) => number.as_u64().map_or(Given::Other, Given::Number),
        Value::Array(items) => {
            let texts = items.iter().map(|it| it.as_str().map(Into::into));
            texts.collect::<Option<_>>().map_or(Given::Other, Given::List)
        }
        Value::Null | Value::Object(_) => Given::Other,
    }
}

#[cfg(test)]
mod tests {
    use model::Taint;

    use super::*;

    #[test]
    fn words_and_json_say_the_same() {
        let words = FactSheet::from_words(
            "tool_send principal=WEB taint=UNTRUSTED,WEB_DERIVED risk=2 over_budget=true \
             sinks=untrusted_destination targets=secret_file,oversized confirmed=kind profile=yolo \
             programs=git commands=git+push paths=write:a hosts=a.example:22 recipients=x unread=true",
        );
        let json = FactSheet::from_json(
            r#"{"effect":"tool_send","principal":"WEB","taint":["UNTRUSTED","WEB_DERIVED"],"risk":2,
                "over_budget":true,"sinks":["untrusted_destination"],
                "targets":["secret_file","oversized"],"confirmed":"kind","profile":"yolo",
                "programs":["git"],"commands":["git push"],"paths":["write:a"],
                "hosts":["a.example:22"],"recipients":["x"],"unread":true}"#,
        );
        assert_eq!(words.clone().unwrap(), json.unwrap());
        assert!(words.unwrap().taint.contains(Taint::UNTRUSTED));
    }

    #[test]
    fn the_budget_is_compared_unless_it_was_said() {
        let over = |words: &str| FactSheet::from_words(words).unwrap().facts().over_budget;
        assert!(!over("oauth_call taint_permille=300"));
        assert!(over("oauth_call taint_permille=301"));
        assert!(over("oauth_call profile=paranoid taint_permille=101"));
        assert!(over("oauth_call over_budget=true"));
    }

    #[test]
    fn what_is_not_a_fact_is_refused() {
        for words in [
            "",
            "tool_sned",
            "tool_send WEB",
            "tool_send principle=WEB",
            "tool_send principal=web",
            "tool_send risk=4",
            "tool_send risk=-1",
            "tool_send taint_permille=1001",
            "tool_send over_budget=yes",
            "tool_send taint=TAINTED",
            "tool_send risk=1 risk=1",
            "tool_send user=a/b",
            "shell_exec paths=src/main.rs",
            "shell_exec hosts=a/b",
            "shell_exec programs=git,,ls",
        ] {
            assert!(FactSheet::from_words(words).is_err(), "{words}");
        }
        for json in [
            "[]",
            "{}",
            r#"{"effect":"tool_send","taint":"UNTRUSTED"}"#,
            r#"{"effect":"tool_send","risk":"1"}"#,
            r#"{"effect":"tool_send","risk":1.5}"#,
            r#"{"effect":"tool_send","effect":"tool_read"}"#,
            r#"{"effect":"tool_send","over_budget":1}"#,
            r#"{"effect":["tool_send"]}"#,
        ] {
            assert!(FactSheet::from_json(json).is_err(), "{json}");
        }
    }
}
