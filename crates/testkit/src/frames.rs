//! Frames as `lazaret ipc` and the person's door take and give them: a length of four bytes, then the message.

use std::io::Read;

use serde_json::Value;

/// The frame of a message.
#[must_use]
pub fn frame(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap();
    [&length.to_be_bytes()[..], message].concat()
}

/// The next answer of whoever speaks.
pub fn answer(from: &mut impl Read) -> Value {
    let mut header = [0; 4];
    from.read_exact(&mut header).unwrap();
    let mut message = vec![0; usize::try_from(u32::from_be_bytes(header)).unwrap()];
    from.read_exact(&mut message).unwrap();
    serde_json::from_slice(&message).unwrap()
}

/// All answers, with nothing behind the last.
#[must_use]
pub fn answers(mut bytes: &[u8]) -> Vec<Value> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        all.push(answer(&mut bytes));
    }
    all
}
