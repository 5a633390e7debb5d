//! Random whole machines: typed, finite, with non-determinism, preconditions and sometimes errors.
//!
//! Variables stay inside small carriers because every assignment is guarded by one, so a machine
//! has few states; `shrink` looks for the smallest machine on which a property still fails.

use super::rng::Rng;
use super::terms::{Maker, Part, Term, Ty};
use std::fmt;

#[derive(Clone, Debug)]
pub struct RandomMachine {
    pub vars: Vec<(String, Ty)>,
    pub init: Vec<Term>,
    pub invariant: Vec<Term>,
    pub ops: Vec<RandomOp>,
}

#[derive(Clone, Debug)]
pub struct RandomOp {
    pub name: String,
    pub params: Vec<(String, Ty)>,
    pub guard: Term,
    pub body: Term,
}

impl fmt::Display for RandomMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "MACHINE random\nSETS COLOUR = {{red, green, blue}}; THING")?;
        writeln!(f, "CONSTANTS any_thing\nPROPERTIES any_thing : THING")?;
        let names: Vec<&str> = self.vars.iter().map(|(n, _)| n.as_str()).collect();
        writeln!(f, "VARIABLES {}", names.join(", "))?;
        let typing: Vec<String> = self.vars.iter().map(|(n, t)| format!("{n} : {}", t.carrier())).collect();
        write!(f, "INVARIANT {}", typing.join(" & "))?;
        for p in &self.invariant {
            write!(f, "\n  & {p}")?;
        }
        let init: Vec<String> = self.init.iter().map(ToString::to_string).collect();
        writeln!(f, "\nINITIALISATION {}", init.join(" || "))?;
        if !self.ops.is_empty() {
            writeln!(f, "OPERATIONS")?;
            let ops: Vec<String> = self.ops.iter().map(ToString::to_string).collect();
            writeln!(f, "{}", ops.join(";\n"))?;
        }
        writeln!(f, "END")
    }
}

impl fmt::Display for RandomOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  {}", self.name)?;
        if !self.params.is_empty() {
            let names: Vec<&str> = self.params.iter().map(|(n, _)| n.as_str()).collect();
            write!(f, "({})", names.join(", "))?;
        }
        let mut conjuncts: Vec<String> =
            self.params.iter().map(|(n, t)| format!("{n} : {}", t.carrier())).collect();
        conjuncts.push(self.guard.to_string());
        write!(f, " = PRE {} THEN {} END", conjuncts.join(" & "), self.body)
    }
}

/// The value if it lies in the carrier, else a fixed one: keeps the state space finite.
fn clamp(ty: &Ty, value: Term) -> Term {
    let parts = vec![
        Part::Text("(LET w BE w = ".into()),
        Part::Sub(value),
        Part::Text(format!(" IN IF w : {} THEN w ELSE {} END END)", ty.carrier(), ty.simplest())),
    ];
    Term { ty: ty.clone(), parts, binds: true }
}

pub fn random(seed: u64) -> RandomMachine {
    let mut rng = Rng::new(seed.wrapping_mul(0x2545_F491_4F6C_DD1D));
    let mut room = 3_000u64;
    let mut vars = Vec::new();
    for i in 0..1 + rng.below(3) {
        let ty = Ty::random(&mut rng, 1);
        if ty.size() <= room {
            room /= ty.size().max(1);
            vars.push((format!("x{i}"), ty));
        }
    }
    if vars.is_empty() {
        vars.push(("x0".into(), Ty::Int));
    }
    let partial = rng.chance(30);
    let mut maker = Maker { rng: &mut rng, scope: Vec::new(), fresh: 0, partial: false };
    let init = vars
        .iter()
        .map(|(n, t)| {
            if maker.rng.chance(20) && t.size() <= 16 {
                Term::leaf(Ty::Stmt, format!("{n} :: {}", t.carrier()))
            } else {
                let value = maker.term(t, 1);
                Term::leaf(Ty::Stmt, format!("{n} := {}", clamp(t, value)))
            }
        })
        .collect();
    maker.scope = vars.clone();
    maker.partial = partial;
    let invariant = (0..maker.rng.below(3)).map(|_| maker.term(&Ty::Pred, 2)).collect();
    let mut ops = Vec::new();
    for i in 0..1 + maker.rng.below(4) {
        let mut params = Vec::new();
        for j in 0..maker.rng.below(3) {
            let ty = Ty::random(maker.rng, 1);
            if ty.size() <= 16 {
                params.push((format!("p{j}"), ty));
            }
        }
        maker.scope = vars.iter().chain(&params).cloned().collect();
        let guard = maker.term(&Ty::Pred, 2);
        let names: Vec<usize> = (0..vars.len()).collect();
        let body = statement(&mut maker, &vars, &names, 3);
        ops.push(RandomOp { name: format!("op{i}"), params, guard, body });
    }
    RandomMachine { vars, init, invariant, ops }
}

fn text(t: impl Into<String>) -> Part {
    Part::Text(t.into())
}

