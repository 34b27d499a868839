//! Labels as JSON, in the words of seed 001, with what we know beyond them.

use aegx::timestamp;
use model::{Source, Taint, TaintTag};
use monitor::taint::is_outside;
use serde::{Deserialize, Serialize};

/// A label. `trust` is always `external`: a clean file has no label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TagForm {
    source: String,
    #[serde(default)]
    trust: String,
    #[serde(default)]
    timestamp: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    origin: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    flags: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    record: String,
}

impl From<&TaintTag> for TagForm {
    fn from(tag: &TaintTag) -> Self {
        Self {
            source: tag.source.as_str().to_owned(),
            trust: "external".to_owned(),
            timestamp: timestamp::from_unix(tag.unix_seconds),
            origin: tag.origin.clone(),
            flags: tag.taint.to_string(),
            record: tag.record.clone(),
        }
    }
}

impl From<TagForm> for TaintTag {
    /// Whatever is written in the sidecar, it is a label: what cannot be read of it is the worst.
    fn from(form: TagForm) -> Self {
        let known = Source::parse(&form.source).ok();
        let flags = form.flags.split('|').filter_map(|it| Taint::parse(it).ok());
        let taint = flags.fold(Taint::NONE, Taint::union);
        // A secret is marked as such and is nobody else's word; everything else here is.
        let is_known = is_outside(taint) || taint == Taint::SECRET_RISK;
        let taint = if is_known { taint } else { taint.union(Taint::UNTRUSTED) };
        let origin = if known.is_some() { form.origin } else { form.source };
        Self {
            source: known.unwrap_or(Source::File),
            taint,
            origin,
            unix_seconds: timestamp::to_unix(&form.timestamp).unwrap_or(0),
            record: form.record,
        }
    }
}

/// Digests as hex.
pub(super) mod digest {
    use aegx::Digest;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(digest: &Digest, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(digest)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Digest, D::Error> {
        let text = String::deserialize(from)?;
        Digest::from_hex(text.as_bytes()).ok_or_else(|| D::Error::custom("no hash"))
    }
}
