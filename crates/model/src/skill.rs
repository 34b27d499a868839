//! What is looked for in a skill, and how bad it is.

crate::rules! {
    /// A check of the skill verifier. The first six are the ways of seed 004.
    pub enum SkillCheck {
        ShellExecution = "skill-v1-shell-execution",
        ReverseShell = "skill-v2-reverse-shell",
        CredentialExfiltration = "skill-v3-credential-exfiltration",
        MemoryPoisoning = "skill-v4-memory-poisoning",
        NameCollision = "skill-v5-name-collision",
        Typosquatting = "skill-v6-typosquatting",
        ExfiltrationUrl = "skill-v7-exfiltration-url",
        Injection = "skill-v8-injection",
        EncodedPayload = "skill-v9-encoded-payload",
        Binary = "skill-v10-binary",
        Permissions = "skill-v11-permissions",
        HardCodedSecret = "skill-v12-hard-coded-secret",
        Install = "skill-v13-install",
        Unread = "skill-v14-unread",
        Form = "skill-v15-form",
    }
}

impl SkillCheck {
    /// Returns the check of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.as_str() == name)
    }

    /// Returns the way of attack, `V1` to `V15`.
    #[must_use]
    pub fn vector(self) -> String {
        format!("V{}", self as usize + 1)
    }

    /// Returns what it looks for, in a few words.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::ShellExecution => "runs commands that nobody has seen",
            Self::ReverseShell => "gives a shell to another machine",
            Self::CredentialExfiltration => "takes credentials, or sends them away",
            Self::MemoryPoisoning => "writes what agents remember or obey",
            Self::NameCollision => "has the name of a skill that is installed",
            Self::Typosquatting => "has a name that is taken for another",
            Self::ExfiltrationUrl => "names a place where data is carried to",
            Self::Injection => "gives orders against the user or the operator",
            Self::EncodedPayload => "hides what it does in an encoding",
            Self::Binary => "brings a program that cannot be read",
            Self::Permissions => "asks for permissions, or gives them to itself",
            Self::HardCodedSecret => "holds a credential",
            Self::Install => "has others' packages installed",
            Self::Unread => "has parts that were not read",
            Self::Form => "is not put together as a skill is",
        }
    }
}

crate::rules! {
    /// How bad it is if a finding is what it seems; the later, the worse.
    pub enum Severity {
        Info = "info",
        Low = "low",
        Medium = "medium",
        High = "high",
        Critical = "critical",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_is_the_number_in_the_name() {
        for check in SkillCheck::ALL {
            let vector = check.vector().to_lowercase();
            assert!(check.as_str().starts_with(&format!("skill-{vector}-")), "{check}");
        }
    }
}
