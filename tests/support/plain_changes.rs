//! Changes of machines: smaller ones that still show a fault, and others that mean the same.
//!
//! In: a machine of the plain enumerator. Out: machines that differ from it in one way.

use super::plain_machines::{Operation, Plain, Sub};
use super::plain_terms::{Term, bin};

/// The smallest machine found on the way down that still shows the fault.
pub fn shrink(plain: &Plain, shows: &mut dyn FnMut(&Plain) -> bool) -> Plain {
    let mut best = plain.clone();
    loop {
        let Some(smaller) = smaller(&best).into_iter().find(|p| shows(p)) else { return best };
        best = smaller;
    }
}

/// Machines with something left out.
fn smaller(plain: &Plain) -> Vec<Plain> {
    let mut out = Vec::new();
    for i in 0..plain.operations.len() {
        let mut p = plain.clone();
        p.operations.remove(i);
        if !p.operations.is_empty() {
            out.push(p);
        }
        for body in smaller_subs(&plain.operations[i].body) {
            let mut p = plain.clone();
            p.operations[i].body = body;
            out.push(p);
        }
    }
    for i in 0..plain.invariant.len() {
        let mut p = plain.clone();
        p.invariant.remove(i);
        out.push(p);
    }
    for n in 0..count(plain) {
        for replacement in 0..4 {
            let mut p = plain.clone();
            if simplify_nth(&mut p, n, replacement) && p != *plain {
                out.push(p);
            }
        }
    }
    out
}

fn smaller_subs(s: &Sub) -> Vec<Sub> {
    let boxed = |s: &Sub| Box::new(s.clone());
    match s {
        Sub::Pre(p, b) => smaller_subs(b).iter().map(|b| Sub::Pre(p.clone(), boxed(b))).collect(),
        Sub::Select(branches, other) => {
            let mut out: Vec<Sub> = Vec::new();
            if branches.len() > 1 || other.is_some() {
                out.push(Sub::Select(branches[..1].to_vec(), None));
            }
            let (p, first) = &branches[0];
            out.extend(smaller_subs(first).into_iter().map(|b| Sub::Select(vec![(p.clone(), b)], None)));
            out
        }
        Sub::Any(v, p, b) => {
            smaller_subs(b).iter().map(|b| Sub::Any(v.clone(), p.clone(), boxed(b))).collect()
        }
        Sub::If(c, a, b) => {
            let mut out = vec![(**a).clone(), (**b).clone()];
            out.extend(smaller_subs(a).iter().map(|a| Sub::If(c.clone(), boxed(a), b.clone())));
            out.extend(smaller_subs(b).iter().map(|b| Sub::If(c.clone(), a.clone(), boxed(b))));
            out
        }
        Sub::Let(v, e, b) => {
            smaller_subs(b).iter().map(|b| Sub::Let(v.clone(), e.clone(), boxed(b))).collect()
        }
        Sub::Choice(all) => all.clone(),
        Sub::Par(a, b) => vec![(**a).clone(), (**b).clone()],
        Sub::Skip => Vec::new(),
        _ => vec![Sub::Skip],
    }
}

fn terms_of_sub<'s>(s: &'s mut Sub, out: &mut Vec<&'s mut Term>) {
    match s {
        Sub::Skip => {}
        Sub::Assign(_, e) | Sub::In(_, e) | Sub::Such(_, e) => out.push(e),
        Sub::Cell(a, b) => out.extend([a, b]),
        Sub::Pre(p, b) | Sub::Any(_, p, b) | Sub::Let(_, p, b) => {
            out.push(p);
            terms_of_sub(b, out);
        }
        Sub::Select(branches, other) => {
            for (p, b) in branches {
                out.push(p);
                terms_of_sub(b, out);
            }
            other.iter_mut().for_each(|b| terms_of_sub(b, out));
        }
        Sub::If(c, a, b) => {
            out.push(c);
            terms_of_sub(a, out);
            terms_of_sub(b, out);
        }
        Sub::Choice(all) => all.iter_mut().for_each(|b| terms_of_sub(b, out)),
        Sub::Par(a, b) => {
            terms_of_sub(a, out);
            terms_of_sub(b, out);
        }
    }
}

/// All outermost terms of a machine but its initial values.
fn terms(plain: &mut Plain) -> Vec<&mut Term> {
    let mut out: Vec<&mut Term> = plain.invariant.iter_mut().collect();
    for Operation { body, .. } in &mut plain.operations {
        terms_of_sub(body, &mut out);
    }
    out
}

fn children(t: &mut Term) -> Vec<&mut Term> {
    match t {
        Term::Num(_) | Term::Var(_) => Vec::new(),
        Term::Bin(_, a, b)
        | Term::Rel(_, a, b)
        | Term::Apply(a, b)
        | Term::Image(a, b)
        | Term::Field(a, b, _)
        | Term::Lambda(_, a, b)
        | Term::Sigma(_, a, b)
        | Term::Union(_, a, b)
        | Term::Let(_, a, b)
        | Term::Or(a, b)
        | Term::Implies(a, b)
        | Term::Iff(a, b) => vec![&mut **a, &mut **b],
        Term::Call(_, a)
        | Term::Compr(_, a)
        | Term::Not(a)
        | Term::Forall(_, a)
        | Term::Exists(_, a)
        | Term::IsTrue(a) => vec![&mut **a],
        Term::SetOf(ts) | Term::SeqOf(ts) | Term::And(ts) => ts.iter_mut().collect(),
        Term::If(a, b, c) => vec![&mut **a, &mut **b, &mut **c],
    }
}

