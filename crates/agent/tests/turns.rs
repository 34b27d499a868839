//! The loop, against a parent that plays a script.

use std::cell::{Cell, RefCell};

use agent::{Conversation, Frame, Hooks, Parent, Purpose, Said, Stopped};
use llm::{Answer, Block, Message, StopReason, Usage};
use serde_json::{Value, json};

/// Gives answers in turn, and notes what it was asked.
#[derive(Default)]
struct Script {
    answers: RefCell<Vec<Answer>>,
    asked: RefCell<Vec<Vec<Message>>>,
    summaries: Cell<usize>,
    called: RefCell<Vec<Value>>,
    at_once: Cell<usize>,
    frames: RefCell<Vec<Frame>>,
    approved: Cell<bool>,
    stops: Cell<bool>,
    /// What each call gives, if not a word.
    gives: RefCell<Option<String>>,
    /// Characters that the model has room for, if there is a limit.
    room: Cell<Option<usize>>,
}

impl Script {
    fn new(answers: Vec<Answer>) -> Self {
        let answers = RefCell::new(answers.into_iter().rev().collect());
        Self { answers, ..Self::default() }
    }
}

impl Parent for Script {
    fn ask(
        &self,
        purpose: Purpose,
        messages: &[Message],
        on_piece: &mut dyn FnMut(Said),
    ) -> Result<Answer, Stopped> {
        let chars = messages.iter().map(|it| format!("{:?}", it.content).len()).sum::<usize>();
        if self.room.get().is_some_and(|room| chars > room) {
            let (code, message) = ("context_too_long".to_owned(), "too long".to_owned());
            return Err(Stopped::Failed { code, message });
        }
        if purpose == Purpose::Summary {
            self.summaries.set(self.summaries.get() + 1);
            return Ok(said("short"));
        }
        self.asked.borrow_mut().push(messages.to_vec());
        on_piece(Said::Text { text: "piece".to_owned() });
        self.answers.borrow_mut().pop().ok_or(Stopped::Interrupted)
    }

    fn call(&self, messages: &[Value]) -> Result<Vec<Value>, Stopped> {
        self.at_once.set(self.at_once.get().max(messages.len()));
        self.called.borrow_mut().extend_from_slice(messages);
        if self.stops.get() && !self.approved.get() {
            let stopped = json!({"ok": false, "error": "no", "decision": "step_up", "rule": "r", "approval": "id"});
            return Ok(vec![stopped; messages.len()]);
        }
        let text = self.gives.borrow().clone().unwrap_or_else(|| "done".to_owned());
        Ok(vec![json!({"ok": true, "text": text}); messages.len()])
    }

    fn approve(&self, _: &str, _: &str, _: &Value) -> Result<bool, Stopped> {
        self.approved.set(true);
        Ok(true)
    }

    fn show(&self, frame: &Frame) {
        self.frames.borrow_mut().push(frame.clone());
    }
}

fn said(text: &str) -> Answer {
    answer(vec![Block::Text { text: text.to_owned() }], StopReason::EndTurn)
}

fn calls(inputs: &[(&str, Value)]) -> Answer {
    let uses = inputs.iter().enumerate().map(|(at, (name, input))| Block::ToolUse {
        id: format!("t{at}"),
        name: (*name).to_owned(),
        input: input.clone(),
    });
    answer(uses.collect(), StopReason::ToolUse)
}

fn answer(content: Vec<Block>, stop: StopReason) -> Answer {
    let (usage, failed) = (Usage::default(), Vec::new());
    Answer { content, stop, usage, model: "mock/m".to_owned(), failed }
}

#[test]
fn a_tool_is_called_its_result_is_shown_and_an_answer_ends_it() {
    let script = Script::new(vec![
        calls(&[("web_fetch", json!({"url": "https://a.example"}))]),
        said("yes"),
    ]);
    let mut conversation = Conversation::new(Hooks::default());
    let (ended, done) = conversation.turn("hello", &script);
    assert_eq!((ended, done.content.as_str()), (Ok(()), "yes"));
    assert_eq!(done.calls[0].status, "ran");
    assert_eq!(script.called.borrow()[0]["action"], "web_fetch");
    let asked = script.asked.borrow();
    assert_eq!(asked.len(), 2);
    assert!(matches!(&asked[1][2].content[0], Block::ToolResult { is_error: false, .. }));
    let numbers: Vec<u64> = script.frames.borrow().iter().filter_map(Frame::number).collect();
    assert!(numbers.windows(2).all(|it| it[0] < it[1]), "{numbers:?}");
}

