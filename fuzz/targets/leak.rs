//! A prompt and an answer, with a line between them: compared whatever they are, with leaks that stand inside of the answer.

#![no_main]

use scan::leak::{Registry, Turns, scan};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let (prompt, answer) = text.split_once('\n').unwrap_or((&text, &text));
    let registry = Registry::of_prompt(prompt);
    for it in scan(&registry, answer) {
        assert!(answer.get(it.start..it.end).is_some());
    }
    let mut turns = Turns::default();
    for it in turns.add(&registry, answer) {
        assert!(it.start <= it.end);
    }
});
