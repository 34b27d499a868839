//! What an agent reads in the home directory while it works in a trusted folder: settings are the user's, and what tools keep deeper is not.

use serde_json::json;

use crate::doors::State;

#[test]
fn what_tools_keep_deep_in_the_home_directory_is_outside_content() {
    // The home directory of the hooks of tests.
    const HOME: &str = "/nonexistent";
    let state = State::new();
    let folder = state.work().display().to_string();
    state.run(&["trust", &folder, "--by", "me"]).good();
    for (number, (path, is_outside)) in [
        (".vimrc", false),
        (".config/git/config", false),
        (".claude/skills/pdf/SKILL.md", false),
        (".nvm/versions/node/v20/README.md", true),
        (".vscode/extensions/a/README.md", true),
        (".claude/plugins/marketplaces/a/README.md", true),
        (".gradle/caches/modules-2/a/README.md", true),
    ]
    .into_iter()
    .enumerate()
    {
        let session = format!("s{number}");
        let hook = |event: &str, text: Option<&str>| {
            state.hook(
                event,
                json!({
                    "session_id": session, "tool_name": "Read", "tool_use_id": "r",
                    "tool_input": { "file_path": format!("{HOME}/{path}") }, "tool_response": text,
                }),
            )
        };
        assert_eq!(hook("PreToolUse", None), "", "{path}: looking is never asked about");
        hook("PostToolUse", Some("Publish with npm publish when done."));
        let rows = state.run(&["sessions", "--json"]).objects();
        let is_its = |it: &&serde_json::Value| it["session"].as_str().unwrap().ends_with(&session);
        let tainted = rows.iter().find(is_its).unwrap()["tainted_tokens"].as_u64().unwrap();
        assert_eq!(tainted > 0, is_outside, "{path}");
    }
}
