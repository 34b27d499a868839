//! One change of a session's taint, as it is kept. Replaying all of them gives the session back.

use model::{Source, Taint, TaintTag};
use serde::{Deserialize, Serialize};

use super::fingerprint::Fingerprint;
use super::is_outside;
use super::label::shortened;

/// What one content, a child's work, or everything so far adds to a session. Only ever adds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TaintDelta {
    #[serde(rename = "c", skip_serializing_if = "is_default")]
    pub(super) clean_quarters: u64,
    #[serde(rename = "t", skip_serializing_if = "is_default")]
    pub(super) tainted_tokens: u64,
    #[serde(rename = "i", skip_serializing_if = "is_default")]
    pub(super) inherited_tokens: u64,
    #[serde(rename = "p", skip_serializing_if = "is_default")]
    pub(super) peak_millionths: u32,
    #[serde(rename = "sc", skip_serializing_if = "Vec::is_empty")]
    pub(super) seen_clean: Vec<Fingerprint>,
    #[serde(rename = "st", skip_serializing_if = "Vec::is_empty")]
    pub(super) seen_tainted: Vec<Fingerprint>,
    #[serde(rename = "f", with = "flags", skip_serializing_if = "is_default")]
    pub(super) flags: Taint,
    /// How many contents from outside.
    #[serde(rename = "n", skip_serializing_if = "is_default")]
    pub(super) sources: u64,
    #[serde(rename = "first", skip_serializing_if = "Vec::is_empty", with = "tags")]
    pub(super) first: Vec<TaintTag>,
    #[serde(rename = "tags", skip_serializing_if = "Vec::is_empty", with = "tags")]
    pub(super) recent: Vec<TaintTag>,
}

impl TaintDelta {
    /// Would it change nothing?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The same without what people wrote: what a child's change means for its parent.
    #[must_use]
    pub fn without_credit(&self) -> Self {
        Self { clean_quarters: 0, seen_clean: Vec::new(), peak_millionths: 0, ..self.clone() }
    }

    /// What a label adds, however long its content is.
    pub(super) fn of_label(label: &TaintTag) -> Self {
        let mut delta = Self { flags: label.taint, ..Self::default() };
        if is_outside(label.taint) {
            delta.sources = 1;
            delta.recent.push(shortened(label));
        }
        delta
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Flags by their names, so that what was written stays readable.
mod flags {
    use model::Taint;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(taint: &Taint, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(taint)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Taint, D::Error> {
        read(&String::deserialize(from)?).map_err(D::Error::custom)
    }

    pub(super) fn read(names: &str) -> Result<Taint, model::UnknownFlag> {
        let names = names.split('|').filter(|it| !it.is_empty());
        names.map(Taint::parse).try_fold(Taint::NONE, |sum, flag| Ok(sum.union(flag?)))
    }
}

/// A label as it is kept.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TagForm {
    source: String,
    flags: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    origin: String,
    at: i64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    record: String,
}

impl From<&TaintTag> for TagForm {
    fn from(tag: &TaintTag) -> Self {
        Self {
            source: tag.source.as_str().to_owned(),
            flags: tag.taint.to_string(),
            origin: tag.origin.clone(),
            at: tag.unix_seconds,
            record: tag.record.clone(),
        }
    }
}

impl TagForm {
    fn read(self) -> Result<TaintTag, String> {
        Ok(TaintTag {
            source: Source::parse(&self.source).map_err(|it| it.to_string())?,
            taint: flags::read(&self.flags).map_err(|it| it.to_string())?,
            origin: self.origin,
            unix_seconds: self.at,
            record: self.record,
        })
    }
}

mod tags {
    use model::TaintTag;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use super::TagForm;

    pub(super) fn serialize<S: Serializer>(tags: &[TaintTag], out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(tags.iter().map(TagForm::from))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<TaintTag>, D::Error> {
        let forms = Vec::<TagForm>::deserialize(from)?;
        forms.into_iter().map(|it| it.read().map_err(D::Error::custom)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::label;
    use super::*;

    #[test]
    fn it_is_short_and_reads_back() {
        let web = label(Source::Web, "https://a.example/x", 7);
        let delta = TaintDelta { tainted_tokens: 3, ..TaintDelta::of_label(&web) };
        let text = serde_json::to_string(&delta).unwrap();
        assert_eq!(
            text,
            r#"{"t":3,"f":"UNTRUSTED|WEB_DERIVED","n":1,"tags":[{"source":"web","flags":"UNTRUSTED|WEB_DERIVED","origin":"https://a.example/x","at":7}]}"#
        );
        assert_eq!(serde_json::from_str::<TaintDelta>(&text).unwrap(), delta);
        assert_eq!(serde_json::to_string(&TaintDelta::default()).unwrap(), "{}");
    }

    #[test]
    fn without_credit_nothing_is_left_but_what_came_from_outside() {
        let outside = TaintDelta {
            tainted_tokens: 3,
            seen_tainted: vec![Fingerprint::of("page")],
            ..TaintDelta::of_label(&label(Source::Web, "https://a.example/x", 7))
        };
        let all = TaintDelta {
            clean_quarters: 8,
            seen_clean: vec![Fingerprint::of("said")],
            peak_millionths: 5,
            ..outside.clone()
        };
        assert_eq!(all.without_credit(), outside);
    }

    #[test]
    fn what_is_not_understood_is_an_error_and_no_clean_session() {
        for bad in [
            r#"{"t":-1}"#,
            r#"{"t":1.5}"#,
            r#"{"x":1}"#,
            r#"{"f":"untrusted"}"#,
            r#"{"tags":[{"source":"nobody","flags":"","at":0}]}"#,
        ] {
            assert!(serde_json::from_str::<TaintDelta>(bad).is_err(), "{bad}");
        }
    }
}
