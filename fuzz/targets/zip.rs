//! An archive: what opens strictly holds what it declares.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = aegx::fuzzing::zip(bytes);
});