#[test]
fn what_is_no_call_goes_back_as_an_error_and_is_not_made() {
    let script = Script::new(vec![
        calls(&[
            ("rm", json!({})),
            ("web_fetch", json!("x")),
            ("web_fetch", json!({"action": "shell_exec"})),
        ]),
        said("ok"),
    ]);
    let (ended, done) = Conversation::new(Hooks::default()).turn("x", &script);
    assert_eq!(ended, Ok(()));
    assert!(script.called.borrow().is_empty());
    assert!(done.calls.iter().all(|it| it.status == "failed"), "{done:?}");
}

#[test]
fn the_same_call_three_times_in_a_row_ends_the_turn() {
    let same = || calls(&[("web_fetch", json!({"url": "https://a.example"}))]);
    let script = Script::new(vec![same(), same(), same(), said("never")]);
    let mut conversation = Conversation::new(Hooks::default());
    let (ended, _) = conversation.turn("x", &script);
    assert!(
        matches!(&ended, Err(Stopped::Failed { code, .. }) if code == "loop_detected"),
        "{ended:?}"
    );
    assert_eq!(script.called.borrow().len(), 2);
    // The conversation can go on: every call has a result.
    let next = Script::new(vec![said("again")]);
    assert_eq!(conversation.turn("y", &next).0, Ok(()));
    let asked = next.asked.borrow();
    let open = asked[0]
        .iter()
        .flat_map(|it| &it.content)
        .filter(|it| matches!(it, Block::ToolUse { .. }))
        .count();
    let closed = asked[0]
        .iter()
        .flat_map(|it| &it.content)
        .filter(|it| matches!(it, Block::ToolResult { .. }))
        .count();
    assert_eq!((open, closed), (3, 3));
}

#[test]
fn a_turn_has_so_many_model_calls_and_so_many_calls_at_once() {
    let different = |at: usize| calls(&[("web_search", json!({"query": at.to_string()}))]);
    let script = Script::new((0..60).map(different).collect());
    let (ended, _) = Conversation::new(Hooks::default()).turn("x", &script);
    assert!(
        matches!(&ended, Err(Stopped::Failed { code, .. }) if code == "too_many_steps"),
        "{ended:?}"
    );
    assert_eq!(script.asked.borrow().len(), 50);
    let many: Vec<(&str, Value)> =
        (0..40).map(|it| ("web_search", json!({"query": it.to_string()}))).collect();
    let script = Script::new(vec![calls(&many), said("done")]);
    assert_eq!(Conversation::new(Hooks::default()).turn("x", &script).0, Ok(()));
    assert_eq!((script.called.borrow().len(), script.at_once.get()), (40, 16));
}

#[test]
fn a_call_that_a_person_allows_is_made_once_more() {
    let script = Script::new(vec![calls(&[("web_search", json!({"query": "q"}))]), said("done")]);
    script.stops.set(true);
    let (ended, done) = Conversation::new(Hooks::default()).turn("x", &script);
    assert_eq!((ended, done.calls[0].status.as_str()), (Ok(()), "ran"));
    assert_eq!(script.called.borrow().len(), 2);
}

#[test]
fn a_long_conversation_is_summarised_and_never_between_a_call_and_its_result() {
    let mut conversation = Conversation::new(Hooks::default());
    let mut summaries = 0;
    for at in 0..120 {
        let script = Script::new(vec![
            calls(&[("web_search", json!({"query": at.to_string()}))]),
            said("ok"),
        ]);
        assert_eq!(conversation.turn("next", &script).0, Ok(()));
        summaries += script.summaries.get();
        for messages in script.asked.borrow().iter() {
            assert!(messages.len() <= agent::MESSAGES_MAX, "{}", messages.len());
            let first = messages.first().unwrap();
            let Some(Block::Text { text }) = first.content.first() else { panic!("{first:?}") };
            // A summary is nobody's word.
            let is_summary = text.contains("short");
            assert_eq!(is_summary, text.contains("<session_history id="), "{text}");
        }
    }
    assert!(summaries > 0);
}

