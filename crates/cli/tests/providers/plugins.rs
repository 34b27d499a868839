//! `lazaret plugins`: what a person added is what is there, at every start and at every reload, or it is refused and recorded.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::gate::Gate;
use crate::providers::support::{agent, good, home, kinds, put, run};

#[test]
fn a_plugin_is_added_changed_refused_and_removed() {
    let home = home("providers:\n  memory: sqlite\n");
    let source = tempfile::tempdir().unwrap();
    let manifest = json!({"name": "@t/p", "ax_provider": {"kind": "memory", "name": "redis"}, "capabilities": {}});
    put(source.path(), "MANIFEST.json", &manifest.to_string());
    put(source.path(), "index.js", "run()");
    let (home, folder) = (home.path(), source.path().to_str().unwrap());
    let (code, _, stderr) = run(home, &["plugins", "add", folder]);
    assert_eq!(code, 2, "nobody is at a terminal: {stderr}");
    let added = good(home, &["plugins", "add", folder, "--yes"]);
    assert_eq!(good(home, &["plugins", "list"])[0]["digest"], added[0]["digest"]);
    assert_eq!(good(home, &["plugins", "verify"])[0]["ok"], true);
    put(home, "plugins/@t+p/index.js", "evil()");
    let (code, stdout, _) = run(home, &["plugins", "verify"]);
    assert!(code == 1 && stdout.contains("`index.js` has changed"), "{stdout}");
    // An agent is served all the same; the plugin is refused, and that is recorded.
    agent(home, "s", &[json!({"action": "skill_list"})]);
    assert!(kinds(home).iter().any(|it| it == "plugin_refused"));
    good(home, &["plugins", "remove", "@t/p"]);
    let (code, _, _) = run(home, &["plugins", "remove", "@t/p"]);
    assert_eq!(code, 1);
    let (code, stdout, _) = run(home, &["plugins", "verify"]);
    assert_eq!((code, stdout.as_str()), (0, ""));
}

/// The refusals on record, oldest first.
fn refusals(home: &Path) -> Vec<Value> {
    let records = good(home, &["evidence", "query", "--kind", "plugin_refused"]);
    records.into_iter().map(|it| it["record"]["payload"]["inline"].clone()).collect()
}

#[test]
fn plugins_are_looked_through_at_every_start_and_at_every_reload() {
    let home = home("providers:\n  memory: sqlite\n");
    let source = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        let manifest = json!({
            "name": format!("@t/{name}"), "ax_provider": {"kind": "memory", "name": name}, "capabilities": {},
        });
        put(source.path(), &format!("{name}/MANIFEST.json"), &manifest.to_string());
        put(source.path(), &format!("{name}/index.js"), "run()");
    }
    let home = home.path();
    for name in ["one", "two"] {
        let folder = source.path().join(name);
        good(home, &["plugins", "add", folder.to_str().unwrap(), "--yes"]);
    }
    let (code, _, stderr) = run(home, &["plugins", "reload"]);
    assert!(code == 3 && stderr.contains("no gate is running"), "{stderr}");

    // A start, and a reload while it runs: sound. Then one of both changes, and goes back to what it was.
    let gate = Gate::ipc(home);
    let sound = |it: &Value| it["ok"] == true;
    assert!(good(home, &["plugins", "reload"]).iter().all(sound));
    put(home, "plugins/@t+one/index.js", "evil()");
    for _ in 0..2 {
        let (code, stdout, _) = run(home, &["plugins", "reload", "--json"]);
        let told: Vec<Value> = stdout.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
        assert_eq!((code, told.len()), (1, 2), "{stdout}");
        assert_eq!((&told[0]["plugin"], &told[0]["ok"]), (&json!("@t/two"), &json!(true)));
        assert_eq!((&told[1]["plugin"], &told[1]["ok"]), (&json!("@t/one"), &json!(false)));
        assert_eq!(told[1]["error"], "`index.js` has changed");
    }
    put(home, "plugins/@t+one/index.js", "run()");
    let (code, stdout, _) = run(home, &["plugins", "reload"]);
    // What was put back is what it was, but for its mode.
    assert_eq!(code, i32::from(stdout.contains("refused")), "{stdout}");
    fs::remove_file(home.join("plugins.json")).unwrap();
    let (code, stdout, _) = run(home, &["plugins", "reload"]);
    assert!(code == 1 && stdout.matches("nobody added it").count() == 2, "{stdout}");
    gate.end();

    // All of it is on record, and the next start says it again.
    let before = refusals(home);
    assert!(before.iter().all(|it| it["decision"] == "deny"), "{before:?}");
    let changed = before.iter().filter(|it| it["error"] == "`index.js` has changed");
    assert_eq!(changed.count(), 2, "{before:?}");
    agent(home, "t", &[json!({"action": "skill_list"})]);
    let after = refusals(home);
    assert_eq!(after.len(), before.len() + 2, "{after:?}");
}
