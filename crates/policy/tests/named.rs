//! Rules about what a call names: commands, paths, hosts, recipients.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use model::{Decision, Taint};
use policy::{FactSheet, NAMED_MAX, PackText, Policy};

fn with(own: &str) -> Policy {
    let mut packs = PackText::embedded();
    packs.push(PackText { name: "own.cedar".to_owned(), text: own.to_owned() });
    Policy::build(&packs).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

fn decide(policy: &Policy, words: &str) -> Decision {
    policy.decide(&FactSheet::from_words(words).unwrap().facts()).decision()
}

#[test]
fn no_git_push() {
    let policy = with(
        r#"
@id("own-no-push") @reason("a person pushes") @decision("deny")
forbid (principal, action, resource) when { context.commands.contains("git push") };
"#,
    );
    assert_eq!(decide(&policy, "shell_exec commands=git+push programs=git"), Decision::Deny);
    assert_eq!(decide(&policy, "tool_write commands=git+fetch,git+push"), Decision::Deny);
    assert_eq!(decide(&policy, "shell_exec commands=git+pull programs=git"), Decision::Allow);
    assert_eq!(decide(&policy, "shell_exec"), Decision::Allow);
}

#[test]
fn only_hosts_of_ours() {
    let policy = with(
        r#"
@id("own-hosts") @reason("only our hosts") @decision("deny")
forbid (principal, action, resource)
when { context.host != "" }
unless { context.host == "ours.example" || context.host like "*.ours.example" };
"#,
    );
    let is = |hosts: &str, wanted: Decision| {
        assert_eq!(decide(&policy, &format!("web_fetch hosts={hosts}")), wanted, "{hosts}");
    };
    is("ours.example", Decision::Allow);
    is("https://api.ours.example:443", Decision::Allow);
    is("api.ours.example,ours.example", Decision::Allow);
    is("evil.example", Decision::Deny);
    is("notours.example", Decision::Deny);
    is("ours.example.evil.example", Decision::Deny);
    // One that is not ours is enough, wherever it stands.
    is("aaa.example,ours.example", Decision::Deny);
    is("ours.example,zzz.example", Decision::Deny);
    assert_eq!(decide(&policy, "web_search"), Decision::Allow);
}

#[test]
fn all_hosts_can_be_held_against_a_list() {
    let policy = with(
        r#"
@id("own-list") @reason("only listed hosts") @decision("deny")
forbid (principal, action == Action::"web_fetch", resource)
unless { ["a.example", "b.example"].containsAll(context.hosts) };
"#,
    );
    assert_eq!(decide(&policy, "web_fetch hosts=a.example,b.example"), Decision::Allow);
    assert_eq!(decide(&policy, "web_fetch hosts=a.example,c.example"), Decision::Deny);
}

#[test]
fn a_path_and_what_is_done_with_it_belong_together() {
    let policy = with(
        r#"
@id("own-migrations") @reason("migrations are written by people") @decision("step_up")
forbid (principal, action, resource)
when { context.op == "write" && context.path like "db/migrations/*" };
"#,
    );
    assert_eq!(decide(&policy, "file_write paths=write:db/migrations/1.sql"), Decision::StepUp);
    assert_eq!(decide(&policy, "file_read paths=read:db/migrations/1.sql"), Decision::Allow);
    // Another path is written, and this one read.
    let both = "shell_exec paths=read:db/migrations/1.sql,write:out.sql";
    assert_eq!(decide(&policy, both), Decision::Allow);
    let both = "shell_exec paths=read:out.sql,write:db/migrations/1.sql";
    assert_eq!(decide(&policy, both), Decision::StepUp);
}

#[test]
fn ports_schemes_and_recipients_are_asked_one_by_one() {
    let policy = with(
        r#"
@id("own-tls") @reason("only by https") @decision("deny")
forbid (principal, action, resource) when { context.scheme == "http" && context.port != 8080 };

@id("own-mail") @reason("mail stays in the house") @decision("step_up")
forbid (principal, action == Action::"tool_send", resource)
when { context.recipient != "" } unless { context.recipient like "*@ours.example" };
"#,
    );
    assert_eq!(decide(&policy, "web_fetch hosts=http://a.example:80"), Decision::Deny);
    assert_eq!(decide(&policy, "web_fetch hosts=http://a.example:8080"), Decision::Allow);
    assert_eq!(decide(&policy, "web_fetch hosts=https://a.example:443"), Decision::Allow);
    assert_eq!(decide(&policy, "tool_send recipients=ann@ours.example"), Decision::Allow);
    let two = "tool_send recipients=ann@ours.example,eve@evil.example";
    assert_eq!(decide(&policy, two), Decision::StepUp);
}

/// A permit must match all that a call names, and one that matches half of it is none.
#[test]
fn a_permit_is_for_all_that_a_call_names() {
    let policy = with(
        r#"
@id("own-pages") @reason("pages may write to our wiki")
@match("tool_write principal=WEB hosts=a.ours.example")
permit (principal, action == Action::"tool_write", resource)
when { context.cause == Cause::"WEB" && context.host like "*.ours.example" };
"#,
    );
    let of = |hosts: &str| decide(&policy, &format!("tool_write principal=WEB hosts={hosts}"));
    // A person is asked about whatever pages want changed; without a permit nobody would be.
    assert_eq!(of("a.ours.example"), Decision::StepUp);
    assert_eq!(of("a.ours.example,b.ours.example"), Decision::StepUp);
    assert_eq!(of("a.ours.example,evil.example"), Decision::Deny);
    assert_eq!(decide(&policy, "tool_write principal=WEB"), Decision::Deny);
}

#[test]
fn what_was_not_read_can_be_asked_for() {
    let policy = with(
        r#"
@id("own-strict") @reason("no push, and nothing that could be one") @decision("deny")
forbid (principal, action, resource)
when { context.commands.contains("git push") || context.unread };
"#,
    );
    assert_eq!(decide(&policy, "shell_exec unread=true"), Decision::Deny);
    assert_eq!(decide(&policy, "shell_exec commands=git+log"), Decision::Allow);
}

#[test]
fn more_names_than_are_kept_deny_where_a_rule_asks_for_names() {
    let asks = with(
        r#"
@id("own-push") @reason("a person pushes") @decision("step_up")
forbid (principal, action, resource) when { context.commands.contains("git push") };
"#,
    );
    let silent = Policy::embedded().unwrap();
    assert_eq!(decide(&asks, "shell_exec cut=true"), Decision::Deny);
    assert_eq!(decide(&silent, "shell_exec cut=true"), Decision::Allow);
    let each = with(
        r#"
@id("own-both") @reason("asks for pairs") @decision("step_up")
forbid (principal, action, resource) when { context.path == "a" && context.host == "b" };
"#,
    );
    let list = |kind: &str, count: usize| {
        (0..count).map(|it| format!("{kind}{it}")).collect::<Vec<_>>().join(",")
    };
    let words = |count: usize| {
        format!("shell_exec paths={} hosts={}", list("read:p", count), list("h", count))
    };
    assert_eq!(decide(&each, &words(32)), Decision::Allow);
    assert_eq!(decide(&each, &words(NAMED_MAX)), Decision::Deny);
    assert_eq!(decide(&silent, &words(NAMED_MAX)), Decision::Allow);
}

/// Also without a memory of what was decided: the same facts but for a name are other facts.
#[test]
fn calls_that_differ_in_names_are_told_apart() {
    let policy = with(
        r#"
@id("own-programs") @reason("no docker") @decision("deny")
forbid (principal, action, resource) when { context.programs.contains("docker") };
"#,
    );
    for _ in 0..2 {
        assert_eq!(decide(&policy, "shell_exec programs=ls"), Decision::Allow);
        assert_eq!(decide(&policy, "shell_exec programs=docker"), Decision::Deny);
        assert_eq!(decide(&policy, "shell_exec"), Decision::Allow);
    }
}

/// What comes back carries the flags of every permit that matches, not only of one.
#[test]
fn several_permits_give_the_union_of_their_flags() {
    let policy = with(
        r#"
@id("own-first") @reason("one") @taint("SKILL_OUTPUT")
permit (principal, action == Action::"web_fetch", resource) when { context.risk < 3 };

@id("own-second") @reason("two") @taint("PROXY_DERIVED")
permit (principal, action == Action::"web_fetch", resource) when { context.risk < 2 };
"#,
    );
    let taint = |words: &str| {
        let sheet = FactSheet::from_words(words).unwrap();
        policy.decide(&sheet.facts()).grant.unwrap().taint()
    };
    let packs = Taint::UNTRUSTED.union(Taint::WEB_DERIVED);
    let flag = |name: &str| Taint::parse(name).unwrap();
    let first = packs.union(flag("SKILL_OUTPUT"));
    assert_eq!(taint("web_fetch"), first.union(flag("PROXY_DERIVED")));
    assert_eq!(taint("web_fetch risk=2"), first);
    assert_eq!(taint("web_fetch risk=3"), packs);
}
