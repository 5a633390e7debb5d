//! The generator of random machines is itself deterministic and shrinks to something smaller.

use crate::support;
use support::machines;

#[test]
fn the_same_seed_gives_the_same_machine() {
    for seed in 0..50 {
        assert_eq!(machines::random(seed).to_string(), machines::random(seed).to_string());
    }
}

#[test]
fn shrinking_keeps_the_property_and_never_grows() {
    for seed in 0..30 {
        let m = machines::random(seed);
        let small = m.shrink(|m| !m.ops.is_empty());
        assert!(!small.ops.is_empty());
        assert!(small.to_string().len() <= m.to_string().len());
    }
}
