//! Tags as JSON, for whoever keeps them in files of the state directory.

use model::{Source, Taint, TaintTag};
use serde_json::{Value, json};

/// The tag as JSON.
#[must_use]
pub fn tag_to_json(tag: &TaintTag) -> Value {
    json!({
        "origin": tag.origin,
        "record": tag.record,
        "source": tag.source.as_str(),
        "taint": tag.taint.bits(),
        "unix_seconds": tag.unix_seconds,
    })
}

/// The tag that was kept as this JSON; `None` if nobody here wrote it. Whoever reads a tag that is none
/// must not go on as if there had been no tag.
#[must_use]
pub fn tag_from_json(value: &Value) -> Option<TaintTag> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let bits = value.get("taint").and_then(Value::as_u64).and_then(|it| u32::try_from(it).ok())?;
    Some(TaintTag {
        source: Source::parse(&text("source")?).ok()?,
        taint: Taint::from_bits(bits)?,
        origin: text("origin")?,
        unix_seconds: value.get("unix_seconds").and_then(Value::as_i64)?,
        record: text("record")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_reads_back_and_nothing_else_is_one() {
        let tag = TaintTag {
            source: Source::Web,
            taint: Taint::UNTRUSTED.union(Taint::WEB_DERIVED),
            origin: "https://news.example/\"\u{202e}".to_owned(),
            unix_seconds: 7,
            record: "ab".repeat(32),
        };
        let json = tag_to_json(&tag);
        assert_eq!(tag_from_json(&json), Some(tag));
        for (key, wrong) in [
            ("source", json!("nowhere")),
            ("taint", json!(u64::MAX)),
            ("taint", json!("1")),
            ("origin", json!(null)),
            ("unix_seconds", json!(1.5)),
        ] {
            let mut json = json.clone();
            json[key] = wrong;
            assert_eq!(tag_from_json(&json), None, "{json}");
        }
    }
}
