//! Constraints over finite domains, and how each narrows them.
//!
//! In: the domains. Out: domains without values that the constraint rules out, or a conflict.
//! A constraint with a literal says "the literal is true exactly if …".

use crate::solve::finite_domains::different::all_different;
use crate::solve::finite_domains::domain::{Conflict, Domains, Event, Fd, Lit, Step};
use crate::solve::finite_domains::relation::{Matrix, Verdicts, decided, related};
use std::sync::Arc;

/// A sum of variables with coefficients that are not zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sum(pub Box<[(i64, Fd)]>);

impl Sum {
    pub fn new(terms: Vec<(i64, Fd)>) -> Sum {
        Sum(terms.into())
    }

    fn bounds(&self, d: &Domains) -> (i64, i64) {
        let (mut low, mut high) = (0, 0);
        for (c, v) in &self.0 {
            let (a, b) = (c * d.low(*v), c * d.high(*v));
            low += a.min(b);
            high += a.max(b);
        }
        (low, high)
    }

    /// The sum is at most `k` when `sign` is 1, at least `k` when it is -1.
    fn bound(&self, d: &mut Domains, sign: i64, k: i64) -> Step {
        loop {
            let (low, high) = self.bounds(d);
            let (least, k) = if sign > 0 { (low, k) } else { (-high, -k) };
            if least > k {
                return Err(Conflict);
            }
            let mut again = false;
            for (c, v) in &self.0 {
                let c = c * sign;
                let (low, high) = (d.low(*v), d.high(*v));
                if low == high {
                    continue;
                }
                let own = if c > 0 { c * low } else { c * high };
                let slack = k - (least - own);
                if c > 0 {
                    let most = slack.div_euclid(c);
                    if most < high {
                        d.at_most(*v, most)?;
                    }
                } else {
                    let at_least = -(slack.div_euclid(-c));
                    if at_least > low {
                        d.at_least(*v, at_least)?;
                    }
                }
                // A hole may have moved the bound that the others rest on.
                again |= c * if c > 0 { d.low(*v) } else { d.high(*v) } != own;
            }
            if !again {
                return Ok(());
            }
        }
    }
}

#[derive(Clone, Debug)]
pub enum Constraint {
    /// The literal is true exactly if the sum is at most `k`.
    AtMost {
        lit: Lit,
        sum: Sum,
        k: i64,
    },
    /// The literal is true exactly if the sum is `k`.
    Equal {
        lit: Lit,
        sum: Sum,
        k: i64,
    },
    /// The literal is true exactly if one of the others is.
    Or {
        lit: Lit,
        of: Box<[Lit]>,
    },
    /// Variables plus offsets have pairwise different values.
    AllDifferent(Box<[(Fd, i64)]>),
    /// The values of the variables are a row; rows one after another.
    Table {
        vars: Box<[Fd]>,
        rows: Arc<[i64]>,
    },
    /// The values of two variables stand in a row together.
    Related {
        vars: [Fd; 2],
        matrix: Arc<Matrix>,
    },
    /// The values of two variables and of one that is 0 or 1 stand in a row together.
    Decided {
        vars: [Fd; 2],
        truth: Fd,
        table: Arc<Verdicts>,
    },
    /// The value is that of the row the index names. The index is one of those of the rows.
    Element {
        index: Fd,
        rows: Box<[(i64, Fd)]>,
        value: Fd,
    },
    Product {
        x: Fd,
        y: Fd,
        z: Fd,
    },
}

impl Constraint {
    pub fn at_most(lit: Lit, sum: Sum, k: i64) -> Constraint {
        Constraint::AtMost { lit, sum, k }
    }

    pub fn equal(lit: Lit, sum: Sum, k: i64) -> Constraint {
        Constraint::Equal { lit, sum, k }
    }

