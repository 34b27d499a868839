//! Every effect, cause, taint and profile with what is decided, as a file to be read by people:
//! `corpus/policy/golden.txt`. `LAZARET_BLESS=1 cargo test -p policy --test golden` writes it anew.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use aegx::Principal;
use model::{Decision, EffectKind, Profile, Taint};
use policy::{Confirmed, FactSheet, Policy, Sinks, Target};

static POLICY: LazyLock<Policy> = LazyLock::new(|| Policy::embedded().unwrap());

const HEAD: &str = "\
What the default packs decide. One block per effect, one line per cause.

First columns: the profiles paranoid, standard, yolo, each within and over its taint budget. In each, ten
signs: no taint, then one flag alone: CROSS_SESSION INJECTION_SUSPECT PROXY_DERIVED SECRET_RISK SKILL_OUTPUT
TOOL_OUTPUT UNTRUSTED WEB_DERIVED, then all flags. Several flags together are as strict as the strictest of
them alone, which a test proves for all 256 sets.
  + allowed   ? allowed once a person says yes   x denied

Second columns, profile standard, no taint: sinks untrusted_destination, untrusted_target, untrusted_content,
foreign_secret; targets control_plane, durable_memory, secret_file, sensitive_file, blocked_domain, tunnel_domain,
unlisted_domain, private_address, oversized, exfiltration, system_prompt, secret; risk 1, 2, 3. Then all of it with a person's yes to exactly this.

Last the rules that decided somewhere in the line.
";

#[test]
fn the_table_is_the_one_that_was_reviewed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/policy/golden.txt");
    let table = table();
    if std::env::var_os("LAZARET_BLESS").is_some() {
        bless(&path, &table);
    }
    let reviewed = fs::read_to_string(&path).unwrap_or_default();
    let differs = reviewed.lines().zip(table.lines()).position(|(old, new)| old != new);
    assert_eq!(reviewed, table, "first difference in line {:?}", differs.map(|it| it + 1));
}

#[expect(clippy::disallowed_methods, reason = "a test's own file, written on request")]
fn bless(path: &PathBuf, table: &str) {
    fs::write(path, table).unwrap();
}

fn table() -> String {
    let mut out = HEAD.to_owned();
    for kind in EffectKind::ALL {
        writeln!(out, "\n{} ({})", kind.as_str(), kind.about()).unwrap();
        for principal in Principal::ALL {
            let mut row = Row::new(*kind, *principal);
            let first = row.by_taint();
            let second = row.by_the_rest();
            let rules = row.rules.iter().cloned().collect::<Vec<_>>().join(" ");
            let name = principal.as_str();
            writeln!(out, "  {name:<8} {first}  {second}  {rules}").unwrap();
        }
    }
    out
}

struct Row {
    plain: FactSheet,
    rules: BTreeSet<String>,
}

impl Row {
    fn new(kind: EffectKind, principal: Principal) -> Self {
        let plain = FactSheet { principal, ..FactSheet::new(kind).unwrap() };
        Self { plain, rules: BTreeSet::new() }
    }

    fn by_taint(&mut self) -> String {
        let mut groups = Vec::new();
        for profile in Profile::ALL {
            for over in [false, true] {
                let sheet = |taint| FactSheet {
                    profile: *profile,
                    over_budget: Some(over),
                    taint,
                    ..self.plain.clone()
                };
                let sheets: Vec<_> = taints().into_iter().map(sheet).collect();
                groups.push(sheets.iter().map(|it| self.sign(it)).collect::<String>());
            }
        }
        groups.join(" ")
    }

