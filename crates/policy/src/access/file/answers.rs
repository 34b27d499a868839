//! What answers must not give away where a session has no prompt of its own: `config.yaml`, the part under `answers`.

use scan::leak::{PROMPT_BYTES_MAX, Registry, Sources, TOKENS_MAX};
use serde::Deserialize;

/// What answers must not give away.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Raw")]
pub struct AnswerSettings {
    names: Vec<String>,
    prompt: Option<String>,
    public: Vec<String>,
}

impl AnswerSettings {
    /// What answers are compared with; nothing if nothing was said.
    #[must_use]
    pub fn registry(&self) -> Option<Registry> {
        let Self { names, prompt, public } = self;
        let sources = Sources { prompt: prompt.as_deref(), tokens: names, public };
        (prompt.is_some() || !names.is_empty()).then(|| Registry::new(&sources))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    #[serde(default)]
    names: Vec<String>,
    prompt: Option<String>,
    #[serde(default)]
    public: Vec<String>,
}

impl TryFrom<Raw> for AnswerSettings {
    type Error = String;

    fn try_from(raw: Raw) -> Result<Self, String> {
        let Raw { names, prompt, public } = raw;
        let is_name =
            |it: &&String| Registry::of_tokens(std::slice::from_ref(*it)).token_count() == 1;
        if names.len() > TOKENS_MAX {
            return Err(format!("there are more than {TOKENS_MAX} `names`"));
        }
        if let Some(wrong) = names.iter().find(|it| !is_name(it)) {
            return Err(format!("`{wrong}` is too short or too long for one of the `names`"));
        }
        if prompt.as_ref().is_some_and(|it| it.trim().is_empty() || it.len() > PROMPT_BYTES_MAX) {
            return Err(format!("`prompt` is empty, or has more than {PROMPT_BYTES_MAX} bytes"));
        }
        if names.is_empty() && prompt.is_none() {
            return Err("there is neither `names` nor a `prompt`".to_owned());
        }
        if prompt.is_none() && !public.is_empty() {
            return Err(
                "`public` says what of the `prompt` may be said, and there is none".to_owned()
            );
        }
        Ok(Self { names, prompt, public })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Global;

    fn read(text: &str) -> Result<Option<scan::leak::Registry>, String> {
        let read = Global::parse(&format!("answers:\n  {text}\n"));
        read.map(|it| it.answers().registry()).map_err(|it| it.to_string())
    }

    #[test]
    fn names_and_a_prompt_are_looked_for() {
        let registry = read("names: [PILOT_GATE_4417, islandCode]").unwrap().unwrap();
        assert_eq!((registry.token_count(), registry.prompt_hash()), (2, None));
        let leaks = scan::leak::scan(&registry, "The code is PILOT_GATE_4417.");
        assert!(leaks.iter().any(|it| it.certain), "{leaks:?}");
        let with_prompt = read("prompt: Ships from the south wait behind the second island.");
        assert!(with_prompt.unwrap().unwrap().prompt_hash().is_some());
        assert!(Global::parse("tools: {}").is_ok_and(|it| it.answers().registry().is_none()));
    }

    #[test]
    fn nothing_is_guessed() {
        let long = "x".repeat(10_000);
        for wrong in [
            "names: []",
            "names: [\"\"]",
            "names: text",
            "prompt: \"\"",
            "public: [hello]",
            "{}",
            "tokens: [A_B]",
            &format!("names: [{long}]"),
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
