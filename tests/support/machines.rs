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
    /// How each variable is declared: a relation may be promised to be a function or a sequence.
    pub shapes: Vec<Shape>,
    pub init: Vec<Term>,
    pub invariant: Vec<Term>,
    pub ops: Vec<RandomOp>,
    /// What PROPERTIES say of the constant `any_number`, besides its range.
    pub property: Term,
    pub assertions: Vec<Term>,
    pub goal: Option<Term>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Plain,
    /// A function, with this arrow.
    Function(&'static str),
    /// A sequence of at most three elements.
    Sequence,
}

impl Shape {
    fn random(rng: &mut Rng, ty: &Ty) -> Shape {
        match ty {
            Ty::Pow(e) => match &**e {
                Ty::Pair(a, _) if **a == Ty::Int && rng.chance(40) => Shape::Sequence,
                Ty::Pair(..) if rng.chance(80) => {
                    Shape::Function(rng.pick::<&str>(&["+->", "-->", "+->", "-->", ">+>", "+->>"]))
                }
                _ => Shape::Plain,
            },
            _ => Shape::Plain,
        }
    }

    /// What the invariant says of a value, and what assignments keep to.
    fn says(self, name: &str, ty: &Ty) -> String {
        let (from, to) = match ty {
            Ty::Pow(e) => match &**e {
                Ty::Pair(a, b) => (a.carrier(), b.carrier()),
                _ => (String::new(), String::new()),
            },
            _ => (String::new(), String::new()),
        };
        match self {
            Shape::Plain => format!("{name} : {}", ty.carrier()),
            Shape::Function(arrow) => format!("{name} : {from} {arrow} {to}"),
            Shape::Sequence => format!("{name} : seq({to}) & size({name}) <= 3"),
        }
    }

