//! The Cedar schema: what rules can talk about. Made from the same lists as the facts.

use std::fmt::Write as _;

use aegx::Principal;
use cedar_policy::Schema;
use model::{EffectKind, Group, Profile, Taint};

use crate::facts::{Sinks, Target};
use crate::request::Broken;

/// The schema, as Cedar reads it.
#[must_use]
pub fn schema_text() -> String {
    let mut out = String::from(
        "// Written by `lazaret policy schema` from the lists in the program.\n\n\
         entity User;\nentity Tool;\n",
    );
    let causes = quoted(Principal::ALL.iter().map(|it| it.as_str()));
    let profiles = quoted(Profile::ALL.iter().map(|it| it.as_str()));
    // Writing to a string cannot fail.
    let _ = writeln!(out, "entity Cause enum [{causes}];\nentity Profile enum [{profiles}];\n");
    let _ = writeln!(out, "type Taint = {{{}}};", flags(Taint::names().into_iter().map(lower)));
    let _ = writeln!(out, "type Sink = {{{}}};", flags(Sinks::NAMES.into_iter().map(lower)));
    let targets = Target::ALL.iter().map(|it| lower(it.as_str()));
    let _ = writeln!(out, "type Target = {{{}}};", flags(targets));
    out.push_str(CALL);
    for group in Group::ALL {
        let _ = writeln!(out, "action {};", group.as_str());
    }
    out.push('\n');
    for kind in EffectKind::ALL {
        let groups = Group::of(*kind).map(Group::as_str).collect::<Vec<_>>().join(", ");
        let parents = if groups.is_empty() { groups } else { format!(" in [{groups}]") };
        let name = kind.as_str();
        let _ = writeln!(out, "// {}\naction {name}{parents} appliesTo {APPLIES};", kind.about());
    }
    out
}

/// The schema, as read by Cedar.
pub(crate) fn schema() -> Result<Schema, Broken> {
    let read = Schema::from_cedarschema_str(&schema_text());
    read.map(|(schema, _)| schema).map_err(|why| Broken(why.to_string()))
}

/// The spelling of a taint flag in rules.
pub(crate) fn lower(name: &str) -> String {
    name.to_ascii_lowercase()
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|it| format!("\"{it}\"")).collect::<Vec<_>>().join(", ")
}

fn flags(names: impl Iterator<Item = String>) -> String {
    names.map(|it| format!("{it}: Bool")).collect::<Vec<_>>().join(", ")
}

const APPLIES: &str = "{ principal: User, resource: Tool, context: Call }";

const CALL: &str = "type Call = {
  // Who caused it, and whether nobody vouches for that: WEB, SKILL, CHANNEL, EXTERNAL.
  cause: Cause, outsider: Bool,
  // The agent, the tool and the door, as texts, so that `like` works on them.
  agent: String, tool: String, door: String,
  profile: Profile,
  taint: Taint,
  // Shares in thousandths.
  taint_permille: Long, taint_permille_max: Long, over_budget: Bool,
  // Of what cannot be undone: the user's own words ask for it, and nobody else chose anything in it.
  asked_for: Bool,
  // 0 to 3.
  risk: Long,
  sink: Sink, target: Target,
  // All that the call names. Commands are programs with what they are told: \"git push\".
  programs: Set<String>, commands: Set<String>, classes: Set<String>,
  paths: Set<String>, ops: Set<String>, hosts: Set<String>, recipients: Set<String>,
  // One of them. A call that names several is judged once for each: a forbid that matches one matches
  // the call, a permit must match all. \"\" and 0 where it names none.
  path: String, op: String,
  host: String, port: Long, scheme: String,
  recipient: String,
  // Something could not be read: a command that cannot be followed, an address that is none.
  unread: Bool,
  // A person said yes to exactly this call; or to calls of this kind in this session.
  confirmed: Bool, confirmed_kind: Bool,
};

";
