//! Domains of integer variables, and a trail to undo what was narrowed.
//!
//! In: bounds and values to keep or remove. Out: the domains, and a list of changes for whoever
//! wakes constraints. Wide domains are intervals only: removing a value inside such a one does nothing.

/// A variable with a finite domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fd(u32);

impl Fd {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A variable over 0..1, or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lit {
    pub var: Fd,
    pub positive: bool,
}

impl Lit {
    /// Variable 0 is 1.
    pub const TRUE: Lit = Lit { var: Fd(0), positive: true };
    pub const FALSE: Lit = Lit { var: Fd(0), positive: false };

    pub fn of(var: Fd) -> Lit {
        Lit { var, positive: true }
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;
    fn not(self) -> Lit {
        Lit { var: self.var, positive: !self.positive }
    }
}

/// No value is left for some variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict;

pub type Step = Result<(), Conflict>;

/// What changed, and what a constraint waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event(u8);

impl Event {
    pub const FIXED: Event = Event(1);
    pub const BOUNDS: Event = Event(2);
    pub const ANY: Event = Event(4);

    pub fn matches(self, happened: Event) -> bool {
        self.0 & happened.0 != 0
    }
}

/// Domains up to this width know every single value.
const WIDTH: i64 = 1 << 12;

#[derive(Clone, Copy, Debug)]
struct Bits {
    base: i64,
    at: u32,
    words: u32,
}

#[derive(Clone, Copy, Debug)]
enum Undo {
    Low(Fd, i64),
    High(Fd, i64),
    Word(u32, u64),
}

/// A place on the trail.
#[derive(Clone, Copy, Debug)]
pub struct Mark(usize);

#[derive(Default)]
pub struct Domains {
    low: Vec<i64>,
    high: Vec<i64>,
    bits: Vec<Option<Bits>>,
    words: Vec<u64>,
    trail: Vec<Undo>,
    changes: Vec<(Fd, Event)>,
}

impl Domains {
    pub(crate) fn interval(&mut self, low: i64, high: i64) -> Fd {
        debug_assert!(low <= high);
        let v = Fd(self.low.len() as u32);
        let width = high - low + 1;
        let bits = (width > 2 && width <= WIDTH).then(|| {
            let words = (width as usize).div_ceil(64);
            let at = self.words.len() as u32;
            self.words.resize(self.words.len() + words, u64::MAX);
            Bits { base: low, at, words: words as u32 }
        });
        self.low.push(low);
        self.high.push(high);
        self.bits.push(bits);
        v
    }

    pub(crate) fn of_values(&mut self, values: &[i64]) -> Fd {
        let (low, high) = (values[0], values[values.len() - 1]);
        let v = self.interval(low, high);
        if let Some(b) = self.bits[v.index()] {
            self.words[b.at as usize..(b.at + b.words) as usize].fill(0);
            for n in values {
                let i = (n - b.base) as usize;
                self.words[b.at as usize + i / 64] |= 1 << (i % 64);
            }
        }
        v
    }

    /// Whether every single value of the domain is known.
    pub fn is_narrow(&self, v: Fd) -> bool {
        self.bits[v.index()].is_some() || self.high(v) - self.low(v) <= 1
    }

    pub fn low(&self, v: Fd) -> i64 {
        self.low[v.index()]
    }

    pub fn high(&self, v: Fd) -> i64 {
        self.high[v.index()]
    }

    pub fn is_fixed(&self, v: Fd) -> bool {
        self.low[v.index()] == self.high[v.index()]
    }

    pub fn value(&self, v: Fd) -> Option<i64> {
        self.is_fixed(v).then(|| self.low(v))
    }

    pub fn literal(&self, l: Lit) -> Option<bool> {
        self.value(l.var).map(|n| (n == 1) == l.positive)
    }

    pub fn contains(&self, v: Fd, n: i64) -> bool {
        let i = v.index();
        if n < self.low[i] || n > self.high[i] {
            return false;
        }
        match self.bits[i] {
            None => true,
            Some(b) => {
                let k = (n - b.base) as usize;
                self.words[b.at as usize + k / 64] >> (k % 64) & 1 == 1
            }
        }
    }

    /// The values from `base` to `base+63` that are left, as bits.
    pub(crate) fn word(&self, v: Fd, base: i64) -> u64 {
        let i = v.index();
        let (low, high) = (self.low[i].max(base), self.high[i].min(base + 63));
        if low > high {
            return 0;
        }
        let between = (u64::MAX >> (63 - (high - low))) << (low - base);
        match self.bits[i] {
            None => between,
            Some(b) if b.words == 1 => {
                let word = self.words[b.at as usize];
                let moved = b.base - base;
                let word = match moved {
                    0..64 => word << moved,
                    -63..0 => word >> -moved,
                    _ => 0,
                };
                word & between
            }
            Some(_) => {
                let there = |n: i64| u64::from(self.contains(v, n)) << (n - base);
                (low..=high).fold(0, |word, n| word | there(n))
            }
        }
    }

