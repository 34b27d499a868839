//! Promises for any bytes: no panic, and what is accepted is read back as it was.

use model::ipc::ActionName;
use model::ipc::fuzzing::message as holds;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::ipc::support::{accepted, bytes, cases};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0_u32..3000).prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        prop::sample::select(TEXTS).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key(), inner, 0..5)
                .prop_map(|it| it.into_iter().collect::<Value>()),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![prop::sample::select(KEYS).prop_map(str::to_owned), "\\PC{0,6}"]
}

const TEXTS: &[&str] = &[
    "user",
    "GET",
    "POST",
    "preference",
    "a/b",
    "https://example.com/",
    "2026-01-01T00:00:00Z",
    "123e4567-e89b-12d3-a456-426614174000",
    "\u{0}",
    "__proto__",
];
const KEYS: &[&str] = &[
    "action",
    "provider",
    "messages",
    "role",
    "content",
    "scope",
    "type",
    "url",
    "method",
    "headers",
    "session",
    "ref",
    "text",
    "config",
    "viewport",
    "filter",
    "since",
    "limit",
    "id",
    "name",
    "skill",
    "service",
    "path",
    "query",
    "__proto__",
    "constructor",
    "_userId",
    "",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_parsed_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = holds(&bytes);
    }

    #[test]
    fn any_object_with_a_known_action_is_parsed_or_refused(
        name in prop::sample::select(ActionName::ALL),
        fields in prop::collection::btree_map(key(), any_json(), 0..6),
    ) {
        let mut message: Value = fields.into_iter().collect();
        message["action"] = json!(name.as_str());
        let _ = holds(message.to_string().as_bytes());
    }
}

/// A small generator with a fixed start, so that a failure can be met again.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit.max(1)
    }
}

#[test]
fn good_messages_with_flipped_cut_and_doubled_bytes_are_parsed_or_refused() {
    let seeds: Vec<_> = accepted().into_iter().filter(|it| it.len() < 2000).collect();
    assert!(seeds.len() > 40);
    let mut dice = Dice(7);
    let mut good = 0;
    for _ in 0..20_000 {
        let mut bytes = seeds[dice.below(seeds.len())].clone();
        for _ in 0..=dice.below(3) {
            let at = dice.below(bytes.len());
            match dice.below(5) {
                0 => bytes[at] = u8::try_from(dice.below(256)).unwrap(),
                1 if bytes.len() > 1 => _ = bytes.remove(at),
                2 => bytes.insert(at, br#"{}[]",:\0e-"#[dice.below(11)]),
                3 => bytes.truncate(at + 1),
                _ => {
                    let end = (at + dice.below(20)).min(bytes.len());
                    bytes.splice(at..at, bytes[at..end].to_vec());
                }
            }
        }
        good += usize::from(holds(&bytes));
    }
    assert!(good > 200, "{good}: too few to mean anything");
}

#[test]
fn every_message_of_the_corpus_is_read_back_as_it_was() {
    let good =
        cases("ipc_messages_seed000.json").iter().filter(|it| holds(&bytes(&it.input))).count();
    assert!(good > 60);
}
