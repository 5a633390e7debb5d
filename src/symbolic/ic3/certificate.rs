//! Certificates: an invariant is proved again from a fresh translation, by questions that know nothing of the search.
//!
//! In: a fresh system and the cubes that an invariant excludes. Out: proved, refuted, or a width that does not suffice.
//! Never here: the search.
//!
//! The invariant F is the property and "in none of the cubes". Initiation: the initialisation is no finding and ends in F.
//! Consecution, for each event: from F the event is no finding and ends in F. Safety: no state of F is a finding. An UNSAT
//! that rests on the range of limited integers counts only if the width of the system is at least the bound of the query.

use crate::lrat::{self, Proof};
use crate::sat::{Answer, Batsat, Limit, Lit};
use crate::system::{Cube, Moment, Part, System, Translation};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recheck {
    Proved,
    /// The query has a model.
    Refuted(Part),
    /// There is no model with this width, and models may need the width that is given, or an unknown one.
    Width(Option<usize>),
    Unknown,
}

/// Proves the invariant in the given system, which has limited integers of `width` bits. Also says how many queries were
/// asked.
pub fn recheck(
    mut system: System,
    translation: &dyn Translation,
    cubes: &[Cube],
    width: usize,
    limit: &Limit,
) -> (Recheck, u64) {
    let mut verdict = Recheck::Proved;
    for part in parts(&system) {
        let assumptions = question(&mut system, part, cubes);
        match system.gates.solve(&assumptions, limit) {
            Answer::Sat => return (Recheck::Refuted(part), system.gates.sat.queries()),
            Answer::Unknown => return (Recheck::Unknown, system.gates.sat.queries()),
            Answer::Unsat => {
                let range = system.gates.range_assumption();
                if system.gates.sat.core().contains(&range) {
                    verdict = worse(verdict, translation.bound(part, cubes), width);
                }
            }
        }
    }
    (verdict, system.gates.sat.queries())
}

/// The verdict after one more query that rests on the range.
fn worse(verdict: Recheck, bound: Option<usize>, width: usize) -> Recheck {
    match (verdict, bound) {
        (_, None) | (Recheck::Width(None), _) => Recheck::Width(None),
        (_, Some(needed)) if needed <= width => verdict,
        (Recheck::Width(Some(before)), Some(needed)) => Recheck::Width(Some(before.max(needed))),
        (_, Some(needed)) => Recheck::Width(Some(needed)),
    }
}

/// The queries of a certificate.
pub fn parts(system: &System) -> Vec<Part> {
    let mut out = vec![Part::Initiation];
    out.extend((0..system.events.len()).map(Part::Consecution));
    out.push(Part::Safety);
    out
}

/// The assumptions of a query; the range is the first of them.
fn question(system: &mut System, part: Part, cubes: &[Cube]) -> Vec<Lit> {
    let mut out = vec![system.gates.range_assumption()];
    if part != Part::Initiation {
        out.push(system.property);
        out.push(system.outside(Moment::Current, cubes));
    }
    let broken = match part {
        Part::Initiation => breaks(system, Moment::Initial, cubes),
        Part::Consecution(event) => breaks(system, Moment::After(event), cubes),
        Part::Safety => system.bad_state,
    };
    out.push(broken);
    out
}

/// The literal of "the step is a finding or ends in one of the cubes".
fn breaks(system: &mut System, moment: Moment, cubes: &[Cube]) -> Lit {
    let outside = system.outside(moment, cubes);
    let (taken, bad) = system.step(moment).map_or((Lit::FALSE, Lit::FALSE), |step| (step.taken, step.bad));
    let inside = system.gates.and(taken, !outside);
    system.gates.or(bad, inside)
}

/// A proof of one query that can be checked without this program.
pub struct PartProof {
    pub part: Part,
    pub proof: Proof,
}

/// Proofs of all queries, each from a translation of its own. `None` if a query has a model or was stopped.
pub fn proofs(
    translation: &dyn Translation,
    cubes: &[Cube],
    width: usize,
    limit: &Limit,
) -> Option<Vec<PartProof>> {
    let all = parts(&translation.system(width, Box::new(Batsat::new())));
    all.into_iter()
        .map(|part| {
            let mut system = translation.system(width, Box::new(Batsat::logging()));
            for lit in question(&mut system, part, cubes) {
                // Each assumption becomes a clause, so that the clauses alone have no model.
                system.gates.add_clause(&[lit]);
            }
            match system.gates.solve(&[], limit) {
                Answer::Unsat => {
                    let proof = lrat::prove(system.gates.sat.variables(), system.gates.sat.log())?;
                    Some(PartProof { part, proof })
                }
                _ => None,
            }
        })
        .collect()
}
