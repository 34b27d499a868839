//! A manifest: checked without a panic, whatever it holds.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = aegx::fuzzing::manifest(bytes);
});
