//! Any text: read without a panic, in the same way twice, and within a bounded time.

use proptest::prelude::*;
use shell::fuzzing::command;
use shell::{Decision, read};

/// What commands are made of.
const PIECES: [&str; 62] = [
    " ",
    " ",
    "\n",
    "\t",
    ";",
    "&",
    "&&",
    "|",
    "||",
    "|&",
    "(",
    ")",
    "{",
    "}",
    "[[",
    "]]",
    "((",
    "))",
    "$(",
    "`",
    "${",
    "$((",
    "$[",
    "]",
    "$'",
    "$\"",
    "'",
    "\"",
    "\\",
    "\\\n",
    "<",
    ">",
    "<<",
    "<<<",
    "<<-",
    "<(",
    ">(",
    ">&",
    "2>",
    "#",
    "!",
    "*",
    "?",
    "~",
    "=",
    "+=",
    "$x",
    "$@",
    "$IFS",
    "x",
    "é",
    "\u{200b}",
    "\u{E000}",
    "\0",
    "if",
    "then",
    "fi",
    "for i in",
    "do",
    "done",
    "case x in",
    "eval bash -c",
];

/// Each of them looks at all that stands behind it.
#[test]
fn commands_that_run_commands_with_many_arguments_are_too_large() {
    let many = " a".repeat(4_000);
    for runs in ["nice ", "env A=1 ", "command ", "timeout 1 ", "nice -x nice nice "] {
        let reading = read(&format!("{}ls{many}", runs.repeat(40)));
        assert_eq!(reading.decisive.map(|it| it.rule.as_str()), Some("shell-too-large"), "{runs}");
        let reading = read(&format!("{}ls a b c", runs.repeat(4)));
        assert_eq!(reading.decision, Decision::Allow, "{runs}");
    }
}

/// What may or may not have been written in each turn of a loop is not kept for all of them.
#[test]
fn a_file_that_a_loop_writes_over_and_over_is_not_remembered_whole() {
    for text in [
        "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); [ -e a ] || echo {} > a; sleep 0.002; done",
        "for i in $(seq 400); do test -e a && echo xxxxxxxx >> a; cat a >> b || cat b >> a; done; sh b",
    ] {
        let begun = testkit::Stopwatch::start();
        let reading = read(text);
        assert!(begun.elapsed().as_secs() < 20, "{text}: {:?}", begun.elapsed());
        assert!(reading.normalized.len() < 1 << 20, "{text}");
    }
}

/// What is harmless in great numbers leaves room for what is not.
#[test]
fn a_denial_is_seen_behind_however_many_questions() {
    let many: String = (0..600).map(|it| format!("ssh h.example a{it}; ")).collect();
    let reading = read(&format!("{many} sudo true"));
    assert_eq!(reading.decision, Decision::Deny);
    let reading = read(&format!("{many}{}", ": ; ".repeat(2_000)));
    let rules: Vec<_> = reading.findings.iter().map(|it| it.rule.as_str()).collect();
    assert!(rules.contains(&"shell-too-large"), "{:?}", rules.last());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn pieces_of_commands(pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..40)) {
        let text = pieces.concat();
        prop_assert_eq!(command(text.as_bytes()).map(drop), Ok(()), "{}", text);
    }

    #[test]
    fn words_of_commands(pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..40)) {
        let text = pieces.join(" ");
        prop_assert_eq!(command(text.as_bytes()).map(drop), Ok(()), "{}", text);
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(command(&bytes).map(drop), Ok(()));
    }
}
