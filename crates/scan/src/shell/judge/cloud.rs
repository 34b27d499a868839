//! Containers, clouds and stores of secrets.

use super::super::Class;
use super::super::engine::Engine;
use super::super::paths;
use super::super::simple::Call;
use super::super::state::State;
use super::option;

const CLOUDS: [&str; 8] = ["aws", "gcloud", "az", "gsutil", "oci", "ibmcloud", "aliyun", "doctl"];
/// Services of a cloud that record what happens.
const RECORDING: [&str; 12] = [
    "cloudtrail",
    "logs",
    "guardduty",
    "configservice",
    "cloudwatch",
    "securityhub",
    "logging",
    "monitor",
    "activity-log",
    "diagnostic-settings",
    "detective",
    "macie2",
];
/// Words people look for when they look for secrets.
const SECRET_WORDS: [&str; 12] = [
    "password",
    "passwd",
    "secret",
    "credential",
    "token",
    "api_key",
    "apikey",
    "private key",
    "id_rsa",
    ".pem",
    ".kdbx",
    ".netrc",
];
/// A file with such a name is a secret.
const SECRET_FILES: [&str; 25] = [
    "id_rsa",
    "id_dsa",
    "id_ed25519",
    "credentials",
    "credentials.db",
    "access_tokens.db",
    ".netrc",
    "token",
    "*.pem",
    "*.key",
    "*.kdbx",
    "*.ovpn",
    "accessTokens.json",
    "msal_token_cache.json",
    "*.ppk",
    "*.p12",
    "*.pfx",
    "shadow",
    "*.gpg",
    "*.pgp",
    "*.asc",
    ".gnupg",
    ".ssh",
    "id_rsa*",
    "*.keystore",
];

