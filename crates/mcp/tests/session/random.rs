//! Bytes that nobody meant: nothing panics, and every ticket comes back.

use crate::asking::put;
use crate::limits::Bench;
use mcp::{Frame, Session};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A small generator, so that a failure can be repeated.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(below.max(1)).unwrap()).unwrap()
    }
}

#[test]
fn random_bytes_never_panic() {
    let mut dice = Dice(0x1234_5678_9abc_def1);
    let mut bench = Bench::listed(json!({}));
    for _ in 0..3000 {
        let length = dice.roll(60);
        let alphabet = b"{}[]\":,\\0123456789.eE+-truefalsnid jonrpcmethodu2028\xff\xc3\x28\r";
        let line: Vec<u8> = (0..length).map(|_| alphabet[dice.roll(alphabet.len())]).collect();
        bench.session.take_client(&Frame::Line(line.clone()), bench.now);
        bench.session.take_server(0, &Frame::Line(line), bench.now);
        put(&mut bench.session, &*bench.gate);
    }
}

/// Every line of every transcript, from either side, in any order, with bytes changed.
#[test]
fn shuffled_and_broken_transcripts_never_panic_and_lose_no_ticket() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/mcp");
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|it| it != "jsonl") {
            continue;
        }
        for line in fs::read_to_string(path).unwrap().lines().skip(1) {
            let step: serde_json::Value = serde_json::from_str(line).unwrap();
            let value = step.as_object().unwrap().values().next().unwrap();
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            lines.push(text.into_bytes());
        }
    }
    lines.sort();
    for seed in 1..40_u64 {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let gate = Arc::new(crate::script::Script::new(json!({"ask": {"wipe": "?"}})));
        let mut now = Instant::now();
        let mut session = match seed % 2 {
            0 => Session::single(gate.clone(), "a", now).unwrap(),
            _ => Session::aggregate(gate.clone(), &["a", "b"], now).unwrap(),
        };
        session.start(now);
        let mut late = Vec::new();
        for _ in 0..400 {
            let mut line = lines[dice.roll(lines.len())].clone();
            if dice.roll(4) == 0 && !line.is_empty() {
                let place = dice.roll(line.len());
                line[place] = u8::try_from(dice.roll(256)).unwrap();
            }
            let frame = Frame::Line(line);
            match dice.roll(40) {
                0 => drop(session.server_gone(dice.roll(3), "over", now)),
                1..3 => {
                    now += Duration::from_secs(7);
                    drop(session.tick(now));
                }
                3..20 => drop(session.take_client(&frame, now)),
                _ => drop(session.take_server(dice.roll(3), &frame, now)),
            }
            // The gate answers in its order, but when it likes.
            late.extend(put(&mut session, &*gate));
            let count = dice.roll(4).min(late.len());
            for reply in late.drain(..count).collect::<Vec<_>>() {
                drop(session.take_reply(reply, now));
            }
        }
        session.close();
        for reply in late {
            drop(session.take_reply(reply, now));
        }
        drop(session);
        assert_eq!(gate.outstanding(), 0, "seed {seed}");
    }
}
