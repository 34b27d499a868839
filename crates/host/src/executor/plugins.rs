//! Tools of plugins: each call is carried out by the plugin's own program, started for it in a cage of its own.
//!
//! INVARIANT (OneGate): a plugin runs by the permit of one call, and is gone when that is answered. What its manifest declares
//! is what it is given: these hosts through our proxy, these secrets of the vault, no files, nothing of our environment.
//!
//! INVARIANT (KnownByDigest): what runs is a copy that was compared with what a person added while it was made.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ::mcp::schema::Schema;
use aegx::{Digest, RecordType};
use egress::Rules;
use evidence::{Journal, NewRecord};
use gateway::proxy::Outside;
use model::{Caller, Kind, Source, ToolCall, ToolDef};
use monitor::{Output, Permit, Status, Words, taint};
use sandbox::cage::{Cage, FOR_PROGRAMS, Limits};
use sandbox::runner::{Asking, Beside, RunError, Runner, Spoke, Surroundings};
use scan::boundary::{self, Boundary, Nonce};
use scan::net::Domains;
use serde_json::{Map, Value, json};
use vault::environment::{OF_HOST, environment};
use vault::{Keeper, Name, Scope};

use super::net::{Net, Out};
use super::shell::held;
use crate::ipc::Stop;
use crate::plugins::{Offered, PluginTool, Plugins, RunCopy};

/// What a plugin may take of the machine.
const LIMITS: Limits = Limits {
    wall_time: None,
    processes: 64,
    memory_bytes: 1 << 30,
    file_bytes: 64 << 20,
    fresh_bytes: 64 << 20,
    open_files: 256,
    cpu_percent: None,
};
/// How long one call may take.
const CALL_TIME: Duration = Duration::from_secs(30);
/// Characters of what a plugin printed beside its answer that the agent is told, where there is no answer.
const STDERR_CHARS_MAX: usize = 2000;

/// The tools that plugins offer to a session, by their names.
#[derive(Default)]
pub(crate) struct Offers(BTreeMap<String, Known>);

/// The tools of the plugins of a state directory, for one session.
pub(crate) struct PluginTools {
    plugins: Plugins,
    offers: Offers,
    cage: Cage,
    runner: Runner,
    keeper: Option<Arc<Keeper>>,
    /// Which keys the agent may use.
    scope: Scope,
    /// The way out, and how far the agent itself goes; none where its programs have no network.
    out: Option<(Outside, Rules)>,
    journal: Arc<Journal>,
    stop: Stop,
}

/// A tool, and the plugin that it is of.
struct Known {
    of: Arc<Offered>,
    tool: PluginTool,
    def: ToolDef,
}

/// What a session's plugins are given.
pub(crate) struct Given {
    pub(crate) keeper: Option<Arc<Keeper>>,
    pub(crate) scope: Scope,
    pub(crate) out: Option<(Outside, Rules)>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) stop: Stop,
}

/// A call that has come to an end, whether or not anything was said.
struct Ran {
    spoke: Result<Spoke, RunError>,
    net: Net,
}

impl PluginTools {
    /// Those that are offered, in a state directory whose cages keep out of `person`, the person's home. Both without links.
    pub(crate) fn new(state: &Path, person: &Path, offers: Offers, given: Given) -> Self {
        let (home, state_dir) = (Some(person.to_owned()), Some(state.to_owned()));
        let cage = Cage { home, state: state_dir, limits: LIMITS, ..Cage::default() };
        let Given { keeper, scope, out, journal, stop } = given;
        let (plugins, runner) = (Plugins::new(state), Runner::default());
        Self { plugins, offers, cage, runner, keeper, scope, out, journal, stop }
    }

    /// What is offered.
    pub(crate) fn offers(&self) -> &Offers {
        &self.offers
    }

    /// Carries out one call.
    pub(super) fn call(&self, permit: Permit<ToolCall>, now: impl Fn() -> i64) -> Output {
        let Some(known) = self.offers.0.get(permit.effect().call.tool().as_str()) else {
            return Output::not_begun("no plugin has this tool");
        };
        let arguments = Value::Object(permit.effect().call.args().clone());
        let fits = Schema::compile(&known.tool.input_schema).map_err(|it| it.to_string());
        if let Err(why) = fits.and_then(|it| it.check(&arguments).map_err(|it| it.to_string())) {
            return Output::not_begun(why);
        }
        let (who, record) = (permit.who().clone(), permit.record());
        let copy = match self.plugins.run_copy(&known.of) {
            Ok(copy) => copy,
            Err(error) => return self.refused(known, &error.to_string()),
        };
        let around = match self.surroundings(&permit, known, &copy) {
            Ok(around) => around,
            Err(why) => return Output::not_begun(why),
        };
        let ran = match self.run(permit, known, &copy, around, &arguments) {
            Ok(ran) => ran,
            Err(why) => return Output::not_begun(why),
        };
        drop(copy);
        // INVARIANT (NothingSilent): what is not on record is not told either.
        if self.journal.append(beside(&who, record, recorded(known, &ran))).is_err() {
            return Output::unanswered("the plugin ran, and how it ended could not be recorded");
        }
        told(known, ran, now())
    }

