//! Variables with pairwise different values.
//!
//! In: the domains. Out: domains without the values that no choice of pairwise different values uses, or a conflict.
//! A choice of different values is a matching of variables with values. Once one is known, a variable may take the
//! value of another one exactly if that one can move on: along a chain of values to one that nobody has, or back to
//! the value that was left.

use crate::solve::finite_domains::domain::{Conflict, Domains, Fd, Step};

/// More variables than bits of a word are only compared with those that have their value.
const MOST: usize = 64;
/// Values that lie farther apart are not told from each other.
const WIDTH: i64 = 1 << 10;

/// Variables plus offsets have pairwise different values.
pub(super) fn all_different(d: &mut Domains, vars: &[(Fd, i64)]) -> Step {
    leave_fixed_values(d, vars)?;
    let open: Vec<(Fd, i64)> = vars.iter().copied().filter(|(v, _)| !d.is_fixed(*v)).collect();
    if open.len() > MOST {
        return enough_values(d, vars);
    }
    if is_crowded(d, &open) { remove_unmatched(d, &open) } else { Ok(()) }
}

/// Takes the values of variables that have one away from all others.
fn leave_fixed_values(d: &mut Domains, vars: &[(Fd, i64)]) -> Step {
    let mut done = vec![false; vars.len()];
    loop {
        let mut again = false;
        for (i, (v, k)) in vars.iter().enumerate() {
            if done[i] {
                continue;
            }
            let Some(n) = d.value(*v) else { continue };
            done[i] = true;
            for (j, (w, m)) in vars.iter().enumerate() {
                if i != j && d.contains(*w, n + k - m) {
                    d.remove(*w, n + k - m)?;
                    again |= d.is_fixed(*w);
                }
            }
        }
        if !again {
            return Ok(());
        }
    }
}

/// There are as many values as variables, at least.
fn enough_values(d: &Domains, vars: &[(Fd, i64)]) -> Step {
    let low = vars.iter().map(|(v, k)| d.low(*v) + k).min().unwrap_or(0);
    let high = vars.iter().map(|(v, k)| d.high(*v) + k).max().unwrap_or(0);
    let width = (high - low + 1) as usize;
    if width < vars.len() {
        return Err(Conflict);
    }
    if width < 2 * vars.len() {
        let mut seen = vec![false; width];
        let mut count = 0;
        for (v, k) in vars {
            for n in d.low(*v)..=d.high(*v) {
                let at = (n + k - low) as usize;
                if !seen[at] && d.contains(*v, n) {
                    seen[at] = true;
                    count += 1;
                }
            }
        }
        if count < vars.len() {
            return Err(Conflict);
        }
    }
    Ok(())
}

/// Whether some variables may have no more values together than they are: only then a value can be one that no
/// matching uses. So many variables have at most so many values each.
fn is_crowded(d: &Domains, vars: &[(Fd, i64)]) -> bool {
    let mut sizes: Vec<u64> = vars.iter().map(|(v, _)| d.size(*v)).collect();
    sizes.sort_unstable();
    sizes.iter().zip(1..).any(|(size, number)| *size <= number)
}

/// Removes the values that no matching uses.
fn remove_unmatched(d: &mut Domains, vars: &[(Fd, i64)]) -> Step {
    let low = vars.iter().map(|(v, k)| d.low(*v) + k).min().unwrap_or(0);
    let high = vars.iter().map(|(v, k)| d.high(*v) + k).max().unwrap_or(0);
    if high - low >= WIDTH || !vars.iter().all(|(v, _)| d.is_narrow(*v)) {
        return enough_values(d, vars);
    }
    let values: Vec<Vec<usize>> = vars
        .iter()
        .map(|(v, k)| d.values(*v).into_iter().map(|n| (n + k - low) as usize).collect())
        .collect();
    // Who has a value.
    let mut owner: Vec<Option<usize>> = vec![None; (high - low + 1) as usize];
    for i in 0..vars.len() {
        let mut seen = vec![false; owner.len()];
        if !settle(i, &values, &mut owner, &mut seen) {
            return Err(Conflict);
        }
    }
    let (reach, free) = moves(&values, &owner);
    for (i, (v, k)) in vars.iter().enumerate() {
        for at in &values[i] {
            let Some(j) = owner[*at] else { continue };
            if j != i && free >> j & 1 == 0 && reach[j] >> i & 1 == 0 {
                d.remove(*v, *at as i64 + low - k)?;
            }
        }
    }
    Ok(())
}

/// Gives a variable a value, moving others if that is needed; false if there is none.
fn settle(i: usize, values: &[Vec<usize>], owner: &mut [Option<usize>], seen: &mut [bool]) -> bool {
    for at in &values[i] {
        if seen[*at] {
            continue;
        }
        seen[*at] = true;
        let moves_on = match owner[*at] {
            None => true,
            Some(j) => settle(j, values, owner, seen),
        };
        if moves_on {
            owner[*at] = Some(i);
            return true;
        }
    }
    false
}

/// For each variable those whose values it can get by moving others on, as bits; and those that can move on to a value
/// that nobody has.
fn moves(values: &[Vec<usize>], owner: &[Option<usize>]) -> (Vec<u64>, u64) {
    let mut reach: Vec<u64> = vec![0; values.len()];
    let mut free = 0u64;
    for (i, list) in values.iter().enumerate() {
        for at in list {
            match owner[*at] {
                Some(j) => reach[i] |= 1 << j,
                None => free |= 1 << i,
            }
        }
    }
    for k in 0..reach.len() {
        let through = reach[k];
        for row in &mut reach {
            if *row >> k & 1 == 1 {
                *row |= through;
            }
        }
    }
    let reaches_free = (0..reach.len()).filter(|i| reach[*i] & free != 0).fold(free, |all, i| all | 1 << i);
    (reach, reaches_free)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bombus_base::random::Random;

    /// All choices of pairwise different values, by trying.
    fn choices(domains: &[Vec<i64>], chosen: &mut Vec<i64>, used: &mut Vec<Vec<i64>>) {
        if chosen.len() == domains.len() {
            for (list, n) in used.iter_mut().zip(chosen.iter()) {
                list.push(*n);
            }
            return;
        }
        for n in &domains[chosen.len()] {
            if !chosen.contains(n) {
                chosen.push(*n);
                choices(domains, chosen, used);
                chosen.pop();
            }
        }
    }

    #[test]
    fn just_the_values_that_some_choice_of_different_values_uses_are_left() {
        let mut random = Random(7);
        for round in 0..2000 {
            let number = 2 + random.below(4) as usize;
            let domains: Vec<Vec<i64>> = (0..number)
                .map(|_| {
                    let mut list: Vec<i64> = (0..6).filter(|_| random.below(5) < 2).collect();
                    list.push(random.below(6) as i64);
                    list.sort_unstable();
                    list.dedup();
                    list
                })
                .collect();
            let mut d = Domains::default();
            let vars: Vec<(Fd, i64)> = domains.iter().map(|list| (d.of_values(list), 0)).collect();
            let mut used = vec![Vec::new(); number];
            choices(&domains, &mut Vec::new(), &mut used);
            let narrowed = all_different(&mut d, &vars);
            if used[0].is_empty() {
                assert!(narrowed.is_err(), "round {round}: {domains:?}");
                continue;
            }
            assert!(narrowed.is_ok(), "round {round}: {domains:?}");
            for ((v, _), mut list) in vars.iter().zip(used) {
                list.sort_unstable();
                list.dedup();
                assert_eq!(d.values(*v), list, "round {round}: {domains:?}");
            }
        }
    }
}
