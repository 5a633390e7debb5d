//! Which check starts next: by priority, then in the order of the file, within the budget of the machine.
//!
//! A check of lower priority never overtakes one of higher priority that still waits for room; among equals a smaller
//! check may use what is left over. The batch is finite, so nobody waits for ever.

use super::jobs::Instance;

/// What the machine gives to the batch at one time.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Workers of all running checks together.
    pub workers: u32,
    /// Memory limits of all running checks together; checks without a limit promise nothing.
    pub memory: Option<u64>,
}

impl Budget {
    pub fn refuse_the_impossible(&self, instances: &[Instance]) -> Result<(), Vec<String>> {
        let mut wrong = Vec::new();
        for i in instances {
            if i.workers > self.workers {
                wrong.push(format!(
                    "{}: {} workers, but the budget is {} (cores in [batch], or --cores)",
                    i.name, i.workers, self.workers
                ));
            }
            if let (Some(all), Some(mine)) = (self.memory, i.limits.bytes)
                && mine > all
            {
                wrong.push(format!("{}: its memory limit is larger than the budget of the batch", i.name));
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }
}

/// A waiting check and what it needs.
#[derive(Clone, Copy, Debug)]
pub struct Wants {
    pub place: usize,
    priority: i64,
    workers: u32,
    memory: u64,
}

impl Wants {
    pub fn of(place: usize, instance: &Instance) -> Wants {
        Wants {
            place,
            priority: instance.priority,
            workers: instance.workers,
            memory: instance.limits.bytes.unwrap_or(0),
        }
    }
}

pub struct Queue {
    budget: Budget,
    /// Sorted: highest priority first, then by place.
    waiting: Vec<Wants>,
    running: Vec<Wants>,
}

impl Queue {
    pub fn new(all: impl Iterator<Item = Wants>, budget: Budget) -> Queue {
        let mut queue = Queue { budget, waiting: all.collect(), running: Vec::new() };
        queue.sort();
        queue
    }

    fn sort(&mut self) {
        self.waiting.sort_by_key(|w| (std::cmp::Reverse(w.priority), w.place));
    }

    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// The check that starts now, if one fits.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<usize> {
        let highest = self.waiting.first()?.priority;
        let at = self.waiting.iter().take_while(|w| w.priority == highest).position(|w| self.fits(w))?;
        let chosen = self.waiting.remove(at);
        self.running.push(chosen);
        Some(chosen.place)
    }

    fn fits(&self, w: &Wants) -> bool {
        let workers: u32 = self.running.iter().map(|r| r.workers).sum();
        let memory: u64 = self.running.iter().map(|r| r.memory).sum();
        workers.saturating_add(w.workers) <= self.budget.workers
            && self.budget.memory.is_none_or(|all| memory.saturating_add(w.memory) <= all)
    }

    pub fn ended(&mut self, place: usize) {
        self.running.retain(|r| r.place != place);
    }

    /// A check that runs once more, after the others of its priority that came before it.
    pub fn again(&mut self, w: Wants) {
        self.waiting.push(w);
        self.sort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(place: usize, priority: i64, workers: u32) -> Wants {
        Wants { place, priority, workers, memory: 10 }
    }

    fn queue(all: Vec<Wants>, workers: u32, memory: Option<u64>) -> Queue {
        Queue::new(all.into_iter(), Budget { workers, memory })
    }

    #[test]
    fn higher_priority_starts_first_and_is_not_overtaken() {
        let mut q = queue(vec![wants(0, 0, 1), wants(1, 5, 2), wants(2, 5, 2)], 3, None);
        assert_eq!(q.next(), Some(1));
        // Place 2 waits for room; place 0 would fit but has a lower priority.
        assert_eq!(q.next(), None);
        q.ended(1);
        assert_eq!((q.next(), q.next()), (Some(2), Some(0)));
    }

    #[test]
    fn among_equals_a_smaller_check_fills_the_gap() {
        let mut q = queue(vec![wants(0, 0, 2), wants(1, 0, 4), wants(2, 0, 2)], 4, None);
        assert_eq!((q.next(), q.next(), q.next()), (Some(0), Some(2), None));
        assert_eq!((q.running(), q.waiting()), (2, 1));
    }

    #[test]
    fn promised_memory_counts() {
        let mut q = queue(vec![wants(0, 0, 1), wants(1, 0, 1), wants(2, 0, 1)], 8, Some(25));
        assert_eq!((q.next(), q.next(), q.next()), (Some(0), Some(1), None));
    }
}
