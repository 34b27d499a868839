//! Taking it back after things happened in between.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use setup::{Host, Outcome, Wiring, wiring};

use crate::support::{Machine, NOW_UNIX_S, outcome};

const SETTINGS: &str = "home/.claude/settings.json";

#[test]
fn a_file_that_the_user_changed_keeps_the_change() {
    let machine = Machine::new();
    machine.put(SETTINGS, "{\n  \"model\": \"opus\"\n}\n");
    machine.init(&[Host::Claude]);
    let wired = machine.text(SETTINGS);
    machine.put(SETTINGS, wired.replace("\"opus\"", "\"sonnet\""));
    let done = machine.uninstall();
    assert_eq!(*outcome(&done, "settings.json"), Outcome::Cleaned);
    assert_eq!(machine.text(SETTINGS), "{\n  \"model\": \"sonnet\"\n}\n");
    assert!(!machine.at("home/.lazaret/setup").exists(), "backups may hold secrets");
}

#[test]
fn a_file_that_we_made_and_the_user_filled_stays() {
    let machine = Machine::new();
    machine.init(&[Host::Cursor, Host::Copilot]);
    let wired = machine.text("home/.cursor/hooks.json");
    let mine = wired.replacen(
        "\"hooks\": {",
        "\"hooks\": { \"afterFileEdit\": [{ \"command\": \"fmt\" }],",
        1,
    );
    machine.put("home/.cursor/hooks.json", mine);
    machine.put(
        "home/.copilot/hooks/lazaret.json",
        machine.text("home/.copilot/hooks/lazaret.json") + "\n",
    );
    let done = machine.uninstall();
    assert_eq!(*outcome(&done, ".cursor/hooks.json"), Outcome::Cleaned);
    let left = json!({ "version": 1, "hooks": { "afterFileEdit": [{ "command": "fmt" }] } });
    assert_eq!(machine.json("home/.cursor/hooks.json"), left);
    // Only a line end was added: nothing of the user's is in it.
    assert_eq!(*outcome(&done, "lazaret.json"), Outcome::Removed);
    assert!(!machine.at("home/.copilot").exists());
}

#[test]
fn a_half_done_wiring_can_be_taken_back_and_done_again() {
    let machine = Machine::new();
    machine.put(SETTINGS, "{}");
    machine.put("home/.gemini/settings.json", "{ }");
    let before = machine.files();
    machine.init(&[Host::Claude, Host::Gemini]);
    // As if the power had gone between the two files: the manifest names both, one was not written.
    machine.put("home/.gemini/settings.json", "{ }");
    let done = machine.uninstall();
    assert_eq!(*outcome(&done, ".claude/settings.json"), Outcome::Restored);
    assert_eq!(*outcome(&done, ".gemini/settings.json"), Outcome::Untouched);
    assert_eq!(machine.files(), before);

    machine.init(&[Host::Claude, Host::Gemini]);
    machine.put("home/.gemini/settings.json", "{ }");
    machine.init(&[Host::Claude, Host::Gemini]);
    assert_eq!(wiring(&machine.around, Host::Gemini), Wiring::Wired);
    machine.uninstall();
    assert_eq!(machine.files(), before);
}

#[test]
fn a_file_that_was_not_written_because_of_a_crash_is_not_missed() {
    let machine = Machine::new();
    let before = machine.files();
    machine.init(&[Host::Cursor]);
    fs::remove_file(machine.at("home/.cursor/hooks.json")).unwrap();
    assert_eq!(*outcome(&machine.uninstall(), "hooks.json"), Outcome::Untouched);
    assert_eq!(machine.files(), before);
}

#[test]
fn wiring_more_later_goes_back_to_the_very_first_bytes() {
    let machine = Machine::new();
    let first = "{ \"mcpServers\": {}}";
    machine.put("home/.gemini/settings.json", first);
    machine.init(&[Host::Gemini]);
    // The hook moves: ours is replaced in its place, and not put in twice.
    let mut moved = machine.around.clone();
    machine.program("new/lazaret-hook");
    moved.hook = machine.at("new/lazaret-hook");
    let plan = setup::plan(&moved, &[Host::Gemini], &setup::Options::default()).unwrap();
    assert!(!plan.is_empty());
    plan.apply(NOW_UNIX_S + 1).unwrap();
    let value = machine.json("home/.gemini/settings.json");
    assert_eq!(value["hooks"]["BeforeTool"].as_array().unwrap().len(), 1);
    assert!(!machine.text("home/.gemini/settings.json").contains("bin/lazaret-hook"));
    let done = machine.uninstall();
    assert_eq!(*outcome(&done, "settings.json"), Outcome::Restored);
    assert_eq!(machine.text("home/.gemini/settings.json"), first);
}

