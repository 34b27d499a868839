//! The flow type of a tool of which nobody said one: from its name and schema, in doubt the worse.

use std::collections::BTreeMap;

use model::{Flow, Reach, Role, ToolDef, Trust};
use serde_json::Value;

use super::acts::{Act, foreign_verbs, name_words, verb};
use super::asked::{singular, verb_of};
use super::parameter::Kind;
use super::words::{
    COMMANDS, CONTENTS, CONTROLS, GROUPS, List, NOUN_STARTS, NUMBERS, OTHERS, OWN, PEOPLE, PLACES,
    READS, RECIPIENTS, SECRETS, WEB, tool_verb,
};

/// What `tool` does, as far as its name, its description and its schema tell.
///
/// Annotations are the server's own claims: they tighten what was inferred and never loosen it, but for what is said to read
/// and is called by things alone.
#[must_use]
pub fn infer(tool: &ToolDef) -> Flow {
    let mut act = Act::named(tool.name.as_str());
    let reach = reach(tool, &act);
    if act.verbs == 0 && reach != Reach::Read {
        act.verbs = foreign_verbs(&act.words, &tool.description);
    }
    let roles = roles(tool, reach, &act);
    let points_outward =
        roles.iter().any(|(name, role)| *role == Role::Destination && is_web(&name_words(name)));
    let mut flow = Flow {
        reach,
        output: output(tool, reach, &act),
        egress: reach == Reach::Send || points_outward || act.verbs & verb::RUN != 0,
        destructive: act.verbs & verb::DELETE != 0 || (act.verbs == 0 && reach != Reach::Read),
        roles,
    };
    tighten(&mut flow, &tool.annotations);
    flow
}

/// Applies what the tool's server claims of it, as far as it makes the flow stricter.
pub(super) fn tighten(flow: &mut Flow, annotations: &serde_json::Map<String, Value>) {
    let hint = |name: &str| annotations.get(name).and_then(Value::as_bool);
    if hint("readOnlyHint") == Some(false) && flow.reach == Reach::Read {
        flow.reach = Reach::Write;
    }
    if hint("destructiveHint") == Some(true) {
        flow.destructive = true;
        flow.reach = flow.reach.max(Reach::Write);
    }
    if hint("openWorldHint") == Some(true) {
        flow.output = Trust::Untrusted;
        flow.egress |= flow.reach != Reach::Read;
    }
    // The host's own word on programs that it gives a network: whatever such a tool is called, what it is asked goes out.
    if hint(EGRESS_HINT) == Some(true) {
        flow.egress = true;
    }
}

/// The annotation by which the host says that a tool's program reaches a network. From others it only tightens, too.
pub const EGRESS_HINT: &str = "egressHint";

/// Does its server say that it only reads, and do its name and its description say nothing else: `patient-chart`,
/// `ClassSchedule`, `mail_inbox`? A word of the name that can be a thing is one.
fn is_said_to_read(tool: &ToolDef, act: &Act) -> bool {
    let is_hinted = tool.annotations.get("readOnlyHint").and_then(Value::as_bool) == Some(true);
    let acts = |it: &String| Act::named(it).verbs != 0;
    let last = act.words.last();
    // `ClassSchedule`: what stands last is what it is of.
    let is_thing = |it: &String| Some(it) == last || verb_of(it).is_some_and(|it| it.ambiguous);
    let named = act.words.len() > 1 && act.words.iter().filter(|it| acts(it)).all(is_thing);
    let first = first_word(&tool.description);
    let does = Act::named(&first).verbs != 0 || Act::named(singular(&first)).verbs != 0;
    let described = !first.is_empty() && !does && !is_meant_to_act(&tool.description);
    is_hinted && named && described && !lists_acts(tool)
}

/// The word that a description begins with.
fn first_word(description: &str) -> String {
    let mut words = description.split(|it: char| !it.is_alphabetic()).filter(|it| !it.is_empty());
    words.next().unwrap_or_default().to_lowercase()
}