impl Engine<'_> {
    pub(super) fn judge_cloud(&mut self, call: &Call<'_>, state: &mut State) {
        match call.name.as_str() {
            "docker" | "podman" | "nerdctl" | "docker-compose" | "ctr" | "lxc" | "incus" => {
                self.judge_container(call);
            }
            "crictl" if call.has(&["exec"]) => {
                self.ask("shell-container", "it runs a command in a container of the cluster");
            }
            "kubectl" | "oc" | "k3s" => self.judge_cluster(call, state),
            name if CLOUDS.contains(&name) => self.judge_service(call),
            "grep" | "egrep" | "rg" | "ag" | "ack" => self.judge_search(call, state),
            "find" | "gfind" | "locate" | "fd" | "mdfind" => self.judge_find(call),
            "terraform" | "tofu" | "terragrunt" | "pulumi" | "vagrant"
                if call.has(&["destroy"]) =>
            {
                self.classes.insert(Class::Delete);
                self.ask("shell-erase", "it deletes machines and what they hold");
            }
            _ => self.judge_secrets(call),
        }
    }

    fn judge_container(&mut self, call: &Call<'_>) {
        let words = call.words();
        let first = words.first().map(String::as_str).unwrap_or_default();
        let plain = call.plain();
        if first == "build" {
            let tags = plain.windows(2).filter_map(|it| match it {
                [flag, tag] if flag == "-t" || flag == "--tag" => Some(tag.clone()),
                _ => None,
            });
            for tag in tags {
                self.fresh.insert(format!("image:{tag}"));
            }
        }
        let prunes = words.windows(2).any(|it| match it {
            [kind, verb] => {
                matches!(kind.as_str(), "system" | "volume")
                    && matches!(verb.as_str(), "prune" | "rm")
            }
            _ => false,
        });
        if prunes && !call.has(&["--help"]) {
            self.classes.insert(Class::Delete);
            self.ask("shell-erase", "it deletes what containers keep");
        }
        // Options with a value may stand before it.
        let starts = ["run", "exec", "create", "init", "launch", "config"];
        if !words.iter().any(|it| starts.contains(&it.as_str())) {
            return;
        }
        self.classes.insert(Class::Execute);
        let opens = plain.iter().any(|it| {
            matches!(
                it.as_str(),
                "--privileged"
                    | "--pid=host"
                    | "--net=host"
                    | "--network=host"
                    | "--ipc=host"
                    | "--userns=host"
            ) || it.starts_with("--cap-add")
                || it.starts_with("--security-opt")
                || it.starts_with("--device")
                || it.contains("docker.sock")
                || it == "security.privileged=true"
                || it == "source=/"
                || mounts_system(it)
        });
        if opens {
            self.classes.insert(Class::Privilege);
            self.deny("shell-container-escape", "the container can reach the machine itself");
        }
        let fresh = plain.iter().any(|it| self.fresh.contains(&format!("image:{it}")));
        if fresh {
            self.ask("shell-fresh-run", "it runs an image that it built before");
        }
    }

    fn judge_cluster(&mut self, call: &Call<'_>, state: &mut State) {
        let words = call.words();
        let first = words.iter().find(|it| CLUSTER_VERBS.contains(&it.as_str()));
        let first = first.map(String::as_str).unwrap_or_default();
        let plain = call.plain();
        let reads = matches!(first, "get" | "describe" | "edit");
        if reads
            && words.iter().any(|it| it == "secret" || it == "secrets" || it.starts_with("secret/"))
        {
            self.classes.insert(Class::Credentials);
            self.ask("shell-credentials", "it reads secrets of the cluster");
        }
        if plain.iter().any(|it| {
            it.contains("\"privileged\"") || it.contains("hostPID") || it.contains("hostNetwork")
        }) {
            self.deny("shell-container-escape", "the container can reach the machine itself");
        }
        if first == "exec" || first == "run" {
            self.classes.insert(Class::Execute);
            let inner = plain.iter().position(|it| it == "--").map(|it| it + 1);
            if let Some(inner) = inner.and_then(|it| call.args.get(it..)) {
                self.call(inner.to_vec(), &mut state.clone(), None);
            }
            if first == "exec" {
                self.ask("shell-container", "it runs a command in a container of the cluster");
            }
        }
        let many = ["namespace", "namespaces", "ns", "pv", "pvc", "node", "nodes"];
        let all = option(call, None, "all") || words.iter().any(|it| many.contains(&it.as_str()));
        if first == "delete" && all {
            self.classes.insert(Class::Delete);
            self.ask("shell-erase", "it deletes much of a cluster");
        }
        if words.iter().any(|it| it == "debug") && words.iter().any(|it| it.starts_with("node/")) {
            self.deny("shell-container-escape", "the container can reach the machine itself");
        }
        let binds = words.iter().any(|it| it == "clusterrolebinding" || it == "rolebinding");
        if first == "create" && binds {
            self.classes.insert(Class::Privilege);
            self.ask("shell-permissions", "it changes who may do what in the cluster");
        }
        let far = plain.iter().any(|it| it.contains("://"));
        if far && matches!(first, "apply" | "create" | "replace") {
            self.ask("shell-remote-code", "it starts what somebody else's machine sends");
        }
        if words.iter().any(|it| it == "config") && call.has(&["--raw"]) {
            self.classes.insert(Class::Credentials);
            self.ask("shell-credentials", "it prints the keys of the cluster");
        }
        let schedules = plain.iter().any(|it| it.contains("cronjob"));
        if schedules && matches!(first, "create" | "apply") {
            self.classes.insert(Class::Persistence);
            self.ask("shell-persistence", "it makes something run again and again");
        }
    }

    fn judge_service(&mut self, call: &Call<'_>) {
        let words = call.words();
        let has = |wanted: &[&str]| words.iter().any(|it| wanted.contains(&it.as_str()));
        let verb_starts = |starts: &[&str]| {
            words.iter().any(|it| starts.iter().any(|start| it.starts_with(start)))
        };
        let records = has(&RECORDING);
        let stops = verb_starts(&["delete", "stop-", "disable", "update-", "put-", "remove"]);
        if records && stops {
            self.classes.insert(Class::LogTampering);
            self.ask("shell-log-tampering", "it changes what the cloud records");
        }
        let binds = words.iter().any(|it| {
            it.contains("iam-policy") || it == "put-bucket-policy" || it == "put-bucket-acl"
        });
        let identity =
            binds || has(&["iam", "ad", "role", "service-accounts", "organizations", "sts"]);
        let grants = verb_starts(&[
            "create",
            "attach",
            "put-",
            "add",
            "update",
            "delete",
            "assume",
            "get-session",
            "get-federation",
            "remove",
            "set-iam",
            "reset",
        ]);
        if identity && grants {
            self.classes.insert(Class::Privilege);
            self.ask("shell-cloud-identity", "it changes who may do what in the cloud");
        }
        let reveals = has(&[
            "get-secret-value",
            "print-access-token",
            "get-access-token",
            "get-password-data",
            "get-credentials-for-identity",
            "export-credentials",
        ]) || (has(&["secrets", "secret"]) && has(&["access", "show", "download"]))
            || (has(&["get-parameter", "get-parameters"]) && call.has(&["--with-decryption"]));
        if reveals {
            self.classes.insert(Class::Credentials);
            self.ask("shell-credentials", "it prints a secret");
        }
        let empties = has(&["rm"]) && words.iter().any(|it| is_store(it));
        let erases = verb_starts(&["delete", "terminate", "deregister"]) || has(&["rb"]) || empties;
        if erases {
            self.classes.insert(Class::Delete);
            self.ask("shell-erase", "it deletes something in the cloud");
        }
        self.judge_machines(call);
        self.judge_stores(call);
    }

    /// Machines of the cloud that are started, copied or told what to run.
    fn judge_machines(&mut self, call: &Call<'_>) {
        let words = call.words();
        let has = |wanted: &[&str]| words.iter().any(|it| wanted.contains(&it.as_str()));
        let copies = has(&[
            "create-snapshot",
            "create-image",
            "modify-snapshot-attribute",
            "run-instances",
            "create-launch-template",
        ]) || (has(&["snapshot", "snapshots"]) && has(&["create"]));
        if copies {
            self.ask("shell-cloud-copy", "it starts or copies machines of the cloud");
        }
        let there = (has(&["run-command", "send-command"]) && has(&["invoke", "create", "ssm"]))
            || has(&["update-function-code"])
            || (has(&["ssh"]) && call.plain().iter().any(|it| it.starts_with("--command")));
        if there {
            self.classes.insert(Class::Execute);
            self.ask("shell-spawn", "it runs a command on a machine of the cloud");
        }
    }

    /// Files that go to a store of the cloud, or come from one of somebody else.
    fn judge_stores(&mut self, call: &Call<'_>) {
        let words = call.words();
        let has = |wanted: &[&str]| words.iter().any(|it| wanted.contains(&it.as_str()));
        let moves = has(&["cp", "mv", "sync", "put-object", "upload", "upload-batch"]);
        let plain = call.operands();
        let sends = plain.last().is_some_and(|it| is_store(it))
            && !plain.iter().rev().nth(1).is_some_and(|it| is_store(it));
        if moves && (sends || has(&["put-object", "upload", "upload-batch"])) {
            self.classes.insert(Class::Network);
            self.ask("shell-egress", "it carries files to the cloud");
        }
        if call.has(&["--no-sign-request"]) {
            self.ask("shell-egress", "it talks to a store of somebody else");
        }
    }

    /// A search through everything for secrets.
    fn judge_search(&mut self, call: &Call<'_>, state: &State) {
        let recursive = call.short('r') || call.short('R') || option(call, None, "recursive");
        let operands = call.operands();
        let pattern = operands.first().map(|it| it.to_lowercase()).unwrap_or_default();
        let secret = SECRET_WORDS.iter().any(|it| pattern.contains(it));
        let far = operands.iter().skip(1).any(|it| {
            let path = paths::resolved(it, state);
            paths::is_root(&path) || path.starts_with("/etc") || path.starts_with("/home")
        });
        if secret && far && (recursive || call.name != "grep") {
            self.classes.insert(Class::Credentials);
            self.ask("shell-credentials", "it searches everything for secrets");
        }
    }

    fn judge_find(&mut self, call: &Call<'_>) {
        let plain = call.plain();
        let named = plain.windows(2).any(|it| {
            matches!(it, [flag, name] if (flag == "-name" || flag == "-iname" || flag == "-path")
                && SECRET_FILES.contains(&name.as_str()))
        });
        if named {
            self.classes.insert(Class::Credentials);
            self.ask("shell-credentials", "it searches for secrets");
        }
        let special = plain.windows(2).any(|it| {
            matches!(it, [flag, mode] if flag == "-perm"
                && (mode.contains("4000") || mode.contains("2000") || mode.contains("6000") || mode.contains("=s") || mode.contains("+s")))
        });
        if special {
            self.classes.insert(Class::Privilege);
            self.ask("shell-privilege-search", "it searches for programs that run as their owner");
        }
    }

    /// Commands that print secrets.
    fn judge_secrets(&mut self, call: &Call<'_>) {
        let words = call.words();
        let first = words.first().map(String::as_str).unwrap_or_default();
        let second = words.get(1).map(String::as_str).unwrap_or_default();
        let reveals = match call.name.as_str() {
            "gh" | "glab" => first == "auth" && second == "token",
            "git" => first == "credential" && second == "fill",
            "vault" | "bao" => first == "read" || (first == "kv" && second == "get"),
            "op" => matches!(first, "read" | "get") || (first == "item" && second == "get"),
            "bw" | "rbw" | "lpass" | "gopass" => matches!(first, "get" | "show"),
            "pass" => first == "show",
            "heroku" => first == "auth:token",
            "gpg" | "gpg2" => call.plain().iter().any(|it| it.starts_with("--export-secret")),
            "secret-tool" => matches!(first, "lookup" | "search"),
            "kwallet-query" | "keyctl" => matches!(first, "print" | "read") || call.short('r'),
            "unshadow" | "getent" => {
                matches!(first, "shadow" | "gshadow") || call.name == "unshadow"
            }
            _ => false,
        };
        if reveals {
            self.classes.insert(Class::Credentials);
            self.ask("shell-credentials", format!("`{}` prints a secret", call.name));
        }
    }
}

const CLUSTER_VERBS: [&str; 11] = [
    "get", "describe", "edit", "exec", "run", "create", "apply", "delete", "replace", "patch", "cp",
];

/// `-v /:/mnt`, `--volume=/etc:/x`.
fn mounts_system(arg: &str) -> bool {
    let source = arg.split(':').next().unwrap_or_default();
    let source = source.rsplit('=').next().unwrap_or_default();
    arg.contains(':')
        && arg.starts_with(['/', '-'])
        && matches!(source, "/" | "/etc" | "/root" | "/home" | "/var" | "/usr")
        || arg.contains("source=/,")
        || arg.contains("src=/,")
}

fn is_store(place: &str) -> bool {
    place.starts_with("s3://") || place.starts_with("gs://")
}
