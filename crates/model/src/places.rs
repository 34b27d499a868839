//! Places in a home and in a workspace that matter to everybody who guards them: the guards of calls, the reader of
//! commands, the cage and the profiles of other systems. One list each, so that none of them is behind the others.
//!
//! Paths are relative, with `/` between their parts and in the letters that the disk has. What is named in a
//! directory's row covers everything below it.

mod agents;
pub mod names;

pub use agents::{behind_agent_data, is_shown_by_agents, secret_dirs};

/// Directories of a home in which everything is nobody else's business (seed 002, and what it left out).
pub const SECRET_DIRS: &[&str] = &[
    // Keys and passwords.
    ".ssh",
    ".gnupg",
    ".password-store",
    ".age",
    ".config/age",
    ".config/sops",
    ".config/op",
    ".config/1Password",
    ".config/Bitwarden",
    ".config/Bitwarden CLI",
    ".config/keepassxc",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".pki",
    "Library/Keychains",
    "Library/Application Support/sops",
    "Library/Application Support/1Password",
    "Library/Application Support/Bitwarden",
    "Library/Group Containers/2BUA8C4S2C.com.1password",
    // Clouds, clusters and registries.
    ".aws",
    ".azure",
    ".config/gcloud",
    ".gcloud",
    ".oci",
    ".aliyun",
    ".bluemix",
    ".config/doctl",
    ".config/hcloud",
    ".config/scw",
    ".config/flyctl",
    ".fly",
    ".docker",
    ".kube",
    ".terraform.d",
    ".config/rclone",
    ".config/configstore",
    ".config/stripe",
    ".kaggle",
    // Where code is kept.
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".config/lab",
    ".config/github-copilot",
    ".subversion/auth",
    // Agents.
    ".anthropic",
    ".config/anthropic",
    ".claude",
    ".config/claude",
    ".codex",
    ".config/codex",
    ".openai",
    ".config/zeph",
    ".aer",
    ".clawdbot",
    ".openclaw",
    ".lazaret",
    // What people do with a browser and by mail.
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".var/app/org.mozilla.firefox",
    ".var/app/com.google.Chrome",
    "snap/firefox/common/.mozilla",
    "snap/chromium/common/chromium",
    "Library/Cookies",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Chromium",
    "Library/Application Support/BraveSoftware",
    "Library/Application Support/Microsoft Edge",
    "Library/Application Support/Firefox",
    "Library/Application Support/Arc",
    // Money.
    ".bitcoin",
    ".electrum",
    ".ethereum/keystore",
    ".config/solana",
];

/// Files of a home that hold secrets, where their directory holds other things as well.
pub const SECRET_FILES: &[&str] = &[
    ".git-credentials",
    ".gitconfig",
    ".config/git/credentials",
    ".netrc",
    "_netrc",
    ".bash_history",
    ".zsh_history",
    ".sh_history",
    ".ash_history",
    ".history",
    ".fish_history",
    ".local/share/fish/fish_history",
    ".python_history",
    ".node_repl_history",
    ".mysql_history",
    ".psql_history",
    ".sqlite_history",
    ".rediscli_history",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".gem/credentials",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".config/containers/auth.json",
    ".nuget/NuGet/NuGet.Config",
    ".vault-token",
    ".terraformrc",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".dockercfg",
    ".boto",
    ".s3cfg",
    ".databrickscfg",
    ".msmtprc",
    ".fetchmailrc",
    ".smbcredentials",
    ".cache/huggingface/token",
    ".cache/huggingface/stored_tokens",
    ".huggingface/token",
    ".gemini/oauth_creds.json",
    ".claude.json",
    ".Xauthority",
    ".ICEauthority",
    "Library/Application Support/sops/age/keys.txt",
];

/// What else programs run or obey by themselves, though a command in a cage may change it: what build servers do, settings
/// of tools that run something, files that interpreters read first. Whoever writes one through us is asked.
pub const OBEYED: &[&str] = &[
    // Build servers.
    ".buildkite",
    ".circleci",
    ".drone.yml",
    ".forgejo/workflows",
    ".gitea/workflows",
    ".github/actions",
    ".github/workflows",
    ".gitlab-ci.yml",
    ".travis.yml",
    ".woodpecker",
    ".woodpecker.yml",
    "appveyor.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "cloudbuild.yaml",
    "Jenkinsfile",
    // Tools that run what their settings name.
    ".cargo/config",
    ".cargo/config.toml",
    ".overcommit.yml",
    ".bazelrc",
    ".pnpmfile.cjs",
    // Programs that are found before those of the system, and what sessions are told when they begin.
    ".config/environment.d",
    ".local/bin",
    // Editors, when they start.
    ".config/nvim",
    ".emacs",
    ".emacs.d",
    // Debuggers, terminals, interpreters: run when they start.
    ".gdbinit",
    ".irbrc",
    ".lldbinit",
    ".pryrc",
    ".psqlrc",
    ".pythonrc.py",
    ".Rprofile",
    ".screenrc",
    ".sqliterc",
    ".tmux.conf",
    "sitecustomize.py",
    "usercustomize.py",
];

