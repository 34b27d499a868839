//! No bytes make it panic: captured inputs, bent at random.

use crate::world::{captured, replies};
use hooks::{Host, answer, dialect, read};

const ROUNDS: usize = 20_000;

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit.max(1)).unwrap_or(1)).unwrap_or(0)
    }
}

/// Pieces that mean something to a parser.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    ":",
    ",",
    "null",
    "true",
    "1e999",
    "-0",
    "\\ud800",
    "\u{0}",
    "é",
    "\"tool_input\":",
    "\"tool_response\":",
    "\"agent_id\":",
    "\"session_id\":\"s\"",
    "\"content\":[",
    "\"stdout\":",
    "$text",
    "mcp__",
    "mcp____",
];

fn bent(bytes: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(bytes.len() + 1);
        let piece = PIECES.get(numbers.below(PIECES.len())).copied().unwrap_or_default();
        match numbers.below(5) {
            0 => bytes.truncate(at),
            1 => {
                let end = (at + numbers.below(20)).min(bytes.len());
                bytes.drain(at..end);
            }
            2 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = u8::try_from(numbers.below(256)).unwrap_or(0);
                }
            }
            _ => drop(bytes.splice(at..at, piece.bytes())),
        }
    }
    bytes
}

#[test]
fn no_bytes_make_it_panic_and_every_answer_is_well_formed() {
    let all = captured();
    let replies = replies();
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    let mut understood = 0;
    for _ in 0..ROUNDS {
        let Some(from) = all.get(numbers.below(all.len())) else { continue };
        let bytes = bent(&from.bytes, &mut numbers);
        // Another host's reading of it, now and then.
        let host = if numbers.below(4) == 0 { Host::ALL[numbers.below(6)] } else { from.host };
        let Ok(seen) = read(host, &from.event, &bytes) else { continue };
        understood += 1;
        let (_, reply) = &replies[numbers.below(replies.len())];
        let answer = answer(host, &from.event, Some(&seen), reply);
        if !answer.stdout.is_empty() {
            serde_json::from_slice::<serde_json::Value>(&answer.stdout).unwrap();
        }
    }
    assert!(understood > ROUNDS / 50, "{understood} of {ROUNDS} were understood");
}

#[test]
fn noise_is_refused() {
    let mut numbers = Numbers(7);
    for host in Host::ALL {
        for event in dialect(host).events().chain(["", "x", "$text"]) {
            let noise: Vec<u8> =
                (0..64).map(|_| u8::try_from(numbers.below(256)).unwrap_or(0)).collect();
            assert!(read(host, event, &noise).is_err());
            assert!(read(host, event, b"").is_err());
        }
    }
}
