//! Words and phrases that are looked for in squeezed text, all of them in one pass.

use std::ops::ControlFlow;

use aho_corasick::{AhoCorasick, MatchKind};

use super::Kind;
use super::identifiers::Identifier;
use super::registry::rot13;
use super::squeeze::{Breaks, Squeezed};

/// Letters from which on a name is a name even inside of a longer word.
const UNMISTAKABLE_LETTERS: usize = 14;
/// Letters from which on a constant of several words is one even when its words are spoken.
const SPOKEN_LETTERS: usize = 16;
/// Words of such a constant, at least.
const SPOKEN_PARTS: usize = 3;
/// Words before a noun among which its possessive stands ("my very own system prompt").
const POSSESSIVE_WORDS: usize = 3;

/// A set of things to look for.
#[derive(Clone, Debug, Default)]
pub(super) struct Patterns {
    list: Vec<Pattern>,
    automaton: Option<AhoCorasick>,
}

/// One of them.
#[derive(Clone, Debug)]
struct Pattern {
    means: Means,
    letters: usize,
    form: Form,
}

/// What it means that a pattern is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Means {
    /// Something leaked.
    Leak(Kind),
    /// The text speaks of its own instructions.
    Framing,
    /// A number or name of the prompt, by its place in the list.
    Anchor(usize),
}

/// In which form a pattern must stand in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A name: in one piece, or spelled out letter by letter.
    Name { parts: usize },
    /// The name of a function: in one word, or spelled out.
    Function,
    /// The name of a variable, behind `${`.
    Variable,
    /// Behind `[[`.
    Brackets,
    /// Words, broken up in any way.
    Phrase,
    /// Words with a possessive before them.
    Possessed,
}

/// A pattern that was found, by its place in the squeezed text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) means: Means,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The automaton could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken;

impl Patterns {
    /// Makes a set of the names and anchors of a prompt.
    pub(super) fn of_prompt(identifiers: &[Identifier], anchors: &[Vec<u8>]) -> Self {
        let names = identifiers.iter().map(|it| {
            let form = match it.kind {
                Kind::TemplateVariable => Form::Variable,
                _ if it.is_phrase => Form::Phrase,
                Kind::InternalFunction => Form::Function,
                Kind::InternalToken
                | Kind::PromptStructure
                | Kind::PromptText
                | Kind::Paraphrase
                | Kind::Translation
                | Kind::Unread => Form::Name { parts: it.parts },
            };
            (it.letters.clone(), Means::Leak(it.kind), form)
        });
        // A name that nobody else has is one backwards, too, and turned by ROT13.
        let own = identifiers.iter().filter(|it| {
            it.kind == Kind::InternalToken && it.letters.len() >= UNMISTAKABLE_LETTERS
        });
        let turned = own.flat_map(|it| {
            let turned: Vec<u8> = it.letters.iter().map(|it| rot13(*it)).collect();
            [turned, it.letters.iter().rev().copied().collect()]
        });
        let turned =
            turned.map(|it| (it, Means::Leak(Kind::InternalToken), Form::Name { parts: 1 }));
        let anchor =
            |(index, it): (usize, &Vec<u8>)| (it.clone(), Means::Anchor(index), Form::Phrase);
        Self::new(names.chain(turned).chain(anchors.iter().enumerate().map(anchor)))
    }

    /// Makes the set that is looked for whatever the prompt is.
    pub(super) fn fixed() -> Self {
        let squeezed = |it: &str| Squeezed::new(it).bytes().to_vec();
        let names = NAMES.iter().map(|(kind, name, parts)| {
            let form = match kind {
                Kind::TemplateVariable => Form::Variable,
                Kind::InternalFunction => Form::Function,
                Kind::InternalToken
                | Kind::PromptStructure
                | Kind::PromptText
                | Kind::Paraphrase
                | Kind::Translation
                | Kind::Unread => Form::Name { parts: *parts },
            };
            (squeezed(name), Means::Leak(*kind), form)
        });
        let structure = Means::Leak(Kind::PromptStructure);
        let phrases = PHRASES.iter().map(|it| (squeezed(it), structure, Form::Phrase));
        let tags = TAGS.iter().map(|it| (squeezed(it), structure, Form::Brackets));
        let told = TOLD.iter().map(|it| (squeezed(it), Means::Framing, Form::Phrase));
        let nouns = NOUNS.iter().map(|it| (squeezed(it), Means::Framing, Form::Possessed));
        Self::new(names.chain(phrases).chain(tags).chain(told).chain(nouns))
    }

    fn new(all: impl Iterator<Item = (Vec<u8>, Means, Form)>) -> Self {
        let (mut list, mut letters) = (Vec::new(), Vec::new());
        for (pattern, means, form) in all {
            list.push(Pattern { means, letters: pattern.len(), form });
            letters.push(pattern);
        }
        let automaton = (!list.is_empty())
            .then(|| AhoCorasick::builder().match_kind(MatchKind::Standard).build(&letters));
        Self { list, automaton: automaton.and_then(Result::ok) }
    }

