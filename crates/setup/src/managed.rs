//! Settings of the whole machine, which stand above those of a user: where each host reads them, and how far they hold.

use std::path::{Path, PathBuf};

use hooks::Host;

/// The file of a host's managed settings, beneath the root of the file system; none where the host has none that are firmer than
/// a user's.
#[cfg(not(target_os = "macos"))]
fn beneath(host: Host) -> Option<&'static str> {
    match host {
        Host::Claude => Some("etc/claude-code/managed-settings.json"),
        Host::Codex => Some("etc/codex/requirements.toml"),
        Host::Gemini => Some("etc/gemini-cli/settings.json"),
        Host::Cursor => Some("etc/cursor/hooks.json"),
        Host::Copilot | Host::OpenCode => None,
    }
}

/// The same, on a Mac.
#[cfg(target_os = "macos")]
fn beneath(host: Host) -> Option<&'static str> {
    match host {
        Host::Claude => Some("Library/Application Support/ClaudeCode/managed-settings.json"),
        Host::Codex => Some("etc/codex/requirements.toml"),
        Host::Gemini => Some("Library/Application Support/GeminiCli/settings.json"),
        Host::Cursor => Some("Library/Application Support/Cursor/hooks.json"),
        Host::Copilot | Host::OpenCode => None,
    }
}

/// The file of a host's managed settings, on a machine whose file system begins at `root`.
pub(crate) fn file(root: &Path, host: Host) -> Option<PathBuf> {
    beneath(host).map(|it| root.join(it))
}

/// The folders of managed settings of these hosts.
pub(crate) fn folders(root: &Path, which: &[Host]) -> Vec<PathBuf> {
    let files = which.iter().filter_map(|it| file(root, *it));
    files.filter_map(|it| it.parent().map(Path::to_owned)).collect()
}

/// What managed settings of a host hold against, in one sentence.
pub(crate) fn holds(host: Host) -> &'static str {
    match host {
        Host::Claude => "the hooks stand in managed settings: a user cannot switch them off",
        Host::Codex => {
            "the hooks stand in the requirements of this machine, which also pin `[features] hooks = true`: they need no trust, and `--disable hooks` does not switch them off"
        }
        Host::Gemini => {
            "the hooks stand in the settings of this machine, which also pin `hooksConfig.enabled`: a user can still switch one off by its name (`hooksConfig.disabled`), which `lazaret verify` tells"
        }
        Host::Cursor => {
            "the hooks stand in the hooks of this machine, which come before a project's and a user's"
        }
        Host::Copilot | Host::OpenCode => {
            "it has no managed settings that are firmer: its hooks stand in the user's"
        }
    }
}

/// How hooks in a user's own settings can be switched off, where managed ones are firmer.
pub(crate) fn is_firmer_than(host: Host) -> Option<&'static str> {
    match host {
        Host::Claude => Some(
            "`--bare` and `disableAllHooks` switch off hooks of the user; hooks in managed settings are firmer (`--managed`)",
        ),
        Host::Codex => Some(
            "`--disable hooks` switches hooks of the user off; those in the machine's requirements are firmer (`--managed`)",
        ),
        Host::Gemini => Some(
            "`hooksConfig.enabled` switches hooks of the user off; those in the machine's settings are firmer (`--managed`)",
        ),
        Host::Cursor | Host::Copilot | Host::OpenCode => None,
    }
}
