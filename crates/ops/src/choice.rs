//! Parameters that are one of several words.

use mip_core::{DType, Layout, PixelFormat};

/// Stores a type that has `ALL` and `name()`, and lists its words for [`crate::ParamKind::choice`].
macro_rules! stored_by_name {
    ($type:ty, $words:ident) => {
        /// The names, in declaration order.
        pub(crate) const $words: &[&str] = &{
            let mut words = [""; <$type>::ALL.len()];
            let mut i = 0;
            while i < words.len() {
                words[i] = <$type>::ALL[i].name();
                i += 1;
            }
            words
        };

        impl $crate::field::Stored for $type {
            fn to_value(&self) -> $crate::Value {
                $crate::Value::from(self.name())
            }

            fn from_value(value: &$crate::Value) -> Option<Self> {
                let $crate::Value::Text(word) = value else { return None };
                Self::ALL.into_iter().find(|v| v.name() == word)
            }
        }
    };
}

/// An enumeration of words, with `ALL`, `name()` and `Display`.
macro_rules! choice {
    (
        $(#[$doc:meta])* $vis:vis enum $type:ident as $words:ident {
            $($(#[$variant_doc:meta])* $variant:ident = $name:literal,)+
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        $vis enum $type {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $type {
            /// All of them, in declaration order.
            $vis const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name used in pipeline files.
            $vis const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        $crate::choice::stored_by_name!($type, $words);
    };
}

pub(crate) use {choice, stored_by_name};

stored_by_name!(PixelFormat, FORMATS);

/// The names of [`PixelFormat::PICTURES`], which come first.
pub(crate) const PICTURES: &[&str] = FORMATS.split_at(PixelFormat::PICTURES.len()).0;

stored_by_name!(DType, DTYPES);

/// The names of [`DType::PICTURES`].
pub(crate) const PICTURE_DTYPES: &[&str] = &{
    let mut words = [""; DType::PICTURES.len()];
    let mut i = 0;
    while i < words.len() {
        words[i] = DType::PICTURES[i].name();
        i += 1;
    }
    words
};

stored_by_name!(Layout, LAYOUTS);
