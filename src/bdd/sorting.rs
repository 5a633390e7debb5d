//! Representatives by sorting: a network of comparators that brings the columns of a state into ascending order.
//!
//! The column of an element is the list of variables that an exchange moves to those of its neighbour. A comparator replaces the
//! states in which two neighbouring columns descend by their images under the exchange of the two; whole sets of states go
//! through it at once. So every state is replaced by a member of its orbit, whatever the columns are. Where each variable belongs to
//! one column at most, all members of an orbit end as one state.
//!
//! In: exchanges as permutations of variables. Out: one member of a set for each state that its members end as. So a search
//! knows what it has seen by sorted states alone, and never needs the images of what it keeps.
//! Never here: whether the system is symmetric.

use super::diagram::{Diagrams, Halted, Renaming, Set};
use super::encoding::Encoding;
use bombus_base::hash::{HashMap, HashSet};
use bombus_system::Exchange;
use dashu_int::UBig;
use oxidd::VarNo;
use std::collections::BTreeMap;

pub struct Sorting {
    /// What is done, in this order.
    network: Vec<Comparator>,
    /// For each row of elements: the states in which the columns of two neighbours are equal.
    equal: Vec<Vec<Set>>,
    /// Whether all members of an orbit end as one state.
    pub exact: bool,
}

#[derive(Clone)]
struct Comparator {
    /// The number of an exchange.
    exchange: usize,
    /// The states in which the first column is the greater one.
    descending: Set,
}

/// The greatest number of pairs of compared variables of which, at some place in the order of variables, one stands above and the other
/// below: a diagram of the comparison has up to two nodes there for each value of the variables above.
const APART: usize = 14;

/// The exchanges of neighbours in one row of elements, by their numbers, with the variables that each moves.
struct Chain {
    exchanges: Vec<usize>,
    moves: Vec<HashMap<VarNo, VarNo>>,
}

impl Sorting {
    pub fn new(exchanges: &[Exchange], encoding: &Encoding, diagrams: &Diagrams) -> Halted<Sorting> {
        let mut sorting = Sorting { network: Vec::new(), equal: Vec::new(), exact: true };
        let mut seen: HashSet<VarNo> = HashSet::default();
        for chain in chains(exchanges, encoding) {
            if !chain.moves.iter().all(is_involution) {
                sorting.exact = false;
                continue;
            }
            let columns = chain.columns();
            let all = columns.iter().flatten().flatten();
            sorting.exact &= columns.is_some() && all.copied().all(|v| seen.insert(v));
            let (mut comparators, mut all_equal) = (Vec::new(), Vec::new());
            for (i, moves) in chain.moves.iter().enumerate() {
                let pairs = pairs(columns.as_ref().map(|c| &*c[i]), moves);
                let Some((descending, equal)) = comparison(&pairs, diagrams)? else {
                    sorting.exact = false;
                    break;
                };
                comparators.push(Comparator { exchange: chain.exchanges[i], descending });
                all_equal.push(equal);
            }
            sorting.equal.push(all_equal);
            // The greatest column rises to the last place, then the greatest of the others, and so on.
            for last in (1..=comparators.len()).rev() {
                sorting.network.extend_from_slice(&comparators[..last]);
            }
        }
        Ok(sorting)
    }

    /// How many states the orbits of sorted states have. An orbit has one for each arrangement of its columns: n! of n
    /// columns, divided by k! for every k columns that are equal. Counted over `counted` variables.
    pub fn arrangements(&self, sorted: &Set, counted: u32, diagrams: &Diagrams) -> Halted<UBig> {
        let mut all = UBig::ONE;
        // By what n! is divided by and the number of equal columns that were met last: the states.
        let mut parts = Parts::from([((UBig::ONE, 1), sorted.clone())]);
        for row in &self.equal {
            parts = parts.into_iter().try_fold(Parts::new(), |met, ((by, _), set)| add(met, (by, 1), set))?;
            for (i, equal) in row.iter().enumerate() {
                all *= i as u64 + 2;
                let mut next = Parts::new();
                for ((by, run), set) in parts {
                    diagrams.check()?;
                    next = add(next, (&by * (run + 1), run + 1), set.and(equal)?)?;
                    next = add(next, (by, 1), set.without(equal)?)?;
                }
                parts = next;
            }
        }
        Ok(parts.into_iter().map(|((by, _), set)| diagrams.size(&set, counted) * (&all / by)).sum())
    }

