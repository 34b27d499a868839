//! What the sentinel counts, and how much.

use super::Suspicion;

macro_rules! signals {
    ($($name:ident $tenths:literal $about:literal,)+) => {
        /// Something that makes a session riskier.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Signal {
            $(#[doc = $about] $name,)+
        }

        impl Signal {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The name in records.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => stringify!($name)),+ }
            }

            /// Its weight, in tenths.
            #[must_use]
            pub const fn tenths(self) -> u32 {
                match self { $(Self::$name => $tenths),+ }
            }
        }
    };
}

signals! {
    VigilHigh 25 "An output gives orders.",
    VigilMedium 10 "An output may give orders.",
    VigilLow 3 "An output has a weak sign of giving orders.",
    PolicyDeny 15 "A call was not let through.",
    ExfiltrationRedaction 20 "A secret was cut out of something that would have left.",
    OutOfScope 15 "A call was outside the session's capabilities.",
    PiiRedaction 5 "Personal data were cut out of an answer.",
    ToolFailure 3 "A call failed.",
    HighCallRate 15 "Unusually many calls in a few turns.",
    UnusualReadVolume 15 "Unusually many reads in a few turns.",
    ToolPairTransition 20 "A call would have completed a chain.",
}

impl From<Suspicion> for Signal {
    fn from(suspicion: Suspicion) -> Self {
        match suspicion {
            Suspicion::Low => Self::VigilLow,
            Suspicion::Medium => Self::VigilMedium,
            Suspicion::High => Self::VigilHigh,
        }
    }
}
