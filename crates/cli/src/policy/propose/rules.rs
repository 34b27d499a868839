//! The rules for one agent: what it has used passes, everything else of it does not.

use std::collections::BTreeMap;

use model::Decision;
use policy::{Op, RULE_ID_BYTES_MAX};
use serde_json::{Value, json};

use super::cedar::{Listed, never_seen, quoted, times_seen, within};
use super::places::Places;
use super::seen::{Agent, Counts, Seen};

/// How much of an agent's name stands in the ids of its rules: `seen-` and the longest ending stand beside it.
const SLUG_BYTES_MAX: usize = RULE_ID_BYTES_MAX - 24;
/// The name of something that nobody has used.
const STRANGER: &str = "never-seen";

/// A call that a rule is to stop.
pub(super) struct Stranger {
    /// The rule.
    pub(super) id: String,
    pub(super) facts: Value,
}

/// The agents, by what they are called in ids.
pub(super) fn slugs(seen: &Seen) -> Vec<(String, &Agent)> {
    let mut taken: BTreeMap<String, u64> = BTreeMap::new();
    let mut found = Vec::new();
    for agent in seen.agents.values() {
        let legal =
            |it: char| if it.is_ascii_alphanumeric() { it.to_ascii_lowercase() } else { '-' };
        let plain: String = agent.name.chars().take(SLUG_BYTES_MAX).map(legal).collect();
        let times = taken.entry(plain.clone()).or_default();
        *times += 1;
        let slug = if *times == 1 { plain } else { format!("{plain}-{times}") };
        found.push((slug, agent));
    }
    found
}

/// The rules for an agent, and calls that each of them stops.
pub(super) fn text(slug: &str, agent: &Agent, rest: Decision, now: i64) -> (String, Vec<Stranger>) {
    let mut writer = Writer { slug, agent, rest, text: head(agent, now), strangers: Vec::new() };
    writer.tools();
    writer.programs();
    writer.named(&agent.hosts, ("hosts", "host", "web_fetch"), "another.example");
    writer.named(
        &agent.recipients,
        ("recipients", "recipient", "tool_send"),
        "another@another.example",
    );
    for (op, paths) in Op::ALL.iter().zip(&agent.paths) {
        writer.paths(*op, paths);
    }
    (writer.text, writer.strangers)
}

fn head(agent: &Agent, now: i64) -> String {
    let (name, when) = (&agent.name, aegx::timestamp::from_unix(now));
    let lifted = match agent.lifted {
        0 => String::new(),
        some => format!(
            "// {some} of them were let through only by a yes, or because somebody only watched: look at those first.\n"
        ),
    };
    format!(
        "// What {name} did, as the journal recorded it until {when}: {} that were let through.\n{lifted}\
         // Written by `lazaret policy propose`, for a person to look over: what was done is not always what\n\
         // ought to be done. Strike what you do not want; numbers say how often each was seen.\n",
        crate::output::count(agent.calls, "call")
    )
}

struct Writer<'a> {
    slug: &'a str,
    agent: &'a Agent,
    rest: Decision,
    text: String,
    strangers: Vec<Stranger>,
}

/// What stands in a rule.
struct Body<'a> {
    /// The end of its id.
    about: &'a str,
    /// What the agent has not done, for `@reason`.
    reason: String,
    /// A call that it stops, in words.
    example: String,
    /// Beside the agent, when it is asked at all.
    also: String,
    /// What passes.
    unless: Vec<String>,
    /// Comments.
    notes: String,
    /// What is strange of a call that it stops.
    strange: Value,
}