    /// A closed term that has the shape, where there is a simple one.
    fn simplest(self, ty: &Ty) -> String {
        match (self, ty) {
            (Shape::Function("-->"), Ty::Pow(e)) => match &**e {
                Ty::Pair(a, b) => format!("({} * {{{}}})", a.carrier(), b.simplest()),
                _ => ty.simplest().to_string(),
            },
            _ => ty.simplest().to_string(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct RandomOp {
    pub name: String,
    /// What the operation answers; a body may forget to.
    pub results: Vec<(String, Ty)>,
    pub params: Vec<(String, Ty)>,
    /// What is said of each parameter before anything else.
    pub typing: Vec<String>,
    /// `PRE` or `SELECT`.
    pub opening: &'static str,
    pub guard: Term,
    pub body: Term,
}

impl fmt::Display for RandomMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "MACHINE random\nSETS COLOUR = {{red, green, blue}}; THING")?;
        if let Some(goal) = &self.goal {
            writeln!(f, "DEFINITIONS GOAL == {goal}")?;
        }
        writeln!(f, "CONSTANTS any_thing, any_number")?;
        writeln!(f, "PROPERTIES any_thing : THING & any_number : 0..3 & {}", self.property)?;
        let names: Vec<&str> = self.vars.iter().map(|(n, _)| n.as_str()).collect();
        writeln!(f, "VARIABLES {}", names.join(", "))?;
        let typing: Vec<String> =
            self.vars.iter().zip(&self.shapes).map(|((n, t), shape)| shape.says(n, t)).collect();
        write!(f, "INVARIANT {}", typing.join(" & "))?;
        for p in &self.invariant {
            write!(f, "\n  & {p}")?;
        }
        if !self.assertions.is_empty() {
            let assertions: Vec<String> = self.assertions.iter().map(ToString::to_string).collect();
            write!(f, "\nASSERTIONS {}", assertions.join(";\n  "))?;
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
        write!(f, "  ")?;
        if !self.results.is_empty() {
            let names: Vec<&str> = self.results.iter().map(|(n, _)| n.as_str()).collect();
            write!(f, "{} <-- ", names.join(", "))?;
        }
        write!(f, "{}", self.name)?;
        if !self.params.is_empty() {
            let names: Vec<&str> = self.params.iter().map(|(n, _)| n.as_str()).collect();
            write!(f, "({})", names.join(", "))?;
        }
        let mut conjuncts = self.typing.clone();
        conjuncts.push(self.guard.to_string());
        write!(f, " = {} {} THEN {} END", self.opening, conjuncts.join(" & "), self.body)
    }
}

/// The value if it lies in the carrier, else a fixed one: keeps the state space finite.
fn clamp(ty: &Ty, value: Term) -> Term {
    clamp_to(Shape::Plain, ty, value)
}

fn clamp_to(shape: Shape, ty: &Ty, value: Term) -> Term {
    let says = shape.says("w", ty);
    let parts = vec![
        Part::Text("(LET w BE w = ".into()),
        Part::Sub(value),
        Part::Text(format!(" IN IF {says} THEN w ELSE {} END END)", shape.simplest(ty))),
    ];
    Term { ty: ty.clone(), parts, binds: true }
}

/// Mostly what the shape says, now and then only what the type says: promises may be broken.
fn clamp_mostly(rng: &mut Rng, shape: Shape, ty: &Ty, value: Term) -> Term {
    if shape == Shape::Sequence || rng.chance(85) { clamp_to(shape, ty, value) } else { clamp(ty, value) }
}

pub fn random(seed: u64) -> RandomMachine {
    let mut rng = Rng::new(seed.wrapping_mul(0x2545_F491_4F6C_DD1D));
    let mut room = 3_000u64;
    let mut vars = Vec::new();
    for i in 0..1 + rng.below(3) {
        let ty = if rng.chance(12) { Ty::nested(&mut rng) } else { Ty::random(&mut rng, 1) };
        if ty.size() <= room {
            room /= ty.size().max(1);
            vars.push((format!("x{i}"), ty));
        }
    }
    if vars.is_empty() {
        vars.push(("x0".into(), Ty::Int));
    }
    let shapes: Vec<Shape> = vars.iter().map(|(_, ty)| Shape::random(&mut rng, ty)).collect();
    let partial = rng.chance(30);
    let mut maker = Maker { rng: &mut rng, scope: Vec::new(), fresh: 0, partial: false };
    let init = vars
        .iter()
        .zip(&shapes)
        .map(|((n, t), shape)| {
            if maker.rng.chance(20) && t.size() <= 16 && *shape == Shape::Plain {
                Term::leaf(Ty::Stmt, format!("{n} :: {}", t.carrier()))
            } else {
                let value = maker.term(t, 1);
                let value = clamp_mostly(maker.rng, *shape, t, value);
                Term::leaf(Ty::Stmt, format!("{n} := {value}"))
            }
        })
        .collect();
    maker.partial = partial && maker.rng.chance(30);
    maker.scope = vec![("any_number".into(), Ty::Int), ("any_thing".into(), Ty::Def)];
    let property = if maker.rng.chance(40) { maker.term(&Ty::Pred, 2) } else { Ty::Pred.simplest() };
    let constants = maker.scope.clone();
    maker.scope.extend(vars.iter().cloned());
    maker.partial = partial;
    let invariant = (0..maker.rng.below(3)).map(|_| maker.term(&Ty::Pred, 2)).collect();
    let assertions = (0..maker.rng.below(6).saturating_sub(3)).map(|_| maker.term(&Ty::Pred, 2)).collect();
    let goal = maker.rng.chance(10).then(|| maker.term(&Ty::Pred, 2));
    let mut ops = Vec::new();
    for i in 0..1 + maker.rng.below(4) {
        let (mut params, mut typing) = (Vec::new(), Vec::new());
        for j in 0..maker.rng.below(3) {
            let name = format!("p{j}");
            if let Some((ty, says)) = parameter(&mut maker, &name) {
                params.push((name, ty));
                typing.push(says);
            }
        }
        maker.scope = constants.iter().chain(&vars).chain(&params).cloned().collect();
        let guard = maker.term(&Ty::Pred, 2);
        let names: Vec<usize> = (0..vars.len()).collect();
        let world = World { vars: &vars, shapes: &shapes };
        let mut body = statement(&mut maker, &world, &names, 3);
        let mut results = Vec::new();
        if maker.rng.chance(25) {
            let ty = Ty::random(maker.rng, 1);
            body = answering(&mut maker, &world, &ty, body);
            results.push(("answer".to_string(), ty));
        }
        let opening = if maker.rng.chance(70) { "PRE" } else { "SELECT" };
        ops.push(RandomOp { name: format!("op{i}"), results, params, typing, opening, guard, body });
    }
    RandomMachine { vars, shapes, init, invariant, ops, property, assertions, goal }
}

/// The type of a parameter, and what is said of it: mostly a small carrier, at times a list of values that have none,
/// or a condition that leaves few values of a large set.
fn parameter(m: &mut Maker, name: &str) -> Option<(Ty, String)> {
    match m.rng.below(10) {
        0 => {
            let (ty, list) = m.listed();
            Some((ty, format!("{name} : {list}")))
        }
        1 => {
            let sum: Vec<String> = (0..4).map(|i| format!("{name}({i})")).collect();
            let says = format!("{name} : (0..3) --> (0..9) & {} = {}", sum.join(" + "), m.rng.below(3));
            Some((Ty::rel(Ty::Int, Ty::Int), says))
        }
        _ => {
            let ty = Ty::random(m.rng, 1);
            (ty.size() <= 16).then(|| (ty.clone(), format!("{name} : {}", ty.carrier())))
        }
    }
}

/// The variables that statements write.
struct World<'a> {
    vars: &'a [(String, Ty)],
    shapes: &'a [Shape],
}

fn text(t: impl Into<String>) -> Part {
    Part::Text(t.into())
}

/// The statement beside, before or after an assignment to the result `answer`; at times it stays without.
fn answering(m: &mut Maker, vars: &World, ty: &Ty, body: Term) -> Term {
    let value = m.term(ty, 1);
    let mut parts = vec![text("BEGIN "), Part::Sub(body)];
    match m.rng.below(4) {
        0 => parts.extend([text(" ; answer := "), Part::Sub(value), text(" END")]),
        1 => parts.extend([text(" || answer := "), Part::Sub(value), text(" END")]),
        2 if ty.size() <= 16 => parts.push(text(format!(" || answer :: {} END", ty.carrier()))),
        _ => {
            let p = m.term(&Ty::Pred, 1);
            let other = statement(m, vars, &[], 0);
            parts.extend([text(" || IF "), Part::Sub(p), text(" THEN answer := "), Part::Sub(value)]);
            parts.extend([text(" ELSE "), Part::Sub(other), text(" END END")]);
        }
    }
    Term { ty: Ty::Stmt, parts, binds: true }
}

/// A substitution that writes only the variables with the given numbers.
fn statement(m: &mut Maker, vars: &World, writable: &[usize], depth: usize) -> Term {
    let term = |parts: Vec<Part>| Term { ty: Ty::Stmt, parts, binds: false };
    if writable.is_empty() {
        return Term::leaf(Ty::Stmt, "skip");
    }
    let pick = *m.rng.pick(writable);
    let ((name, ty), shape) = (vars.vars[pick].clone(), vars.shapes[pick]);
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
        if let Ty::Rec(a, _) = &ty
            && m.rng.chance(40)
        {
            let value = m.term(a, 1);
            return term(vec![text(format!("{name}'a := ")), Part::Sub(clamp(a, value))]);
        }
        if let Some(made) = m.rng.chance(15).then(|| several(m, vars, writable, pick)).flatten() {
            return made;
        }
        let value = m.term(&ty, 2);
        let value = clamp_mostly(m.rng, shape, &ty, value);
        return term(vec![text(format!("{name} := ")), Part::Sub(value)]);
    }
    let d = depth - 1;
    match m.rng.below(18) {
        10 => {
            let opening = *m.rng.pick(&["PRE", "ASSERT", "SELECT"]);
            let (p, a) = (m.term(&Ty::Pred, 1), statement(m, vars, writable, d));
            term(vec![text(format!("{opening} ")), Part::Sub(p), text(" THEN "), Part::Sub(a), text(" END")])
        }
        11 => {
            let (p, a) = (m.term(&Ty::Pred, 2), statement(m, vars, writable, d));
            let (q, b) = (m.term(&Ty::Pred, 1), statement(m, vars, writable, d));
            let c = statement(m, vars, writable, d);
            let (opening, next) = *m.rng.pick(&[("SELECT", "WHEN"), ("IF", "ELSIF")]);
            let mut parts = vec![text(format!("{opening} ")), Part::Sub(p), text(" THEN "), Part::Sub(a)];
            parts.extend([text(format!(" {next} ")), Part::Sub(q), text(" THEN "), Part::Sub(b)]);
            parts.extend([text(" ELSE "), Part::Sub(c), text(" END")]);
            term(parts)
        }
        12 => {
            let (t, u) = (Ty::random(m.rng, 0), Ty::random(m.rng, 0));
            m.fresh += 2;
            let (v, w) = (format!("v{}", m.fresh - 1), format!("v{}", m.fresh));
            m.scope.extend([(v.clone(), t.clone()), (w.clone(), u.clone())]);
            let (p, a) = (m.term(&Ty::Pred, 2), statement(m, vars, writable, d));
            m.scope.truncate(m.scope.len() - 2);
            let typing = format!("{v} : {} & {w} : {}", t.carrier(), u.carrier());
            let mut t = term(vec![
                text(format!("ANY {v},{w} WHERE {typing} & ")),
                Part::Sub(p),
                text(" THEN "),
                Part::Sub(a),
                text(" END"),
            ]);
            t.binds = true;
            t
        }
        13 => {
            // A local variable that is written, perhaps on one branch only, before it is read.
            let ty = Ty::random(m.rng, 1);
            let (value, p) = (m.term(&ty, 1), m.term(&Ty::Pred, 1));
            m.fresh += 1;
            let v = format!("v{}", m.fresh);
            m.scope.push((v.clone(), ty));
            let a = statement(m, vars, writable, d);
            m.scope.pop();
            let mut parts = vec![text(format!("VAR {v} IN "))];
            let whole = !m.partial || m.rng.chance(70);
            if !whole {
                parts.extend([text("IF "), Part::Sub(p), text(" THEN ")]);
            }
            parts.extend([text(format!("{v} := ")), Part::Sub(value)]);
            parts.extend([text(if whole { "; " } else { " END; " }), Part::Sub(a), text(" END")]);
            let mut t = term(parts);
            t.binds = true;
            t
        }
        14 => {
            let x = m.term(&Ty::Int, 1);
            let (a, b) = (statement(m, vars, writable, d), statement(m, vars, writable, d));
            let parts = vec![text("CASE "), Part::Sub(x), text(" OF EITHER 0,2 THEN "), Part::Sub(a)];
            let mut t = term(parts);
            t.parts.extend([text(" OR 1 THEN "), Part::Sub(b), text(" END END")]);
            t
        }
        15 => {
            let value = m.term(&Ty::pow(ty.clone()), 2);
            let says = Shape::Plain.says("w", &ty);
            let mut t = term(vec![
                text(format!("{name} :: {{w|w : ")),
                Part::Sub(value),
                text(format!(" & {says}}}")),
            ]);
            t.binds = true;
            t
        }
        16 => {
            // Sequences inside one branch of a parallel composition see their own writes only.
            let cut = m.rng.below(writable.len() + 1);
            let (a, b) = (statement(m, vars, &writable[..cut], d), statement(m, vars, &writable[..cut], d));
            let c = statement(m, vars, &writable[cut..], d);
            let mut t = term(vec![text("BEGIN BEGIN "), Part::Sub(a), text(" ; "), Part::Sub(b)]);
            t.parts.extend([text(" END || "), Part::Sub(c), text(" END")]);
            t
        }
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
        7 => {
            m.fresh += 1;
            let v = format!("i{}", m.fresh);
            // The counter is readable inside, but only the loop itself writes it.
            m.scope.push((v.clone(), Ty::Int));
            let (p, a) = (m.term(&Ty::Pred, 1), statement(m, vars, writable, d));
            m.scope.pop();
            let mut t = term(vec![
                text(format!("VAR {v} IN {v} := 0; WHILE {v} < 3 & ")),
                Part::Sub(p),
                text(" DO "),
                Part::Sub(a),
                text(format!(" ; {v} := {v} + 1 INVARIANT {v} : 0..3 VARIANT 3 - {v} END END")),
            ]);
            t.binds = true;
            t
        }
        8 => {
            let x = m.term(&Ty::Enum, 1);
            let (a, b, c) = (
                statement(m, vars, writable, d),
                statement(m, vars, writable, d),
                statement(m, vars, writable, d),
            );
            let mut parts = vec![
                text("CASE "),
                Part::Sub(x),
                text(" OF EITHER red THEN "),
                Part::Sub(a),
                text(" OR green THEN "),
                Part::Sub(b),
            ];
            if m.rng.chance(50) {
                parts.extend([text(" ELSE "), Part::Sub(c)]);
            }
            parts.push(text(" END END"));
            term(parts)
        }
        _ => statement(m, vars, writable, d),
    }
}

