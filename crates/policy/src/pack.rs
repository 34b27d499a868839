//! Packs: texts with rules. The default ones are part of the program.

/// A text with rules.
#[derive(Clone, Debug)]
pub struct PackText {
    /// What to call it in messages: a file name.
    pub name: String,
    /// The rules.
    pub text: String,
}

/// The longest text of a pack.
pub const PACK_BYTES_MAX: usize = 1 << 20;
/// The most rules of all packs together.
pub const RULES_MAX: usize = 1000;

macro_rules! packs {
    ($($name:literal)+) => {
        const EMBEDDED: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../packs/", $name)))),+];
    };
}

packs! {
    "control-plane.cedar"
    "memory.cedar"
    "conversation.cedar"
    "files.cedar"
    "network.cedar"
    "taint.cedar"
    "tools.cedar"
    "host.cedar"
}

impl PackText {
    /// The packs that the program brings along.
    #[must_use]
    pub fn embedded() -> Vec<Self> {
        let own = |(name, text): &(&str, &str)| Self { name: (*name).into(), text: (*text).into() };
        EMBEDDED.iter().map(own).collect()
    }

    /// Is it one of those, to the letter?
    pub(crate) fn is_embedded(&self) -> bool {
        EMBEDDED.contains(&(self.name.as_str(), self.text.as_str()))
    }
}
