//! Clouds: what is recorded there, who may do what, what is kept, and machines that are told what to run.

use super::super::Class;
use super::super::engine::Engine;
use super::super::simple::Call;
use crate::Rule;
use crate::tables::Words;

/// Services of a cloud that record what happens.
static RECORDING: Words = Words::named("judge.providers.RECORDING");
/// Verbs that change who may do what.
static GRANTING: Words = Words::named("judge.providers.GRANTING");
/// They print a secret.
static REVEALING: Words = Words::named("judge.providers.REVEALING");
/// They start machines, or make what is on them somebody else's.
static COPIES: Words = Words::named("judge.providers.COPIES");
/// They run a command on a machine of the cloud, or open a shell there.
static THERE: Words = Words::named("judge.providers.THERE");
/// Settings of a store that say who reads it, what is kept and what is recorded.
const STORE_SETTINGS: [&str; 4] =
    ["put-bucket-lifecycle", "put-bucket-logging", "put-public-access-block", "put-object-acl"];

impl Engine<'_> {
    pub(super) fn judge_service(&mut self, call: &Call<'_>) {
        let words = call.words();
        let has = |wanted: &[&str]| words.iter().any(|it| wanted.contains(&it.as_str()));
        let verb_starts = |starts: &[&str]| {
            words.iter().any(|it| starts.iter().any(|start| it.starts_with(start)))
        };
        let stops = verb_starts(&["delete", "stop-", "disable", "update-", "put-", "remove"]);
        if (has(&RECORDING) && stops) || verb_starts(&STORE_SETTINGS) {
            self.classes.insert(Class::LogTampering);
            self.ask(Rule::LogTampering, "it changes what the cloud records or keeps");
        }
        let binds = words.iter().any(|it| {
            it.contains("iam-policy") || it == "put-bucket-policy" || it == "put-bucket-acl"
        });
        let identity =
            binds || has(&["iam", "ad", "role", "service-accounts", "organizations", "sts"]);
        let sets_password =
            call.plain().iter().any(|it| it.starts_with("--") && it.contains("password"))
                && verb_starts(&["modify", "update", "set-", "reset"]);
        let keys = ["ssh-key", "ssh-keys", "sshkeys", "sshkey", "import-key-pair"];
        let admits = (has(&keys) && verb_starts(&["import", "add", "create"]))
            || (has(&["vm", "vmss"]) && has(&["user"]) && verb_starts(&["update", "reset"]));
        if (identity && verb_starts(&GRANTING)) || sets_password || admits {
            self.classes.insert(Class::Privilege);
            self.ask(Rule::CloudIdentity, "it changes who may do what in the cloud");
        }
        let decrypts = verb_starts(&["get-parameter"]) && call.has(&["--with-decryption"]);
        let shown = ["secret", "token", "password", "private"];
        let is_shown = |it: &String| shown.iter().any(|part| it.contains(part));
        let reveals =
            (has(&["configure", "config"]) && has(&["get"]) && words.iter().any(is_shown))
                || has(&REVEALING)
                || (has(&["secrets", "secret"]) && has(&["access", "show", "download"]))
                || (has(&["keys", "key"])
                    && has(&["list", "renew"])
                    && has(&["storage", "cosmosdb", "redis"]))
                || (call.name == "az" && has(&["list-keys"]))
                || (has(&["get-credentials"]) && call.has(&["--admin"]))
                || decrypts;
        if reveals {
            self.classes.insert(Class::Credentials);
            self.ask(Rule::Credentials, "it prints a secret");
        }
        let empties = has(&["rm"]) && words.iter().any(|it| is_store(it));
        let erasing =
            ["delete", "terminate", "deregister", "purge", "destroy", "schedule-key-deletion"];
        if verb_starts(&erasing) || has(&["rb"]) || empties {
            self.classes.insert(Class::Delete);
            self.ask(Rule::Erase, "it deletes something in the cloud");
        }
        if opens_to_all(call) {
            self.ask(Rule::SecurityOff, "it lets everybody in");
        }
        self.judge_machines(call);
        self.judge_stores(call);
    }

    /// Machines of the cloud that are started, copied or told what to run.
    fn judge_machines(&mut self, call: &Call<'_>) {
        let words = call.words();
        let plain = call.plain();
        let has = |wanted: &[&str]| words.iter().any(|it| wanted.contains(&it.as_str()));
        let copies = has(&COPIES)
            || (has(&["snapshot", "snapshots"]) && has(&["create"]))
            || (has(&["export"]) && has(&["sql", "db", "image", "images"]));
        if copies {
            self.ask(Rule::CloudCopy, "it starts or copies machines of the cloud");
        }
        // What a machine runs when it starts, and who may log in to it.
        let told_at_start = plain.iter().any(|it| {
            it.contains("startup-script") || it.contains("ssh-keys=") || it.contains("user-data")
        }) && words.iter().any(|it| {
            it.starts_with("add-metadata") || it.starts_with("modify-instance") || it == "create"
        });
        let there = (has(&["run-command", "send-command"]) && has(&["invoke", "create", "ssm"]))
            || has(&THERE)
            || told_at_start
            || (has(&["extension"]) && has(&["set"]))
            || (has(&["ssh"]) && plain.iter().any(|it| it.starts_with("--command")));
        if there {
            self.classes.insert(Class::Execute);
            self.ask(Rule::Spawn, "it runs a command on a machine of the cloud");
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
            self.ask(Rule::Egress, "it carries files to the cloud");
        }
        if call.has(&["--no-sign-request"]) {
            self.ask(Rule::Egress, "it talks to a store of somebody else");
        }
    }
}

/// A rule that names every address there is.
fn opens_to_all(call: &Call<'_>) -> bool {
    let everybody = |it: &String| it.contains("0.0.0.0/0") || it.contains("::/0");
    let plain = call.plain();
    let from_all = plain.windows(2).any(
        |it| matches!(it, [flag, from] if flag.contains("source-address") && matches!(from.as_str(), "*" | "Internet")),
    );
    let public = plain.iter().any(|it| {
        it == "--allow-unauthenticated"
            || it == "public-read"
            || it == "public-read-write"
            || it == "allUsers"
    });
    from_all
        || public
        || (plain.iter().any(everybody)
            && call.words().iter().any(|it| {
                it.starts_with("authorize") || it.contains("firewall") || it.contains("security")
            }))
}

fn is_store(place: &str) -> bool {
    place.starts_with("s3://") || place.starts_with("gs://")
}