    pub(crate) fn watched(&self, watch: &mut dyn FnMut(Fd, Event)) {
        match self {
            Constraint::AtMost { lit, sum, .. } => {
                watch(lit.var, Event::FIXED);
                sum.0.iter().for_each(|(_, v)| watch(*v, Event::BOUNDS));
            }
            Constraint::Equal { lit, sum, .. } => {
                watch(lit.var, Event::FIXED);
                let event = if sum.0.len() <= 2 { Event::ANY } else { Event::BOUNDS };
                sum.0.iter().for_each(|(_, v)| watch(*v, event));
            }
            Constraint::Or { lit, of } => {
                watch(lit.var, Event::FIXED);
                of.iter().for_each(|l| watch(l.var, Event::FIXED));
            }
            Constraint::AllDifferent(vars) => vars.iter().for_each(|(v, _)| watch(*v, Event::ANY)),
            Constraint::Table { vars, .. } => vars.iter().for_each(|v| watch(*v, Event::ANY)),
            Constraint::Related { vars, .. } => vars.iter().for_each(|v| watch(*v, Event::ANY)),
            Constraint::Decided { vars, truth, .. } => {
                watch(*truth, Event::FIXED);
                vars.iter().for_each(|v| watch(*v, Event::ANY));
            }
            Constraint::Element { index, rows, value } => {
                watch(*index, Event::ANY);
                watch(*value, Event::ANY);
                rows.iter().for_each(|(_, v)| watch(*v, Event::ANY));
            }
            Constraint::Product { x, y, z } => [x, y, z].iter().for_each(|v| watch(**v, Event::BOUNDS)),
        }
    }

    /// About how long one run takes, in runs of a small constraint.
    pub(crate) fn work(&self) -> usize {
        const SMALL: usize = 32;
        1 + match self {
            Constraint::AtMost { sum, .. } | Constraint::Equal { sum, .. } => sum.0.len(),
            Constraint::Or { of, .. } => of.len(),
            Constraint::AllDifferent(vars) => vars.len() * 4,
            Constraint::Table { rows, .. } => rows.len(),
            Constraint::Element { rows, .. } => rows.len(),
            Constraint::Related { .. } | Constraint::Decided { .. } | Constraint::Product { .. } => 0,
        } / SMALL
    }

    pub(crate) fn run(&self, d: &mut Domains) -> Step {
        match self {
            Constraint::AtMost { lit, sum, k } => match d.literal(*lit) {
                Some(true) => sum.bound(d, 1, *k),
                Some(false) => sum.bound(d, -1, k + 1),
                None => {
                    let (low, high) = sum.bounds(d);
                    if high <= *k {
                        d.assert(*lit)
                    } else if low > *k {
                        d.assert(!*lit)
                    } else {
                        Ok(())
                    }
                }
            },
            Constraint::Equal { lit, sum, k } => equal(d, *lit, sum, *k),
            Constraint::Or { lit, of } => or(d, *lit, of),
            Constraint::AllDifferent(vars) => all_different(d, vars),
            Constraint::Table { vars, rows } => table(d, vars, rows),
            Constraint::Related { vars, matrix } => related(d, *vars, matrix),
            Constraint::Decided { vars, truth, table } => decided(d, *vars, *truth, table),
            Constraint::Element { index, rows, value } => element(d, *index, rows, *value),
            Constraint::Product { x, y, z } => product(d, *x, *y, *z),
        }
    }
}

