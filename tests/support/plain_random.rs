//! Random machines for the plain enumerator.
//!
//! In: a seed. Out: a machine over small types in which undefined terms may stand in every position that a formula
//! has: guards, quantifiers, comprehensions, `:(…)`, `::`, ANY, LET, IF and implications. Every bound variable is
//! typed by one conjunct that is defined everywhere, so that trying all values of that type is enough.

use super::plain_machines::{Operation, Plain, Sub};
use super::plain_terms::{Bound, Carrier, Term, bin};
use super::rng::Rng;

/// How deep formulas are nested.
const DEPTH: usize = 3;

/// A machine for a seed.
pub fn random(seed: u64) -> Plain {
    let mut r = Random { rng: Rng::new(seed), names: 0, ints: Vec::new(), relations: Vec::new() };
    let mut variables = vec!["x"];
    for v in ["s", "f", "r"] {
        if r.rng.chance(60) {
            variables.push(v);
        }
    }
    if r.rng.chance(15) {
        variables.push("y");
    }
    r.ints.extend(variables.iter().filter(|v| matches!(**v, "x" | "y")).map(|v| v.to_string()));
    r.relations.extend(variables.iter().filter(|v| matches!(**v, "f" | "r")).map(|v| v.to_string()));
    let initial = variables.iter().map(|v| r.initial(v)).collect();
    let invariant = (0..r.rng.below(3)).map(|_| r.clause(&variables)).collect();
    let operations = (0..1 + r.rng.below(2))
        .map(|i| {
            let known = r.ints.len();
            let param = r.rng.chance(40).then(|| r.bound(false));
            let body = r.operation(param.as_ref(), &variables);
            r.ints.truncate(known);
            Operation { name: format!("op{i}"), param, body }
        })
        .collect();
    Plain { variables, invariant, initial, operations }
}

struct Random {
    rng: Rng,
    names: usize,
    /// Variables in scope that are numbers, and those that are relations between numbers.
    ints: Vec<String>,
    relations: Vec<String>,
}

impl Random {
    fn initial(&mut self, v: &str) -> Term {
        let n = |r: &mut Random, hi| Term::Num(r.rng.below(hi) as i64);
        match v {
            "x" | "y" => n(self, 3),
            "s" => Term::SetOf((0..self.rng.below(2)).map(|_| n(self, 2)).collect()),
            _ => {
                let low = i64::from(v == "r");
                let rows = self.rng.below(3);
                Term::SetOf(
                    (0..rows)
                        .map(|_| {
                            let x = Term::Num(low + self.rng.below(2) as i64);
                            bin("|->", x, n(self, 2))
                        })
                        .collect(),
                )
            }
        }
    }

    fn bound(&mut self, relation: bool) -> Bound {
        self.names += 1;
        let carrier = if relation {
            Carrier::Relations(2, 1)
        } else {
            Carrier::Ints(self.rng.below(2) as i64 - 1, 1 + self.rng.below(2) as i64)
        };
        Bound { name: format!("q{}", self.names), carrier }
    }

    /// Runs with a bound variable in scope.
    fn scoped<T>(&mut self, b: &Bound, run: impl FnOnce(&mut Random) -> T) -> T {
        let (ints, relations) = (self.ints.len(), self.relations.len());
        match b.carrier {
            Carrier::Ints(..) => self.ints.push(b.name.clone()),
            Carrier::Relations(..) => self.relations.push(b.name.clone()),
        }
        let result = run(self);
        self.ints.truncate(ints);
        self.relations.truncate(relations);
        result
    }

    /// The typing of a variable and some predicates about it, in any order.
    fn typed(&mut self, bounds: &[&Bound], depth: usize) -> Term {
        let mut all: Vec<Term> = bounds.iter().map(|b| b.carrier.typing(&b.name)).collect();
        for _ in 0..self.rng.below(3) {
            let p = if self.rng.chance(50) { self.telling(bounds[0], depth) } else { self.pred(depth) };
            all.push(p);
        }
        for i in (1..all.len()).rev() {
            let j = self.rng.below(i + 1);
            all.swap(i, j);
        }
        if all.len() == 1 { all.remove(0) } else { Term::And(all) }
    }