fn reach(tool: &ToolDef, act: &Act) -> Reach {
    if is_said_to_read(tool, act) {
        return Reach::Read;
    }
    let reads = act.words.iter().position(|it| READS.has(it.as_str()));
    let does = act.words.iter().position(|it| Act::named(it).verbs != 0);
    let outward = verb::SEND
        | verb::PAY
        | verb::SHARE
        | verb::INVITE
        | verb::PUBLISH
        | verb::RESERVE
        | verb::RUN;
    match (reads, does) {
        (Some(read), Some(doing)) if read < doing || (read == doing && is_viewer(tool)) => {
            Reach::Read
        }
        // `order_get`, `bookingSearch`: the thing stands first, and its word can be a verb.
        (Some(read), Some(doing)) if read > doing && is_last(read, act) && is_noun(doing, act) => {
            Reach::Read
        }
        (Some(_), None) => Reach::Read,
        (_, Some(_)) if act.verbs & outward != 0 || has_recipients(tool) => Reach::Send,
        (_, Some(_)) => Reach::Write,
        (None, None) => by_description(tool),
    }
}

fn by_description(tool: &ToolDef) -> Reach {
    let first = first_word(&tool.description);
    let one = singular(&first);
    let reads = [first.as_str(), one].iter().any(|it| READS.has(it));
    // `Photos of an album`: named and described by things alone, without a verb that does anything.
    let does = verb_of(one).is_some_and(|it| !it.ambiguous);
    // `Changes the state` is what it does, `Changes of an account` what it shows.
    let next = tool.description.split_whitespace().nth(1).unwrap_or_default();
    let is_verb = ["the", "a", "an", "one", "your"].contains(&next);
    let things = NOUN_STARTS.has(one) || (!first.is_empty() && first != one && !does && !is_verb);
    if !reads && is_meant_to_act(&tool.description) {
        return Reach::Send;
    }
    if (reads || things) && !lists_acts(tool) { Reach::Read } else { Reach::Send }
}

/// How a description begins that says what a tool is for further on.
const PREAMBLES: &[&str] = &[
    "a", "an", "the", "this", "use", "utilize", "employ", "deploy", "to", "allows", "enables",
    "helps",
];

/// `A tool to review and correct …`, `Use it to …`, `To …`: is it meant for something that is an act?
fn is_meant_to_act(description: &str) -> bool {
    let first = description.split(['.', '\n']).next().unwrap_or_default().to_lowercase();
    let letters = |it: char| !it.is_alphanumeric();
    let all: Vec<&str> = first.split(letters).filter(|it| !it.is_empty()).collect();
    let begins = all.first().is_some_and(|it| PREAMBLES.contains(it));
    // `A tool that gives access to …` says what it is.
    let at = all.iter().position(|it| ["to", "that", "which"].contains(it));
    let Some(at) = at.filter(|it| begins && all.get(*it) == Some(&"to")) else { return false };
    let rest = all.get(at.saturating_add(1)..).unwrap_or_default();
    let joined = rest.get(2).filter(|_| rest.get(1) == Some(&"and"));
    rest.first()
        .into_iter()
        .chain(joined)
        .any(|it| tool_verb(it).is_some() || verb_of(it).is_some())
}

/// Is it the last word of the name, and one that only looks?
fn is_last(at: usize, act: &Act) -> bool {
    let looks =
        ["get", "list", "search", "lookup", "find", "view", "show", "read", "fetch", "details"];
    let word = act.words.get(at).map_or("", String::as_str);
    at.saturating_add(1) == act.words.len() && looks.contains(&word)
}

/// Can the word at this place of the name be a thing?
fn is_noun(at: usize, act: &Act) -> bool {
    act.words.get(at).is_some_and(|it| verb_of(it).is_none_or(|it| it.ambiguous))
}

/// `List, create, update and delete …`: does its description begin with several verbs, of which one acts?
fn lists_acts(tool: &ToolDef) -> bool {
    let first = tool.description.split(['.', '\n']).next().unwrap_or_default().to_lowercase();
    let parts = first
        .split([',', ';', '/'])
        .flat_map(|it| it.split(" and "))
        .flat_map(|it| it.split(" or "));
    parts.skip(1).filter_map(|it| it.split_whitespace().next()).any(|it| {
        let word = it.trim_matches(|it: char| !it.is_alphabetic());
        let acts =
            |it: &str| tool_verb(it).is_some() && verb_of(it).is_some_and(|it| !it.ambiguous);
        acts(word) || acts(singular(word))
    })
}

