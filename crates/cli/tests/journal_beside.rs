//! What a person does with the journal while a daemon has it: the daemon does the same work.

use serde_json::Value;
use testkit::program::Run as _;

use crate::doors::State;
use crate::program::lazaret;

#[test]
fn the_journal_of_a_daemon_is_retained_and_takes_bundles_in_as_one_without() {
    let state = State::new();
    state.run(&["daemon", "start"]).good();
    let retain = ["evidence", "retain", "--before", "1d"];
    assert_eq!(state.run(&retain).good().out, "deleted 0 records in 0 segments, 0 blobs\n");
    let gone = state.run(&[retain.as_slice(), &["--json"]].concat()).good().objects().remove(0);
    assert_eq!(gone, serde_json::json!({ "segments": 0, "records": 0, "blobs": 0 }));

    // A bundle of another journal, named from where the person is.
    let other = state.dir.path().join("other");
    lazaret(&other, &["check", "url", "https://a.example/"]).run();
    lazaret(&other, &["trust", &state.work().display().to_string(), "--by", "me"]).run().good();
    let zip = state.work().join("b.aegx.zip").display().to_string();
    lazaret(&other, &["evidence", "export", &zip]).run().good();
    lazaret(&other, &["daemon", "stop"]).run();
    let import = |bundle: &str| {
        let words = ["evidence", "import", bundle, "--json"];
        lazaret(state.path(), &words).current_dir(state.work()).run()
    };
    let taken = import("b.aegx.zip").good().objects().remove(0);
    assert_eq!(taken.get("known"), Some(&Value::Bool(false)), "{taken}");
    let again = import(&zip).good().objects().remove(0);
    assert_eq!(again.get("known"), Some(&Value::Bool(true)), "{again}");
    assert_eq!(state.count("evidence_import"), 1);
    let none = import("no such file");
    assert!(none.code == 3 && none.err.contains("no such file"), "{}", none.err);
    let status = state.run(&["daemon", "status"]);
    assert_eq!(status.code, 0, "the daemon runs still");
}
