//! What the choice of a stubborn set costs in one state: philosophers with their forks, four instances each.
//!
//! Relations are written by hand as the model `dining_forks` gives them, the states are those of a random walk,
//! guards are looked up in two arrays: what is timed is the choice alone.

use bombus::explore::reduce::por::{Chooser, Method, Preserve};
use bombus::system::{EventId, GuardId, Relations};
use bombus_kernels::random::Random;
use std::time::Instant;

pub const USAGE: &str = "choose [PHILOSOPHERS…]     cost of choosing a stubborn set";

/// The table: the last one starts with the right fork.
struct Dining(usize);

impl Dining {
    fn first(&self, p: usize) -> usize {
        if p + 1 < self.0 { p } else { (p + 1) % self.0 }
    }

    fn second(&self, p: usize) -> usize {
        if p + 1 < self.0 { (p + 1) % self.0 } else { p }
    }

    /// The fork that must be free for a step: take first, take second, put first, put second.
    fn wanted(&self, p: usize, step: usize) -> Option<usize> {
        match step {
            0 => Some(self.first(p)),
            1 => Some(self.second(p)),
            _ => None,
        }
    }

    /// Guard `4 p + k` says that p is at step k, guard `4 n + f` that fork f is free.
    fn relations(&self) -> Relations {
        let n = self.0;
        let guards = (0..4 * n)
            .map(|i| {
                let fork = self.wanted(i / 4, i % 4).map(|f| GuardId((4 * n + f) as u32));
                std::iter::once(GuardId(i as u32)).chain(fork).collect()
            })
            .collect();
        let mut r = Relations::unrelated((0..4 * n as u32).map(EventId).collect(), guards, 5 * n);
        for i in 0..4 * n {
            let (p, step) = (i / 4, i % 4);
            r.dependent.insert(i, i);
            r.enablers.insert(p * 4 + (step + 1) % 4, i);
            match step {
                2 => r.enablers.insert(4 * n + self.first(p), i),
                3 => r.enablers.insert(4 * n + self.second(p), i),
                _ => {}
            }
            for j in (0..4 * n).filter(|j| j / 4 != p) {
                let fork = self.wanted(p, step);
                if fork.is_some() && fork == self.wanted(j / 4, j % 4) {
                    r.dependent.insert(i, j);
                }
            }
        }
        r
    }
}

struct Walked {
    steps: Vec<usize>,
    taken: Vec<bool>,
    enabled: Vec<u64>,
}

fn walk(table: &Dining, width: usize, states: usize) -> Vec<Walked> {
    let n = table.0;
    let (mut steps, mut taken) = (vec![0; n], vec![false; n]);
    let mut random = Random(1);
    (0..states)
        .map(|_| {
            let able: Vec<usize> =
                (0..n).filter(|p| table.wanted(*p, steps[*p]).is_none_or(|f| !taken[f])).collect();
            let mut enabled = vec![0u64; width];
            for p in &able {
                let i = 4 * p + steps[*p];
                enabled[i / 64] |= 1 << (i % 64);
            }
            let now = Walked { steps: steps.clone(), taken: taken.clone(), enabled };
            let p = random.pick(&able);
            let fork = if steps[p] % 2 == 0 { table.first(p) } else { table.second(p) };
            taken[fork] = steps[p] < 2;
            steps[p] = (steps[p] + 1) % 4;
            now
        })
        .collect()
}

pub fn run(arguments: &[String]) {
    let sizes: Vec<usize> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![4, 8, 16, 64] } else { sizes };
    for n in sizes {
        let table = Dining(n.max(2));
        let relations = table.relations();
        let states = walk(&table, relations.width(), 20_000);
        let mut chooser = Chooser::new(&relations, Method::Stubborn, Preserve::Deadlocks);
        let (mut asked, mut chosen, mut enabled) = (0u64, 0u64, 0u64);
        let started = Instant::now();
        for s in &states {
            let guards = 4 * table.0;
            let mut holds = |g: GuardId| {
                asked += 1;
                let g = g.0 as usize;
                if g < guards { s.steps[g / 4] == g % 4 } else { !s.taken[g - guards] }
            };
            let set = chooser.choose(&s.enabled, &mut holds).unwrap_or(&s.enabled);
            chosen += set.iter().map(|w| u64::from(w.count_ones())).sum::<u64>();
            enabled += s.enabled.iter().map(|w| u64::from(w.count_ones())).sum::<u64>();
        }
        let per = |x: f64| x / states.len() as f64;
        println!(
            "{:4} instances: {:5.0} ns per state, {:.1} enabled, {:.2} chosen, {:.1} guards asked for",
            relations.len(),
            per(started.elapsed().as_nanos() as f64),
            per(enabled as f64),
            per(chosen as f64),
            per(asked as f64),
        );
    }
}