    /// A predicate that a solver would use to find values of a variable.
    fn telling(&mut self, b: &Bound, depth: usize) -> Term {
        let q = Term::Var(b.name.clone());
        let d = depth.saturating_sub(1);
        let (left, right) = match b.carrier {
            Carrier::Relations(..) => match self.rng.below(4) {
                0 => (self.sequence_about(q), self.sequence(d)),
                1 => (Term::Apply(Box::new(q), Box::new(self.int(d))), self.int(d)),
                2 => {
                    let op = *self.rng.pick(&["size", "first", "last", "card"]);
                    (Term::Call(op, Box::new(q)), self.int(d))
                }
                _ => (q, self.relation(d)),
            },
            Carrier::Ints(..) => match self.rng.below(4) {
                0 | 1 => (Term::Apply(Box::new(self.relation(d)), Box::new(q)), self.int(d)),
                2 => (bin(self.pick(&["mod", "/", "+", "-", "**"]), q, self.small(d)), self.int(d)),
                _ => (q, self.int(d)),
            },
        };
        let comparison = *self.rng.pick(&["=", "=", "=", "<=", ">", "/="]);
        match (&b.carrier, self.rng.below(5)) {
            (Carrier::Ints(..), 0) => Term::Rel(":", Box::new(left), Box::new(self.set(d))),
            (Carrier::Ints(..), _) => self.rel(comparison, left, right),
            (Carrier::Relations(..), _) => self.rel("=", left, right),
        }
    }

