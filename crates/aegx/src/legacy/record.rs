//! Records as the two older formats store them. Both have the same fields.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::time::Time;
use crate::record::names;
use crate::sorted;

/// A record as its line says, believed in nothing but its shape.
///
/// Reads as upstream does: unknown fields are dropped.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct LegacyRecord {
    /// The id that the line claims.
    pub record_id: String,
    /// What happened.
    pub record_type: LegacyType,
    /// Who caused it.
    pub principal: LegacyPrincipal,
    /// Flags.
    pub taint: Taint,
    /// Ids of the records it came from.
    pub parents: Vec<String>,
    /// When and where.
    pub meta: LegacyMeta,
    /// The content, or the name of the blob that holds it.
    pub payload: LegacyPayload,
}

/// When and where something happened: the older formats know these fields only.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[expect(missing_docs, reason = "the names say all that is known of them")]
pub struct LegacyMeta {
    pub ts: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot_id: Option<String>,
}

impl LegacyMeta {
    /// The fields other than `ts` that are there, sorted by name. All of their names sort before
    /// `ts`.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [
            ("agent_id", &self.agent_id),
            ("channel", &self.channel),
            ("config_key", &self.config_key),
            ("ip", &self.ip),
            ("path", &self.path),
            ("rule_id", &self.rule_id),
            ("session_id", &self.session_id),
            ("snapshot_id", &self.snapshot_id),
            ("tool_id", &self.tool_id),
        ]
        .into_iter()
        .filter_map(|(name, text)| Some((name, text.as_deref()?)))
    }
}

/// Where the content of a record is.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum LegacyPayload {
    /// In the record.
    Inline {
        /// Any JSON value.
        #[serde(serialize_with = "sorted::serialize")]
        data: Value,
    },
    /// In a file named by its hash.
    Blob {
        /// 64 hex digits if it is honest.
        hash: String,
        /// Length of the blob in bytes.
        size: u64,
        /// A media type; only the unified format knows it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime: Option<String>,
    },
}

/// A set of flags. Unknown ones are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Taint(u32);

impl Taint {
    /// The names of the flags that are set, sorted.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        let mut names: Vec<_> =
            FLAGS.iter().filter(|(bit, _)| self.0 & bit != 0).map(|(_, name)| *name).collect();
        names.sort_unstable();
        names
    }

    /// The bits.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.0
    }
}

impl TryFrom<u32> for Taint {
    type Error = String;

    fn try_from(bits: u32) -> Result<Self, String> {
        let known = FLAGS.iter().fold(0, |known, (bit, _)| known | bit);
        if bits & !known == 0 { Ok(Self(bits)) } else { Err(format!("unknown taint in {bits}")) }
    }
}

impl From<Taint> for u32 {
    fn from(taint: Taint) -> Self {
        taint.0
    }
}

const FLAGS: [(u32, &str); 8] = [
    (1, "UNTRUSTED"),
    (2, "INJECTION_SUSPECT"),
    (4, "PROXY_DERIVED"),
    (8, "SECRET_RISK"),
    (16, "CROSS_SESSION"),
    (32, "TOOL_OUTPUT"),
    (64, "SKILL_OUTPUT"),
    (128, "WEB_DERIVED"),
];

names! {
    /// What a record is about: as in format A, and `FileRename`.
    LegacyType {
        /// A session began.
        SessionStart = "SessionStart",
        /// Something was said.
        SessionMessage = "SessionMessage",
        /// A tool was called.
        ToolCall = "ToolCall",
        /// A tool answered.
        ToolResult = "ToolResult",
        /// A file was read.
        FileRead = "FileRead",
        /// A file was written.
        FileWrite = "FileWrite",
        /// A file was deleted.
        FileDelete = "FileDelete",
        /// A file was renamed.
        FileRename = "FileRename",
        /// A change of what controls the agent was asked for.
        ControlPlaneChangeRequest = "ControlPlaneChangeRequest",
        /// A change of durable memory was asked for.
        MemoryCommitRequest = "MemoryCommitRequest",
        /// Something was allowed or refused.
        GuardDecision = "GuardDecision",
        /// The state was kept.
        Snapshot = "Snapshot",
        /// The state was put back.
        Rollback = "Rollback",
    }
}

names! {
    /// Who caused a record: as in format A, but with two kinds of tool.
    LegacyPrincipal {
        /// The host itself.
        Sys = "SYS",
        /// The person.
        User = "USER",
        /// A tool that was authenticated.
        ToolAuth = "TOOL_AUTH",
        /// A tool that was not.
        ToolUnauth = "TOOL_UNAUTH",
        /// A web page.
        Web = "WEB",
        /// A skill or plug-in.
        Skill = "SKILL",
        /// A message channel.
        Channel = "CHANNEL",
        /// Anything else outside.
        External = "EXTERNAL",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taint_names_are_sorted_and_unknown_bits_refused() {
        let taint = Taint::try_from(0b1010_0011).unwrap();
        assert_eq!(taint.names(), ["INJECTION_SUSPECT", "TOOL_OUTPUT", "UNTRUSTED", "WEB_DERIVED"]);
        assert_eq!(Taint::try_from(255).unwrap().names().len(), 8);
        assert!(Taint::try_from(256).is_err());
        assert!(Taint::try_from(u32::MAX).is_err());
    }
}
