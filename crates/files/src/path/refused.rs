//! Why a path is not taken.

/// Why a path is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct PathRefused {
    /// The rule, one of [`RULES`].
    pub rule: &'static str,
    /// The same for people.
    pub reason: String,
}

impl PathRefused {
    pub(super) fn new(rule: &'static str, reason: impl Into<String>) -> Self {
        Self { rule, reason: reason.into() }
    }
}

/// All rules, with what they are against.
pub const RULES: &[(&str, &str)] = &[
    (ABSOLUTE, "a path that begins at the root, a drive, a share, a home or a scheme"),
    (
        CHARACTER,
        "a character that no name should have: a null byte, a control, a turn of direction",
    ),
    (DEEP, "more folders in each other than are looked at"),
    (DEVICE, "a name that is a device on some systems"),
    (DOTS, "a name of nothing but dots and blanks, which some systems read as `..`"),
    (EMPTY, "nothing at all"),
    (ENCODING, "bytes that are no text, or text in more disguises than anybody needs"),
    (ESCAPE, "a path that leads out of its base, as it stands or in a disguise"),
    (LONG, "a longer name or path than disks take"),
    (SEGMENT, "a name that would have to be changed to be one"),
    (STREAM, "a stream of a file"),
];

pub(super) const ABSOLUTE: &str = "path-absolute";
pub(super) const CHARACTER: &str = "path-character";
pub(super) const DEEP: &str = "path-deep";
pub(super) const DEVICE: &str = "path-device";
pub(super) const DOTS: &str = "path-dots";
pub(super) const EMPTY: &str = "path-empty";
pub(super) const ENCODING: &str = "path-encoding";
pub(super) const ESCAPE: &str = "path-escape";
pub(super) const LONG: &str = "path-long";
pub(super) const SEGMENT: &str = "path-segment";
pub(super) const STREAM: &str = "path-stream";