    /// How many values are left (of a wide domain, the width).
    pub fn size(&self, v: Fd) -> u64 {
        let i = v.index();
        let (low, high) = (self.low[i], self.high[i]);
        match self.bits[i] {
            None => (high - low) as u64 + 1,
            Some(b) => {
                let (from, to) = ((low - b.base) as usize, (high - b.base) as usize);
                let mut count = 0;
                for w in from / 64..=to / 64 {
                    let mut word = self.words[b.at as usize + w];
                    if w == from / 64 {
                        word &= u64::MAX << (from % 64);
                    }
                    if w == to / 64 {
                        word &= u64::MAX >> (63 - to % 64);
                    }
                    count += u64::from(word.count_ones());
                }
                count
            }
        }
    }

    pub fn values(&self, v: Fd) -> Vec<i64> {
        (self.low(v)..=self.high(v)).filter(|n| self.contains(v, *n)).collect()
    }

    fn changed(&mut self, v: Fd, event: u8) {
        let fixed = u8::from(self.is_fixed(v));
        self.changes.push((v, Event(event | fixed)));
    }

    pub(crate) fn next_change(&mut self) -> Option<(Fd, Event)> {
        self.changes.pop()
    }

    pub(crate) fn forget_changes(&mut self) {
        self.changes.clear();
    }

    pub fn at_least(&mut self, v: Fd, n: i64) -> Step {
        let i = v.index();
        if n <= self.low[i] {
            return Ok(());
        }
        let mut n = n;
        while n <= self.high[i] && !self.contains(v, n) {
            n += 1;
        }
        if n > self.high[i] {
            return Err(Conflict);
        }
        self.trail.push(Undo::Low(v, self.low[i]));
        self.low[i] = n;
        self.changed(v, 6);
        Ok(())
    }

    pub fn at_most(&mut self, v: Fd, n: i64) -> Step {
        let i = v.index();
        if n >= self.high[i] {
            return Ok(());
        }
        let mut n = n;
        while n >= self.low[i] && !self.contains(v, n) {
            n -= 1;
        }
        if n < self.low[i] {
            return Err(Conflict);
        }
        self.trail.push(Undo::High(v, self.high[i]));
        self.high[i] = n;
        self.changed(v, 6);
        Ok(())
    }

    pub fn remove(&mut self, v: Fd, n: i64) -> Step {
        let i = v.index();
        if n == self.low[i] {
            return if self.is_fixed(v) { Err(Conflict) } else { self.at_least(v, n + 1) };
        }
        if n == self.high[i] {
            return self.at_most(v, n - 1);
        }
        if let Some(b) = self.bits[i]
            && self.contains(v, n)
        {
            let k = (n - b.base) as usize;
            let word = b.at + (k / 64) as u32;
            self.trail.push(Undo::Word(word, self.words[word as usize]));
            self.words[word as usize] &= !(1 << (k % 64));
            self.changed(v, 4);
        }
        Ok(())
    }

    /// Keeps the values from `base` to `base+63` that bits of a word name, as far as they are left.
    pub(crate) fn keep(&mut self, v: Fd, base: i64, named: u64) -> Step {
        let there = self.word(v, base);
        let kept = there & named;
        if kept == 0 {
            return Err(Conflict);
        }
        let (low, high) = (kept.trailing_zeros(), 63 - kept.leading_zeros());
        self.at_least(v, base + i64::from(low))?;
        self.at_most(v, base + i64::from(high))?;
        let gone = there & !kept & (u64::MAX >> (63 - high)) & (u64::MAX << low);
        match self.bits[v.index()] {
            Some(b) if gone != 0 && b.words == 1 => {
                let moved = b.base - base;
                let gone = if moved >= 0 { gone >> moved } else { gone << -moved };
                self.trail.push(Undo::Word(b.at, self.words[b.at as usize]));
                self.words[b.at as usize] &= !gone;
                self.changed(v, 4);
            }
            Some(_) => {
                for n in (low..high).filter(|n| gone >> n & 1 == 1) {
                    self.remove(v, base + i64::from(n))?;
                }
            }
            None => {}
        }
        Ok(())
    }

    pub fn fix(&mut self, v: Fd, n: i64) -> Step {
        if !self.contains(v, n) {
            return Err(Conflict);
        }
        self.at_least(v, n)?;
        self.at_most(v, n)
    }

    pub fn assert(&mut self, l: Lit) -> Step {
        self.fix(l.var, i64::from(l.positive))
    }

    pub fn mark(&self) -> Mark {
        Mark(self.trail.len())
    }

    pub fn undo(&mut self, mark: Mark) {
        self.changes.clear();
        while self.trail.len() > mark.0 {
            match self.trail.pop() {
                Some(Undo::Low(v, n)) => self.low[v.index()] = n,
                Some(Undo::High(v, n)) => self.high[v.index()] = n,
                Some(Undo::Word(at, w)) => self.words[at as usize] = w,
                None => return,
            }
        }
    }
}