impl Writer<'_> {
    fn tools(&mut self) {
        let (mut unless, mut notes) = (Vec::new(), String::new());
        for (effect, tools) in &self.agent.tools {
            let listed = Listed::of(tools);
            notes.push_str(&listed.missing());
            if let Some(set) = listed.set("  ") {
                let effect = effect.as_str();
                unless.push(format!(
                    "(action == Action::\"{effect}\" && {set}.contains(context.tool))"
                ));
            }
        }
        let name = &self.agent.name;
        let reason = format!("{name} was not seen to use this tool in this way");
        let all = self.agent.tools.values().flatten().map(|(tool, times)| (tool.clone(), *times));
        let stranger = never_seen(&all.collect(), STRANGER);
        let example = format!("tool_read tool={stranger}");
        let strange = json!({ "tool": stranger });
        let also = String::new();
        self.rule(Body { about: "tools", reason, example, also, unless, notes, strange });
    }

    fn programs(&mut self) {
        let agent = self.agent;
        let (programs, commands) = (Listed::of(&agent.programs), Listed::of(&agent.commands));
        let mut all = vec![holds(&programs, "programs"), holds(&commands, "commands")];
        let mut notes = programs.missing() + &commands.missing();
        if agent.unread == 0 {
            all.push("!context.unread".to_owned());
        } else {
            let times = times_seen(agent.unread);
            notes.push_str(&format!(
                "// What cannot be followed to its end passes as well: seen {times}.\n"
            ));
        }
        let stranger = never_seen(&agent.programs, STRANGER);
        let reason = format!("{} was not seen to run this", agent.name);
        let example = format!("shell_exec programs={stranger}");
        let strange = json!({ "programs": [stranger] });
        let (also, unless) = (String::new(), vec![all.join(" &&\n  ")]);
        self.rule(Body { about: "programs", reason, example, also, unless, notes, strange });
    }

    /// Hosts or recipients.
    fn named(&mut self, counts: &Counts, (all, one, effect): (&str, &str, &str), base: &str) {
        let listed = Listed::of(counts);
        let stranger = never_seen(counts, base);
        let reason = format!("{} was not seen to reach this {one}", self.agent.name);
        let example = format!("{effect} {all}={stranger}");
        let strange = json!({ all: [stranger] });
        let (also, unless) = (String::new(), vec![holds(&listed, all)]);
        let notes = listed.missing();
        self.rule(Body { about: all, reason, example, also, unless, notes, strange });
    }

    fn paths(&mut self, op: Op, paths: &Counts) {
        let (op, places) = (op.as_str(), Places::of(paths));
        let mut files = Listed::of(&places.files);
        files.left_out += places.left_out;
        let mut unless: Vec<String> =
            files.set("  ").map(|it| format!("{it}.contains(context.path)")).into_iter().collect();
        for (folder, times) in &places.folders {
            let (pattern, times) = (within(folder), times_seen(*times));
            unless.push(format!("// {times}\n  context.path like {pattern}"));
        }
        let stranger = never_seen(&places.files, &format!("/{STRANGER}"));
        let reason = format!("{} was not seen to {op} here", self.agent.name);
        let example = format!("shell_exec paths={op}:{stranger}");
        let strange = json!({ "paths": [format!("{op}:{stranger}")] });
        let (also, notes) = (format!(" && context.op == \"{op}\""), files.missing());
        self.rule(Body { about: op, reason, example, also, unless, notes, strange });
    }

    fn rule(&mut self, body: Body<'_>) {
        let Body { about, reason, example, also, unless, notes, strange } = body;
        let (slug, name, rest) = (self.slug, &self.agent.name, self.rest.as_str());
        let (id, agent) = (format!("seen-{slug}-{about}"), quoted(name));
        let unless = match unless.as_slice() {
            [] => String::new(),
            some => format!("\nunless {{\n  {}\n}}", some.join(" ||\n  ")),
        };
        self.text.push_str(&format!(
            "\n{notes}@id(\"{id}\")\n@reason({})\n@decision(\"{rest}\")\n\
             @remedy(\"have the operator add it to the policy, if the agent is to do this\")\n\
             @match(\"{example} agent={name}\")\n\
             forbid (principal, action, resource)\nwhen {{ context.agent == {agent}{also} }}{unless};\n",
            quoted(&reason)
        ));
        let facts = self.stranger(strange);
        self.strangers.push(Stranger { id, facts });
    }

    /// A call of the agent as often seen, but for what is strange of it.
    fn stranger(&self, strange: Value) -> Value {
        let usual = self.agent.tools.iter().flat_map(|(effect, tools)| {
            tools.iter().map(move |(tool, times)| (*times, *effect, tool))
        });
        let mut facts = json!({ "agent": self.agent.name });
        let usual =
            usual.max().map(|(_, effect, tool)| json!({ "effect": effect.as_str(), "tool": tool }));
        for value in usual.into_iter().chain([strange]) {
            if let (Some(facts), Value::Object(fields)) = (facts.as_object_mut(), value) {
                facts.extend(fields);
            }
        }
        facts
    }
}

