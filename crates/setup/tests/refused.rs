//! Files that are never overwritten, and plans that are not carried out.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use setup::{ApplyError, DiskError, FILE_BYTES_MAX, Host, Options, PlanError, plan};

use crate::support::{Machine, NOW_UNIX_S, cases};

const SETTINGS: &str = "home/.claude/settings.json";

fn refusal(machine: &Machine) -> PlanError {
    plan(&machine.around, &[Host::Claude], &Options::default()).unwrap_err()
}

#[test]
fn what_is_not_understood_is_left_alone_with_its_place() {
    for (name, bytes) in cases("refused") {
        let machine = Machine::new();
        machine.put(SETTINGS, &bytes);
        let error = refusal(&machine);
        assert!(matches!(error, PlanError::NotUnderstood { .. }), "{name}: {error}");
        let said = error.to_string();
        assert!(said.contains("settings.json") && said.contains("line "), "{name}: {said}");
        assert_eq!(fs::read(machine.at(SETTINGS)).unwrap(), bytes, "{name}");
    }
}

#[test]
fn what_is_no_text_is_left_alone() {
    let machine = Machine::new();
    machine.put(SETTINGS, b"{\"model\": \"\xff\"}");
    assert!(matches!(refusal(&machine), PlanError::NotText { at: 11, .. }));
}

#[test]
fn a_file_has_a_length_that_is_read() {
    let machine = Machine::new();
    machine.put(SETTINGS, "{}");
    let file = fs::OpenOptions::new().write(true).open(machine.at(SETTINGS)).unwrap();
    file.set_len(FILE_BYTES_MAX + 1).unwrap();
    assert!(matches!(refusal(&machine), PlanError::Disk(DiskError::Unreadable { .. })));
}

#[test]
fn a_plugin_of_somebody_else_is_not_overwritten() {
    let machine = Machine::new();
    machine.put("home/.config/opencode/plugins/lazaret.js", "export const Mine = 1\n");
    let error = plan(&machine.around, &[Host::OpenCode], &Options::default()).unwrap_err();
    assert!(error.to_string().contains("not ours"), "{error}");
}

#[test]
fn a_folder_or_a_pipe_is_no_settings_file() {
    let machine = Machine::new();
    fs::create_dir_all(machine.at(SETTINGS)).unwrap();
    assert!(matches!(refusal(&machine), PlanError::Disk(DiskError::Unreadable { .. })));
}

#[test]
fn a_link_may_lead_within_the_home_and_not_out_of_it() {
    let machine = Machine::new();
    machine.put("home/dotfiles/claude.json", "{\n  \"model\": \"opus\"\n}\n");
    fs::create_dir_all(machine.at("home/.claude")).unwrap();
    symlink("../dotfiles/claude.json", machine.at(SETTINGS)).unwrap();
    machine.init(&[Host::Claude]);
    assert!(fs::symlink_metadata(machine.at(SETTINGS)).unwrap().is_symlink());
    assert!(machine.text("home/dotfiles/claude.json").contains("lazaret-hook"));
    assert!(machine.uninstall().is_complete());
    assert_eq!(machine.text("home/dotfiles/claude.json"), "{\n  \"model\": \"opus\"\n}\n");

    machine.put("elsewhere/claude.json", "{}");
    fs::remove_file(machine.at(SETTINGS)).unwrap();
    symlink(machine.at("elsewhere/claude.json"), machine.at(SETTINGS)).unwrap();
    assert!(matches!(refusal(&machine), PlanError::Disk(DiskError::LeadsAway { .. })));

    fs::remove_file(machine.at("elsewhere/claude.json")).unwrap();
    assert!(matches!(refusal(&machine), PlanError::Disk(DiskError::LeadsNowhere { .. })));
}

#[test]
fn a_folder_that_leads_out_of_the_home_is_not_written_to() {
    let machine = Machine::new();
    fs::create_dir_all(machine.at("elsewhere")).unwrap();
    symlink(machine.at("elsewhere"), machine.at("home/.claude")).unwrap();
    assert!(matches!(refusal(&machine), PlanError::Disk(DiskError::LeadsAway { .. })));
}

