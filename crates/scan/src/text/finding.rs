//! What a scan says: findings, their categories, and what they come to.

/// A kind of sign.
///
/// The first ten are the scanner's categories of the protocol; the others say more exactly what they would lump together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// A text that poses as the system, the developer or an administrator.
    SystemImpersonation,
    /// An order to the assistant inside of data.
    IndirectInjection,
    /// Instructions are to be forgotten or replaced; the assistant is to become another.
    BehaviorManipulation,
    /// Something is said to have been agreed on before.
    FalseContextInjection,
    /// Encoded text that gives orders, or an order to decode and obey.
    EncodedPayload,
    /// The system prompt or other inner text is asked for.
    ExtractionAttempt,
    /// Examples in a row that prime the answer.
    ManyShotPriming,
    /// The form, language or wording of answers is dictated.
    FormatOverride,
    /// What stands in files of credentials.
    SensitiveFileContent,
    /// Something is to be carried off: by mail, by link, by image.
    DataExfiltration,
    /// The form of a tool call, or of its result.
    ToolCallMimicry,
    /// Marks of roles, turns and delimiters.
    DelimiterForgery,
    /// Consent of the user that the user did not give.
    FalseConsent,
    /// Credentials are asked for.
    CredentialRequest,
    /// Something is to be remembered or to hold in later sessions.
    MemoryPoisoning,
    /// Something is to be kept from the user.
    Secrecy,
    /// Limits are to be lifted by a role or a story.
    Jailbreak,
    /// Text that people do not see.
    HiddenText,
}

impl Category {
    /// All of them.
    pub const ALL: [Self; 18] = [
        Self::SystemImpersonation,
        Self::IndirectInjection,
        Self::BehaviorManipulation,
        Self::FalseContextInjection,
        Self::EncodedPayload,
        Self::ExtractionAttempt,
        Self::ManyShotPriming,
        Self::FormatOverride,
        Self::SensitiveFileContent,
        Self::DataExfiltration,
        Self::ToolCallMimicry,
        Self::DelimiterForgery,
        Self::FalseConsent,
        Self::CredentialRequest,
        Self::MemoryPoisoning,
        Self::Secrecy,
        Self::Jailbreak,
        Self::HiddenText,
    ];

    /// Returns the name in records and rule files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SystemImpersonation => "system_impersonation",
            Self::IndirectInjection => "indirect_injection",
            Self::BehaviorManipulation => "behavior_manipulation",
            Self::FalseContextInjection => "false_context_injection",
            Self::EncodedPayload => "encoded_payload",
            Self::ExtractionAttempt => "extraction_attempt",
            Self::ManyShotPriming => "many_shot_priming",
            Self::FormatOverride => "format_override",
            Self::SensitiveFileContent => "sensitive_file_content",
            Self::DataExfiltration => "data_exfiltration",
            Self::ToolCallMimicry => "tool_call_mimicry",
            Self::DelimiterForgery => "delimiter_forgery",
            Self::FalseConsent => "false_consent",
            Self::CredentialRequest => "credential_request",
            Self::MemoryPoisoning => "memory_poisoning",
            Self::Secrecy => "secrecy",
            Self::Jailbreak => "jailbreak",
            Self::HiddenText => "hidden_text",
        }
    }

    /// Returns the category of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }
}

/// How bad it would be if the sign were obeyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Of note.
    Low,
    /// Steers the assistant.
    Medium,
    /// Takes the assistant over, or carries data off.
    High,
}

impl Severity {
    /// Returns the name in records and rule files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// Returns the severity of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Low, Self::Medium, Self::High].into_iter().find(|it| it.as_str() == name)
    }
}

/// How the text of a finding was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Coding {
    /// As it stands.
    Plain,
    /// In base64, of either alphabet.
    Base64,
    /// In base32.
    Base32,
    /// In hexadecimal digits.
    Hex,
    /// With the letters moved by thirteen.
    Rot13,
    /// From back to front.
    Reversed,
    /// In Unicode tag characters.
    Tags,
    /// In variation selectors.
    Selectors,
    /// Letter by letter, with something in between.
    Spaced,
    /// With markup inside of words.
    Markup,
    /// As numbers, letter by letter.
    Codes,
}

impl Coding {
    /// Returns the name in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Base64 => "base64",
            Self::Base32 => "base32",
            Self::Hex => "hex",
            Self::Rot13 => "rot13",
            Self::Reversed => "reversed",
            Self::Tags => "tags",
            Self::Selectors => "selectors",
            Self::Spaced => "spaced",
            Self::Markup => "markup",
            Self::Codes => "codes",
        }
    }
}

/// A sign that a text gives orders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    /// The id of the rule that found it: stable, in records.
    pub rule: &'static str,
    /// What kind of sign.
    pub category: Category,
    /// How bad.
    pub severity: Severity,
    /// How it was written.
    pub coding: Coding,
    /// Where it begins in the original text, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// How much it says by itself, 0 to 1.
    pub weight: f64,
}

/// What the signs of a text say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Nothing of note.
    Clean,
    /// It may give orders.
    Suspicious,
    /// It gives orders.
    Injection,
}

impl Verdict {
    /// Returns the name in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Suspicious => "suspicious",
            Self::Injection => "injection",
        }
    }
}
