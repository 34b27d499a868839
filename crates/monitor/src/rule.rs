//! The rules that the gate itself has. Those of the policy have the names that the operator gives them.

model::rules! {
    /// A guard, or a reason that one of them has.
    pub enum Rule {
        ActNotAskedFor = "act-not-asked-for",
        CredentialScope = "credential-scope",
        CrossToolCorrelator = "cross-tool-correlator",
        DeniedByPerson = "denied-by-person",
        DeniedRead = "denied-read",
        LayeredAccess = "layered-access",
        MalformedCall = "malformed-call",
        NoSession = "no-session",
        NotBegun = "not-begun",
        NotKept = "not-kept",
        NotRecorded = "not-recorded",
        ObeyedFile = "obeyed-file",
        OversizedOutput = "oversized-output",
        PoisonedMemory = "poisoned-memory",
        RiskAcrossCalls = "risk-across-calls",
        RiskChain = "risk-chain",
        SandboxedServer = "sandboxed-server",
        Sanitizer = "sanitizer",
        SecretElsewhere = "secret-elsewhere",
        ShellCommand = "shell-command",
        SinkProvenance = "sink-provenance",
        SinkSecretNotUsers = "sink-secret-not-users",
        SinkUntrustedContent = "sink-untrusted-content",
        SinkUntrustedControl = "sink-untrusted-control",
        SinkUntrustedDestination = "sink-untrusted-destination",
        SinkUntrustedTarget = "sink-untrusted-target",
        SystemPromptCleared = "system-prompt-cleared",
        SystemPromptRegistered = "system-prompt-registered",
        TaintBudget = "taint-budget",
        TrajectorySentinel = "trajectory-sentinel",
        UnknownTool = "unknown-tool",
        Withheld = "withheld",
    }
}
