//! Why a path is not taken.

model::rules! {
    /// What paths are refused for.
    pub enum Rule {
        Absolute = "path-absolute",
        Character = "path-character",
        Deep = "path-deep",
        Device = "path-device",
        Dots = "path-dots",
        Empty = "path-empty",
        Encoding = "path-encoding",
        Escape = "path-escape",
        Long = "path-long",
        Segment = "path-segment",
        Stream = "path-stream",
    }
}

/// Why a path is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct PathRefused {
    /// The rule.
    pub rule: Rule,
    /// The same for people.
    pub reason: String,
}

impl PathRefused {
    pub(super) fn new(rule: Rule, reason: impl Into<String>) -> Self {
        Self { rule, reason: reason.into() }
    }
}

/// All rules, with what they are against.
pub const RULES: &[(Rule, &str)] = &[
    (Rule::Absolute, "a path that begins at the root, a drive, a share, a home or a scheme"),
    (
        Rule::Character,
        "a character that no name should have: a null byte, a control, a turn of direction",
    ),
    (Rule::Deep, "more folders in each other than are looked at"),
    (Rule::Device, "a name that is a device on some systems"),
    (Rule::Dots, "a name of nothing but dots and blanks, which some systems read as `..`"),
    (Rule::Empty, "nothing at all"),
    (Rule::Encoding, "bytes that are no text, or text in more disguises than anybody needs"),
    (Rule::Escape, "a path that leads out of its base, as it stands or in a disguise"),
    (Rule::Long, "a longer name or path than disks take"),
    (Rule::Segment, "a name that would have to be changed to be one"),
    (Rule::Stream, "a stream of a file"),
];
