//! Any JSON line: parsing, printing and canonicalising agree with themselves.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = aegx::fuzzing::json_line(bytes);
});
