//! A trace does what a session does.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout};

use serde_json::Value;
use testkit::program::Run as _;

use crate::program::lazaret;
use crate::workspace::support::{PAGE, Place, SENSITIVE};

/// A replay on pipes, so that something can happen beside it.
struct Replay {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Replay {
    fn new(place: &Place) -> Self {
        let mut command = lazaret(place.home(), &["replay", "--json", "-", "--home"]);
        let command = command.arg(place.home()).arg("--workspace").arg(place.workspace());
        let mut child = command.start();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        Self { child, input, output: BufReader::new(output) }
    }

    fn say(&mut self, event: Value) {
        writeln!(self.input.as_mut().unwrap(), "{event}").unwrap();
    }

    fn begin(&mut self, session: &str) {
        self.say(serde_json::json!({
            "event": "session", "session": session, "user": "me", "agent": "main"
        }));
    }

    /// Calls something sensitive, and gives the verdict without what differs from run to run.
    fn call(&mut self, session: &str, call: &str) -> Value {
        let args: Value = serde_json::from_str(SENSITIVE).unwrap();
        let mut args = args.as_object().unwrap().clone();
        args.remove("action");
        self.say(serde_json::json!({
            "event": "call", "session": session, "call": call, "tool": "oauth_call", "args": args
        }));
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let mut verdict: Value = serde_json::from_str(&line).unwrap();
        verdict.as_object_mut().unwrap().remove("record");
        verdict
    }

    fn end(mut self) {
        drop(self.input.take());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        assert!(rest.contains("summary"), "{rest}");
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn a_trace_finds_and_leaves_labels_as_a_session_does_and_the_same_each_time() {
    let mut verdicts = Vec::new();
    for _ in 0..2 {
        let place = Place::new();
        let mut replay = Replay::new(&place);
        replay.begin("clean");
        assert_eq!(replay.call("clean", "c1")["decision"], "allow");
        replay.say(serde_json::json!({"event": "end", "session": "clean"}));
        replay.begin("a");
        replay.say(serde_json::json!({
            "event": "content", "session": "a", "source": "web", "text": PAGE,
            "origin": "https://evil.example/"
        }));
        let mut seen = vec![replay.call("a", "c1")];
        place.write("page.txt", PAGE);
        replay.say(serde_json::json!({"event": "end", "session": "a"}));
        // In the same trace, and in a session that the trace does not end.
        replay.begin("b");
        seen.push(replay.call("b", "c1"));
        place.write("later.txt", "what b makes of it");
        replay.end();
        assert_eq!(place.marked(), ["later.txt", "page.txt"]);
        let mut replay = Replay::new(&place);
        replay.begin("c");
        seen.push(replay.call("c", "c1"));
        replay.end();
        for verdict in &seen {
            assert_eq!(verdict["decision"], "step_up", "{verdict}");
            assert_eq!(verdict["taint_ratio"], 1.0, "{verdict}");
        }
        verdicts.push(seen);
    }
    assert_eq!(verdicts[0], verdicts[1]);
}

#[test]
fn the_turns_of_a_trace_are_kept_with_their_labels() {
    let place = Place::new();
    let mut replay = Replay::new(&place);
    replay.begin("s");
    for (source, text) in [
        ("system", "You help."),
        ("user", "Please read https://evil.example/."),
        ("agent", "I am reading it."),
        ("web", PAGE),
        ("agent", "It says where invoices go."),
        ("user", "Thank you."),
    ] {
        replay.say(serde_json::json!({
            "event": "content", "session": "s", "source": source, "text": text, "origin": source
        }));
    }
    replay.end();
    let shown = place.objects(&["sessions", "show", "s", "--json"]);
    assert_eq!((&shown[0]["kind"], &shown[0]["session"]), (&"session".into(), &"s".into()));
    let turns: Vec<_> = shown[1..].iter().map(|it| (&it["role"], !it["tag"].is_null())).collect();
    let expected = [
        ("system", false),
        ("user", false),
        ("assistant", false),
        ("user", true),
        ("assistant", true),
        ("user", false),
    ]
    .map(|(role, tainted)| (Value::from(role), tainted));
    assert_eq!(turns, expected.iter().map(|it| (&it.0, it.1)).collect::<Vec<_>>());
    assert_eq!(shown[4]["tag"]["origin"], "web");
    assert_eq!(shown[4]["sha256"], aegx::Digest::of(PAGE.as_bytes()).to_string());
    let newest = place.objects(&["sessions", "show", "s", "--json", "--limit", "1"]);
    assert_eq!((newest.len(), &newest[1]), (2, &shown[6]));
    let (code, text, _) = place.run(&["sessions", "show", "s"]);
    assert_eq!((code, text.lines().count()), (0, 7), "{text}");
    assert!(!text.contains(PAGE), "the words are not kept");
    assert_eq!(place.run(&["sessions", "show", "nobody"]).0, 1);
    assert_eq!(place.objects(&["sessions", "--json"]).len(), 1);
}
