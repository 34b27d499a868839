//! The rules about commands.

use crate::{Class, Rows};

model::rules! {
    /// What a finding about a command is.
    pub enum Rule {
        Accounts = "shell-accounts",
        Agent = "shell-agent",
        Blocked = "shell-blocked",
        Carried = "shell-carried",
        CloudCopy = "shell-cloud-copy",
        CloudIdentity = "shell-cloud-identity",
        Collection = "shell-collection",
        Container = "shell-container",
        ContainerEscape = "shell-container-escape",
        Credentials = "shell-credentials",
        Disagree = "shell-disagree",
        Dynamic = "shell-dynamic",
        Egress = "shell-egress",
        Encrypt = "shell-encrypt",
        Endless = "shell-endless",
        Erase = "shell-erase",
        EraseRoot = "shell-erase-root",
        ForcePush = "shell-force-push",
        ForkBomb = "shell-fork-bomb",
        Format = "shell-format",
        FreshRun = "shell-fresh-run",
        Hidden = "shell-hidden",
        HiddenFile = "shell-hidden-file",
        History = "shell-history",
        Kernel = "shell-kernel",
        Kill = "shell-kill",
        Loader = "shell-loader",
        LogTampering = "shell-log-tampering",
        LookAlike = "shell-look-alike",
        Masquerade = "shell-masquerade",
        Mount = "shell-mount",
        Namespace = "shell-namespace",
        NetworkTool = "shell-network-tool",
        Offensive = "shell-offensive",
        Permissions = "shell-permissions",
        Persistence = "shell-persistence",
        Power = "shell-power",
        Privilege = "shell-privilege",
        PrivilegeSearch = "shell-privilege-search",
        RawDevice = "shell-raw-device",
        RemoteCode = "shell-remote-code",
        ReverseShell = "shell-reverse-shell",
        SecurityOff = "shell-security-off",
        Service = "shell-service",
        Spawn = "shell-spawn",
        SystemFile = "shell-system-file",
        SystemWrite = "shell-system-write",
        TempRun = "shell-temp-run",
        TooLarge = "shell-too-large",
        UnknownCommand = "shell-unknown-command",
        Unreadable = "shell-unreadable",
        Watching = "shell-watching",
    }
}

/// What a command does that each of them is said of; nothing where that is another thing each time.
static CLASSES: Rows = Rows::named("rule.CLASSES");

impl Rule {
    /// What a command does that this is said of.
    pub(crate) fn class(self) -> Option<Class> {
        CLASSES.get(self.as_str())?.first().copied().and_then(Class::named)
    }
}