#[test]
fn wiring_again_after_the_user_changed_the_file_takes_out_ours_alone() {
    let machine = Machine::new();
    machine.put(SETTINGS, "{\n  \"model\": \"opus\"\n}\n");
    machine.init(&[Host::Claude]);
    let mut value = machine.json(SETTINGS);
    value["model"] = json!("sonnet");
    value["hooks"].as_object_mut().unwrap().remove("PreToolUse");
    machine.put(SETTINGS, serde_json::to_string_pretty(&value).unwrap());
    assert!(matches!(wiring(&machine.around, Host::Claude), Wiring::Broken { .. }));
    machine.init(&[Host::Claude]);
    assert_eq!(wiring(&machine.around, Host::Claude), Wiring::Wired);
    let done = machine.uninstall();
    assert_eq!(*outcome(&done, "settings.json"), Outcome::Cleaned);
    assert_eq!(machine.json(SETTINGS), json!({ "model": "sonnet" }));
}

#[test]
fn without_a_manifest_ours_is_still_known() {
    let machine = Machine::new();
    machine.put(SETTINGS, "{\n  \"model\": \"opus\"\n}\n");
    machine.put(
        "home/.codex/config.toml",
        "model = \"o\"\n\n[mcp_servers.a]\ncommand = \"npx\"\nargs = [\"a\"]\n",
    );
    machine.init(&Host::ALL);
    fs::remove_dir_all(machine.at("home/.lazaret/setup")).unwrap();
    assert!(machine.uninstall().is_complete());
    assert_eq!(machine.text(SETTINGS), "{\n  \"model\": \"opus\"\n}\n");
    assert_eq!(
        machine.text("home/.codex/config.toml"),
        "model = \"o\"\n\n[mcp_servers.a]\ncommand = \"npx\"\nargs = [\"a\"]\n"
    );
    assert!(!machine.at("home/.cursor/hooks.json").exists());
    assert!(!machine.at("home/.config/opencode/plugins/lazaret.js").exists());
    assert!(machine.uninstall().files.is_empty(), "a second time there is nothing");
}