    /// Calls `see` for everything that is there, in the order of its end, until it returns that it has seen enough.
    ///
    /// # Errors
    /// If there is something to look for and no way to do it.
    pub(super) fn find(
        &self,
        text: &str,
        squeezed: &Squeezed,
        mut see: impl FnMut(Found) -> ControlFlow<()>,
    ) -> Result<(), Broken> {
        let Some(automaton) = &self.automaton else {
            return if self.list.is_empty() { Ok(()) } else { Err(Broken) };
        };
        for found in automaton.find_overlapping_iter(squeezed.bytes()) {
            let Some(pattern) = self.list.get(found.pattern().as_usize()) else { continue };
            let (start, end) = (found.start(), found.end());
            let stands = pattern.stands(text, squeezed, start, end);
            if stands && see(Found { means: pattern.means, start, end }).is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl Pattern {
    fn stands(&self, text: &str, squeezed: &Squeezed, start: usize, end: usize) -> bool {
        let breaks = squeezed.breaks(start, end);
        let is_whole = breaks.starts_word && breaks.ends_word;
        let behind = |mark: &str| {
            let before = text.get(..squeezed.origin(start, end).0).unwrap_or_default();
            before.trim_end().ends_with(mark)
        };
        match self.form {
            Form::Name { parts } => {
                (is_whole || self.letters >= UNMISTAKABLE_LETTERS) && self.is_name(breaks, parts)
            }
            Form::Function => {
                (is_whole || self.letters >= UNMISTAKABLE_LETTERS)
                    && (breaks.all == 0 || self.is_spelled(breaks))
            }
            Form::Variable => behind("${") && breaks.ends_word,
            Form::Brackets => breaks.starts_word && behind("[["),
            Form::Phrase => is_whole,
            Form::Possessed => breaks.starts_word && is_possessed(squeezed, start),
        }
    }

    /// In one piece, spelled out, or so long that its spoken words are no accident.
    fn is_name(&self, breaks: Breaks, parts: usize) -> bool {
        let is_spoken = self.letters >= SPOKEN_LETTERS && parts >= SPOKEN_PARTS;
        breaks.spaced == 0 || self.is_spelled(breaks) || is_spoken
    }

    /// Letter by letter, or nearly so.
    fn is_spelled(&self, breaks: Breaks) -> bool {
        breaks.all * 2 >= self.letters
    }
}

fn is_possessed(squeezed: &Squeezed, start: usize) -> bool {
    let noun = squeezed.word_from(start);
    let before = noun.saturating_sub(POSSESSIVE_WORDS)..noun;
    let mut before = before.filter_map(|it| squeezed.word(it));
    before.any(|it| POSSESSIVES.iter().any(|own| own.as_bytes() == it.1))
}

/// Names of agents' prompts that are known from published leaks, and their words.
const NAMES: &[(Kind, &str, usize)] = &[
    (Kind::InternalToken, "SILENT_REPLY_TOKEN", 3),
    (Kind::InternalToken, "HEARTBEAT_OK", 2),
    (Kind::InternalFunction, "buildSkillsSection", 1),
    (Kind::InternalFunction, "buildMemorySection", 1),
    (Kind::InternalFunction, "buildReplyTagsSection", 1),
    (Kind::TemplateVariable, "params.readToolName", 1),
];

/// Sentences of such prompts.
const PHRASES: &[&str] = &[
    "scan entries. if exactly one skill",
    "never read more than one skill up front",
    "run memory_search on memory.md",
    "personal assistant running inside clawdbot",
    "personal assistant running inside openclaw",
    "personal assistant running inside [system",
    "do not narrate routine, low-risk tool calls",
];

/// Marks of such prompts, behind `[[`.
const TAGS: &[&str] = &["reply_to_current", "reply_to:<id>"];

/// Ways to say that one tells of one's instructions.
const TOLD: &[&str] = &[
    "I was told to",
    "I was told not to",
    "I was instructed to",
    "I was instructed not to",
    "I am instructed to",
    "I have been instructed",
    "I've been instructed",
    "I have been told to",
    "I've been told to",
    "I've been told not to",
    "I was configured to",
    "I am configured to",
    "I was given the following",
    "the system prompt says",
    "the system prompt is",
    "the system prompt reads",
    "system prompt verbatim",
    "begin system prompt",
    "full system prompt",
    "complete system prompt",
    "mir wurde gesagt",
    "ich wurde angewiesen",
    "ich bin angewiesen",
    "mir wurde aufgetragen",
    "on m'a demandé de",
    "on m'a dit de",
    "j'ai reçu l'instruction",
    "me han indicado que",
    "se me ha indicado",
    "me dijeron que",
    "mi è stato detto di",
    "fui instruído",
    "me instruíram",
    "мне было сказано",
    "мне поручено",
    "ik heb de instructie",
    "系统提示词如下",
    "系统提示如下",
    "我被告知",
    "我的系统提示",
    "我的指令",
    "システムプロンプトは",
    "私の指示",
    "시스템 프롬프트는",
];

/// What a possessive makes one's instructions.
const NOUNS: &[&str] = &[
    "system prompt",
    "instructions",
    "initial prompt",
    "configuration",
    "guidelines",
    "directives",
    "system message",
    "rules are",
    "rules say",
    "rules is",
    "internal rules",
    "prompt says",
    "prompt is",
    "identity section",
    "skill loading works",
    "Anweisungen",
    "Systemprompt",
    "System-Prompt",
    "Vorgaben",
    "Regeln",
    "instructions système",
    "consignes",
    "invite système",
    "instrucciones",
    "directrices",
    "istruzioni",
    "instruções",
    "instructies",
    "инструкции",
    "системный промпт",
];

/// Words for one's own, squeezed.
const POSSESSIVES: &[&str] = &[
    "my", "meine", "meinen", "meiner", "mein", "mes", "mon", "ma", "mis", "mi", "mie", "miei",
    "minhas", "meu", "mijn", "мои", "мой", "моя", "mou",
];
