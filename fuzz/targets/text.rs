//! A text: read whatever it is, with findings that stand inside of it.

#![no_main]

use scan::text::{Author, read};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    for it in read(&text, Author::Outsider).findings {
        assert!(text.get(it.start..it.end).is_some());
    }
    let secrets = scan::secret::find(&text);
    let _ = scan::secret::redacted(&text, &secrets);
    for it in scan::pii::find(&text) {
        assert!(text.get(it.start..it.end).is_some());
    }
});
