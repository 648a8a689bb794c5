//! Functions of libraries that are looked for when a program runs.

/// Declares `Functions`, those of a library that are called, each giving a `Status`, with the types of its header; `Functions::of`
/// finds them in a loaded one.
///
/// The types must be those of the header in every version of the library that is loaded, and what holds `Functions` must hold the
/// library too.
macro_rules! functions {
    ($($field:ident = $name:ident($($argument:ty),* $(,)?);)*) => {
        /// The functions that are called.
        #[derive(Debug)]
        pub(super) struct Functions {
            $(pub(super) $field: unsafe extern "C" fn($($argument),*) -> Status,)*
        }

        impl Functions {
            /// The functions, or the name of the first that is missing.
            fn of(library: &libloading::Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $($field: {
                        // SAFETY: the type is that of the library's header; the library stays loaded for as long as the pointer.
                        let found = unsafe {
                            library.get::<unsafe extern "C" fn($($argument),*) -> Status>(stringify!($name))
                        };
                        *found.map_err(|_| stringify!($name))?
                    },)*
                })
            }
        }
    };
}