    /// The exchanges in the order of the network. It is a reduced word of the permutation that reverses all columns, so every
    /// permutation is what some of these do one after the other.
    pub fn exchanges(&self) -> impl Iterator<Item = usize> + '_ {
        self.network.iter().map(|c| c.exchange)
    }

    /// Members of a set: one for each state that members of the set end as and that is not among `seen`, where it is entered.
    pub fn pick(
        &self,
        set: &Set,
        seen: &mut Set,
        exchanges: &[Renaming],
        diagrams: &Diagrams,
    ) -> Halted<Set> {
        let mut stages = Vec::with_capacity(self.network.len());
        let mut states = set.clone();
        for Comparator { exchange, descending } in &self.network {
            diagrams.check()?;
            let wrong = states.and(descending)?;
            stages.push(states.clone());
            if !wrong.is_empty() {
                states = states.without(&wrong)?.or(&exchanges[*exchange].of(&wrong)?)?;
            }
        }
        states = states.without(seen)?;
        *seen = seen.or(&states)?;
        // Back through the network: a state was there before a comparator, or its image was, or both were.
        for (Comparator { exchange, .. }, before) in self.network.iter().zip(stages).rev() {
            diagrams.check()?;
            let moved = states.without(&before)?;
            if !moved.is_empty() {
                states = states.and(&before)?.or(&exchanges[*exchange].of(&moved)?)?;
            }
        }
        Ok(states)
    }
}

type Parts = BTreeMap<(UBig, u64), Set>;

/// Parts of a set with one more.
fn add(parts: Parts, key: (UBig, u64), set: Set) -> Halted<Parts> {
    let mut parts = parts;
    if !set.is_empty() {
        let both = match parts.get(&key) {
            Some(known) => known.or(&set)?,
            None => set,
        };
        parts.insert(key, both);
    }
    Ok(parts)
}

/// The exchanges in rows: each exchanges the second element of the one before with a further one.
fn chains(exchanges: &[Exchange], encoding: &Encoding) -> Vec<Chain> {
    let mut chains: Vec<Chain> = Vec::new();
    let mut last: Option<&Exchange> = None;
    for (i, exchange) in exchanges.iter().enumerate() {
        let moves: HashMap<VarNo, VarNo> = encoding.permuted(exchange).into_iter().collect();
        if moves.is_empty() {
            continue;
        }
        let goes_on = last.is_some_and(|l| l.set == exchange.set && l.elements[1] == exchange.elements[0]);
        match chains.last_mut().filter(|_| goes_on) {
            Some(chain) => {
                chain.exchanges.push(i);
                chain.moves.push(moves);
            }
            None => chains.push(Chain { exchanges: vec![i], moves: vec![moves] }),
        }
        last = Some(exchange);
    }
    chains
}

/// Whether two times the same is nothing: a comparator leads back by its own exchange.
fn is_involution(moves: &HashMap<VarNo, VarNo>) -> bool {
    moves.iter().all(|(a, b)| moves.get(b) == Some(a))
}

/// The variables of one column beside those of the next; without columns, those that an exchange swaps.
fn pairs(column: Option<&[VarNo]>, moves: &HashMap<VarNo, VarNo>) -> Vec<(VarNo, VarNo)> {
    if let Some(column) = column {
        return column.iter().map(|v| (*v, moves[v])).collect();
    }
    let mut pairs: Vec<_> = moves.iter().map(|(a, b)| (*a, *b)).filter(|(a, b)| a < b).collect();
    pairs.sort_unstable();
    pairs
}

impl Chain {
    /// By element its variables, those of all elements in the same order; none if a variable belongs to two elements or
    /// to none.
    fn columns(&self) -> Option<Vec<Vec<VarNo>>> {
        let first = &self.moves[0];
        let is_first = |v: &VarNo| match self.moves.get(1) {
            Some(second) => !second.contains_key(v),
            None => *v < first[v],
        };
        let mut column: Vec<VarNo> = first.keys().copied().filter(is_first).collect();
        column.sort_unstable();
        let mut columns = vec![column];
        let mut seen: HashSet<VarNo> = columns[0].iter().copied().collect();
        for moves in &self.moves {
            let column = columns.last()?;
            let next: Option<Vec<VarNo>> = column.iter().map(|v| moves.get(v).copied()).collect();
            let next = next.filter(|next| 2 * next.len() == moves.len())?;
            if next.is_empty() || !next.iter().all(|v| seen.insert(*v)) {
                return None;
            }
            columns.push(next);
        }
        Some(columns)
    }
}

/// The states in which the first variables of some pairs, read as a number whose first digit counts most, are greater than the second
/// ones, and those in which they are equal. None if the comparison may be large.
fn comparison(pairs: &[(VarNo, VarNo)], diagrams: &Diagrams) -> Halted<Option<(Set, Set)>> {
    let apart = |at: VarNo| pairs.iter().filter(|(a, b)| a.min(b) <= &at && &at < a.max(b)).count();
    let most = match pairs.is_sorted() && pairs.is_sorted_by_key(|p| p.1) {
        true => pairs.iter().map(|(a, b)| apart(*a).max(apart(*b))).max().unwrap_or(0),
        false => pairs.len(),
    };
    if pairs.is_empty() || most > APART {
        return Ok(None);
    }
    let (mut greater, mut equal) = (diagrams.none.clone(), diagrams.all.clone());
    for (a, b) in pairs.iter().rev() {
        let both = diagrams.cube([(*a, true), (*b, true)])?;
        let neither = diagrams.cube([(*a, false), (*b, false)])?;
        let here = diagrams.cube([(*a, true), (*b, false)])?;
        let same = both.or(&neither)?;
        greater = same.and(&greater)?.or(&here)?;
        equal = same.and(&equal)?;
    }
    Ok(Some((greater, equal)))
}