/// What the first message says.
fn first(messages: &[Message]) -> String {
    let blocks = messages.first().into_iter().flat_map(|it| &it.content);
    let text = |it: &Block| match it {
        Block::Text { text } => Some(text.clone()),
        Block::ToolUse { .. } | Block::ToolResult { .. } => None,
    };
    blocks.filter_map(text).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_is_too_long_for_the_model_is_made_shorter_within_a_turn_which_keeps_what_it_was_asked() {
    let step = |at: usize| calls(&[("web_search", json!({"query": at.to_string()}))]);
    let steps = 12;
    let script = Script::new((0..steps).map(step).chain([said("done")]).collect());
    script.gives.replace(Some("word ".repeat(400)));
    script.room.set(Some(14_000));
    let mut conversation = Conversation::new(Hooks::default());
    let (ended, done) = conversation.turn("find it", &script);
    assert_eq!((ended, done.content.as_str(), done.calls.len()), (Ok(()), "done", steps));
    assert!(script.summaries.get() > 0);
    let asked = script.asked.borrow();
    for messages in asked.iter() {
        assert!(first(messages).ends_with("find it"), "{}", first(messages));
        let [.., last] = messages.as_slice() else { panic!("nothing was asked") };
        let is_result = |it: &Block| matches!(it, Block::ToolResult { .. });
        assert!(messages.len() == 1 || last.content.iter().all(is_result));
    }
    assert_eq!(first(asked.last().unwrap()).matches("find it").count(), 1);
}

#[test]
fn a_single_result_that_is_too_long_for_the_model_is_cut_and_a_question_that_is_too_long_ends_the_turn()
 {
    let script = Script::new(vec![calls(&[("web_search", json!({"query": "q"}))]), said("done")]);
    script.gives.replace(Some("word ".repeat(4000)));
    script.room.set(Some(9_000));
    let mut conversation = Conversation::new(Hooks::default());
    assert_eq!(conversation.turn("find it", &script).0, Ok(()));
    assert!(results(&script).iter().all(|it| it.ends_with("too long for the model]")));
    script.answers.borrow_mut().push(said("never"));
    let Err(Stopped::Failed { code, .. }) = conversation.turn(&"x".repeat(10_000), &script).0
    else {
        panic!("it was answered")
    };
    assert_eq!(code, "context_too_long");
}

#[test]
fn calls_of_an_answer_that_was_cut_off_are_not_carried_out() {
    let mut cut = calls(&[("web_search", json!({"query": "q"}))]);
    cut.stop = StopReason::Interrupted;
    let script = Script::new(vec![cut, said("more")]);
    let (ended, done) = Conversation::new(Hooks::default()).turn("x", &script);
    assert_eq!((ended, done.calls.len()), (Err(Stopped::Interrupted), 0));
    assert!(script.called.borrow().is_empty());
}

/// The results of the last step, as the model is shown them.
fn results(script: &Script) -> Vec<String> {
    let asked = script.asked.borrow();
    let blocks = asked.last().and_then(|it| it.last()).into_iter().flat_map(|it| &it.content);
    let result = |it: &Block| match it {
        Block::ToolResult { content, .. } => Some(content.clone()),
        Block::Text { .. } | Block::ToolUse { .. } => None,
    };
    blocks.filter_map(result).collect()
}

#[test]
fn large_results_share_a_message_and_the_rest_is_had_by_asking() {
    let fetch = |at: u32| ("web_fetch", json!({"url": format!("https://a.example/{at}")}));
    let uses: Vec<_> = (0..6).map(fetch).collect();
    let script = Script::new(vec![
        calls(&uses),
        calls(&[("result_read", json!({"result": 5, "offset": 59_989}))]),
        said("done"),
    ]);
    *script.gives.borrow_mut() = Some("x".repeat(59_980));
    let (ended, done) = Conversation::new(Hooks::default()).turn("go", &script);
    assert_eq!(ended, Ok(()));
    assert_eq!(script.called.borrow().len(), 6, "the loop itself shows more");
    assert_eq!(done.calls.last().unwrap().status, "ran");
    let part = results(&script).pop().unwrap();
    assert_eq!(scan::boundary::unwrapped(&part), Some("\"}"), "{part}");
    let asked = script.asked.borrow();
    let message = asked[1].last().unwrap();
    let length = |it: &Block| match it {
        Block::ToolResult { content, .. } => content.chars().count(),
        Block::Text { .. } | Block::ToolUse { .. } => 0,
    };
    let all: usize = message.content.iter().map(length).sum();
    assert!((agent::STEP_UNITS_MAX..200_000).contains(&all), "{all}");
}

#[test]
fn whoever_changes_a_file_is_reminded_once_in_a_turn_to_look_at_it() {
    let write = |path: &str| calls(&[("file_write", json!({"path": path, "content": "x"}))]);
    for (is_on, expected) in [(true, 1), (false, 0)] {
        let script = Script::new(vec![write("a"), write("b"), said("done")]);
        let hooks = Hooks { verify_before_complete: is_on, ..Hooks::default() };
        assert_eq!(Conversation::new(hooks).turn("go", &script).0, Ok(()));
        let asked = script.asked.borrow();
        let blocks = asked.last().unwrap().iter().flat_map(|it| &it.content);
        let reminded = blocks.filter(|it| match it {
            Block::ToolResult { content, .. } => content.contains("Before you say"),
            Block::Text { .. } | Block::ToolUse { .. } => false,
        });
        assert_eq!(reminded.count(), expected);
    }
}
