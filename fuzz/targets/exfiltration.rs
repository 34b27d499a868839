//! A text with addresses: read whatever it is; without what leaves, nothing leaves.

#![no_main]

use scan::exfiltration::{leaving, look, neutralised};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let found = look(&text);
    for it in &found {
        assert!(text.get(it.start..it.end).is_some());
    }
    let _ = (leaving(&text), neutralised(&text, &found));
});