fn equal(d: &mut Domains, lit: Lit, sum: &Sum, k: i64) -> Step {
    let truth = d.literal(lit);
    if truth == Some(true) {
        sum.bound(d, 1, k)?;
        sum.bound(d, -1, k)?;
        divides(d, sum, k)?;
        if let [(a, x), (b, y)] = &*sum.0
            && a.abs() == 1
            && b.abs() == 1
            && d.is_narrow(*x)
            && d.is_narrow(*y)
        {
            // a*x + b*y = k, value by value.
            for (a, x, b, y) in [(*a, *x, *b, *y), (*b, *y, *a, *x)] {
                for n in d.low(x)..=d.high(x) {
                    if d.contains(x, n) && !d.contains(y, b * (k - a * n)) {
                        d.remove(x, n)?;
                    }
                }
            }
        }
        return Ok(());
    }
    let mut rest = k;
    let mut open = None;
    for (c, v) in &sum.0 {
        match d.value(*v) {
            Some(n) => rest -= c * n,
            None if open.is_some() => {
                if truth.is_none() {
                    let (low, high) = sum.bounds(d);
                    if k < low || k > high {
                        return d.assert(!lit);
                    }
                    return disjoint(d, lit, sum, k);
                }
                return Ok(());
            }
            None => open = Some((*c, *v)),
        }
    }
    match open {
        None => match truth {
            None => d.assert(if rest == 0 { lit } else { !lit }),
            _ if rest == 0 => Err(Conflict),
            _ => Ok(()),
        },
        Some((c, v)) => {
            let hit = (rest % c == 0).then(|| rest / c).filter(|n| d.contains(v, *n));
            match (truth, hit) {
                (None, None) => d.assert(!lit),
                (Some(_), Some(n)) => d.remove(v, n),
                _ => Ok(()),
            }
        }
    }
}

/// In a sum of three and more that is `k`: what a variable leaves of `k` is a multiple of every divisor that the
/// coefficients of all other open variables have in common.
fn divides(d: &mut Domains, sum: &Sum, k: i64) -> Step {
    if sum.0.len() < 3 {
        return Ok(());
    }
    let mut rest = k;
    let mut open: Vec<(i64, Fd)> = Vec::new();
    for (c, v) in &sum.0 {
        match d.value(*v) {
            Some(n) => rest -= c * n,
            None => open.push((*c, *v)),
        }
    }
    // The common divisor of all before a place, and of all behind it.
    let mut behind = vec![0; open.len() + 1];
    for (i, (c, _)) in open.iter().enumerate().rev() {
        behind[i] = common_divisor(behind[i + 1], *c);
    }
    let whole = behind[0];
    if whole == 0 {
        return if rest == 0 { Ok(()) } else { Err(Conflict) };
    }
    if rest % whole != 0 {
        return Err(Conflict);
    }
    let mut before = 0;
    for (i, (c, v)) in open.iter().enumerate() {
        let others = common_divisor(before, behind[i + 1]);
        before = common_divisor(before, *c);
        // Without others the bounds have fixed the variable; with a divisor that all share nothing is left to say.
        if others <= 1 || others == whole || !d.is_narrow(*v) {
            continue;
        }
        for n in d.low(*v)..=d.high(*v) {
            if d.contains(*v, n) && (rest - c * n) % others != 0 {
                d.remove(*v, n)?;
            }
        }
    }
    Ok(())
}

