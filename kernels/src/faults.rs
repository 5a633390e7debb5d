//! Faults that a test build can switch on, to see that certificates and confirmations notice them.
//!
//! Without the feature `seeded-faults` there are none: `fault` is constantly false, and the compiler drops what stands
//! behind it. With the feature the environment variable `BOMBUS_FAULT` chooses one by its name, for the whole
//! process. `tests/seeded_faults` tries all of them.

/// Whether the fault of this name is switched on.
#[cfg(not(feature = "seeded-faults"))]
#[inline(always)]
pub const fn fault(_name: &str) -> bool {
    false
}

/// Whether the fault of this name is switched on.
#[cfg(feature = "seeded-faults")]
pub fn fault(name: &str) -> bool {
    static CHOSEN: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    CHOSEN.get_or_init(|| std::env::var("BOMBUS_FAULT").ok()).as_deref() == Some(name)
}
