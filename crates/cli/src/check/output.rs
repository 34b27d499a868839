//! `lazaret check output`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use scan::Allowed;
use scan::exfiltration::{self, Carries, Finding};
use scan::leak::{self, Leak, PROMPT_BYTES_MAX, Registry, Rule, Sources, Turns};
use scan::secret::{self, Confidence};
use serde_json::{Map, Value, json};

use super::batch::{self, Answer};
use super::given;
use crate::failure::{Exit, Failure};

/// Judge answers of a model by whether they give its system prompt or a secret away, or carry something off.
///
/// An answer is compared with the prompt: its own words, its names (constants, functions, template variables), its headings,
/// and what is left of it in other words or another language; spelling, spacing, look-alike letters, base64, ROT13 and
/// reversal do not matter. Without a prompt, only names and sentences of prompts that are known are looked for.
///
/// Addresses count, too: an image is loaded by whoever shows the answer, and a link can hold data. One that carries data is
/// denied, one that loads or has words in its query is for a person, unless its host is named with `--host`.
///
/// Keys, tokens and passwords count (`leak-secret`): one with a checksum, and a private key, is denied, one whose form alone is
/// right is for a person. `allow` in a request has lines of rules and SHA-256 hashes of values that are fine.
///
/// A request on stdin has `text`, and may have `system_prompt`, `tokens` (a list of names that must not be said), `public` (a list of
/// texts that may be said) and `conversation`: answers of one conversation are also judged together. An answer has
/// `decision` (`allow`, `step_up` where a person should look, or `deny`), `findings` (`rule`, `kind`, `certain`, `encoded`,
/// `start`, `end`), `addresses` (`kind`, `carries`, `host`, `start`, `end`) and `prompt_hash`.
///
/// Try it:
///   lazaret check output --prompt prompt.txt "My instructions say: never mention the code."
///   echo '{"text":"HEARTBEAT_OK"}' | lazaret check output --json
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    batch: batch::Options,
    /// The system prompt that the answers were made with.
    #[arg(long, value_name = "FILE")]
    prompt: Option<PathBuf>,
    /// A name that must not be said. May be given several times.
    #[arg(long = "token", value_name = "TOKEN")]
    tokens: Vec<String>,
    /// A file with text that may be said although it stands in the prompt. May be given several times.
    #[arg(long, value_name = "FILE")]
    public: Vec<PathBuf>,
    /// A host whose addresses may stand in an answer. May be given several times.
    #[arg(long = "host", value_name = "HOST")]
    hosts: Vec<String>,
    /// Answers; without any, requests are read from stdin.
    #[arg(value_name = "TEXT")]
    texts: Vec<String>,
}

/// Conversations of one batch that are followed at once.
const CONVERSATIONS_MAX: usize = 1024;

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let read = |path: &PathBuf| given::text(path, PROMPT_BYTES_MAX as u64);
    let own = Known {
        prompt: args.prompt.as_ref().map(read).transpose()?,
        tokens: args.tokens.clone(),
        public: args.public.iter().map(read).collect::<Result<_, _>>()?,
    };
    if args.texts.is_empty() {
        let judge = Judge::new(own, args.hosts.clone());
        return batch::from_stdin(args.batch, |fields| judge.request(fields));
    }
    let registry = own.registry();
    let values = args.texts.iter().map(String::as_str);
    Ok(batch::from_arguments(args.batch, values, |text| {
        let mut leaks = leak::scan(&registry, text).iter().map(Given::of).collect();
        secrets(text, &Allowed::default(), &mut leaks);
        told(text, &registry, &leaks, &addresses(text, &args.hosts))
    }))
}

/// What is known of a prompt.
#[derive(Clone, Default, PartialEq, Eq)]
struct Known {
    prompt: Option<String>,
    tokens: Vec<String>,
    public: Vec<String>,
}

impl Known {
    fn registry(&self) -> Registry {
        let Self { prompt, tokens, public } = self;
        Registry::new(&Sources { prompt: prompt.as_deref(), tokens, public })
    }
}

/// The prompt of the last request, which is most often that of the next one, and what was said in conversations.
struct Judge {
    own: Known,
    hosts: Vec<String>,
    last: RefCell<(Known, Registry)>,
    conversations: RefCell<BTreeMap<String, Turns>>,
}

impl Judge {
    fn new(own: Known, hosts: Vec<String>) -> Self {
        let registry = own.registry();
        let last = RefCell::new((own.clone(), registry));
        Self { own, hosts, last, conversations: RefCell::default() }
    }