/// Calls `change` on every node, parents first, until it returns true.
fn walk(t: &mut Term, change: &mut dyn FnMut(&mut Term) -> bool) -> bool {
    change(t) || !is_typing(t) && children(t).into_iter().any(|c| walk(c, change))
}

/// Whether a conjunct says in which carrier a bound variable lies.
fn is_typing(t: &Term) -> bool {
    fn is_written(t: &Term) -> bool {
        match t {
            Term::Bin("..", a, b) => matches!((&**a, &**b), (Term::Num(_), Term::Num(_))),
            Term::Bin("*", a, b) => is_written(a) && is_written(b),
            Term::Call("POW", a) => is_written(a),
            _ => false,
        }
    }
    matches!(t, Term::Rel(":", x, set) if matches!(**x, Term::Var(_)) && is_written(set))
}

fn count(plain: &Plain) -> usize {
    let mut plain = plain.clone();
    let mut n = 0;
    for t in terms(&mut plain) {
        walk(t, &mut |_| {
            n += 1;
            false
        });
    }
    n
}

/// Makes the node with this number simpler, in one of a few ways.
fn simplify_nth(plain: &mut Plain, n: usize, way: usize) -> bool {
    let mut left = n;
    let mut done = false;
    for t in terms(plain) {
        let hit = walk(t, &mut |t| {
            if left > 0 {
                left -= 1;
                return false;
            }
            done = simplify(t, way);
            true
        });
        if hit {
            break;
        }
    }
    done
}

fn holds() -> Term {
    Term::Rel("=", Box::new(Term::Num(0)), Box::new(Term::Num(0)))
}

fn simplify(t: &mut Term, way: usize) -> bool {
    if is_typing(t) {
        return false;
    }
    let simpler = match (&*t, way) {
        (Term::And(ts), _) => {
            let mut ts = ts.clone();
            let Some(i) = (0..ts.len()).filter(|i| !is_typing(&ts[*i])).nth(way) else { return false };
            ts.remove(i);
            match ts.len() {
                0 => holds(),
                1 => ts.remove(0),
                _ => Term::And(ts),
            }
        }
        (Term::Or(a, _) | Term::Implies(a, _) | Term::Iff(a, _) | Term::If(_, a, _), 0) => (**a).clone(),
        (Term::Or(_, b) | Term::Implies(_, b) | Term::Iff(_, b) | Term::If(_, _, b), 1) => (**b).clone(),
        (Term::Not(a) | Term::IsTrue(a), 0) => (**a).clone(),
        (Term::Rel(..) | Term::Forall(..) | Term::Exists(..), 2) if *t != holds() => holds(),
        (Term::Bin("+" | "-" | "mod" | "/" | "**", a, _), 0) => (**a).clone(),
        (Term::Bin("\\/" | "/\\" | "\\" | "<+", a, _), 0) => (**a).clone(),
        (Term::Bin("\\/" | "/\\" | "\\" | "<+" | "<|" | "<<|", _, b), 1) => (**b).clone(),
        (Term::Bin("|>" | "|>>" | "<-" | "^" | "/|\\" | "\\|/", a, _), 0) => (**a).clone(),
        (Term::Bin("+" | "-" | "mod" | "/" | "**", ..) | Term::Apply(..) | Term::Sigma(..), 2) => {
            Term::Num(1)
        }
        (Term::Field(..), 2) => Term::Num(1),
        (Term::Call("card" | "max" | "min" | "size" | "first" | "last", _), 2) => Term::Num(1),
        (Term::Call("rev" | "front" | "tail", a), 0) => (**a).clone(),
        (Term::Compr(..) | Term::Union(..) | Term::Image(..) | Term::Call("dom" | "ran", _), 2) => {
            bin("..", Term::Num(0), Term::Num(0))
        }
        (Term::Num(n), 2) if !matches!(n, 0 | 1) => Term::Num(1),
        _ => return false,
    };
    *t = simpler;
    true
}

/// Machines that mean the same, each with the name of its change.
pub fn harmless(plain: &Plain) -> Vec<(&'static str, Plain)> {
    let everywhere = |change: &mut dyn FnMut(&mut Term)| {
        let mut p = plain.clone();
        for t in terms(&mut p) {
            walk(t, &mut |t| {
                change(t);
                false
            });
        }
        p
    };
    let reordered = everywhere(&mut |t| {
        if let Term::And(ts) = t {
            ts.reverse();
        }
    });
    let longer = everywhere(&mut |t| {
        if let Term::And(ts) = t {
            ts.push(holds());
        }
    });
    let wider = everywhere(&mut |t| {
        if let Term::And(ts) = t {
            let wide = ts.iter().find_map(|t| match t {
                Term::Rel(":", x, set) if is_typing(t) && matches!(&**set, Term::Bin("..", ..)) => {
                    let set = bin("..", Term::Num(-20), Term::Num(40));
                    Some(Term::Rel(":", x.clone(), Box::new(set)))
                }
                _ => None,
            });
            ts.splice(0..0, wide);
        }
    });
    let mut more = plain.clone();
    if !more.variables.contains(&"y") {
        more.variables.push("y");
        more.initial.push(Term::Num(1));
    }
    vec![
        ("conjuncts in another order", reordered),
        ("one more conjunct that is true", longer),
        ("one more set that holds a variable", wider),
        ("one more variable that nothing uses", more),
    ]
}
