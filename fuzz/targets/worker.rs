//! What a worker says on its socket: frames as they come, messages refused or read back as they were, and what a person is
//! shown made anew of nothing but the fields that it has.

#![no_main]

use agent::{FromWorker, Rebuilder, ToWorker, wire};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    let mut rebuilder = Rebuilder::default();
    while let Ok(Some(message)) = wire::read(&mut rest) {
        said(&message, &mut rebuilder);
    }
    said(bytes, &mut rebuilder);
    // The other side reads as strictly.
    if let Ok(message) = serde_json::from_slice::<ToWorker>(bytes) {
        let printed = serde_json::to_vec(&message).expect("it was read");
        assert!(serde_json::from_slice::<ToWorker>(&printed).is_ok());
    }
});

fn said(bytes: &[u8], rebuilder: &mut Rebuilder) {
    let Ok(message) = FromWorker::read(bytes) else { return };
    let printed = serde_json::to_vec(&message).expect("it was read");
    let again = FromWorker::read(&printed).expect("it is a message");
    // Numbers with a fraction may be others by a hair.
    assert_eq!(std::mem::discriminant(&again), std::mem::discriminant(&message));
    let FromWorker::Frame { frame } = message else { return };
    let Some(shown) = rebuilder.take(&frame) else { return };
    let again = serde_json::to_value(&shown).expect("it is a frame");
    assert_eq!(Rebuilder::default().take(&again).as_ref(), Some(&shown));
    assert!(!again.to_string().contains(['\u{1b}', '\u{202e}', '\u{9b}']));
}