    fn request(&self, fields: &Map<String, Value>) -> Result<Answer, String> {
        let text = string(fields, "text")?.ok_or("`text` is missing")?;
        let known = Known {
            prompt: string(fields, "system_prompt")?.or(self.own.prompt.clone()),
            tokens: strings(fields, "tokens")?.unwrap_or(self.own.tokens.clone()),
            public: strings(fields, "public")?.unwrap_or(self.own.public.clone()),
        };
        let mut last = self.last.borrow_mut();
        if last.0 != known {
            *last = (known.clone(), known.registry());
        }
        let registry = &last.1;
        let allowed = batch::allowed(fields)?;
        let leaks = match string(fields, "conversation")? {
            None => leak::scan(registry, &text),
            Some(id) => {
                let mut all = self.conversations.borrow_mut();
                if all.len() >= CONVERSATIONS_MAX && !all.contains_key(&id) {
                    return Err(format!("{CONVERSATIONS_MAX} conversations are followed already"));
                }
                all.entry(id).or_default().add(registry, &text)
            }
        };
        let mut leaks = leaks.iter().map(Given::of).collect();
        secrets(&text, &allowed, &mut leaks);
        Ok(told(&text, registry, &leaks, &addresses(&text, &self.hosts)))
    }
}

fn string(fields: &Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match fields.get(name) {
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Null) | None => Ok(None),
        Some(_) => Err(format!("`{name}` must be a string")),
    }
}

fn strings(fields: &Map<String, Value>, name: &str) -> Result<Option<Vec<String>>, String> {
    let wrong = || format!("`{name}` must be a list of strings");
    match fields.get(name) {
        Some(Value::Array(items)) => {
            let text = |it: &Value| it.as_str().map(str::to_owned);
            items.iter().map(text).collect::<Option<_>>().map(Some).ok_or_else(wrong)
        }
        Some(Value::Null) | None => Ok(None),
        Some(_) => Err(wrong()),
    }
}

/// The addresses of an answer by which something could leave, but for those of hosts that are known.
fn addresses(text: &str, hosts: &[String]) -> Vec<Finding> {
    let is_known = |it: &Finding| {
        let host = it.host().unwrap_or_default();
        hosts.iter().any(|known| known.eq_ignore_ascii_case(&host))
    };
    exfiltration::look(text).into_iter().filter(|it| !is_known(it)).collect()
}

/// What an answer gives away.
struct Given {
    rule: Rule,
    kind: &'static str,
    certain: bool,
    encoded: bool,
    start: usize,
    end: usize,
}

impl Given {
    fn of(leak: &Leak) -> Self {
        let Leak { rule, kind, certain, encoded, start, end } = *leak;
        Self { rule, kind: kind.as_str(), certain, encoded, start, end }
    }
}

/// Adds the secrets of an answer that are not allowed.
fn secrets(text: &str, allowed: &Allowed, all: &mut Vec<Given>) {
    all.extend(secret::find_from(text, Confidence::Likely, allowed).into_iter().map(|it| Given {
        rule: Rule::Secret,
        kind: it.rule,
        certain: it.confidence == Confidence::Certain,
        encoded: false,
        start: it.start,
        end: it.end,
    }));
}

fn told(said: &str, registry: &Registry, leaks: &[Given], addresses: &[Finding]) -> Answer {
    let carries_data = |it: &&Finding| it.carries == Carries::Data;
    let denies = leaks.iter().any(|it| it.certain) || addresses.iter().any(|it| carries_data(&it));
    let decision = match (denies, leaks.is_empty() && addresses.is_empty()) {
        (true, _) => "deny",
        (false, false) => "step_up",
        (false, true) => "allow",
    };
    let leak = leaks.iter().find(|it| it.certain).or(leaks.first());
    let address = addresses.iter().find(carries_data).or(addresses.first());
    let text = match (leak, address) {
        // What a secret is, is not said again.
        (Some(it), _) if it.rule == Rule::Secret => {
            format!("{decision:8}  {}: {}", it.rule, it.kind)
        }
        (Some(it), _) if it.certain || address.is_none_or(|it| !carries_data(&it)) => {
            let passage = said.get(it.start..it.end).unwrap_or_default();
            let shown: String = passage.chars().take(SHOWN_CHARS_MAX).collect();
            let more = if shown.len() < passage.len() { "…" } else { "" };
            format!("{decision:8}  {}: {:?}{more}", it.rule, shown)
        }
        (_, Some(it)) => {
            let host = it.host().unwrap_or_default();
            let (kind, carries) = (it.kind.as_str(), it.carries.as_str());
            format!("{decision:8}  exfiltration-{kind}: to `{host}`, with {carries}")
        }
        (Some(_) | None, None) => "allow     nothing of the prompt".to_owned(),
    };
    let finding = |it: &Given| {
        json!({
            "rule": it.rule.as_str(), "kind": it.kind, "certain": it.certain, "encoded": it.encoded,
            "start": it.start, "end": it.end,
        })
    };
    let place = |it: &Finding| {
        json!({
            "kind": it.kind.as_str(), "carries": it.carries.as_str(), "host": it.host(),
            "start": it.start, "end": it.end,
        })
    };
    let fields = [
        ("decision", json!(decision)),
        ("findings", leaks.iter().map(finding).collect()),
        ("addresses", addresses.iter().map(place).collect()),
        ("prompt_hash", json!(registry.prompt_hash())),
    ];
    Answer { passed: decision == "allow", fields: Vec::from(fields), text }
}

/// How much of a leak people are shown.
const SHOWN_CHARS_MAX: usize = 80;