    fn by_the_rest(&mut self) -> String {
        let sinks =
            [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)].map(|(a, b, c, d)| Sinks {
                untrusted_destination: a == 1,
                untrusted_target: b == 1,
                untrusted_content: c == 1,
                foreign_secret: d == 1,
            });
        let with_sink = |sinks| FactSheet { sinks, ..self.plain.clone() };
        let with_target = |it: &Target| FactSheet { targets: (*it).into(), ..self.plain.clone() };
        let with_risk = |risk| FactSheet { risk, ..self.plain.clone() };
        let groups: [Vec<FactSheet>; 3] = [
            sinks.into_iter().map(with_sink).collect(),
            Target::ALL.iter().map(with_target).collect(),
            (1..=3).map(with_risk).collect(),
        ];
        let yes = |it: &FactSheet| FactSheet { confirmed: Confirmed::Exactly, ..it.clone() };
        let confirmed = groups.clone().map(|it| it.iter().map(yes).collect());
        let signs = |it: Vec<FactSheet>| it.iter().map(|it| self.sign(it)).collect::<String>();
        groups.into_iter().chain(confirmed).map(signs).collect::<Vec<_>>().join(" ")
    }

    fn sign(&mut self, sheet: &FactSheet) -> char {
        let verdict = POLICY.decide(&sheet.facts());
        self.rules.insert(verdict.rule().to_owned());
        match verdict.decision() {
            Decision::Allow | Decision::Modify => '+',
            Decision::StepUp | Decision::Defer => '?',
            Decision::Deny => 'x',
        }
    }
}

/// None, each flag alone, all.
fn taints() -> Vec<Taint> {
    let flags: Vec<_> = Taint::names().iter().map(|it| Taint::parse(it).unwrap()).collect();
    let all = flags.iter().copied().fold(Taint::NONE, Taint::union);
    [Taint::NONE].into_iter().chain(flags).chain([all]).collect()
}

#[test]
fn flags_together_are_as_strict_as_the_strictest_alone() {
    let flags: Vec<_> = Taint::names().iter().map(|it| Taint::parse(it).unwrap()).collect();
    for kind in EffectKind::ALL {
        for principal in Principal::ALL {
            let decide = |taint: Taint| {
                let plain = FactSheet::new(*kind).unwrap();
                let sheet = FactSheet { principal: *principal, taint, ..plain };
                POLICY.decide(&sheet.facts()).decision()
            };
            let alone: Vec<_> = flags.iter().map(|it| decide(*it)).collect();
            let clean = decide(Taint::NONE);
            for set in 0_u32..256 {
                let members = flags.iter().zip(&alone).enumerate();
                let members: Vec<_> = members.filter(|(at, _)| set >> at & 1 == 1).collect();
                let taint =
                    members.iter().fold(Taint::NONE, |sum, (_, (flag, _))| sum.union(**flag));
                let strictest = members.iter().map(|(_, (_, it))| **it).fold(clean, Decision::max);
                let (kind, principal) = (kind.as_str(), principal.as_str());
                assert_eq!(decide(taint), strictest, "{kind} {principal} {taint}");
            }
        }
    }
}

#[test]
fn more_outside_more_risk_or_less_trust_never_loosens() {
    for kind in EffectKind::ALL {
        for principal in Principal::ALL {
            let plain = FactSheet { principal: *principal, ..FactSheet::new(*kind).unwrap() };
            let decide = |sheet: FactSheet| POLICY.decide(&sheet.facts()).decision();
            let base = decide(plain.clone());
            assert!(decide(FactSheet { over_budget: Some(true), ..plain.clone() }) >= base);
            for risk in 1..=3 {
                assert!(decide(FactSheet { risk, ..plain.clone() }) >= base);
            }
            let user = FactSheet { principal: Principal::User, ..plain.clone() };
            assert!(base >= decide(user), "{} {}", kind.as_str(), principal.as_str());
            // A careful session is never laxer than a careless one.
            let by_profile: Vec<_> = Profile::ALL
                .iter()
                .map(|it| decide(FactSheet { profile: *it, ..plain.clone() }))
                .collect();
            assert!(by_profile.is_sorted_by(|a, b| a >= b), "{}", kind.as_str());
        }
    }
}
