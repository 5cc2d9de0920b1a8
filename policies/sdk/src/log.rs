//! Lines for whoever runs the policy. Capped by the host (4 KiB in 64 lines a question); never part of the answer.

#[cfg(target_arch = "wasm32")]
use crate::bindings::plugin::tidegate::policy::log as host;

macro_rules! levels {
    ($($(#[$doc:meta])* $name:ident = $level:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[cfg(target_arch = "wasm32")]
        pub fn $name(message: &str) {
            host::write(host::Level::$level, message);
        }

        $(#[$doc])*
        /// Outside Wasm it goes nowhere.
        #[cfg(not(target_arch = "wasm32"))]
        pub fn $name(_message: &str) {}
    )+};
}

levels! {
    /// For the author.
    debug = Debug,
    /// Worth knowing.
    info = Info,
    /// Odd.
    warn = Warn,
    /// Wrong.
    error = Error,
}