/// A folder that is not there yet is a place for its own files, and not for those of others.
#[test]
fn a_folder_that_is_yet_to_be_made_opens_no_way_for_others() {
    let mut machine = Machine::new();
    fs::create_dir_all(machine.at("elsewhere")).unwrap();
    symlink(machine.at("elsewhere"), machine.at("home/.cursor")).unwrap();
    let folder = machine.at("elsewhere/config").to_string_lossy().into_owned();
    machine.around.env.insert("XDG_CONFIG_HOME".to_owned(), folder);
    let error = plan(&machine.around, &[Host::Cursor], &Options::default()).unwrap_err();
    assert!(matches!(error, PlanError::Disk(DiskError::LeadsAway { .. })), "{error}");
    machine.init(&[Host::OpenCode]);
    assert!(machine.at("elsewhere/config/opencode/plugins/lazaret.js").exists());
}

#[test]
fn a_folder_that_the_user_named_may_lie_elsewhere() {
    let mut machine = Machine::new();
    let folder = machine.at("elsewhere/claude").to_string_lossy().into_owned();
    machine.around.env.insert("CLAUDE_CONFIG_DIR".to_owned(), folder);
    machine.init(&[Host::Claude]);
    assert!(machine.text("elsewhere/claude/settings.json").contains("lazaret-hook"));
    // The variable may be unset by then.
    machine.around.env.clear();
    assert!(machine.uninstall().is_complete());
    assert!(!machine.at("elsewhere").exists());
}

#[test]
fn a_file_that_changed_since_the_plan_is_not_overwritten() {
    let machine = Machine::new();
    machine.put(SETTINGS, "{}");
    let plan = machine.plan(&[Host::Claude]);
    machine.put(SETTINGS, "{\"model\": \"opus\"}");
    let error = plan.apply(NOW_UNIX_S).unwrap_err();
    assert!(matches!(error, ApplyError::Changed { .. }));
    assert_eq!(machine.text(SETTINGS), "{\"model\": \"opus\"}");
    assert!(!machine.at("home/.lazaret/setup").exists());
}

#[test]
fn a_file_that_came_since_the_plan_is_not_overwritten() {
    let machine = Machine::new();
    let plan = machine.plan(&[Host::Cursor]);
    machine.put("home/.cursor/hooks.json", "{}");
    assert!(matches!(plan.apply(NOW_UNIX_S).unwrap_err(), ApplyError::Changed { .. }));
}

#[test]
fn where_nothing_can_be_written_the_error_says_so_and_all_can_be_taken_back() {
    let machine = Machine::new();
    machine.put(SETTINGS, "{}");
    machine.put("home/.cursor/hooks.json", "{}");
    let plan = machine.plan(&[Host::Claude, Host::Cursor]);
    // A folder of this name is in the way of every temporary file: root may write into read-only folders.
    let folder = machine.at("home/.cursor");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).unwrap();
    let is_root = fs::File::create_new(folder.join("probe")).is_ok();
    if is_root {
        fs::remove_file(folder.join("probe")).unwrap();
        for attempt in 0..64 {
            let name = format!(".lazaret-new-{:x}-{attempt:x}", std::process::id());
            fs::create_dir(folder.join(name)).unwrap();
        }
    }
    let error = plan.apply(NOW_UNIX_S).unwrap_err();
    let ApplyError::Write { path, written, .. } = &error else { panic!("{error}") };
    assert!(path.ends_with(".cursor/hooks.json"));
    assert_eq!(written.len(), 1);
    assert!(error.to_string().contains("lazaret uninstall"));
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    assert!(machine.uninstall().is_complete());
    assert_eq!(machine.text(SETTINGS), "{}");
    assert_eq!(machine.text("home/.cursor/hooks.json"), "{}");
}

#[test]
fn programs_have_paths_that_a_settings_file_can_hold() {
    let mut machine = Machine::new();
    machine.around.hook = "lazaret-hook".into();
    assert!(matches!(refusal(&machine), PlanError::Program { .. }));
    machine.around.hook = "/opt/a\nb/lazaret-hook".into();
    assert!(matches!(refusal(&machine), PlanError::Program { .. }));
}

#[test]
fn the_state_directory_has_a_path_that_a_settings_file_can_hold() {
    let mut machine = Machine::new();
    for path in ["state", "/home/a\nb"] {
        machine.around.state = path.into();
        let error = refusal(&machine);
        assert!(matches!(error, PlanError::State { .. }), "{error}");
        assert!(error.to_string().contains("absolute path"), "{error}");
    }
}