/// One assignment to two variables at once, by values or by a predicate over both and their old values.
fn several(m: &mut Maker, vars: &World, writable: &[usize], first: usize) -> Option<Term> {
    let second = *writable.iter().find(|i| **i != first)?;
    let ((a, t), (b, u)) = (vars.vars[first].clone(), vars.vars[second].clone());
    let parts = if t.size().saturating_mul(u.size()) <= 64 && m.rng.chance(50) {
        let p = m.term(&Ty::Pred, 2);
        let typing = format!("{a} : {} & {b} : {}", t.carrier(), u.carrier());
        vec![text(format!("{a},{b} :({typing} & ({a} /= {a}$0 or {b} = {b}$0) & ")), Part::Sub(p), text(")")]
    } else {
        let (v, w) = (m.term(&t, 1), m.term(&u, 1));
        let (v, w) = (clamp_to(vars.shapes[first], &t, v), clamp_to(vars.shapes[second], &u, w));
        vec![text(format!("{a},{b} := ")), Part::Sub(v), text(", "), Part::Sub(w)]
    };
    Some(Term { ty: Ty::Stmt, parts, binds: false })
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
        for i in 0..self.assertions.len() {
            let mut m = self.clone();
            m.assertions.remove(i);
            out.push(m);
        }
        if self.goal.is_some() {
            out.push(RandomMachine { goal: None, ..self.clone() });
        }
        for s in self.property.shrinks() {
            out.push(RandomMachine { property: s, ..self.clone() });
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
