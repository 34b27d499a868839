//! What a model judges before an agent or a person is given it: the part of a manifest under `guardrail`.

use serde::Deserialize;
use serde::de::Deserializer;

use super::scalar::Set;

/// What is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guardrail {
    /// Results from outside, before the agent is given them.
    pub results: bool,
    /// Answers of the agent, before anybody is.
    pub answers: bool,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum What {
    Results,
    Answers,
}

impl Guardrail {
    /// Is anything judged?
    #[must_use]
    pub fn is_on(self) -> bool {
        self.results || self.answers
    }
}

impl<'de> Deserialize<'de> for Guardrail {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let all = Set::<What>::deserialize(input)?.0;
        Ok(Self { results: all.contains(&What::Results), answers: all.contains(&What::Answers) })
    }
}

#[cfg(test)]
mod tests {
    use model::AgentId;

    use super::*;
    use crate::access::Manifest;

    #[test]
    fn what_is_judged_is_named_and_nothing_else_is_understood() {
        let agent = AgentId::parse("main").unwrap();
        let read = |list: &str| {
            let text = format!("---\nguardrail: {list}\n---\n");
            Manifest::parse(&agent, &text).map(|it| it.guardrail)
        };
        assert_eq!(read("[results]").unwrap(), Guardrail { results: true, answers: false });
        assert!(!read("[]").unwrap().is_on());
        for wrong in ["results", "[result]", "[answers, answers]", "true"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
