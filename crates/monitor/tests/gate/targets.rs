//! What paths and addresses are known as, case by case from the corpus.

use monitor::target::{class_of_host, class_of_path};
use serde::Deserialize;

const PATHS: &str = include_str!("../../../../corpus/paths/dev.jsonl");
const SECRET_PATHS: &str = include_str!("../../../../corpus/paths/secret_paths.json");
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

#[test]
fn every_secret_path_of_the_deny_first_list_is_a_secret_in_a_home() {
    let rows: Vec<serde_json::Value> = serde_json::from_str(SECRET_PATHS).unwrap();
    let mut count = 0;
    for row in rows.iter().filter(|it| it["expected"]["read"] == "denied") {
        let path = row["input"]["path"].as_str().unwrap();
        for home in ["$HOME", "/home/u", "/Users/u", "~", "/root"] {
            let path = path.replace("$HOME", home);
            assert!(class_of_path(&path).contains(policy::Target::SecretFile), "{path}");
            assert!(
                class_of_path(&path.to_uppercase()).contains(policy::Target::SecretFile),
                "{path}"
            );
        }
        count += 1;
    }
    assert!(count >= 25, "{count}");
}

#[test]
fn ordinary_files_of_repositories_raise_no_alarm() {
    let rows = PATHS.lines().map(|it| serde_json::from_str::<serde_json::Value>(it).unwrap());
    let paths: Vec<String> = rows
        .filter(|it| it["expect"] == "allow")
        .map(|it| it["text"].as_str().unwrap().to_owned())
        .collect();
    let is = |path: &String, target| class_of_path(path).contains(target);
    let of = |target| paths.iter().filter(|it| is(it, target)).cloned().collect::<Vec<_>>();
    let (secret, sensitive) = (of(policy::Target::SecretFile), of(policy::Target::SensitiveFile));
    assert_eq!(secret, Vec::<String>::new());
    // Some are marked when they are read, and none is kept from anybody.
    assert!(sensitive.len() * 200 < paths.len(), "{sensitive:?}");
}
