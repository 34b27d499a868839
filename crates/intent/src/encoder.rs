//! Reads whether the user's words ask for a tool, by how alike the two are.

use std::sync::{Arc, OnceLock};

use model::{Intent, IntentReader, ToolText};

use crate::cache::Cache;
use crate::network::Network;
use crate::tokens::Vocabulary;
use crate::weights::WeightsError;

const WEIGHTS: &[u8] = include_bytes!("../model/weights.bin");
/// Pieces of the user's words that are read, from the end; of a tool, from the start.
const USER_PIECES: usize = 94;
const TOOL_PIECES: usize = 62;
/// The end of the user's words that is looked at, in bytes.
const TURNS_BYTES_MAX: usize = 900;
/// The start of a description that is looked at, in letters.
const DESCRIPTION_LETTERS: usize = 200;
/// How far a tool may stand out among the others of the session, or fall behind them, and what that counts.
const MARGIN_MAX: f32 = 2.0;
const MARGIN_SHARE: f32 = 0.5;

/// The encoder. Its weights are part of the program, and are unpacked when it is first asked.
#[derive(Default)]
pub struct Encoder {
    loaded: OnceLock<Option<Loaded>>,
    users: Cache,
    tools: Cache,
}

struct Loaded {
    network: Network,
    vocabulary: Vocabulary,
    /// Its one thread: the gate's others go on.
    thread: rayon::ThreadPool,
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder").field("loaded", &self.loaded.get().is_some()).finish()
    }
}

impl Loaded {
    fn read() -> Result<Self, WeightsError> {
        let (network, vocabulary) = (Network::read(WEIGHTS)?, Vocabulary::new());
        if vocabulary.len() != network.head().words {
            return Err(WeightsError::Form("there are not as many words as rows"));
        }
        let thread = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .map_err(|_| WeightsError::Form("no thread"))?;
        Ok(Self { network, vocabulary, thread })
    }

    fn embed(&self, pieces: &[u32]) -> Option<Vec<f32>> {
        self.thread.install(|| self.network.embed(pieces))
    }
}

impl Encoder {
    /// One that reads its weights when it is first asked.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn loaded(&self) -> Option<&Loaded> {
        self.loaded.get_or_init(|| Loaded::read().ok()).as_ref()
    }

    /// How much `words` ask for `tool`, and for it rather than for `others`.
    #[must_use]
    pub fn score(&self, words: &str, tool: ToolText<'_>, others: &[ToolText<'_>]) -> Option<f32> {
        let loaded = self.loaded()?;
        let start = words.ceil_char_boundary(words.len().saturating_sub(TURNS_BYTES_MAX));
        let words = words.get(start..).unwrap_or_default();
        let user =
            self.users.get(words, || loaded.embed(&loaded.vocabulary.tail(words, USER_PIECES)))?;
        let head = loaded.network.head();
        let logit = |it: ToolText<'_>| -> Option<f32> {
            Some(head.a * likeness(&user, &self.tool(loaded, it)?) + head.b)
        };
        let own = logit(tool)?;
        let best = others.iter().filter_map(|it| logit(*it)).reduce(f32::max);
        let margin = best.map_or(0.0, |it| (own - it).clamp(-MARGIN_MAX, MARGIN_MAX));
        Some(own + MARGIN_SHARE * margin)
    }

    fn tool(&self, loaded: &Loaded, tool: ToolText<'_>) -> Option<Arc<[f32]>> {
        let text = tool_text(tool);
        self.tools.get(&text, || loaded.embed(&loaded.vocabulary.head(&text, TOOL_PIECES)))
    }
}

impl IntentReader for Encoder {
    fn read(&self, words: &str, tool: ToolText<'_>, others: &[ToolText<'_>]) -> Intent {
        let Some(score) = self.score(words, tool, others) else { return Intent::Unread };
        let Some(loaded) = self.loaded() else { return Intent::Unread };
        let head = loaded.network.head();
        if score >= head.upper {
            Intent::Asked
        } else if score < head.lower {
            Intent::NotAsked
        } else {
            Intent::Unsure
        }
    }
}

fn likeness(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `sendDirectMessage`, `send_direct-message` → `send direct message`, and what it is said to do.
fn tool_text(tool: ToolText<'_>) -> String {
    let mut text = String::new();
    let mut before = ' ';
    for letter in tool.name.chars() {
        if before.is_ascii_lowercase() | before.is_ascii_digit() && letter.is_ascii_uppercase() {
            text.push(' ');
        }
        match letter {
            '_' | '-' | '.' if text.ends_with(' ') => {}
            '_' | '-' | '.' => text.push(' '),
            _ => text.push(letter),
        }
        before = letter;
    }
    text.push_str(". ");
    let words: Vec<&str> = tool.description.split_whitespace().take(DESCRIPTION_LETTERS).collect();
    text.extend(words.join(" ").chars().take(DESCRIPTION_LETTERS));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What training measured, with floats.
    const SAMPLES: &str = include_str!("../model/samples.json");
    /// Small numbers stray so far from it.
    const STRAY_MAX: f64 = 0.5;

    #[test]
    fn the_program_scores_as_training_did() {
        let all: serde_json::Value = serde_json::from_str(SAMPLES).unwrap();
        let encoder = Encoder::new();
        let vocabulary = Vocabulary::new();
        let first = all["first tokens"].as_array().unwrap();
        let pieces = vocabulary.tail("Please send the report to Anna.", USER_PIECES);
        assert_eq!(pieces.len(), first.len());
        assert!(pieces.iter().zip(first).all(|(it, known)| known.as_u64() == Some((*it).into())));
        for sample in all["samples"].as_array().unwrap() {
            let text = |name: &str| sample[name].as_str().unwrap();
            if sample["tokens"].as_u64().unwrap() > 96 {
                continue;
            }
            let tool = ToolText { name: text("name"), description: text("description") };
            let score = f64::from(encoder.score(text("user"), tool, &[]).unwrap());
            let known = sample["score"].as_f64().unwrap();
            assert!((score - known).abs() < STRAY_MAX, "{}: {score} {known}", text("user"));
        }
    }

    #[test]
    fn an_act_is_asked_for_or_not() {
        let encoder = Encoder::new();
        let tools = [
            ToolText { name: "send_email", description: "Sends an email." },
            ToolText { name: "delete_file", description: "Deletes a file." },
            ToolText { name: "make_payment", description: "Pays somebody." },
        ];
        let read = |words: &str, at: usize| {
            let others: Vec<_> =
                tools.into_iter().enumerate().filter(|it| it.0 != at).map(|it| it.1).collect();
            encoder.read(words, tools[at], &others)
        };
        assert_eq!(read("Could you write to Mia that I am late?", 0), Intent::Asked);
        assert_eq!(read("Could you write to Mia that I am late?", 2), Intent::NotAsked);
        assert_eq!(read("What is in the report?", 1), Intent::NotAsked);
        assert_eq!(read("", 1), Intent::NotAsked);
    }

    #[test]
    fn no_text_is_too_much() {
        let encoder = Encoder::new();
        let long = "ab\u{301}c𝔘\0 ".repeat(100_000);
        let tool = ToolText { name: &long, description: &long };
        assert!(encoder.score(&long, tool, &[tool, tool]).is_some_and(f32::is_finite));
    }

    #[test]
    fn names_are_cut_into_words() {
        let text = |name| tool_text(ToolText { name, description: " Does\n it. " });
        assert_eq!(text("sendDirectMessage"), "send Direct Message. Does it.");
        assert_eq!(text("acme__mail-send.v2Now"), "acme mail send v2 Now. Does it.");
    }
}