    fn run(
        &self,
        permit: Permit<ToolCall>,
        known: &Known,
        copy: &RunCopy,
        mut around: Surroundings,
        arguments: &Value,
    ) -> Result<Ran, String> {
        let request = json!({ "call": known.tool.name, "input": arguments }).to_string();
        let reach = self.reach(known)?;
        let out = reach.as_ref().map(|it| Out::open(it, permit.who(), permit.record())).transpose();
        let out = out.map_err(|error| format!("no way to the network: {error}"))?;
        if let Some(out) = &out {
            around.cage.network = out.network();
        }
        let mut answer = out.as_ref().map(|out| |listener| out.answer(listener));
        let beside = Beside {
            stop: Some(self.stop.as_fd()),
            answer: answer.as_mut().map(|it| it as &mut dyn FnMut(_) -> _),
        };
        let words = vec![copy.main().as_os_str().to_owned()];
        let asking = Asking { words, request: request.as_bytes(), time: CALL_TIME };
        let spoke = self.runner.ask(permit, asking, around, beside);
        let net = out.map(Out::end).unwrap_or_default();
        Ok(Ran { spoke, net })
    }

    /// Where the agent may go, and of that the hosts that the plugin declares, each at its port; none if it declares none, or
    /// if the agent's programs have no network, whoever starts them.
    fn reach(&self, known: &Known) -> Result<Option<(Outside, Rules)>, String> {
        let declared = &known.of.manifest.capabilities.network;
        let Some((outside, mut rules)) = self.out.clone().filter(|_| !declared.is_empty()) else {
            return Ok(None);
        };
        rules.allow.push(Domains::parse(declared).map_err(|error| error.to_string())?);
        Ok(Some((outside, rules)))
    }

    fn surroundings(
        &self,
        permit: &Permit<ToolCall>,
        known: &Known,
        copy: &RunCopy,
    ) -> Result<Surroundings, String> {
        let mut cage = self.cage.clone();
        cage.readable = vec![copy.folder().to_owned()];
        cage.own = Some(copy.folder().to_owned());
        let environment = self.environment(permit, known)?;
        Ok(Surroundings { cage, directory: copy.folder().to_owned(), environment })
    }

    /// From nothing: what every process gets of the host's, and the secrets that the manifest declares.
    fn environment(
        &self,
        permit: &Permit<ToolCall>,
        known: &Known,
    ) -> Result<Vec<(OsString, OsString)>, String> {
        let own: Vec<(&str, String)> = OF_HOST
            .iter()
            .filter_map(|name| std::env::var(name).ok().map(|value| (*name, value)))
            .collect();
        let manifest = &known.of.manifest;
        let mut keys = Vec::new();
        for declared in &manifest.capabilities.credentials {
            let name = Name::parse(declared).map_err(|error| error.to_string())?;
            let keeper = self.keeper.as_ref().ok_or("there is no vault: `lazaret vault init`")?;
            let secret = keeper.for_plugin(permit, &self.scope, &name, &manifest.name);
            keys.push((declared.as_str(), secret.map_err(|error| error.to_string())?));
        }
        let keys = keys.iter().map(|(name, secret)| (*name, secret.reveal(permit)));
        let made = environment(
            own.iter().map(|(name, value)| (*name, value.as_str())),
            FOR_PROGRAMS.iter().copied().chain(keys),
        );
        let is_declared = |it: &&String| manifest.capabilities.credentials.contains(it);
        match made.rejected.iter().find(is_declared) {
            Some(name) => Err(format!("no program is given a variable `{name}`")),
            None => {
                let made = made.variables.into_iter();
                Ok(made.map(|(name, value)| (name.into(), value.into())).collect())
            }
        }
    }

    /// INVARIANT (NothingSilent): a plugin that is not what was added leaves a record whenever it is called.
    fn refused(&self, known: &Known, why: &str) -> Output {
        let name = &known.of.manifest.name;
        let content = json!({ "decision": "deny", "plugin": name, "error": why });
        let kind = Kind::of_static("plugin_refused");
        // It stays refused, recorded or not.
        let _ = self.journal.append(NewRecord::of_host(RecordType::GuardDecision, kind, content));
        Output::not_begun(format!("the plugin {name} is refused: {why}"))
    }
}

