//! The providers that a configuration may choose, by kind and name, from one static table.
//!
//! INVARIANT (OneProviderTable): a provider is a value of a closed enum. No path, library, command or
//! address is ever made from what a configuration says, and nothing can add a row while running.

/// The longest part of a wrong name that an error repeats, in characters.
const SHOWN_CHARS_MAX: usize = 48;

/// The provider with exactly this kind and name.
///
/// # Errors
/// If there is no such kind, or none of that name; the error lists what there is.
pub fn resolve(kind: &str, name: &str) -> Result<Provider, UnknownProvider> {
    let Some(found) = ProviderKind::parse(kind) else {
        return Err(UnknownProvider::Kind { kind: shown(kind) });
    };
    found.provider(name).ok_or_else(|| UnknownProvider::Name { kind: found, name: shown(name) })
}

/// A choice that is not in the table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownProvider {
    /// There is no such kind.
    #[error("`{kind}` is no kind of provider; there are {}", kinds())]
    Kind {
        /// What was asked for, escaped and shortened.
        kind: String,
    },
    /// The kind has no provider of that name.
    #[error("`{name}` is no {} provider; there are {}", kind.as_str(), kind.names().join(", "))]
    Name {
        /// The kind.
        kind: ProviderKind,
        /// What was asked for, escaped and shortened.
        name: String,
    },
}

macro_rules! providers {
    ($($kind:ident $word:ident $about:literal { $($name:ident $text:literal,)+ })+) => {
        /// What a provider provides.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ProviderKind {
            $(#[doc = $about] $kind,)+
        }

        /// One provider of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Provider {
            $(#[doc = $about] $kind($kind),)+
        }

        $(
            #[doc = concat!("Names of kind `", stringify!($word), "`: ", $about)]
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub enum $kind {
                $(#[doc = concat!("`", $text, "`")] $name,)+
            }
        )+

        impl ProviderKind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind),+];

            /// The word in configurations.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$kind => stringify!($word)),+ }
            }

            /// The kind of exactly this word.
            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                match word { $(stringify!($word) => Some(Self::$kind),)+ _ => None }
            }

            /// The names that this kind has.
            #[must_use]
            pub const fn names(self) -> &'static [&'static str] {
                match self { $(Self::$kind => &[$($text),+],)+ }
            }

            fn provider(self, name: &str) -> Option<Provider> {
                match (self, name) {
                    $($((Self::$kind, $text) => Some(Provider::$kind($kind::$name)),)+)+
                    _ => None,
                }
            }
        }

        impl Provider {
            /// Its kind.
            #[must_use]
            pub const fn kind(self) -> ProviderKind {
                match self { $(Self::$kind(_) => ProviderKind::$kind),+ }
            }

            /// Its name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $($(Self::$kind($kind::$name) => $text,)+)+ }
            }
        }
    };
}

providers! {
    Llm llm "language models" {
        Anthropic "anthropic",
        OpenAi "openai",
        OpenRouter "openrouter",
        Groq "groq",
        DeepInfra "deepinfra",
        Gemini "gemini",
        Local "local",
        Multi "multi",
        Router "router",
        Mock "mock",
    }
    Image image "models that make pictures" {
        OpenAi "openai",
        OpenRouter "openrouter",
        Groq "groq",
        Gemini "gemini",
        Router "router",
        None "none",
    }
    Memory memory "what agents remember" {
        File "file",
        Sqlite "sqlite",
        Postgres "postgres",
        Memu "memu",
        Cortex "cortex",
    }
    Scanner scanner "looks at content" {
        Basic "basic",
        Patterns "patterns",
        Guardian "guardian",
        Promptfoo "promptfoo",
    }
    Screener screener "looks at skills before they are installed" {
        None "none",
        Static "static",
    }
    Channel channel "where people write to an agent" {
        Cli "cli",
        Web "web",
        Slack "slack",
        WhatsApp "whatsapp",
        Telegram "telegram",
        Discord "discord",
    }
    Web web "reads the web" {
        None "none",
        Fetch "fetch",
        Search "search",
        Tavily "tavily",
    }
    Browser browser "drives a browser" {
        None "none",
        Container "container",
    }
    Credentials credentials "keeps secrets" {
        Env "env",
        Age "age",
        Encrypted "encrypted",
        Keychain "keychain",
        Plaintext "plaintext",
    }
    Skills skills "keeps skills" {
        ReadOnly "readonly",
        Git "git",
        Database "database",
    }
    Audit audit "keeps the record of what happened" {
        Journal "journal",
        File "file",
        Sqlite "sqlite",
        Database "database",
    }
    Container container "runs what must be kept apart, by its older name" {
        Namespaces "namespaces",
        Docker "docker",
        Apple "apple",
        Subprocess "subprocess",
    }
    Sandbox sandbox "runs what must be kept apart" {
        Namespaces "namespaces",
        Seatbelt "seatbelt",
        Bwrap "bwrap",
        Nsjail "nsjail",
        Docker "docker",
        Apple "apple",
        K8s "k8s",
        Subprocess "subprocess",
    }
    Shell shell "runs the commands of agents" {
        None "none",
        Sandbox "sandbox",
    }
    Scheduler scheduler "does things later" {
        None "none",
        Cron "cron",
        Full "full",
        PlainJob "plainjob",
    }
    Database database "where rows are kept" {
        Sqlite "sqlite",
        PostgreSql "postgresql",
    }
    Storage storage "where sessions and documents are kept" {
        File "file",
        Database "database",
    }
    EventBus eventbus "tells parts of the host about each other" {
        InProcess "inprocess",
    }
}

fn kinds() -> String {
    ProviderKind::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(", ")
}

/// Hostile text in a form that cannot steer a terminal or fill a log.
fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS_MAX).flat_map(escape).collect();
    if text.chars().nth(SHOWN_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

fn escape(found: char) -> std::char::EscapeDefault {
    // A backtick would end the quotation that the error puts around it.
    if found == '`' { '\''.escape_default() } else { found.escape_default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_reads_back_and_no_other_text_does() {
        for kind in ProviderKind::ALL {
            assert_eq!(ProviderKind::parse(kind.as_str()), Some(*kind));
            for name in kind.names() {
                let found = resolve(kind.as_str(), name).unwrap();
                assert_eq!((found.kind(), found.name()), (*kind, *name));
                for wrong in [name.to_uppercase(), format!("{name} "), format!("{name}\0")] {
                    assert!(resolve(kind.as_str(), &wrong).is_err(), "{wrong:?}");
                }
            }
        }
    }

    #[test]
    fn an_error_lists_what_there_is() {
        let error = resolve("llm", "evil").unwrap_err().to_string();
        assert!(error.starts_with("`evil` is no llm provider; there are anthropic, openai,"));
        let error = resolve("fakekind", "foo").unwrap_err().to_string();
        assert!(error.starts_with("`fakekind` is no kind of provider; there are llm, image,"));
        assert!(error.contains(", credentials, ") && error.ends_with("eventbus"));
    }

    #[test]
    fn hostile_text_is_escaped_and_shortened() {
        let hostile = format!("`\u{1b}[2J\u{202e}\n{}", "x".repeat(1_000_000));
        for error in [resolve(&hostile, "x"), resolve("llm", &hostile)] {
            let error = error.unwrap_err().to_string();
            assert!(error.len() < 500, "{error}");
            assert!(error.starts_with("`\\'\\u{1b}[2J\\u{202e}\\nxxx"), "{error}");
            assert!(error.contains("xxx…` is no "), "{error}");
        }
    }
}