/// `open` and the like look at a page or file, and act on anything else.
fn is_viewer(tool: &ToolDef) -> bool {
    tool.parameters().any(|(name, _)| {
        let words = name_words(name);
        is_web(&words) || words.iter().any(|it| PLACES.has(it.as_str()))
    })
}

fn has_recipients(tool: &ToolDef) -> bool {
    tool.parameters()
        .any(|(name, _)| name_words(name).iter().any(|it| RECIPIENTS.has(singular(it))))
}

fn output(tool: &ToolDef, reach: Reach, act: &Act) -> Trust {
    if reach != Reach::Read {
        // A command can print anything; other acts tell what they did.
        // What is called by a word for looking as well may show anything.
        let looks = act.words.iter().any(|it| READS.has(it.as_str()));
        return if act.verbs == 0 || looks || act.verbs & verb::RUN != 0 {
            Trust::Untrusted
        } else {
            Trust::Own
        };
    }
    let words: Vec<&str> = act.words.iter().map(|it| singular(it)).collect();
    let own = words.iter().any(|it| OWN.has(it));
    let others = words.iter().any(|it| OTHERS.has(it));
    let web = tool.parameters().any(|(name, _)| is_web(&name_words(name)));
    if own && !others && !web { Trust::Trusted } else { Trust::Untrusted }
}

fn roles(tool: &ToolDef, reach: Reach, act: &Act) -> BTreeMap<String, Role> {
    let roles = tool.parameters().filter_map(|(name, schema)| {
        role(name, schema, reach, act).map(|role| (name.clone(), role))
    });
    roles.collect()
}

fn role(name: &str, schema: &Value, reach: Reach, act: &Act) -> Option<Role> {
    let words = name_words(name);
    let words: Vec<&str> = words.iter().map(|it| singular(it)).collect();
    let any = |list: &List| words.iter().any(|it| list.has(it));
    let last = |list: &List| words.last().is_some_and(|it| list.has(it));
    let is = |names: &[&str]| words.iter().any(|it| names.contains(it));
    let ends = |names: &[&str]| words.last().is_some_and(|it| names.contains(it));
    let kind = Kind::of(schema);
    let reads = reach == Reach::Read;
    // `max_tokens` counts.
    if any(&SECRETS) && !matches!(kind, Kind::Number | Kind::Flag) {
        return Some(Role::Secret);
    }
    let counted = kind == Kind::Number && ends(&["number", "no", "index", "key"]);
    if is(&["id", "ids", "uuid"]) || counted {
        return Some(Role::Target);
    }
    match kind {
        Kind::Flag | Kind::Choice => return Some(Role::Control),
        Kind::Number if !any(&NUMBERS) => return Some(Role::Control),
        Kind::Number | Kind::Text => {}
    }
    if any(&WEB) {
        return Some(Role::Destination);
    }
    if reads {
        return any(&PLACES).then_some(Role::Target);
    }
    if last(&CONTROLS) {
        return Some(Role::Control);
    }
    if any(&RECIPIENTS) || any(&NUMBERS) {
        return Some(Role::Destination);
    }
    if any(&PEOPLE) {
        let takes_away = act.verbs & verb::DELETE != 0;
        return Some(if takes_away { Role::Target } else { Role::Destination });
    }
    if any(&GROUPS) {
        return Some(if reach == Reach::Send { Role::Destination } else { Role::Target });
    }
    if last(&CONTENTS) || any(&COMMANDS) {
        return Some(Role::Content);
    }
    // A name of one's own is content; any other name says what is acted on.
    let own =
        words.len() >= 2 && ends(&["name"]) && is(&["first", "last", "full", "display", "middle"]);
    Some(if own { Role::Content } else { Role::Target })
}