impl Offers {
    /// Those of plugins that are sound. What a person should know of them is told.
    pub(crate) fn of(offered: Vec<Offered>, notes: &mut Vec<String>) -> Self {
        let mut tools = BTreeMap::new();
        for of in offered.into_iter().map(Arc::new) {
            for tool in of.manifest.tools.clone() {
                let name = of.manifest.tool_name(&tool);
                match of.manifest.definition(&tool) {
                    Ok((def, _)) if !tools.contains_key(&name) => {
                        tools.insert(name, Known { of: Arc::clone(&of), tool, def });
                    }
                    Ok(_) => notes.push(format!("two plugins have a tool `{name}`: one counts")),
                    Err(error) => notes.push(format!("the tool `{name}` is not offered: {error}")),
                }
            }
        }
        Self(tools)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Is there a tool of this name?
    pub(crate) fn has(&self, tool: &str) -> bool {
        self.0.contains_key(tool)
    }

    /// The tools as the gate and the model see them.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = &ToolDef> {
        self.0.values().map(|it| &it.def)
    }
}

/// What the agent is told. Whatever the plugin said stands between marks, and comes from outside.
fn told(known: &Known, ran: Ran, now: i64) -> Output {
    let name = &known.of.manifest.name;
    let Ran { spoke, net } = ran;
    let label = taint::label(Source::Tool, &format!("plugin {name}"), now);
    let tags = net.label(&format!("plugin {name}"), now).into_iter().chain([label]).collect();
    let spoke = match spoke {
        Ok(spoke) => spoke,
        Err(error) => return Output::unanswered(format!("the plugin {name}: {error}")),
    };
    if spoke.stopped {
        return Output::unanswered("the host is ending, and the plugin was ended with it");
    }
    let outcome = match &spoke.answer {
        Ok(bytes) => answer(bytes).map_err(str::to_owned),
        Err(nothing) => Err(unanswered(&nothing.to_string(), &spoke)),
    };
    let (status, mut text) = match outcome {
        Ok(Said::Output(text)) => (Status::Done, text),
        Ok(Said::Error(text)) => (Status::Failed, text),
        Err(why) => (Status::Failed, why),
    };
    // The plugin chose these names.
    if let Some(refused) = net.refused_text() {
        text = format!("{text}\n[not reached: {refused}]");
    }
    let body = match (marked(name, &text), status) {
        (Ok(text), Status::Done) => json!({ "output": text }).to_string(),
        (Ok(text), Status::Failed | Status::NotBegun) => text,
        (Err(why), _) => return Output::unanswered(why),
    };
    Output { status, tags, words: Words::Theirs, ..Output::text(body) }
}

/// What a plugin says to a call.
enum Said {
    Output(String),
    Error(String),
}

/// `{"output": TEXT}` or `{"error": TEXT}`, and nothing else.
fn answer(bytes: &[u8]) -> Result<Said, &'static str> {
    let wrong = "its answer is neither {\"output\": TEXT} nor {\"error\": TEXT}";
    let Ok(Value::Object(mut fields)) = model::ipc::read_json(bytes) else { return Err(wrong) };
    let text = |it: Option<Value>| match it {
        Some(Value::String(text)) => Some(text),
        Some(_) | None => None,
    };
    match (fields.len(), text(fields.remove("output")), text(fields.remove("error"))) {
        (1, Some(output), None) => Ok(Said::Output(output)),
        (1, None, Some(error)) => Ok(Said::Error(error)),
        _ => Err(wrong),
    }
}

fn unanswered(why: &str, spoke: &Spoke) -> String {
    let how = spoke.ending.map_or_else(String::new, |it| format!(" ({it:?})"));
    let printed: String = spoke.stderr.text.chars().take(STDERR_CHARS_MAX).collect();
    let printed = if printed.is_empty() { printed } else { format!("\n{printed}") };
    format!("{why}{how}{printed}")
}

/// A text of a plugin or server, between marks.
pub(crate) fn marked(name: &str, text: &str) -> Result<String, String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|error| error.to_string())?;
    Ok(boundary::wrap(Boundary::Tool, name, text, &Nonce::new(random)))
}

/// How it ended and what held it; nothing of what it said.
fn recorded(known: &Known, ran: &Ran) -> Value {
    let manifest = &known.of.manifest;
    let mut fields = Map::new();
    let mut say = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
    say("plugin", manifest.name.as_str().into());
    say("digest", known.of.digest.to_string().into());
    say("tool", known.tool.name.as_str().into());
    match &ran.spoke {
        Ok(spoke) => {
            say("answered", spoke.answer.is_ok().into());
            say("duration_ms", u64::try_from(spoke.took.as_millis()).unwrap_or(u64::MAX).into());
            say("ending", spoke.ending.map(|it| format!("{it:?}")).into());
            say("held", held(&spoke.held));
            say("stderr_bytes", spoke.stderr.bytes.into());
        }
        Err(error) => say("error", error.to_string().into()),
    }
    if ran.net.was_there {
        say("network", ran.net.to_json());
    }
    Value::Object(fields)
}

fn beside(who: &Caller, decision: Digest, content: Value) -> NewRecord {
    NewRecord {
        parents: vec![decision],
        session: Some(who.session.clone()),
        agent: Some(who.agent.clone()),
        ..NewRecord::of_host(RecordType::ToolResult, Kind::of_static("plugin_ran"), content)
    }
}