#[cfg(test)]
mod tests {
    use super::super::encoding::Atom;
    use super::super::orbit::Orbits;
    use super::*;
    use bombus_base::budget::Budget;
    use bombus_base::random::Random;
    use bombus_system::BitField;

    /// States of one bit for each of some places, and the exchanges of neighbouring elements as what they do to places.
    struct Places {
        encoding: Encoding,
        exchanges: Vec<Exchange>,
        bits: u32,
    }

    /// `image(i, place)` is where the exchange of the elements i and i + 1 puts a place.
    fn places(elements: u32, bits: u32, random: &mut Random, image: impl Fn(u32, u32) -> u32) -> Places {
        let fields: Vec<BitField> =
            (0..bits).map(|i| BitField { offset: i, width: 1, codes: None }).collect();
        let mut order: Vec<Atom> = (0..bits).map(|field| Atom { field, index: 0 }).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, random.below(i as u64 + 1) as usize);
        }
        let exchange = |i: u32| Exchange {
            set: "S".into(),
            elements: [i.to_string(), (i + 1).to_string()],
            images: (0..bits).map(|place| (image(i, place), None)).collect(),
            proved: true,
        };
        let encoding = Encoding::new(&fields, 1, &vec![false; fields.len()], &order, &[0]);
        Places { encoding, exchanges: (0..elements - 1).map(exchange).collect(), bits }
    }

    fn swapped(i: u32, element: u32) -> u32 {
        if element == i {
            i + 1
        } else if element == i + 1 {
            i
        } else {
            element
        }
    }

    impl Places {
        fn orbit(&self, state: u64) -> HashSet<u64> {
            let mut orbit: HashSet<u64> = [state].into_iter().collect();
            let mut todo = vec![state];
            while let Some(state) = todo.pop() {
                for exchange in &self.exchanges {
                    let to = |p: u32| (state >> p & 1) << exchange.images[p as usize].0;
                    let image = (0..self.bits).map(to).sum();
                    if orbit.insert(image) {
                        todo.push(image);
                    }
                }
            }
            orbit
        }

        /// What is kept of random states, with the states.
        fn kept(&self, random: &mut Random) -> (HashSet<u64>, HashSet<u64>, bool) {
            let diagrams = Diagrams::new(self.encoding.vars, 1 << 16, 1, &Budget::unlimited());
            let states: HashSet<u64> =
                (0..1 + random.below(40)).map(|_| random.below(1 << self.bits)).collect();
            let cube = |state: &u64| {
                let at = self.encoding.assignment(&[*state]);
                diagrams.cube(self.encoding.current.iter().map(|v| (*v, at[*v as usize]))).unwrap()
            };
            let set = diagrams.union(states.iter().map(cube).collect()).unwrap();
            let orbits = Orbits::new(&self.exchanges, None, &self.encoding, &diagrams).unwrap();
            let sorting = Sorting::new(&self.exchanges, &self.encoding, &diagrams).unwrap();
            if sorting.exact {
                let mut sorted = diagrams.none.clone();
                orbits.pick_unseen(&set, &mut sorted, &diagrams).unwrap();
                let all: HashSet<u64> = states.iter().flat_map(|s| self.orbit(*s)).collect();
                assert_eq!(orbits.size(&sorted, self.bits, &diagrams).unwrap(), UBig::from(all.len()));
            }
            let mut rest = orbits.pick(&set, &self.encoding, &diagrams).unwrap();
            let mut kept = HashSet::default();
            while let Some(one) = rest.pick() {
                let state = self.encoding.state(&one)[0];
                rest = rest.without(&cube(&state)).unwrap();
                kept.insert(state);
            }
            (kept, states, sorting.exact)
        }
    }

    #[test]
    fn one_state_of_each_orbit_is_kept_where_every_element_has_a_column_of_its_own() {
        let mut random = Random(1);
        for _ in 0..60 {
            let (elements, bits) = (2 + random.below(4) as u32, 1 + random.below(3) as u32);
            let column = |i: u32, place: u32| swapped(i, place % elements) + place / elements * elements;
            let places = places(elements, elements * bits + 1, &mut random, |i, place| {
                if place == elements * bits { place } else { column(i, place) }
            });
            let (kept, states, exact) = places.kept(&mut random);
            assert!(exact && kept.is_subset(&states));
            for state in &states {
                assert_eq!(places.orbit(*state).intersection(&kept).count(), 1, "{state:b} of {states:?}");
            }
        }
    }

    #[test]
    fn one_state_of_each_orbit_is_kept_of_relations_between_elements() {
        let mut random = Random(2);
        for _ in 0..40 {
            let elements = 3 + random.below(2) as u32;
            let places = places(elements, elements * elements, &mut random, |i, place| {
                swapped(i, place / elements) * elements + swapped(i, place % elements)
            });
            let (kept, states, exact) = places.kept(&mut random);
            assert!(!exact && kept.is_subset(&states));
            for state in &states {
                assert_eq!(places.orbit(*state).intersection(&kept).count(), 1, "{state:b} of {states:?}");
            }
        }
    }
}
