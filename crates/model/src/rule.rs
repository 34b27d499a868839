//! Rules have a variant inside and a stable name at the edge.

/// Declares the rules of one reader: an enum, and the name by which records, documents and users know each of them.
#[macro_export]
macro_rules! rules {
    ($(#[$about:meta])* pub enum $name:ident { $($rule:ident = $id:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $(#[doc = concat!("`", $id, "`.")] $rule),+
        }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$rule),+];

            /// Its stable name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$rule => $id),+
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl From<$name> for ::std::borrow::Cow<'static, str> {
            fn from(rule: $name) -> Self {
                Self::Borrowed(rule.as_str())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    crate::rules! {
        /// Two of them.
        pub enum Rule { One = "of-one", Other = "of-other" }
    }

    #[test]
    fn each_has_its_name() {
        let names: Vec<Cow<'static, str>> = Rule::ALL.iter().map(|it| (*it).into()).collect();
        assert_eq!(names, ["of-one", "of-other"]);
        assert_eq!(format!("{:9}{}", Rule::One, Rule::Other.as_str()), "of-one   of-other");
    }
}