fn common_divisor(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// `x = y` with domains that have nothing in common is false.
fn disjoint(d: &mut Domains, lit: Lit, sum: &Sum, k: i64) -> Step {
    if let [(a, x), (b, y)] = &*sum.0
        && a.abs() == 1
        && b.abs() == 1
        && d.is_narrow(*x)
        && d.is_narrow(*y)
    {
        let (a, x, b, y) = if d.size(*x) <= d.size(*y) { (*a, *x, *b, *y) } else { (*b, *y, *a, *x) };
        if (d.low(x)..=d.high(x)).all(|n| !d.contains(x, n) || !d.contains(y, b * (k - a * n))) {
            return d.assert(!lit);
        }
    }
    Ok(())
}

fn or(d: &mut Domains, lit: Lit, of: &[Lit]) -> Step {
    let truth = d.literal(lit);
    if truth == Some(false) {
        for l in of {
            d.assert(!*l)?;
        }
        return Ok(());
    }
    let mut open = None;
    for l in of {
        match d.literal(*l) {
            Some(true) => return d.assert(lit),
            Some(false) => {}
            None if open.is_some() => return Ok(()),
            None => open = Some(*l),
        }
    }
    match (open, truth) {
        (None, _) => d.assert(!lit),
        (Some(l), Some(true)) => d.assert(l),
        _ => Ok(()),
    }
}

fn table(d: &mut Domains, vars: &[Fd], rows: &[i64]) -> Step {
    let n = vars.len();
    // Values with a row that is still possible, per variable. A variable may stand in several columns, so
    // what one column removes must not move the base of the next.
    let mut supported: Vec<Vec<bool>> = Vec::with_capacity(n);
    let mut bounds: Vec<(i64, i64)> = Vec::with_capacity(n);
    let bases: Vec<i64> = vars.iter().map(|v| d.low(*v)).collect();
    for v in vars {
        let width = if d.is_narrow(*v) { (d.high(*v) - d.low(*v) + 1) as usize } else { 0 };
        supported.push(vec![false; width]);
        bounds.push((i64::MAX, i64::MIN));
    }
    for row in rows.chunks_exact(n) {
        if row.iter().zip(vars).all(|(x, v)| d.contains(*v, *x)) {
            for (i, x) in row.iter().enumerate() {
                bounds[i] = (bounds[i].0.min(*x), bounds[i].1.max(*x));
                if !supported[i].is_empty() {
                    supported[i][(x - bases[i]) as usize] = true;
                }
            }
        }
    }
    for (i, v) in vars.iter().enumerate() {
        let first = bases[i];
        if bounds[i].0 > bounds[i].1 {
            return Err(Conflict);
        }
        for (k, yes) in supported[i].iter().enumerate() {
            if !yes && d.contains(*v, first + k as i64) {
                d.remove(*v, first + k as i64)?;
            }
        }
        d.at_least(*v, bounds[i].0)?;
        d.at_most(*v, bounds[i].1)?;
    }
    Ok(())
}

fn element(d: &mut Domains, index: Fd, rows: &[(i64, Fd)], value: Fd) -> Step {
    let (mut low, mut high) = (i64::MAX, i64::MIN);
    let mut live: Vec<Fd> = Vec::new();
    for (code, row) in rows {
        if !d.contains(index, *code) {
            continue;
        }
        let meets = d.low(*row) <= d.high(value)
            && d.low(value) <= d.high(*row)
            && (!d.is_narrow(*row)
                || !d.is_narrow(value)
                || (d.low(*row)..=d.high(*row)).any(|n| d.contains(*row, n) && d.contains(value, n)));
        if meets {
            low = low.min(d.low(*row));
            high = high.max(d.high(*row));
            live.push(*row);
        } else {
            d.remove(index, *code)?;
        }
    }
    if live.is_empty() {
        return Err(Conflict);
    }
    d.at_least(value, low)?;
    d.at_most(value, high)?;
    if d.is_narrow(value) {
        for n in d.low(value)..=d.high(value) {
            if d.contains(value, n) && !live.iter().any(|row| d.contains(*row, n)) {
                d.remove(value, n)?;
            }
        }
    }
    if let Some(i) = d.value(index)
        && let Some((_, row)) = rows.iter().find(|(code, _)| *code == i)
    {
        d.at_least(*row, d.low(value))?;
        d.at_most(*row, d.high(value))?;
        if d.is_narrow(*row) {
            for n in d.low(*row)..=d.high(*row) {
                if d.contains(*row, n) && !d.contains(value, n) {
                    d.remove(*row, n)?;
                }
            }
        }
    }
    Ok(())
}

fn product(d: &mut Domains, x: Fd, y: Fd, z: Fd) -> Step {
    let corners = [d.low(x) * d.low(y), d.low(x) * d.high(y), d.high(x) * d.low(y), d.high(x) * d.high(y)];
    d.at_least(z, corners.into_iter().min().unwrap_or(i64::MIN))?;
    d.at_most(z, corners.into_iter().max().unwrap_or(i64::MAX))?;
    for (x, y) in [(x, y), (y, x)] {
        if d.low(x) >= 0 && d.low(y) > 0 && d.low(z) >= 0 {
            d.at_most(x, d.high(z) / d.low(y))?;
            d.at_least(x, (d.low(z) + d.high(y) - 1) / d.high(y))?;
        }
        if let (Some(a), Some(c)) = (d.value(y), d.value(z))
            && a != 0
        {
            if c % a != 0 {
                return Err(Conflict);
            }
            d.fix(x, c / a)?;
        }
    }
    Ok(())
}
