//! Types of texts that were checked when they were parsed.

/// Makes validated texts, tuples that begin with their text, usable as `str` and by serde.
macro_rules! checked_text {
    ($($field:ident)*) => {$(
        impl std::ops::Deref for $field {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $field {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $field {
            type Error = $crate::error::Error;

            fn try_from(written: String) -> $crate::error::Result<Self> {
                Self::parse(&written)
            }
        }

        impl From<$field> for String {
            fn from(field: $field) -> Self {
                field.0
            }
        }
    )*};
}

pub(crate) use checked_text;
