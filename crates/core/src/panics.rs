//! Panics of code that is not ours, as errors.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`; a panic inside becomes an error with the panic's message, and prints nothing.
///
/// For decoders, encoders and the bodies of threads: what `work` was changing has to be given up after a panic.
///
/// # Errors
/// The panic's message.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let print = take_hook();
        set_hook(Box::new(move |panic| {
            if !CAUGHT.get() {
                print(panic);
            }
        }));
    });
    let before = CAUGHT.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    CAUGHT.set(before);
    result.map_err(|panic| message(&*panic))
}

/// The message of a panic.
pub fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_its_message() {
        assert_eq!(caught(|| 3), Ok(3));
        assert_eq!(caught(|| assert!(caught(|| panic!("inner")).is_ok(), "outer")), Err("outer".to_owned()));
        let number = 5;
        assert_eq!(caught(|| panic!("number {number}")), Err::<(), _>("number 5".to_owned()));
    }
}
