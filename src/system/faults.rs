//! Faults that tests make on purpose, to show that a wrong engine does not get its certificates accepted.
//!
//! In: the name of a fault in the environment (`BOMBUS_SEEDED_FAULT`), `place: what`. Out: whether the place that asks
//! shall go wrong. Programs without debug assertions, such as every release, have no faults to switch on: the question is
//! answered when the program is compiled. `tests/runs/seeded_faults.rs` lists the names.

#[cfg(debug_assertions)]
mod switch {
    use std::sync::LazyLock;

    static CHOSEN: LazyLock<Option<(String, String)>> = LazyLock::new(|| {
        let name = std::env::var("BOMBUS_SEEDED_FAULT").ok()?;
        let (place, what) = name.split_once(": ")?;
        Some((place.to_string(), what.to_string()))
    });

    /// The fault that is chosen for a place, if one is.
    #[inline]
    pub fn chosen(place: &str) -> Option<&'static str> {
        CHOSEN.as_ref().filter(|c| c.0 == place).map(|c| &*c.1)
    }
}

#[cfg(not(debug_assertions))]
mod switch {
    /// No fault: this program has none.
    #[inline(always)]
    pub fn chosen(_: &str) -> Option<&'static str> {
        None
    }
}

pub use switch::chosen;

/// Whether this fault of this place is chosen.
#[inline(always)]
pub fn is_chosen(place: &str, what: &str) -> bool {
    chosen(place) == Some(what)
}
