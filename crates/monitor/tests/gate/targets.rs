//! What paths and addresses are known as, case by case from the corpus.

use monitor::target::{class_of_host, class_of_path};
use serde::Deserialize;

const CASES: &str = include_str!("../../../../corpus/targets/cases.json");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    /// `path` or `host`.
    kind: String,
    text: String,
    /// The classes that it has, among others.
    #[serde(default)]
    is: Vec<String>,
    /// The classes that it does not have; `*` for all.
    #[serde(default)]
    is_not: Vec<String>,
}

#[test]
fn every_case_of_the_corpus() {
    let cases: Vec<Case> = serde_json::from_str(CASES).unwrap();
    let mut wrong = Vec::new();
    for case in &cases {
        let found = match case.kind.as_str() {
            "path" => class_of_path(&case.text),
            "host" => class_of_host(&case.text),
            other => panic!("{}: there is no kind `{other}`", case.id),
        };
        let names: Vec<&str> = found.iter().map(policy::Target::as_str).collect();
        let missing = case.is.iter().any(|it| !names.contains(&it.as_str()));
        let extra = case
            .is_not
            .iter()
            .any(|it| if it == "*" { !names.is_empty() } else { names.contains(&it.as_str()) });
        assert!(!(case.is.is_empty() && case.is_not.is_empty()), "{} claims nothing", case.id);
        if missing || extra {
            wrong.push(format!("{}: `{}` is {names:?}", case.id, case.text));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(cases.len() > 40);
}