/// Files of a home that a shell, or what a person starts by hand every day, runs by itself.
pub const SHELL_FILES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".shrc",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".mkshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    ".inputrc",
    ".pam_environment",
    ".xinitrc",
    ".xsession",
    ".xprofile",
    ".config/fish/config.fish",
];

/// What stays as it is in a workspace, whoever may write the rest of it: files that git, editors and agents run or
/// obey by themselves, and our own labels. Seen from a workspace; a name that is not there must not be made, either.
pub const KEPT_IN_WORKSPACE: &[&str] = &[
    // Git takes its settings from where this file leads.
    ".git/branches",
    ".git/commondir",
    ".git/config",
    ".git/config.worktree",
    ".git/hooks",
    ".git/remotes",
    // Others that keep versions of files: settings, and hooks in them.
    ".hg/hgrc",
    ".hg/hgrc-not-shared",
    ".hg/sharedpath",
    ".jj",
    // Programs that git runs, by way of its settings, and who writes them.
    ".githooks",
    ".husky",
    ".lefthook.yaml",
    ".lefthook.yml",
    ".pre-commit-config.yaml",
    ".pre-commit-config.yml",
    ".config/lefthook.yaml",
    ".config/lefthook.yml",
    "lefthook-local.yaml",
    "lefthook-local.yml",
    "lefthook.json",
    "lefthook.toml",
    "lefthook.yaml",
    "lefthook.yml",
    // What a shell runs when it enters the directory.
    ".config/mise",
    ".config/mise.toml",
    ".envrc",
    ".mise",
    ".mise.local.toml",
    ".mise.toml",
    "mise.local.toml",
    "mise.toml",
    // Editors, and where they have code run.
    ".devcontainer",
    ".devcontainer.json",
    ".dir-locals-2.el",
    ".dir-locals.el",
    ".exrc",
    ".fleet",
    ".helix",
    ".idea",
    ".nvim.lua",
    ".nvimrc",
    ".vimrc",
    ".vscode/launch.json",
    ".vscode/mcp.json",
    ".vscode/settings.json",
    ".vscode/tasks.json",
    ".zed",
    // Agents: settings, and texts that instruct them.
    ".aer",
    ".agent",
    ".agents",
    ".aider.conf.yml",
    ".amazonq",
    ".augment",
    ".augment-guidelines",
    ".ax-taint.json",
    ".claude",
    ".clawdbot",
    ".clinerules",
    ".codex",
    ".continue",
    ".crush.json",
    ".cursor",
    ".cursorrules",
    ".factory",
    ".gemini",
    ".github/agents",
    ".github/chatmodes",
    ".github/copilot-instructions.md",
    ".github/hooks",
    ".github/instructions",
    ".github/prompts",
    ".goosehints",
    ".junie",
    ".kilocode",
    ".kiro",
    ".lazaret",
    ".mcp.json",
    ".openclaw",
    ".opencode",
    ".openhands",
    ".qwen",
    ".roo",
    ".roorules",
    ".rules",
    ".trae",
    ".windsurf",
    ".windsurfrules",
    "crush.json",
    "opencode.json",
    "opencode.jsonc",
];

/// Ends of names of files at the top of a workspace that stay as they are as well: what editors open, and run something of.
pub const KEPT_ENDS: &[&str] = &[".code-workspace", ".sublime-project"];

/// Texts that instruct agents wherever they lie. Those that are there stay as they are, and at the top of a workspace none is
/// made by a command.
pub const INSTRUCTING: &[&str] = &[
    "AGENT.md",
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.local.md",
    "CLAUDE.md",
    "CRUSH.md",
    "GEMINI.md",
    "QWEN.md",
    "WARP.md",
];

/// What stays as it is at the top of a workspace, all of it that has a name of its own.
pub fn kept_at_the_top() -> impl Iterator<Item = &'static str> + Clone {
    KEPT_IN_WORKSPACE.iter().chain(INSTRUCTING).copied()
}

/// Do the parts of `place` stand side by side somewhere in `parts`? The case of ASCII letters does not matter.
#[must_use]
pub fn stands_in(place: &str, parts: &[&str]) -> bool {
    // Most places are somewhere else.
    if !parts.iter().any(|it| begins_like(place, it)) {
        return false;
    }
    let count = place.split('/').count();
    let same = |seen: &[&str]| {
        seen.iter().zip(place.split('/')).all(|(part, it)| part.eq_ignore_ascii_case(it))
    };
    parts.windows(count).any(same)
}

/// Does a path with these parts begin with `place`?
#[must_use]
pub fn begins(place: &str, parts: &[&str]) -> bool {
    if !parts.first().is_some_and(|it| begins_like(place, it)) {
        return false;
    }
    let count = place.split('/').count();
    parts.get(..count).is_some_and(|it| stands_in(place, it))
}

/// Is `part` the first part of `place`?
fn begins_like(place: &str, part: &str) -> bool {
    let (place, part) = (place.as_bytes(), part.as_bytes());
    let same = place.get(..part.len()).is_some_and(|it| it.eq_ignore_ascii_case(part));
    same && matches!(place.get(part.len()), None | Some(b'/'))
}

#[cfg(test)]
mod tests;
