//! A command: read the same way twice, and no decision without a reason.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(broken) = shell::fuzzing::command(bytes) {
        panic!("{broken}");
    }
});
