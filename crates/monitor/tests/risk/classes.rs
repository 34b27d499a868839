//! The classes of single calls.

use model::{Flow, Reach, Role, Trust};
use monitor::risk::{Classes, Observation};
use serde_json::Value;

use crate::risk::support::{shell, tool};

const CLASSES: &str = include_str!("../../../../corpus/risk/classes.json");

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// A command line, or a call of a tool with a flow type.
    command: Option<String>,
    tool: Option<String>,
    #[serde(default)]
    args: Value,
    #[serde(default)]
    reach: String,
    #[serde(default)]
    egress: bool,
    #[serde(default)]
    roles: std::collections::BTreeMap<String, String>,
    /// All classes that it has, and no others.
    classes: Vec<String>,
}

fn role(name: &str) -> Role {
    match name {
        "target" => Role::Target,
        "content" => Role::Content,
        other => panic!("there is no role `{other}`"),
    }
}

fn seen(case: &Case) -> Observation {
    let Some(name) = &case.tool else { return shell(case.command.as_ref().unwrap()) };
    let reach = match case.reach.as_str() {
        "read" => Reach::Read,
        "write" => Reach::Write,
        "send" => Reach::Send,
        other => panic!("there is no reach `{other}`"),
    };
    let roles = case.roles.iter().map(|(param, it)| (param.clone(), role(it))).collect();
    let (output, egress, destructive) = (Trust::Own, case.egress, false);
    tool(name, &case.args, Flow { reach, output, egress, destructive, roles })
}

#[test]
fn every_call_has_the_classes_that_its_case_says() {
    let known = [
        ("sensitive_read", Classes::SENSITIVE_READ),
        ("credential_read", Classes::CREDENTIAL_READ),
        ("egress", Classes::EGRESS),
        ("scope_change", Classes::SCOPE_CHANGE),
        ("sends_its_read", Classes::SENDS_ITS_READ),
    ];
    let cases: Vec<Case> = serde_json::from_str(CLASSES).unwrap();
    let mut wrong = Vec::new();
    for case in &cases {
        let found = seen(case).classes;
        let names = known.iter().filter(|it| found.contains(it.1)).map(|it| it.0);
        let names: Vec<&str> = names.collect();
        if names != case.classes {
            wrong.push(format!("{}: {names:?}, not {:?}", case.name, case.classes));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}