/// Everything of one kind that a call names is in the list.
fn holds(listed: &Listed, all: &str) -> String {
    match listed.set("  ") {
        Some(set) => format!("{set}.containsAll(context.{all})"),
        None => format!("context.{all}.isEmpty()"),
    }
}

#[cfg(test)]
mod tests {
    use model::EffectKind;

    use super::super::super::folder;
    use super::super::super::judge::{Call, judge};
    use super::*;

    fn counts(texts: &[&str]) -> Counts {
        texts.iter().map(|it| ((*it).to_owned(), 3)).collect()
    }

    /// An agent that has done something odd of everything.
    fn odd(name: &str) -> Agent {
        let many: Vec<String> = (0..500).map(|it| format!("host-{it}.example")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let texts = ["git \"push\"", "a\\", "*", "// x", "never-seen", "\u{430}dmin", "a\nb", "};"];
        let tools = EffectKind::ALL.iter().map(|it| (*it, counts(&texts))).collect();
        let deep: Vec<String> = (0..300).map(|it| format!("/home/ann/w*{it}/\"x\"/f")).collect();
        let deep: Vec<&str> = deep.iter().map(String::as_str).collect();
        Agent {
            name: name.to_owned(),
            calls: 3,
            lifted: 1,
            tools,
            programs: counts(&texts),
            commands: counts(&texts),
            hosts: counts(&many),
            recipients: Counts::new(),
            paths: [counts(&deep), counts(&texts), Counts::new(), counts(&["/never-seen"])],
            unread: 0,
            cut: 0,
        }
    }

    #[test]
    fn whatever_was_seen_the_rules_load_and_stop_what_was_not() {
        for (name, rest) in [("claude", Decision::Deny), ("A.b:c@d_e", Decision::StepUp)] {
            let mut seen = Seen::default();
            seen.agents.insert(name.to_owned(), odd(name));
            let (slug, agent) = slugs(&seen).pop().unwrap();
            let (text, strangers) = text(&slug, agent, rest, 0);
            let loaded = folder::of_texts(&[("seen.cedar".to_owned(), text.clone())]);
            let loaded = loaded.unwrap_or_else(|flaws| {
                let flaws: Vec<String> = flaws.iter().map(ToString::to_string).collect();
                panic!("{}\n{text}", flaws.join("\n"))
            });
            assert_eq!(strangers.len(), 8);
            for it in &strangers {
                let call = Call::read(it.facts.as_object().unwrap()).unwrap();
                let judged = judge(&loaded, &call);
                assert!(judged.objections().any(|by| by.rule == it.id), "{}", it.id);
                assert!(!judged.decision().happens(), "{}", it.id);
            }
            // A pattern's star is the star that was seen.
            let path = |path: &str| {
                let facts = json!({
                    "effect": "file_read", "agent": name, "tool": "*", "paths": [format!("read:{path}")],
                });
                judge(&loaded, &Call::read(facts.as_object().unwrap()).unwrap()).decision()
            };
            assert_eq!(path("/home/ann/w*7/\"x\"/other"), Decision::Allow);
            assert_eq!(path("/home/ann/wide/\"x\"/other"), rest);
        }
    }

    #[test]
    fn agents_whose_names_differ_little_have_rules_of_their_own() {
        let mut seen = Seen::default();
        let long = "x".repeat(128);
        for name in ["a.b", "a_b", "A-b", &long] {
            seen.agents.insert(name.to_owned(), odd(name));
        }
        let files: Vec<(String, String)> = slugs(&seen)
            .into_iter()
            .map(|(slug, agent)| (slug.clone(), text(&slug, agent, Decision::Deny, 0).0))
            .collect();
        assert!(folder::of_texts(&files).is_ok());
    }
}
