//! A page from the web: read without a panic, within its limits, and enclosed in one pair of marks.

#![no_main]

use scan::boundary::{Boundary, Nonce, wrap};
use scan::page::{TEXT_BYTES_MAX, read};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let page = read(bytes, Some("text/html"), None);
    assert!(page.text.len() <= TEXT_BYTES_MAX + 16);
    assert!(!page.text.chars().any(scan::is_invisible));
    let _ = read(bytes, None, None);
    let nonce = Nonce::new([7; 16]);
    let text = String::from_utf8_lossy(bytes);
    let wrapped = wrap(Boundary::Fetched, &text, &text, &nonce);
    assert_eq!(wrapped.matches(nonce.as_str()).count(), 2);
    assert_eq!(wrapped.to_lowercase().matches("</fetched_content").count(), 1);
});
