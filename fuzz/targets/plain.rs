//! The short way of reading agrees with the long way.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = aegx::fuzzing::plain(bytes);
});
