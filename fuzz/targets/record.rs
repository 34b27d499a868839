//! A record line: both ways of reading it give the same id and findings.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = aegx::fuzzing::record_line(bytes);
});
