//! Generalisation: from a cube that is not reached to a larger one that is not reached either.
//!
//! In: a cube and the level at which the cube is blocked. Out: a cube with fewer facts and wider bounds, blocked at the
//! same level. Never here: which cubes are blocked.
//!
//! A relation between integers is often the better reason than their values, but a core prefers values. So besides the core
//! itself the differences that follow from the cube are tried, without the bounds of their integers, and the shorter
//! result is taken, bounds on a tie.

use super::frames::{Frames, Stopped};
use crate::system::{Atom, Cube, Fact};
use dashu_int::IBig;

/// A cube that contains `cube` and is not reached from below `level`; `part` are facts of `cube` that suffice for that.
pub fn generalise(frames: &mut Frames, cube: &Cube, part: Cube, level: usize) -> Result<Cube, Stopped> {
    let mut best = drop_facts(frames, part, level)?;
    if let Some(relational) = frames.system.relational(cube)
        && let Some(part) = frames.unreached_part(&relational, level)?
    {
        let other = drop_facts(frames, part, level)?;
        if other.len() < best.len() {
            best = other;
        }
    }
    widen(frames, best, level)
}

/// What is dropped first.
fn rank(fact: &Fact) -> u8 {
    match fact.atom {
        Atom::Difference(..) => 0,
        Atom::AtMost(..) => 1,
        Atom::Bit(_) => 2,
    }
}

/// Drops one fact after the other, those of low rank first, as long as the rest is not reached.
fn drop_facts(frames: &mut Frames, mut cube: Cube, level: usize) -> Result<Cube, Stopped> {
    cube.sort_by_key(rank);
    let mut kept = 0;
    while kept < cube.len() {
        let mut shorter = cube.clone();
        shorter.remove(kept);
        match frames.unreached_part(&shorter, level)? {
            // Facts that were kept are needed with any subset of the others, but a core may still lose one of them.
            Some(part) => {
                kept = part.iter().filter(|fact| cube[..kept].contains(fact)).count();
                cube = part;
            }
            None => kept += 1,
        }
    }
    cube.sort();
    Ok(cube)
}

/// Moves each bound outwards by doubling distances, as long as the cube is not reached.
fn widen(frames: &mut Frames, mut cube: Cube, level: usize) -> Result<Cube, Stopped> {
    for index in 0..cube.len() {
        let narrow = cube[index].clone();
        let mut distance = IBig::ONE;
        while let Some(wide) = narrow.widened(&distance) {
            let mut wider = cube.clone();
            wider[index] = wide;
            // A core may do without a fact that the larger bound made superfluous; the facts stay for the others.
            if frames.unreached_part(&wider, level)?.is_none() {
                break;
            }
            cube = wider;
            distance <<= 1;
            if distance.clone() > widest(frames) {
                break;
            }
        }
    }
    cube.sort();
    Ok(cube)
}

/// Beyond this distance a bound says nothing within the widths of the system.
fn widest(frames: &Frames) -> IBig {
    IBig::ONE << (frames.widest_integer() + 2)
}