#[test]
fn mode_stays_and_what_we_keep_is_private() {
    let machine = Machine::new();
    machine.put(SETTINGS, "{}");
    fs::set_permissions(machine.at(SETTINGS), fs::Permissions::from_mode(0o640)).unwrap();
    machine.init(&[Host::Claude]);
    let mode = |path: &str| fs::metadata(machine.at(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(SETTINGS), 0o640);
    assert_eq!(mode("home/.lazaret/setup"), 0o700);
    assert_eq!(mode("home/.lazaret/setup/before"), 0o700);
    assert_eq!(mode("home/.lazaret/setup/manifest.json"), 0o600);
    for backup in fs::read_dir(machine.at("home/.lazaret/setup/before")).unwrap() {
        let mode = backup.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    machine.uninstall();
    assert_eq!(mode(SETTINGS), 0o640);
}

#[test]
fn a_backup_that_was_changed_is_not_put_back() {
    let machine = Machine::new();
    machine.put(SETTINGS, "{\"model\": \"opus\"}");
    machine.init(&[Host::Claude]);
    let backup = fs::read_dir(machine.at("home/.lazaret/setup/before")).unwrap().next().unwrap();
    let name = backup.unwrap().file_name().into_string().unwrap();
    machine.put(&format!("home/.lazaret/setup/before/{name}"), "{\"model\": \"evil\"}");
    let done = machine.uninstall();
    assert!(matches!(outcome(&done, "settings.json"), Outcome::Failed(_)));
    assert!(!done.is_complete());
    assert!(machine.text(SETTINGS).contains("opus"));
    assert!(machine.at("home/.lazaret/setup/manifest.json").exists(), "to be tried again");
}

#[test]
fn trust_in_the_users_own_hooks_of_codex_moves_with_their_numbers() {
    let machine = Machine::new();
    machine.init(&[Host::Codex]);
    let mut hooks = machine.json("home/.codex/hooks.json");
    let mine = json!({ "hooks": [{ "type": "command", "command": "mine" }] });
    hooks["hooks"]["PreToolUse"].as_array_mut().unwrap().push(mine.clone());
    machine.put("home/.codex/hooks.json", serde_json::to_string(&hooks).unwrap());
    let file = machine.at("home/.codex/hooks.json").display().to_string();
    let config = machine.text("home/.codex/config.toml");
    let trusted =
        format!("[hooks.state.\"{file}:pre_tool_use:1:0\"]\ntrusted_hash = \"sha256:mine\"\n");
    machine.put("home/.codex/config.toml", format!("{config}\n{trusted}"));
    // A file elsewhere that runs the same hook is not ours to take the trust from.
    let hash = config.lines().find(|it| it.starts_with("trusted_hash")).unwrap().to_owned();
    let elsewhere = format!("[hooks.state.\"/elsewhere/hooks.json:stop:0:0\"]\n{hash}\n");
    let config = machine.text("home/.codex/config.toml");
    machine.put("home/.codex/config.toml", format!("{config}\n{elsewhere}"));
    assert!(machine.uninstall().is_complete());
    assert_eq!(
        machine.json("home/.codex/hooks.json"),
        json!({ "hooks": { "PreToolUse": [mine] } })
    );
    let config = machine.text("home/.codex/config.toml");
    let moved =
        format!("[hooks.state.\"{file}:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:mine\"\n");
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    let wanted = [format!("{moved}{elsewhere}"), format!("{elsewhere}{moved}")];
    assert!(wanted.iter().any(|it| plain(it) == plain(&config)), "{config}");
}

/// As if the power had gone when a second plan was recorded and its file not written yet.
#[test]
fn what_an_earlier_plan_made_is_known_as_ours() {
    let machine = Machine::new();
    machine.put(SETTINGS, "{ }");
    machine.init(&[Host::Claude]);
    let first = machine.text(SETTINGS);
    let mut moved = machine.around.clone();
    moved.hook = machine.at("new/lazaret-hook");
    let plan = setup::plan(&moved, &[Host::Claude], &setup::Options::default()).unwrap();
    plan.apply(NOW_UNIX_S).unwrap();
    machine.put(SETTINGS, first);
    assert_eq!(*outcome(&machine.uninstall(), "settings.json"), Outcome::Restored);
    assert_eq!(machine.text(SETTINGS), "{ }");
}

#[test]
fn the_owner_stays_the_owner() {
    use std::os::unix::fs::{MetadataExt as _, chown};
    let machine = Machine::new();
    machine.put(SETTINGS, "{}");
    // Only root can give a file away.
    if chown(machine.at(SETTINGS), Some(4711), Some(4712)).is_err() {
        return;
    }
    let owner = || {
        let found = fs::metadata(machine.at(SETTINGS)).unwrap();
        (found.uid(), found.gid())
    };
    machine.init(&[Host::Claude]);
    assert_eq!(owner(), (4711, 4712));
    machine.uninstall();
    assert_eq!(owner(), (4711, 4712));
}

#[test]
fn a_folder_that_we_made_stays_if_the_user_uses_it() {
    let machine = Machine::new();
    machine.init(&[Host::Copilot]);
    machine.put("home/.copilot/config.json", "{}");
    assert!(machine.uninstall().is_complete());
    assert!(machine.at("home/.copilot/config.json").exists());
    assert!(!machine.at("home/.copilot/hooks").exists());
}

#[test]
fn a_handler_that_the_user_put_beside_ours_stays() {
    let machine = Machine::new();
    machine.init(&[Host::Claude]);
    let mine = json!({ "type": "command", "command": "mine" });
    let mut value = machine.json(SETTINGS);
    value["hooks"]["Stop"][0]["hooks"].as_array_mut().unwrap().insert(0, mine.clone());
    machine.put(SETTINGS, serde_json::to_string_pretty(&value).unwrap());
    machine.init(&[Host::Claude]);
    let stop = machine.json(SETTINGS)["hooks"]["Stop"].clone();
    assert_eq!(stop[0], json!({ "hooks": [mine] }), "ours has a group of its own again");
    assert_eq!(stop.as_array().unwrap().len(), 2);
    machine.uninstall();
    assert_eq!(machine.json(SETTINGS), json!({ "hooks": { "Stop": [{ "hooks": [mine] }] } }));
}

#[test]
fn two_at_the_same_time_leave_one_wiring() {
    let machine = Machine::new();
    machine.put(SETTINGS, "{ }");
    let before = machine.files();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            // Those that come late find the file changed, and say so.
            scope.spawn(|| machine.plan(&[Host::Claude]).apply(NOW_UNIX_S));
        }
    });
    assert_eq!(wiring(&machine.around, Host::Claude), Wiring::Wired);
    assert_eq!(machine.json(SETTINGS)["hooks"]["Stop"].as_array().unwrap().len(), 1);
    machine.uninstall();
    assert_eq!(machine.files(), before);
}

#[test]
fn a_file_that_says_nothing_and_was_never_ours_stays() {
    let machine = Machine::new();
    machine.put(SETTINGS, "// keep: my notes\n{\n  // \"theme\": \"dark\"\n}\n");
    machine.put("home/.claude.json", "{}");
    machine.put("home/.cursor/hooks.json", "{ \"version\": 1 }\n");
    machine.put("home/dot/gemini.json", "{}\n");
    fs::create_dir_all(machine.at("home/.gemini")).unwrap();
    std::os::unix::fs::symlink("../dot/gemini.json", machine.at("home/.gemini/settings.json"))
        .unwrap();
    let before = machine.files();
    assert_eq!(machine.uninstall().files, []);
    assert_eq!(machine.files(), before);
    machine.put(SETTINGS, "{}\n");
    machine.init(&[Host::Claude, Host::Gemini]);
    for _ in 0..2 {
        machine.uninstall();
        assert_eq!(machine.text(SETTINGS), "{}\n");
        assert_eq!(machine.text("home/dot/gemini.json"), "{}\n");
    }
    // Also where nothing is known of what there was before.
    machine.init(&[Host::Claude, Host::Gemini]);
    fs::remove_dir_all(machine.at("home/.lazaret/setup")).unwrap();
    machine.put(SETTINGS, format!("// mine\n{}", machine.text(SETTINGS)));
    machine.uninstall();
    assert!(machine.text(SETTINGS).starts_with("// mine"));
    assert_eq!(machine.text("home/dot/gemini.json"), "{}\n");
}
