//! Groups of effects, so that a rule can name what it means instead of a list.

use crate::EffectKind;

macro_rules! groups {
    ($($(#[doc = $about:literal])+ $variant:ident $name:literal,)+) => {
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
        }
    };
}

groups! {
    /// What a session full of outside content may not do without a person.
    /// Calls of tools are not here: they are judged by what their arguments were made of.
    Sensitive "sensitive",
    /// Changes what an agent is: settings, identity, tools, skills.
    ControlPlane "control_plane",
    /// Leaves something changed.
    Changing "changing",
    /// Lets something out.
    Outward "outward",
    /// Puts text of others before the agent or the person.
    Incoming "incoming",
    /// Goes to the web.
    Web "web",
    /// Calls of tools.
    Tools "tools",
    /// Only looks.
    Looking "looking",
}

impl Group {
    /// The groups that hold `kind`.
    pub fn of(kind: EffectKind) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |it| kind.groups().contains(it))
    }
}
