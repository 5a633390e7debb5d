//! How many product edges a second; figures are printed, never asserted.

use super::check::Checker;
use super::parse::parse_ltl;
use super::testing::{HERE, Random, World};
use super::view::{Arc, Explicit};
use crate::base::budget::{Budget, peak_resident_bytes};

#[test]
#[ignore = "measures; run it in release"]
fn product_edges_per_second() {
    let states = 1_000_000u32;
    let mut random = Random(7);
    let mut arcs = Vec::new();
    for source in 0..states {
        for k in 0..10 {
            let target = if k == 0 { (source + 1) % states } else { random.below(u64::from(states)) as u32 };
            arcs.push(Arc { source, event: k % 4, label: 0, target });
        }
    }
    let graph = Explicit::new(states as usize, &[0], arcs);
    let world = World {
        graph,
        events: ["a", "b", "c", "d"].map(String::from).to_vec(),
        propositions: [("p".to_string(), vec![states - 1])].into(),
        undefined: Vec::new(),
    };
    let budget = Budget::unlimited();
    for formula in [
        "G {p}",
        "G not {p} or true U {p}",
        "F G not [a] => F {p}",
        "G F {p}",
        "SF(a) => G F {p}",
        "SEF => G F {p}",
        "G ([a] => X e(b))",
        "G (Y [a] => X e(b))",
    ] {
        let parsed = parse_ltl(formula, HERE).unwrap().formula;
        let mut checker = Checker::new(&world.graph, &world, &budget);
        let start = std::time::Instant::now();
        let verdict = checker.check(&parsed).unwrap();
        println!(
            "{formula}: {} in {:.3} s; peak {} MiB",
            verdict.word(),
            start.elapsed().as_secs_f64(),
            peak_resident_bytes() >> 20
        );
    }
}