/// A substitution that writes only the variables with the given numbers.
fn statement(m: &mut Maker, vars: &[(String, Ty)], writable: &[usize], depth: usize) -> Term {
    let term = |parts: Vec<Part>| Term { ty: Ty::Stmt, parts, binds: false };
    if writable.is_empty() {
        return Term::leaf(Ty::Stmt, "skip");
    }
    let pick = *m.rng.pick(writable);
    let (name, ty) = vars[pick].clone();
    if depth == 0 || m.rng.chance(35) {
        if ty.size() <= 16 && m.rng.chance(15) {
            return Term::leaf(Ty::Stmt, format!("{name} :: {}", ty.carrier()));
        }
        if m.rng.chance(10) {
            let p = m.term(&Ty::Pred, 1);
            return term(vec![
                text(format!("{name} :({name} : {} & {name} /= {name}$0 & ", ty.carrier())),
                Part::Sub(p),
                text(")"),
            ]);
        }
        if let Ty::Pow(e) = &ty
            && let Ty::Pair(a, b) = &**e
            && m.rng.chance(40)
        {
            let (at, value) = (m.term(a, 1), m.term(b, 1));
            return term(vec![
                text(format!("{name}(")),
                Part::Sub(clamp(a, at)),
                text(") := "),
                Part::Sub(clamp(b, value)),
            ]);
        }
        let value = m.term(&ty, 2);
        return term(vec![text(format!("{name} := ")), Part::Sub(clamp(&ty, value))]);
    }
    let d = depth - 1;
    match m.rng.below(8) {
        0 if writable.len() > 1 => {
            let cut = 1 + m.rng.below(writable.len() - 1);
            let (a, b) = (statement(m, vars, &writable[..cut], d), statement(m, vars, &writable[cut..], d));
            term(vec![text("BEGIN "), Part::Sub(a), text(" || "), Part::Sub(b), text(" END")])
        }
        1 => {
            let (a, b) = (statement(m, vars, writable, d), statement(m, vars, writable, d));
            term(vec![text("BEGIN "), Part::Sub(a), text(" ; "), Part::Sub(b), text(" END")])
        }
        2 => {
            let (a, b) = (statement(m, vars, writable, d), statement(m, vars, writable, d));
            term(vec![text("CHOICE "), Part::Sub(a), text(" OR "), Part::Sub(b), text(" END")])
        }
        3 => {
            let (p, a) = (m.term(&Ty::Pred, 2), statement(m, vars, writable, d));
            let mut parts = vec![text("IF "), Part::Sub(p), text(" THEN "), Part::Sub(a)];
            if m.rng.chance(50) {
                parts.push(text(" ELSE "));
                parts.push(Part::Sub(statement(m, vars, writable, d)));
            }
            parts.push(text(" END"));
            term(parts)
        }
        4 => {
            let (p, a) = (m.term(&Ty::Pred, 2), statement(m, vars, writable, d));
            let (q, b) = (m.term(&Ty::Pred, 1), statement(m, vars, writable, d));
            term(vec![
                text("SELECT "),
                Part::Sub(p),
                text(" THEN "),
                Part::Sub(a),
                text(" WHEN "),
                Part::Sub(q),
                text(" THEN "),
                Part::Sub(b),
                text(" END"),
            ])
        }
        5 => {
            let ty = Ty::random(m.rng, 0);
            m.fresh += 1;
            let v = format!("v{}", m.fresh);
            m.scope.push((v.clone(), ty.clone()));
            let (p, a) = (m.term(&Ty::Pred, 1), statement(m, vars, writable, d));
            m.scope.pop();
            let mut t = term(vec![
                text(format!("ANY {v} WHERE {v} : {} & ", ty.carrier())),
                Part::Sub(p),
                text(" THEN "),
                Part::Sub(a),
                text(" END"),
            ]);
            t.binds = true;
            t
        }
        6 => {
            let ty = Ty::random(m.rng, 1);
            let value = m.term(&ty, 1);
            m.fresh += 1;
            let v = format!("v{}", m.fresh);
            m.scope.push((v.clone(), ty));
            let a = statement(m, vars, writable, d);
            m.scope.pop();
            let mut t = term(vec![
                text(format!("LET {v} BE {v} = ")),
                Part::Sub(value),
                text(" IN "),
                Part::Sub(a),
                text(" END"),
            ]);
            t.binds = true;
            t
        }
        _ => statement(m, vars, writable, d),
    }
}

impl RandomMachine {
    fn smaller(&self) -> Vec<RandomMachine> {
        let mut out = Vec::new();
        for i in 0..self.ops.len() {
            let mut m = self.clone();
            m.ops.remove(i);
            out.push(m);
        }
        for i in 0..self.invariant.len() {
            let mut m = self.clone();
            m.invariant.remove(i);
            out.push(m);
        }
        for i in 0..self.invariant.len() {
            for s in self.invariant[i].shrinks() {
                let mut m = self.clone();
                m.invariant[i] = s;
                out.push(m);
            }
        }
        for i in 0..self.ops.len() {
            for s in self.ops[i].guard.shrinks() {
                let mut m = self.clone();
                m.ops[i].guard = s;
                out.push(m);
            }
            for s in self.ops[i].body.shrinks() {
                let mut m = self.clone();
                m.ops[i].body = s;
                out.push(m);
            }
        }
        out
    }

    /// The smallest machine found on which `fails` still holds.
    pub fn shrink(&self, mut fails: impl FnMut(&RandomMachine) -> bool) -> RandomMachine {
        let mut best = self.clone();
        'again: loop {
            for m in best.smaller() {
                if fails(&m) {
                    best = m;
                    continue 'again;
                }
            }
            return best;
        }
    }
}
