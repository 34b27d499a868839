//! Groups of effects, so that a rule can name what it means instead of a list.

use model::EffectKind;

macro_rules! groups {
    ($($(#[doc = $about:literal])+ $variant:ident $name:literal [$($kind:ident)+],)+) => {
        /// A group of effects. In rules: `action in Action::"sensitive"`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Group { $($(#[doc = $about])+ $variant),+ }

        impl Group {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name in rules.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// What it holds.
            #[must_use]
            pub const fn members(self) -> &'static [EffectKind] {
                match self { $(Self::$variant => &[$(EffectKind::$kind),+]),+ }
            }
        }
    };
}

groups! {
    /// What a session full of outside content may not do without a person (seeds 000 and 001).
    /// Calls of tools are not here: they are judged by what their arguments were made of.
    Sensitive "sensitive" [
        OauthCall SkillPropose SkillInstall BrowserNavigate BrowserType SchedulerAdd
        ControlPlaneChange AgentDelegate ShellExec
    ],
    /// Changes what an agent is: settings, identity, tools, skills.
    ControlPlane "control_plane" [ControlPlaneChange SkillInstall],
    /// Leaves something changed.
    Changing "changing" [
        MemoryWrite MemoryDelete BrowserClick BrowserType SkillPropose SkillInstall OauthCall
        SchedulerAdd SchedulerRemove ToolWrite ToolSend ToolDestroy ShellExec FileWrite
        ControlPlaneChange AgentDelegate
    ],
    /// Lets something out.
    Outward "outward" [
        LlmCall WebFetch WebSearch BrowserNavigate BrowserClick BrowserType OauthCall ToolSend
        ToolDestroy ShellExec AgentDelegate MessageOut
    ],
    /// Puts text of others before the agent or the person.
    Incoming "incoming" [MessageIn Sampling Elicitation Notification],
    /// Goes to the web.
    Web "web" [
        WebFetch WebSearch BrowserLaunch BrowserNavigate BrowserSnapshot BrowserClick BrowserType
        BrowserScreenshot BrowserClose
    ],
    /// Calls of tools.
    Tools "tools" [ToolRead ToolWrite ToolSend ToolDestroy],
    /// Only looks.
    Looking "looking" [
        MemoryQuery MemoryRead MemoryList SkillRead SkillList SchedulerList ToolRead FileRead
        ToolsList ResourceRead PromptGet
    ],
}

impl Group {
    /// The groups that hold `kind`.
    pub fn of(kind: EffectKind) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |it| it.members().contains(&kind))
    }
}
