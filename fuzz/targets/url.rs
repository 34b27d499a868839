//! A URL: refused by a rule that there is, or read as one host by everybody.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = scan::net::fuzzing::url(bytes);
});
