//! What the program says of wrong usage: one line that is true, and names what is missing.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use testkit::program::Run as _;

use crate::program::lazaret;

/// The exit code and what was said.
fn said(words: &[&str]) -> (i32, String) {
    let home = tempfile::tempdir().unwrap();
    let (code, _, err) = lazaret(home.path(), words).env("USER", "me").run().told();
    (code, err)
}

#[test]
fn a_usage_has_nothing_in_it_that_a_variable_says() {
    for words in [&["skills", "run"][..], &["skills", "approve"], &["vault", "set"], &["proxy"]] {
        let (code, text) = said(words);
        assert!(code == 2 && text.contains("Usage: "), "{words:?}: {text}");
        assert!(!text.contains("--home") && !text.contains("--by"), "{words:?}: {text}");
    }
}

#[test]
fn a_policy_that_does_not_load_is_told_on_one_line() {
    let (code, text) = said(&["proxy", "--agent", "main", "--policy", "/nosuch"]);
    assert_eq!(code, 2);
    assert!(text.starts_with("lazaret: the policy does not load: /nosuch: "), "{text}");
    assert!(text.lines().count() == 1 && !text.contains("\\u{"), "{text}");
}

#[test]
fn what_is_no_name_is_told_in_whole_words() {
    let (code, text) = said(&["proxy", "--agent", "a b"]);
    assert!(code == 2 && text.contains("the name of an agent has only letters"), "{text}");
}
