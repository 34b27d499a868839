//! A path: refused by a rule that there is, or below its base in every way to read it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = files::fuzzing::path(bytes);
});
