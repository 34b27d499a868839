//! A message from an agent: refused with a reason, or read back as it was.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = model::ipc::fuzzing::message(bytes);
});