fn is_web(words: &[String]) -> bool {
    words.iter().any(|it| WEB.has(singular(it)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn flow(name: &str, parameters: &[(&str, &str)], annotations: Value) -> Flow {
        let properties: serde_json::Map<String, Value> = parameters
            .iter()
            .map(|(name, kind)| ((*name).to_owned(), json!({"type": kind})))
            .collect();
        let tool = json!({"name": name, "inputSchema": {"properties": properties}, "annotations": annotations});
        infer(&ToolDef::from_value(&tool).unwrap())
    }

    #[test]
    fn tools_are_what_their_names_say() {
        let read = flow("get_unread_emails", &[], json!({}));
        assert_eq!((read.reach, read.output), (Reach::Read, Trust::Untrusted));
        let contacts = flow("search_contacts_by_name", &[("query", "string")], json!({}));
        assert_eq!((contacts.reach, contacts.output), (Reach::Read, Trust::Trusted));
        let pay = flow(
            "send_money",
            &[("recipient", "string"), ("amount", "number"), ("subject", "string")],
            json!({}),
        );
        assert_eq!((pay.reach, pay.egress, pay.output), (Reach::Send, true, Trust::Own));
        assert_eq!(pay.roles.get("recipient"), Some(&Role::Destination));
        assert_eq!(pay.roles.get("amount"), Some(&Role::Control));
        assert_eq!(pay.roles.get("subject"), Some(&Role::Content));
        let fetch = flow("get_webpage", &[("url", "string")], json!({}));
        assert_eq!(
            (fetch.reach, fetch.egress, fetch.roles["url"]),
            (Reach::Read, true, Role::Destination)
        );
        let delete = flow("deleteFile", &[("file_id", "string")], json!({}));
        assert_eq!(
            (delete.reach, delete.destructive, delete.roles["file_id"]),
            (Reach::Write, true, Role::Target)
        );
        assert_eq!(
            flow("update_password", &[("password", "string")], json!({})).roles["password"],
            Role::Secret
        );
        assert_eq!(
            flow("reserve_hotel", &[("hotel", "string")], json!({})).roles["hotel"],
            Role::Target
        );
    }

    #[test]
    fn nothing_known_is_the_worst() {
        let odd = flow("frobnicate", &[("thing", "string")], json!({}));
        assert_eq!(
            (odd.reach, odd.egress, odd.destructive, odd.output),
            (Reach::Send, true, true, Trust::Untrusted)
        );
    }

    #[test]
    fn what_is_said_to_read_and_called_by_things_reads() {
        let tool = |name: &str, description: &str, hint: bool| {
            let tool = json!({
                "name": name, "description": description, "inputSchema": {"properties": {}},
                "annotations": {"readOnlyHint": hint}
            });
            infer(&ToolDef::from_value(&tool).unwrap())
        };
        for (name, description) in [
            ("patient-chart", "Chart summary: allergies, medication."),
            ("mail_inbox", "Incoming mail of a matter."),
            ("item-comments", "Reader comments and tags on a title."),
            ("poczta_szukaj", "Wyszukuje wiadomości w skrzynce."),
        ] {
            assert_eq!(tool(name, description, true).reach, Reach::Read, "{name}");
            assert_ne!(tool(name, description, false).reach, Reach::Read, "{name}");
        }
        for (name, description) in [
            ("funds_transfer", "Transfer of money."),
            ("mail_inbox", "Deletes the mail of a matter."),
            ("patient-chart", "A tool to correct the chart."),
            ("chart", "Chart summary."),
        ] {
            assert_ne!(tool(name, description, true).reach, Reach::Read, "{name} {description}");
        }
        // A verb of another language is one.
        for (name, description) in [
            ("mail_senden", "Sendet eine Mail an den Empfänger."),
            ("poczta_wyslij", "Wysyła wiadomość na podany adres."),
            ("pix_enviar", "Envia um Pix."),
        ] {
            let sends = tool(name, description, false);
            assert_eq!((sends.reach, sends.destructive), (Reach::Send, false), "{name}");
        }
        let wipes = tool("machine_wipe", "Wipes a machine.", false);
        assert_eq!((wipes.reach, wipes.destructive), (Reach::Send, true));
        assert_ne!(tool("server_gone", "Decommissions a server.", false).reach, Reach::Read);
    }

    #[test]
    fn hints_only_tighten() {
        assert_eq!(flow("delete_all", &[], json!({"readOnlyHint": true})).reach, Reach::Write);
        assert_eq!(flow("get_x", &[], json!({"readOnlyHint": false})).reach, Reach::Write);
        assert!(flow("get_x", &[], json!({"destructiveHint": true})).destructive);
        assert!(flow("delete_x", &[], json!({"destructiveHint": false})).destructive);
        assert_eq!(
            flow("get_contacts", &[], json!({"openWorldHint": true})).output,
            Trust::Untrusted
        );
    }
}
