//! The topological proviso: which reduced states must be expanded in full so that nothing is ignored.
//!
//! In: the reduced states found since the last round and the edges that leave them. Out: the states
//! to expand, chosen by a rule that depends on the graph and the fingerprints alone (docs/algorithms.md,
//! "The topological proviso"). Never here: exploring.
//!
//! Only the states of the present round matter: a reduced state of an earlier one has no edge to a
//! later state, and has been dealt with.
//! * Paths: every cycle must have a full state. Vertices without predecessor or successor are trimmed
//!   until none is left; of each component of the rest one is broken; and so on until nothing is left.
//! * States: every reduced state must reach a full one through edges that repair nothing. Of each
//!   terminal component of those that do not, one is opened.

use super::components::{Graph, components};

/// Turns after which one vertex per component is not waited for any more: each turn looks at all of
/// the rest.
const TURNS: u32 = 48;

/// A reduced state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vertex {
    pub id: u32,
    pub print: u128,
    /// Enabled instances that were left out.
    pub missing: u32,
    /// A check of the state failed or could not be computed.
    pub flawed: bool,
}

/// What one round found.
#[derive(Debug, Default)]
pub struct Round {
    pub vertices: Vec<Vertex>,
    /// Source and target of the edges of reduced states, by id.
    pub edges: Vec<(u32, u32)>,
}

/// The round as a graph: vertices in the order of their fingerprints.
struct Local {
    vertices: Vec<Vertex>,
    forward: Graph,
    backward: Graph,
    /// Whether an edge leaves the round: towards a full state, or one of an earlier round.
    leaves: Vec<bool>,
}

