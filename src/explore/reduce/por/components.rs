//! Strongly connected components of a small graph in rows, without recursion.
//!
//! In: successors by vertex. Out: the component of each vertex, numbered so that edges between
//! components go from higher numbers to lower ones.

/// Successors of all vertices, side by side.
#[derive(Debug, Default)]
pub struct Graph {
    /// Where the successors of each vertex begin; one more than there are vertices.
    starts: Vec<usize>,
    ends: Vec<u32>,
}

impl Graph {
    /// From edges in any order.
    pub fn new(vertices: usize, edges: &[(u32, u32)]) -> Graph {
        let mut starts = vec![0; vertices + 1];
        for (from, _) in edges {
            starts[*from as usize + 1] += 1;
        }
        for v in 0..vertices {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let mut ends = vec![0; edges.len()];
        for (from, to) in edges {
            ends[next[*from as usize]] = *to;
            next[*from as usize] += 1;
        }
        Graph { starts, ends }
    }

    pub fn vertices(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn from(&self, vertex: u32) -> &[u32] {
        &self.ends[self.starts[vertex as usize]..self.starts[vertex as usize + 1]]
    }
}

/// The component of each vertex for which `alive` holds, and how many there are. Tarjan's algorithm:
/// a component is numbered when it is left, after all that it leads to.
pub fn components(graph: &Graph, alive: &[bool]) -> (Vec<u32>, u32) {
    const NEW: u32 = u32::MAX;
    let n = graph.vertices();
    let mut component = vec![NEW; n];
    let mut count = 0;
    let mut order = vec![NEW; n];
    let mut low = vec![0u32; n];
    let mut clock = 0;
    let mut open: Vec<u32> = Vec::new();
    let mut path: Vec<(u32, usize)> = Vec::new();
    for root in 0..n as u32 {
        if !alive[root as usize] || order[root as usize] != NEW {
            continue;
        }
        path.push((root, 0));
        while let Some((v, next)) = path.pop() {
            let at = v as usize;
            if next == 0 {
                order[at] = clock;
                low[at] = clock;
                clock += 1;
                open.push(v);
            } else {
                low[at] = low[at].min(low[graph.from(v)[next - 1] as usize]);
            }
            let mut next = next;
            let mut down = None;
            while let Some(&to) = graph.from(v).get(next) {
                next += 1;
                if !alive[to as usize] {
                    continue;
                }
                if order[to as usize] == NEW {
                    down = Some(to);
                    break;
                }
                if component[to as usize] == NEW {
                    low[at] = low[at].min(order[to as usize]);
                }
            }
            if let Some(to) = down {
                path.push((v, next));
                path.push((to, 0));
            } else if low[at] == order[at] {
                while let Some(member) = open.pop() {
                    component[member as usize] = count;
                    if member == v {
                        break;
                    }
                }
                count += 1;
            }
        }
    }
    (component, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_vertices_are_in_one_component_if_and_only_if_each_reaches_the_other() {
        // Random graphs of eight vertices against reachability by brute force.
        let mut numbers = bombus_kernels::random::Random(7);
        let mut random = |below: u64| numbers.below(below);
        for _ in 0..500 {
            let edges: Vec<(u32, u32)> =
                (0..random(20)).map(|_| (random(8) as u32, random(8) as u32)).collect();
            let alive: Vec<bool> = (0..8).map(|_| random(8) != 0).collect();
            let mut reach = [[false; 8]; 8];
            reach.iter_mut().enumerate().for_each(|(v, row)| row[v] = true);
            for _ in 0..8 {
                for &(a, b) in &edges {
                    if alive[a as usize] && alive[b as usize] {
                        for row in &mut reach {
                            row[b as usize] |= row[a as usize];
                        }
                    }
                }
            }
            let (component, _) = components(&Graph::new(8, &edges), &alive);
            for a in (0..8).filter(|a| alive[*a]) {
                for b in (0..8).filter(|b| alive[*b]) {
                    assert_eq!(component[a] == component[b], reach[a][b] && reach[b][a]);
                    assert!(!reach[a][b] || component[a] >= component[b], "edges go to lower numbers");
                }
            }
        }
    }
}
