//! Readers of the user's words: `config.yaml`, the part under `intent`.

use serde::Deserialize;

/// Who reads what the user asks for, beside the tables of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Readers {
    /// The encoder that is part of the program.
    #[serde(default = "is_on")]
    pub encoder: bool,
}

impl Default for Readers {
    fn default() -> Self {
        Self { encoder: is_on() }
    }
}

const fn is_on() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::super::Global;

    #[test]
    fn the_encoder_reads_unless_it_is_switched_off() {
        let encoder = |text: &str| Global::parse(text).map(|it| it.readers().encoder).ok();
        assert_eq!(encoder("intent:\n  encoder: false\n"), Some(false));
        assert_eq!(encoder("intent: {}\n"), Some(true));
        assert_eq!(encoder("shell:\n  allowWeaker: true\n"), Some(true));
        assert_eq!(encoder("intent:\n  model: x\n"), None);
    }
}