impl Round {
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty() && self.edges.is_empty()
    }

    pub fn bytes(&self) -> u64 {
        (self.edges.len() * size_of::<(u32, u32)>() + self.vertices.len() * size_of::<Vertex>()) as u64
    }

    pub fn append(&mut self, other: &mut Round) {
        self.vertices.append(&mut other.vertices);
        self.edges.append(&mut other.edges);
    }

    fn local(mut self) -> Local {
        self.vertices.sort_unstable_by_key(|v| (v.print, v.id));
        let mut place: Vec<(u32, u32)> =
            self.vertices.iter().enumerate().map(|(i, v)| (v.id, i as u32)).collect();
        place.sort_unstable();
        let find = |id: u32| place.binary_search_by_key(&id, |p| p.0).ok().map(|at| place[at].1);
        let mut leaves = vec![false; self.vertices.len()];
        let mut edges = Vec::new();
        for (from, to) in &self.edges {
            // Edges of states that were not reduced after all are of no interest.
            let Some(from) = find(*from) else { continue };
            match find(*to) {
                Some(to) => edges.push((from, to)),
                None => leaves[from as usize] = true,
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let turned: Vec<(u32, u32)> = edges.iter().map(|(a, b)| (*b, *a)).collect();
        let n = self.vertices.len();
        Local {
            vertices: self.vertices,
            forward: Graph::new(n, &edges),
            backward: Graph::new(n, &turned),
            leaves,
        }
    }

    /// The states to expand so that no cycle of reduced states is left.
    pub fn break_cycles(self) -> Vec<Vertex> {
        let local = self.local();
        let n = local.vertices.len();
        let mut alive = vec![true; n];
        let mut into: Vec<u32> = (0..n as u32).map(|v| local.backward.from(v).len() as u32).collect();
        let mut out: Vec<u32> = (0..n as u32).map(|v| local.forward.from(v).len() as u32).collect();
        let mut bare: Vec<u32> =
            (0..n as u32).filter(|v| into[*v as usize] == 0 || out[*v as usize] == 0).collect();
        let mut broken = Vec::new();
        for turn in 0.. {
            while let Some(v) = bare.pop() {
                if !std::mem::replace(&mut alive[v as usize], false) {
                    continue;
                }
                for &t in local.forward.from(v) {
                    into[t as usize] -= 1;
                    if alive[t as usize] && into[t as usize] == 0 {
                        bare.push(t);
                    }
                }
                for &s in local.backward.from(v) {
                    out[s as usize] -= 1;
                    if alive[s as usize] && out[s as usize] == 0 {
                        bare.push(s);
                    }
                }
            }
            if !alive.contains(&true) {
                break;
            }
            if turn == TURNS {
                // Whatever is left: only edges that go up in the order of the vertices may stay.
                let down = |v: u32| local.forward.from(v).iter().any(|t| alive[*t as usize] && *t <= v);
                broken.extend((0..n as u32).filter(|v| alive[*v as usize] && down(*v)));
                break;
            }
            let (component, count) = components(&local.forward, &alive);
            let mut chosen: Vec<Option<u32>> = vec![None; count as usize];
            let mut sizes = vec![0u32; count as usize];
            for v in (0..n as u32).filter(|v| alive[*v as usize]) {
                let c = component[v as usize] as usize;
                sizes[c] += 1;
                if chosen[c].is_none_or(|best| local.cost(v) < local.cost(best)) {
                    chosen[c] = Some(v);
                }
            }
            for (c, v) in chosen.into_iter().enumerate() {
                let Some(v) = v else { continue };
                if sizes[c] > 1 || local.forward.from(v).contains(&v) {
                    broken.push(v);
                    bare.push(v);
                }
            }
        }
        broken.sort_unstable();
        broken.into_iter().map(|v| local.vertices[v as usize]).collect()
    }

    /// The states to expand so that every reduced state reaches a full one.
    pub fn open_traps(self) -> Vec<Vertex> {
        let local = self.local();
        let n = local.vertices.len();
        let mut trapped = vec![true; n];
        let mut work: Vec<u32> = (0..n as u32).filter(|v| local.leaves[*v as usize]).collect();
        work.iter().for_each(|v| trapped[*v as usize] = false);
        while let Some(v) = work.pop() {
            for &s in local.backward.from(v) {
                if std::mem::replace(&mut trapped[s as usize], false) {
                    work.push(s);
                }
            }
        }
        if !trapped.contains(&true) {
            return Vec::new();
        }
        let (component, count) = components(&local.forward, &trapped);
        let mut terminal = vec![true; count as usize];
        let mut chosen: Vec<Option<u32>> = vec![None; count as usize];
        for v in (0..n as u32).filter(|v| trapped[*v as usize]) {
            let c = component[v as usize] as usize;
            // A trapped state leads to trapped ones only.
            terminal[c] &= local.forward.from(v).iter().all(|t| component[*t as usize] == c as u32);
            if chosen[c].is_none_or(|best| local.cost(v) < local.cost(best)) {
                chosen[c] = Some(v);
            }
        }
        let mut opened: Vec<u32> =
            chosen.into_iter().zip(terminal).filter_map(|(v, terminal)| v.filter(|_| terminal)).collect();
        opened.sort_unstable();
        opened.into_iter().map(|v| local.vertices[v as usize]).collect()
    }
}

impl Local {
    /// Little is left out there, many cycles go through it; then the fingerprint, which is the order
    /// of the vertices.
    fn cost(&self, v: u32) -> (u32, std::cmp::Reverse<u64>, u32) {
        let through = self.backward.from(v).len() as u64 * self.forward.from(v).len() as u64;
        (self.vertices[v as usize].missing, std::cmp::Reverse(through), v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(n: u32, edges: &[(u32, u32)]) -> Round {
        let vertices = (0..n)
            .map(|id| Vertex { id, print: u128::from(id) * 3 % 7, missing: 1, flawed: false })
            .collect();
        Round { vertices, edges: edges.to_vec() }
    }

    fn ids(picked: Vec<Vertex>) -> Vec<u32> {
        let mut ids: Vec<u32> = picked.iter().map(|v| v.id).collect();
        ids.sort_unstable();
        ids
    }

    #[test]
    fn a_tree_needs_no_full_state_for_paths_and_one_for_each_leaf_that_leads_nowhere_for_states() {
        let edges = [(0, 1), (0, 2), (1, 3)];
        assert!(round(4, &edges).break_cycles().is_empty());
        assert_eq!(ids(round(4, &edges).open_traps()), [2, 3]);
        // An edge to a state that is not in the round is a way out.
        assert_eq!(ids(round(4, &[(0, 1), (0, 2), (1, 3), (3, 9)]).open_traps()), [2]);
    }

    #[test]
    fn of_two_rings_with_a_common_state_that_one_is_broken() {
        // 0 → 1 → 2 → 0 and 0 → 3 → 0: the common state lies on most cycles.
        assert_eq!(ids(round(4, &[(0, 1), (1, 2), (2, 0), (0, 3), (3, 0)]).break_cycles()), [0]);
    }

    #[test]
    fn a_loop_at_a_state_is_a_cycle() {
        assert_eq!(ids(round(2, &[(0, 1), (1, 1)]).break_cycles()), [1]);
        assert_eq!(ids(round(2, &[(0, 1), (1, 1)]).open_traps()), [1]);
    }

    #[test]
    fn numbers_that_states_happen_to_have_do_not_change_the_choice() {
        let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2)];
        let renamed: Vec<(u32, u32)> = edges.iter().map(|(a, b)| (a * 5 % 11, b * 5 % 11)).collect();
        let mut other = round(5, &[]);
        other.vertices.iter_mut().for_each(|v| v.id = v.id * 5 % 11);
        other.vertices.reverse();
        other.edges = renamed;
        let prints = |picked: Vec<Vertex>| picked.iter().map(|v| v.print).collect::<Vec<_>>();
        assert_eq!(prints(round(5, &edges).break_cycles()), prints(other.break_cycles()));
    }
}