    fn pick(&mut self, all: &[&'static str]) -> &'static str {
        all[self.rng.below(all.len())]
    }

    /// A relation with its sides in any order.
    fn rel(&mut self, op: &'static str, a: Term, b: Term) -> Term {
        if matches!(op, "=" | "/=") && self.rng.chance(40) {
            return Term::Rel(op, Box::new(b), Box::new(a));
        }
        Term::Rel(op, Box::new(a), Box::new(b))
    }

    fn sequence_about(&mut self, q: Term) -> Term {
        match self.rng.below(5) {
            0 => bin("<-", q, self.int(0)),
            1 => bin("->", self.int(0), q),
            2 => bin("^", q, Term::SeqOf(vec![self.int(0)])),
            3 => Term::Call("rev", Box::new(q)),
            _ => Term::Call(self.pick(&["front", "tail"]), Box::new(q)),
        }
    }

    /// A number that is small, so that powers stay so.
    fn small(&mut self, depth: usize) -> Term {
        if depth > 0 && self.rng.chance(30) && !self.ints.is_empty() {
            return Term::Var(self.rng.pick(&self.ints.clone()).clone());
        }
        Term::Num(self.rng.below(4) as i64 - 1)
    }

    fn int(&mut self, depth: usize) -> Term {
        if depth == 0 || self.rng.chance(25) {
            return if self.rng.chance(60) && !self.ints.is_empty() {
                Term::Var(self.rng.pick(&self.ints.clone()).clone())
            } else {
                Term::Num(self.rng.below(4) as i64 - 1)
            };
        }
        let d = depth - 1;
        match self.rng.below(14) {
            0 | 1 => Term::Apply(Box::new(self.relation(d)), Box::new(self.int(d))),
            2 => bin(self.pick(&["+", "-"]), self.int(d), self.int(d)),
            3 | 4 => bin(self.pick(&["mod", "/"]), self.int(d), self.int(d)),
            5 => bin("**", self.small(d), self.small(d)),
            6 => Term::Call(self.pick(&["card", "max", "min"]), Box::new(self.set(d))),
            7 | 8 => Term::Call(self.pick(&["size", "first", "last"]), Box::new(self.sequence(d))),
            9 => Term::If(Box::new(self.pred(d)), Box::new(self.int(d)), Box::new(self.int(d))),
            10 => {
                let b = self.bound(false);
                let e = self.int(d);
                let body = self.scoped(&b, |r| r.int(d));
                Term::Let(b.name, Box::new(e), Box::new(body))
            }
            11 => Term::Field(Box::new(self.int(d)), Box::new(self.int(d)), self.rng.chance(50)),
            12 => {
                let b = self.bound(false);
                let (p, e) = self.scoped(&b, |r| (r.typed(&[&b], d), r.int(d)));
                Term::Sigma(b, Box::new(p), Box::new(e))
            }
            _ => bin("*", self.int(d), self.small(d)),
        }
    }

    /// Up to two elements that are written down; without any, something empty that has a type.
    fn listed(
        &mut self,
        element: impl Fn(&mut Random) -> Term,
        none: Term,
        make: impl Fn(Vec<Term>) -> Term,
    ) -> Term {
        match self.rng.below(3) {
            0 => none,
            n => make((0..n).map(|_| element(self)).collect()),
        }
    }

    fn set(&mut self, depth: usize) -> Term {
        if depth == 0 || self.rng.chance(20) {
            return match self.rng.below(3) {
                0 => self.listed(|r| r.int(0), bin("..", Term::Num(1), Term::Num(0)), Term::SetOf),
                1 => bin("..", Term::Num(self.rng.below(2) as i64), Term::Num(self.rng.below(3) as i64)),
                _ => Term::Call("dom", Box::new(self.relation(0))),
            };
        }
        let d = depth - 1;
        match self.rng.below(8) {
            0 | 1 => bin(self.pick(&["\\/", "/\\", "\\"]), self.set(d), self.set(d)),
            2 | 3 => {
                let b = self.bound(false);
                let p = self.scoped(&b, |r| r.typed(&[&b], d));
                Term::Compr(b, Box::new(p))
            }
            4 => Term::Call(self.pick(&["dom", "ran"]), Box::new(self.relation(d))),
            5 => Term::Image(Box::new(self.relation(d)), Box::new(self.set(d))),
            6 => {
                let b = self.bound(false);
                let (p, e) = self.scoped(&b, |r| (r.typed(&[&b], d), r.set(d)));
                Term::Union(b, Box::new(p), Box::new(e))
            }
            _ => Term::SetOf((0..1 + self.rng.below(2)).map(|_| self.int(d)).collect()),
        }
    }

    fn relation(&mut self, depth: usize) -> Term {
        if depth == 0 || self.rng.chance(45) {
            return if self.rng.chance(80) && !self.relations.is_empty() {
                Term::Var(self.rng.pick(&self.relations.clone()).clone())
            } else {
                self.listed(|r| bin("|->", r.int(0), r.int(0)), no_rows(), Term::SetOf)
            };
        }
        let d = depth - 1;
        match self.rng.below(6) {
            0 => bin(self.pick(&["<|", "<<|"]), self.set(d), self.relation(d)),
            1 => bin(self.pick(&["|>", "|>>"]), self.relation(d), self.set(d)),
            2 => bin(self.pick(&["<+", "\\/", "\\"]), self.relation(d), self.relation(d)),
            3 | 4 => {
                let b = self.bound(false);
                let (p, e) = self.scoped(&b, |r| (r.typed(&[&b], d), r.int(d)));
                Term::Lambda(b, Box::new(p), Box::new(e))
            }
            _ => self.sequence(d),
        }
    }

    fn sequence(&mut self, depth: usize) -> Term {
        if depth == 0 || self.rng.chance(35) {
            return if self.rng.chance(50) && !self.relations.is_empty() {
                Term::Var(self.rng.pick(&self.relations.clone()).clone())
            } else {
                self.listed(|r| r.int(0), no_rows(), Term::SeqOf)
            };
        }
        let d = depth - 1;
        match self.rng.below(5) {
            0 => bin("<-", self.sequence(d), self.int(d)),
            1 => bin("->", self.int(d), self.sequence(d)),
            2 => bin("^", self.sequence(d), self.sequence(d)),
            3 => bin(self.pick(&["/|\\", "\\|/"]), self.sequence(d), self.small(d)),
            _ => Term::Call(self.pick(&["rev", "front", "tail"]), Box::new(self.sequence(d))),
        }
    }

    fn pred(&mut self, depth: usize) -> Term {
        if depth == 0 || self.rng.chance(35) {
            let d = depth;
            return match self.rng.below(7) {
                0..=2 => {
                    let op = self.pick(&["=", "/=", "<", "<=", ">", ">="]);
                    let (a, b) = (self.int(d), self.int(d));
                    self.rel(op, a, b)
                }
                3 => Term::Rel(self.pick(&[":", "/:"]), Box::new(self.int(d)), Box::new(self.set(d))),
                4 => Term::Rel(self.pick(&["<:", "/<:", "="]), Box::new(self.set(d)), Box::new(self.set(d))),
                5 => Term::Rel("=", Box::new(self.sequence(d)), Box::new(self.sequence(d))),
                _ => Term::Rel("=", Box::new(self.relation(d)), Box::new(self.relation(d))),
            };
        }
        let d = depth - 1;
        match self.rng.below(10) {
            0 => Term::And((0..2).map(|_| self.pred(d)).collect()),
            1 => Term::Or(Box::new(self.pred(d)), Box::new(self.pred(d))),
            2 => Term::Implies(Box::new(self.pred(d)), Box::new(self.pred(d))),
            3 => Term::Iff(Box::new(self.pred(d)), Box::new(self.pred(d))),
            4 => Term::Not(Box::new(self.pred(d))),
            5 => self.quantifier(d, true),
            6 => self.quantifier(d, false),
            7 => Term::If(Box::new(self.pred(d)), Box::new(self.pred(d)), Box::new(self.pred(d))),
            8 => {
                let b = self.bound(false);
                let e = self.int(d);
                let body = self.scoped(&b, |r| r.pred(d));
                Term::Let(b.name, Box::new(e), Box::new(body))
            }
            _ => Term::IsTrue(Box::new(self.pred(d))),
        }
    }

    fn quantifier(&mut self, d: usize, all: bool) -> Term {
        let relation = self.rng.chance(30);
        let mut bounds = vec![self.bound(relation)];
        if self.rng.chance(30) {
            bounds.push(self.bound(false));
        }
        let (ints, relations) = (self.ints.len(), self.relations.len());
        for b in &bounds {
            match b.carrier {
                Carrier::Ints(..) => self.ints.push(b.name.clone()),
                Carrier::Relations(..) => self.relations.push(b.name.clone()),
            }
        }
        let refs: Vec<&Bound> = bounds.iter().collect();
        let hypothesis = self.typed(&refs, d);
        let body = match (all, self.rng.below(4)) {
            (false, _) => hypothesis,
            (true, 0) => {
                let inner = Term::Implies(Box::new(self.pred(d)), Box::new(self.pred(d)));
                Term::Implies(Box::new(hypothesis), Box::new(inner))
            }
            (true, _) => Term::Implies(Box::new(hypothesis), Box::new(self.pred(d))),
        };
        self.ints.truncate(ints);
        self.relations.truncate(relations);
        if all { Term::Forall(bounds, Box::new(body)) } else { Term::Exists(bounds, Box::new(body)) }
    }

    /// A clause of the invariant: no conjunction, because a model's conjunctions are clauses of their own.
    fn clause(&mut self, variables: &[&'static str]) -> Term {
        let p = match self.rng.below(4) {
            0 => self.quantifier(DEPTH - 1, true),
            1 => self.quantifier(DEPTH - 1, false),
            2 if variables.contains(&"s") => {
                Term::Rel("<:", Box::new(Term::Var("s".into())), Box::new(self.set(DEPTH)))
            }
            _ => self.pred(DEPTH),
        };
        if matches!(p, Term::And(_)) { Term::Not(Box::new(p)) } else { p }
    }

    fn operation(&mut self, param: Option<&Bound>, variables: &[&'static str]) -> Sub {
        let Some(b) = param else { return self.guard(true, variables, 2) };
        self.ints.push(b.name.clone());
        let p = self.typed(&[b], DEPTH - 1);
        let body = Box::new(self.guard(false, variables, 1));
        if self.rng.chance(40) { Sub::Pre(p, body) } else { Sub::Select(vec![(p, *body)], None) }
    }

    /// A substitution behind guards, which it may go on.
    fn guard(&mut self, outermost: bool, variables: &[&'static str], more: usize) -> Sub {
        if more == 0 {
            return self.action(variables, 2);
        }
        match self.rng.below(6) {
            0 if outermost => {
                Sub::Pre(self.pred(DEPTH - 1), Box::new(self.guard(false, variables, more - 1)))
            }
            0 | 1 => {
                let branch = (self.pred(DEPTH - 1), self.guard(false, variables, more - 1));
                let mut branches = vec![branch];
                if self.rng.chance(30) {
                    branches.push((self.pred(1), self.action(variables, 1)));
                }
                let other = self.rng.chance(30).then(|| Box::new(self.action(variables, 1)));
                Sub::Select(branches, other)
            }
            2 => {
                let relation = self.rng.chance(25);
                let b = self.bound(relation);
                let (p, body) =
                    self.scoped(&b, |r| (r.typed(&[&b], DEPTH - 1), r.guard(false, variables, more - 1)));
                Sub::Any(b, p, Box::new(body))
            }
            _ => self.action(variables, 2),
        }
    }

    /// An action: nothing in it is a guard.
    fn action(&mut self, variables: &[&'static str], depth: usize) -> Sub {
        if depth == 0 {
            let v = *self.rng.pick(variables);
            return self.assignment(v);
        }
        let d = depth - 1;
        match self.rng.below(7) {
            0 => {
                let (c, a, b) = (self.pred(2), self.inner(variables, d), self.inner(variables, d));
                Sub::If(c, Box::new(a), Box::new(b))
            }
            1 => {
                let b = self.bound(false);
                let e = self.int(2);
                let body = self.scoped(&b, |r| {
                    if r.rng.chance(30) {
                        let c = r.bound(false);
                        let e = r.int(1);
                        let body = r.scoped(&c, |r| r.action(variables, 0));
                        return Sub::Let(c.name, e, Box::new(body));
                    }
                    r.action(variables, 0)
                });
                Sub::Let(b.name, e, Box::new(body))
            }
            2 if variables.len() > 1 => {
                Sub::Par(Box::new(self.assignment("x")), Box::new(self.assignment(variables[1])))
            }
            3 => Sub::If(
                Term::Rel("=", Box::new(Term::Num(0)), Box::new(Term::Num(0))),
                Box::new(self.inner(variables, d)),
                Box::new(Sub::Skip),
            ),
            _ => {
                let v = *self.rng.pick(variables);
                self.assignment(v)
            }
        }
    }

    /// A substitution inside an action, where SELECT and ANY are no guards.
    fn inner(&mut self, variables: &[&'static str], depth: usize) -> Sub {
        match self.rng.below(5) {
            0 => {
                let relation = self.rng.chance(25);
                let b = self.bound(relation);
                let (p, body) = self.scoped(&b, |r| (r.typed(&[&b], 2), r.action(variables, 0)));
                Sub::Any(b, p, Box::new(body))
            }
            1 => {
                let branches = vec![(self.pred(2), self.action(variables, 0))];
                let other = self.rng.chance(50).then(|| Box::new(self.action(variables, 0)));
                Sub::Select(branches, other)
            }
            2 => Sub::Choice(vec![self.action(variables, 0), self.action(variables, 0)]),
            _ => self.action(variables, depth),
        }
    }

    /// A substitution that keeps a variable at home.
    fn assignment(&mut self, v: &'static str) -> Sub {
        let (low, high) = (Term::Num(0), Term::Num(if matches!(v, "x" | "y") { 2 } else { 1 }));
        let ints = bin("..", low, high);
        let inside = |e: &Term, set: &Term| Term::Rel(":", Box::new(e.clone()), Box::new(set.clone()));
        match v {
            "x" | "y" => match self.rng.below(4) {
                0 => Sub::In(v, bin("/\\", self.set(2), ints)),
                1 => {
                    let b = Bound { name: v.into(), carrier: Carrier::Ints(0, 2) };
                    let p = self.typed(&[&b], 2);
                    Sub::Such(v, p)
                }
                _ => {
                    let e = self.int(2);
                    let set = inside(&e, &ints);
                    Sub::If(set, Box::new(Sub::Assign(v, e)), Box::new(Sub::Skip))
                }
            },
            "s" => Sub::Assign(v, bin("/\\", self.set(2), ints)),
            _ => {
                let from = bin("..", Term::Num(i64::from(v == "r")), Term::Num(1 + i64::from(v == "r")));
                if v == "f" && self.rng.chance(40) {
                    let (a, b) = (self.int(2), self.int(2));
                    let both = Term::And(vec![inside(&a, &from), inside(&b, &ints)]);
                    return Sub::If(both, Box::new(Sub::Cell(a, b)), Box::new(Sub::Skip));
                }
                let e = self.relation(2);
                Sub::Assign(v, bin("|>", bin("<|", from, e), ints))
            }
        }
    }
}

/// The empty relation between numbers.
fn no_rows() -> Term {
    bin("*", bin("..", Term::Num(1), Term::Num(0)), bin("..", Term::Num(0), Term::Num(0)))
}
