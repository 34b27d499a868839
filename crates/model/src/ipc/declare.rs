//! The two macros that declare what stands in messages: a type and its schema are one text.

/// An object: the fields of the struct are the fields of the object, and there are no others.
/// `non_exhaustive` keeps other crates from making one without reading a message.
macro_rules! object {
    (
        $(#[$doc:meta])*
        $name:ident {
            $($(#[$field_doc:meta])* $key:literal $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl $crate::ipc::shape::Fields for $name {
            fn read_fields(
                fields: serde_json::Map<String, serde_json::Value>,
                reader: &mut $crate::ipc::issue::Reader,
            ) -> Option<Self> {
                let mut rest = fields;
                $(let $field = $crate::ipc::shape::Field::take($key, &mut rest, reader);)*
                reader.nothing_left(&mut rest)?;
                Some(Self { $($field: $field?,)* })
            }

            fn values(&self) -> Vec<(&'static str, Option<serde_json::Value>)> {
                vec![$(($key, $crate::ipc::shape::Field::value(&self.$field)),)*]
            }

            fn properties() -> Vec<$crate::ipc::shape::Property> {
                vec![$($crate::ipc::shape::Property::of::<$type>($key),)*]
            }
        }
    };
}
pub(super) use object;

/// A name from a closed list.
macro_rules! choice {
    (
        $(#[$doc:meta])*
        $name:ident { $($(#[$variant_doc:meta])* $text:literal $variant:ident,)+ }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_doc])* $variant,)+ }

        impl $name {
            const TEXTS: &[&str] = &[$($text),+];

            /// The name as it stands in messages.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The one with exactly this name.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl $crate::ipc::shape::Shape for $name {
            fn read(
                value: serde_json::Value,
                reader: &mut $crate::ipc::issue::Reader,
            ) -> Option<Self> {
                let text = reader.text(value)?;
                Self::parse(&text).or_else(|| {
                    reader.refuse(format!("must be one of {}", Self::TEXTS.join(", ")))
                })
            }

            fn to_value(&self) -> serde_json::Value {
                self.as_str().into()
            }

            fn schema() -> serde_json::Value {
                serde_json::json!({"type": "string", "enum": Self::TEXTS})
            }
        }
    };
}
pub(super) use choice;
