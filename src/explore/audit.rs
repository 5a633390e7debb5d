//! Bookkeeping: counts that were made independently of each other must agree at the end of a run.
//!
//! In: the counters of all workers and what the visited set says. Out: nothing, or the sum that does
//! not add up, which makes the run an internal error. It runs in the shipped binary.

/// The counters of a run, summed over the workers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Books {
    /// Edges emitted by the system, initial ones included.
    pub generated: u64,
    /// Edges that led to a new state, and to a known one.
    pub fresh: u64,
    pub known: u64,
    /// States in the digest.
    pub digested: u64,
    /// States counted slot by slot in the visited set.
    pub stored: u64,
    /// States put on queues, and states taken off and dealt with.
    pub pushed: u64,
    pub popped: u64,
    /// States that are still on queues.
    pub left: u64,
    /// Transitions, and their sum over the events.
    pub transitions: u64,
    pub by_event: u64,
    pub initial_edges: u64,
    /// Edges in the log, if there is one.
    pub logged: Option<u64>,
    /// Edges whose targets were sent to other machines, need not be sent again, and were received from other machines.
    pub sent: u64,
    pub filtered: u64,
    pub received: u64,
}

impl Books {
    /// `exhausted`: the run ended because no work was left, not because it was stopped.
    pub fn check(&self, exhausted: bool) -> Result<(), String> {
        let agree = |what: &str, left: u64, right: u64| {
            if left == right { Ok(()) } else { Err(format!("{what}: {left} against {right}")) }
        };
        agree("states in the visited set against new states", self.stored, self.fresh)?;
        agree("states in the digest against new states", self.digested, self.fresh)?;
        agree("transitions against their sum over events", self.transitions, self.by_event)?;
        if !exhausted {
            return Ok(());
        }
        agree(
            "edges against new plus known targets",
            self.generated + self.received,
            self.fresh + self.known + self.sent + self.filtered,
        )?;
        agree("states sent against states received", self.sent, self.received)?;
        agree(
            "edges against transitions plus initial edges",
            self.generated,
            self.transitions + self.initial_edges,
        )?;
        if let Some(logged) = self.logged {
            agree(
                "edges in the log against edges followed",
                logged + self.initial_edges,
                self.fresh + self.known,
            )?;
        }
        agree("states pushed against new states", self.pushed, self.fresh)?;
        agree("states pushed against states popped", self.pushed, self.popped)?;
        agree("states left on queues against none", self.left, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::Books;

    fn books() -> Books {
        Books {
            generated: 11,
            fresh: 5,
            known: 6,
            digested: 5,
            stored: 5,
            pushed: 5,
            popped: 5,
            left: 0,
            transitions: 10,
            by_event: 10,
            initial_edges: 1,
            logged: Some(10),
            sent: 0,
            filtered: 0,
            received: 0,
        }
    }

    #[test]
    fn right_books_pass() {
        assert_eq!(books().check(true), Ok(()));
    }

    #[test]
    fn every_counter_that_is_off_by_one_is_noticed() {
        let mutations: [fn(&mut Books); 15] = [
            |b| b.generated += 1,
            |b| b.fresh += 1,
            |b| b.known += 1,
            |b| b.digested -= 1,
            |b| b.stored -= 1,
            |b| b.pushed += 1,
            |b| b.popped += 1,
            |b| b.left += 1,
            |b| b.transitions += 1,
            |b| b.by_event -= 1,
            |b| b.initial_edges += 1,
            |b| b.logged = Some(9),
            |b| b.sent += 1,
            |b| b.filtered += 1,
            |b| b.received += 1,
        ];
        for (i, mutate) in mutations.iter().enumerate() {
            let mut wrong = books();
            mutate(&mut wrong);
            assert!(wrong.check(true).is_err(), "mutation {i} went unnoticed");
        }
    }
}
