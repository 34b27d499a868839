//! An audit line: what is read prints back to the same bytes.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = aegx::fuzzing::audit_line(bytes);
});
