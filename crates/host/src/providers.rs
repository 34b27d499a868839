//! Which providers carry out the host's actions: what `config.yaml` chooses from the one static table,
//! as far as this version has it.
//!
//! INVARIANT (OneProviderTable): a choice is a value of a closed enum, and what it stands for is built
//! into this program. Nothing here makes a path, a library or a command of a text.

use std::collections::BTreeMap;

use model::provider::{
    Audit, Browser, Channel, Container, Credentials, Database, Image, Llm, Memory, Provider,
    ProviderKind, Sandbox, Scanner, Scheduler, Screener, Shell, Skills, Storage, Web,
};
use policy::access::Global;

/// The providers in use, one for each kind at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Providers {
    in_use: BTreeMap<ProviderKind, Provider>,
}

/// A provider that is in the table and not in this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {} provider `{}` is not in this version; {}", .0.kind().as_str(), .0.name(), instead(.0.kind()))]
pub struct NotBuilt(pub Provider);

impl Providers {
    /// What the settings choose; where they say nothing, what there is.
    ///
    /// # Errors
    /// If they choose what this version does not have. There is no other in its place.
    pub fn choose(settings: Option<&Global>) -> Result<Self, NotBuilt> {
        let mut in_use: BTreeMap<_, _> = DEFAULT.iter().map(|it| (it.kind(), *it)).collect();
        for chosen in settings.into_iter().flat_map(Global::providers) {
            if !is_built(chosen) {
                return Err(NotBuilt(chosen));
            }
            in_use.insert(chosen.kind(), chosen);
        }
        Ok(Self { in_use })
    }

    /// The provider of a kind that is in use; none if the host has nothing of that kind.
    #[must_use]
    pub fn of(&self, kind: ProviderKind) -> Option<Provider> {
        self.in_use.get(&kind).copied()
    }
}

impl Default for Providers {
    fn default() -> Self {
        Self { in_use: DEFAULT.iter().map(|it| (it.kind(), *it)).collect() }
    }
}

/// What is in use where nothing is chosen. Kinds that are not here are not there at all.
const DEFAULT: &[Provider] = &[
    Provider::Image(Image::None),
    Provider::Memory(Memory::Sqlite),
    Provider::Scanner(Scanner::Patterns),
    Provider::Screener(Screener::None),
    Provider::Web(Web::None),
    Provider::Browser(Browser::None),
    Provider::Audit(Audit::Journal),
    Provider::Container(Container::Namespaces),
    Provider::Sandbox(Sandbox::Namespaces),
    Provider::Shell(Shell::None),
    Provider::Scheduler(Scheduler::None),
    Provider::Database(Database::Sqlite),
    Provider::Storage(Storage::Database),
];

/// Is it in this version?
#[must_use]
pub fn is_built(provider: Provider) -> bool {
    DEFAULT.contains(&provider) || BESIDE.contains(&provider)
}

/// What is there and has to be chosen: it reaches out, gives keys, or does something that not everybody wants.
const BESIDE: &[Provider] = &[
    Provider::Llm(Llm::Anthropic),
    Provider::Llm(Llm::OpenAi),
    Provider::Llm(Llm::Local),
    Provider::Llm(Llm::Multi),
    Provider::Llm(Llm::Router),
    Provider::Llm(Llm::Mock),
    Provider::Memory(Memory::File),
    Provider::Memory(Memory::Memu),
    Provider::Channel(Channel::Cli),
    Provider::Channel(Channel::Web),
    Provider::Channel(Channel::Slack),
    Provider::Channel(Channel::WhatsApp),
    Provider::Channel(Channel::Telegram),
    Provider::Channel(Channel::Discord),
    Provider::Web(Web::Fetch),
    Provider::Web(Web::Search),
    Provider::Browser(Browser::Container),
    Provider::Credentials(Credentials::Age),
    Provider::Credentials(Credentials::Env),
    Provider::Skills(Skills::ReadOnly),
    Provider::Skills(Skills::Git),
    Provider::Shell(Shell::Sandbox),
    Provider::Scheduler(Scheduler::Cron),
    Provider::Scheduler(Scheduler::Full),
];

fn instead(kind: ProviderKind) -> String {
    let built = DEFAULT.iter().chain(BESIDE).filter(|it| it.kind() == kind);
    let names: Vec<String> = built.map(|it| format!("`{}`", it.name())).collect();
    format!("there is {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(text: &str) -> Result<Providers, NotBuilt> {
        Providers::choose(Some(&Global::parse(text).unwrap()))
    }

    /// What is there, in the order of the table.
    const BUILT: &[&str] = &[
        "llm anthropic",
        "llm openai",
        "llm local",
        "llm multi",
        "llm router",
        "llm mock",
        "image none",
        "memory file",
        "memory sqlite",
        "memory memu",
        "scanner patterns",
        "screener none",
        "channel cli",
        "channel web",
        "channel slack",
        "channel whatsapp",
        "channel telegram",
        "channel discord",
        "web none",
        "web fetch",
        "web search",
        "browser none",
        "browser container",
        "credentials env",
        "credentials age",
        "skills readonly",
        "skills git",
        "audit journal",
        "container namespaces",
        "sandbox namespaces",
        "shell none",
        "shell sandbox",
        "scheduler none",
        "scheduler cron",
        "scheduler full",
        "database sqlite",
        "storage database",
    ];

    #[test]
    fn every_row_of_the_table_is_there_or_refused_by_its_name() {
        let beside = [
            "anthropic",
            "openai",
            "local",
            "multi",
            "router",
            "mock",
            "fetch",
            "search",
            "container",
            "age",
            "env",
            "file",
            "memu",
            "web",
            "readonly",
            "git",
            "sandbox",
            "cron",
            "full",
            "cli",
            "slack",
            "whatsapp",
            "telegram",
            "discord",
        ];
        let mut built = Vec::new();
        for kind in ProviderKind::ALL {
            for name in kind.names() {
                match choose(&format!("providers:\n  {}: {name}\n", kind.as_str())) {
                    Ok(chosen) => {
                        built.push(format!("{} {name}", kind.as_str()));
                        assert_eq!(chosen.of(*kind).map(Provider::name), Some(*name));
                        // What reaches out or acts has to be chosen.
                        let is_default = chosen == Providers::default();
                        assert_eq!(is_default, !beside.contains(name), "{name}");
                    }
                    Err(error) => {
                        let words = format!("the {} provider `{name}` is not in", kind.as_str());
                        assert!(error.to_string().starts_with(&words), "{error}");
                    }
                }
            }
        }
        assert_eq!(built, BUILT);
    }

    #[test]
    fn a_refusal_says_what_there_is() {
        let error = choose("providers:\n  memory: postgres\n").unwrap_err().to_string();
        let words = "the memory provider `postgres` is not in this version; there is `sqlite`, `file`, `memu`";
        assert_eq!(error, words);
        for (kind, name) in
            [("sandbox", "docker"), ("container", "subprocess"), ("sandbox", "bwrap")]
        {
            let error = choose(&format!("providers:\n  {kind}: {name}\n")).unwrap_err().to_string();
            assert!(error.ends_with("not in this version; there is `namespaces`"), "{error}");
        }
        let error = choose("providers:\n  image: gemini\n").unwrap_err().to_string();
        assert!(error.ends_with("there is `none`"), "{error}");
        assert_eq!(Providers::choose(None), Ok(Providers::default()));
        assert_eq!(Providers::default().of(ProviderKind::Llm), None);
    }
}
