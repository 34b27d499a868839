//! Any text: read without a panic, in the same way twice, and within a bounded time.

use proptest::prelude::*;
use scan::shell::fuzzing::command;

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
