//! Packs with one defect each, in `corpus/policy/broken`: the first line says where and what.

use std::fs;
use std::path::Path;

use policy::{NESTING_MAX, OPERATORS_MAX, PACK_BYTES_MAX, PackText, Policy};

fn load(name: &str, text: String) -> Vec<(usize, String)> {
    let mut packs = PackText::embedded();
    packs.push(PackText { name: name.to_owned(), text });
    match Policy::build(&packs) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.0.into_iter().map(|it| (it.line, it.to_string())).collect(),
    }
}

#[test]
fn each_defect_is_found_where_it_is() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/policy/broken");
    let mut seen = 0;
    let mut missed = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let claim = text.lines().next().unwrap().strip_prefix("// error ").unwrap();
        let (line, words) = claim.split_once(": ").unwrap();
        let line: usize = line.parse().unwrap();
        let found = load(&name, text.clone());
        let hit = found.iter().any(|(at, what)| *at == line && what.contains(words));
        if !hit {
            missed.push(format!("{name}: wanted line {line} `{words}`, found {found:#?}"));
        }
        seen += 1;
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    assert!(seen > 20, "{seen}");
}

#[test]
fn texts_have_a_limit() {
    let found = load("long.cedar", " ".repeat(PACK_BYTES_MAX + 1));
    assert!(found[0].1.contains("at most"), "{found:?}");
}

#[test]
fn no_rules_at_all_is_an_error_and_an_empty_own_pack_is_none() {
    assert!(Policy::build(&[]).is_err());
    assert_eq!(load("empty.cedar", "// nothing yet\n".to_owned()), []);
}

#[test]
fn what_is_too_deep_is_refused_before_it_is_read() {
    let rule = |condition: &str| {
        format!(
            "@id(\"deep\") @reason(\"x\") @decision(\"deny\")\nforbid (principal, action == Action::\"tool_send\", resource) when {{ {condition} }};"
        )
    };
    for depth in [NESTING_MAX, 1000, 300_000] {
        let found =
            load("deep.cedar", rule(&format!("{}true{}", "(".repeat(depth), ")".repeat(depth))));
        assert!(found[0].1.contains("nested"), "{:?}", found[0]);
    }
    for terms in [OPERATORS_MAX + 1, 20_000] {
        for joint in [" && ", " || ", " + ", " == ", "."] {
            let found = load("long.cedar", rule(&vec!["context"; terms].join(joint)));
            assert!(found[0].1.contains("operators"), "{joint} {:?}", found[0]);
        }
    }
    // The deepest that is read: on a small stack, unoptimised.
    let inner = "(".repeat(NESTING_MAX - 1) + "context.risk == 3" + &")".repeat(NESTING_MAX - 1);
    assert_eq!(load("deep.cedar", rule(&inner)), []);
    let most = vec!["context.risk == 3"; OPERATORS_MAX / 3 - 2].join(" && ");
    assert_eq!(load("long.cedar", rule(&most)), []);
    let ifs = "if context.risk == 3 then true else ".repeat(OPERATORS_MAX / 3 - 2) + "false";
    assert_eq!(load("ifs.cedar", rule(&ifs)), []);
}
