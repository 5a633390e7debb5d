//! Cells: the parts of a variable that a step reads and writes, one by one where the text tells.
//!
//! In: predicates and substitutions whose parameters are fixed or left open. Out: cells read, cells
//! written with the values that may be written there. Sound by construction: a place that no rule
//! knows is the whole variable.
//!
//! `f(x) := E`, `f := f <+ {x|->E}`, `s := s \/ {x}`, `s := s - {x}`, `f := {x} <<| f` and their likes
//! write one row or element if `x` is known; `f(x)`, `x : s`, `x : dom(f)`, `r[{x}]` read one.

use bombus_base::Int;
use bombus_lang::typed::{
    BinOp, Expr, ExprKind, Machine, Pred, PredKind, RelOp, Step, Stmt, StmtKind, Target, Type, UnOp, VarId,
};
use bombus_lang::value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A variable, a row of it (an argument of a function, an element of a set), or one pair of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    pub var: VarId,
    pub row: Option<Value>,
    pub column: Option<Value>,
}

impl Cell {
    pub fn whole(var: VarId) -> Cell {
        Cell { var, row: None, column: None }
    }

    pub fn overlaps(&self, other: &Cell) -> bool {
        let meet = |a: &Option<Value>, b: &Option<Value>| match (a, b) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        self.var == other.var && meet(&self.row, &other.row) && meet(&self.column, &other.column)
    }
}

pub type Cells = BTreeSet<Cell>;

/// What is written into a cell. The content of an element of a set is whether it is there, that of a
/// row of a function its value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Content {
    Value(Value),
    /// The integer that was there, plus this.
    Plus(i64),
}

/// Cells that may be written, with the contents that may be written there; `None` if any may.
pub type Writes = BTreeMap<Cell, Option<BTreeSet<Content>>>;

pub fn touches(writes: &Writes, cells: &Cells) -> bool {
    writes.keys().any(|w| cells.iter().any(|c| w.overlaps(c)))
}

#[derive(Clone, Debug, Default)]
pub struct Touch {
    pub reads: Cells,
    pub writes: Writes,
}

/// Finds cells.
pub struct Tracer<'t> {
    pub machine: &'t Machine,
    /// The variables of the state.
    pub state: &'t BTreeSet<VarId>,
    /// The value of an expression that reads neither the state nor anything open.
    pub fold: &'t dyn Fn(&Expr) -> Option<Value>,
}

impl Tracer<'_> {
    /// The variable that an expression is, if it is one of the state.
    pub fn variable(&self, e: &Expr) -> Option<VarId> {
        match e.kind {
            ExprKind::Var(v) | ExprKind::Old(v) if self.state.contains(&v) => Some(v),
            _ => None,
        }
    }

    /// The cell of an element of a set or relation.
    pub fn element(&self, var: VarId, element: Value) -> Cell {
        let pairs = matches!(&self.machine.var(var).ty, Type::Pow(t) if matches!(**t, Type::Prod(..)));
        match element {
            Value::Pair(p) if pairs => Cell { var, row: Some(p.0.clone()), column: Some(p.1.clone()) },
            other => Cell { var, row: Some(other), column: None },
        }
    }

    fn row(&self, var: VarId, row: Value) -> Cell {
        Cell { var, row: Some(row), column: None }
    }

    /// The values of `{a, b, …}` if all are known.
    fn listed(&self, e: &Expr) -> Option<Vec<Value>> {
        match &e.kind {
            ExprKind::SetExt(es) => es.iter().map(|e| (self.fold)(e)).collect(),
            _ => None,
        }
    }

    pub fn expr(&self, e: &Expr, out: &mut Cells) {
        match &e.kind {
            ExprKind::Var(_) | ExprKind::Old(_) => {
                out.extend(self.variable(e).map(Cell::whole));
            }
            ExprKind::Apply(f, x) => match (self.variable(f), (self.fold)(x)) {
                (Some(v), Some(x)) => {
                    out.insert(self.row(v, x));
                }
                _ => {
                    self.expr(f, out);
                    self.expr(x, out);
                }
            },
            ExprKind::Binary(op @ (BinOp::Image | BinOp::DomRestrict), a, b) => {
                let (set, relation) = if *op == BinOp::Image { (b, a) } else { (a, b) };
                match (self.variable(relation), self.listed(set)) {
                    (Some(v), Some(rows)) => out.extend(rows.into_iter().map(|x| self.row(v, x))),
                    _ => {
                        self.expr(a, out);
                        self.expr(b, out);
                    }
                }
            }
            ExprKind::Int(_)
            | ExprKind::Real(_)
            | ExprKind::Str(_)
            | ExprKind::Bool(_)
            | ExprKind::Elem(..)
            | ExprKind::TypeSet(_)
            | ExprKind::Natural
            | ExprKind::Natural1
            | ExprKind::Function(_)
            | ExprKind::Constructor(..)
            | ExprKind::Destructor(..) => {}
            ExprKind::SetExt(es)
            | ExprKind::SeqExt(es)
            | ExprKind::Rec(es)
            | ExprKind::StructSet(es)
            | ExprKind::External(_, es) => es.iter().for_each(|e| self.expr(e, out)),
            ExprKind::Unary(_, a) | ExprKind::Field(a, _) | ExprKind::Symbolic(a) => self.expr(a, out),
            ExprKind::Binary(_, a, b) | ExprKind::Pair(a, b) => {
                self.expr(a, out);
                self.expr(b, out);
            }
            ExprKind::BoolOf(p) | ExprKind::Compr(_, p) => self.pred(p, out),
            ExprKind::Big(_, _, p, body) => {
                self.pred(p, out);
                self.expr(body, out);
            }
            ExprKind::If(c, a, b) => {
                self.pred(c, out);
                self.expr(a, out);
                self.expr(b, out);
            }
            ExprKind::Let(bindings, body) => {
                bindings.iter().for_each(|(_, e)| self.expr(e, out));
                self.expr(body, out);
            }
            ExprKind::Construct(_, _, arg) => arg.iter().for_each(|e| self.expr(e, out)),
        }
    }

    pub fn pred(&self, p: &Pred, out: &mut Cells) {
        match &p.kind {
            PredKind::True | PredKind::False => {}
            PredKind::And(ps) | PredKind::Or(ps) => ps.iter().for_each(|p| self.pred(p, out)),
            PredKind::Not(p) | PredKind::Label(_, p) | PredKind::Forall(_, p) | PredKind::Exists(_, p) => {
                self.pred(p, out);
            }
            PredKind::Implies(a, b) | PredKind::Iff(a, b) => {
                self.pred(a, out);
                self.pred(b, out);
            }
            PredKind::Rel(RelOp::In | RelOp::NotIn, x, set) => self.member(x, set, out),
            PredKind::Rel(_, a, b) => {
                self.expr(a, out);
                self.expr(b, out);
            }
            PredKind::If(c, a, b) => {
                self.pred(c, out);
                self.pred(a, out);
                self.pred(b, out);
            }
            PredKind::Let(bindings, body) => {
                bindings.iter().for_each(|(_, e)| self.expr(e, out));
                self.pred(body, out);
            }
            PredKind::Finite(e) => self.expr(e, out),
            PredKind::Partition(e, es) => {
                self.expr(e, out);
                es.iter().for_each(|e| self.expr(e, out));
            }
            PredKind::External(_, es) => es.iter().for_each(|e| self.expr(e, out)),
        }
    }

    /// What `x : set` reads.
    fn member(&self, x: &Expr, set: &Expr, out: &mut Cells) {
        let Some(value) = (self.fold)(x) else {
            self.expr(x, out);
            self.expr(set, out);
            return;
        };
        match &set.kind {
            ExprKind::Binary(BinOp::Union | BinOp::Inter | BinOp::SetMinus, a, b) => {
                self.member(x, a, out);
                self.member(x, b, out);
            }
            ExprKind::Unary(UnOp::Dom, f) if self.variable(f).is_some() => {
                out.extend(self.variable(f).map(|v| self.row(v, value)));
            }
            ExprKind::Binary(BinOp::Image, r, rows) => match (self.variable(r), self.listed(rows)) {
                (Some(v), Some(rows)) => {
                    let cell = |row| Cell { var: v, row: Some(row), column: Some(value.clone()) };
                    out.extend(rows.into_iter().map(cell));
                }
                _ => self.expr(set, out),
            },
            _ => match self.variable(set) {
                Some(v) => {
                    out.insert(self.element(v, value));
                }
                None => self.expr(set, out),
            },
        }
    }

    pub fn stmt(&self, s: &Stmt, touch: &mut Touch) {
        match &s.kind {
            StmtKind::Skip => {}
            StmtKind::Assign(pairs) => pairs.iter().for_each(|(t, e)| self.assign(t, e, touch)),
            StmtKind::BecomesIn(vars, e) => {
                vars.iter().for_each(|v| self.write_whole(*v, None, touch));
                self.expr(e, &mut touch.reads);
            }
            StmtKind::BecomesSuch(vars, p) => {
                vars.iter().for_each(|v| self.write_whole(*v, None, touch));
                // New values are read too, which is too much and harmless.
                self.pred(p, &mut touch.reads);
            }
            StmtKind::Pre(p, s)
            | StmtKind::Assert(_, p, s)
            | StmtKind::Witness(p, s)
            | StmtKind::Any(_, p, s) => {
                self.pred(p, &mut touch.reads);
                self.stmt(s, touch);
            }
            StmtKind::Choice(ss) | StmtKind::Seq(ss) | StmtKind::Par(ss) => {
                ss.iter().for_each(|s| self.stmt(s, touch));
            }
            StmtKind::If(branches, other) | StmtKind::Select(branches, other) => {
                for (p, s) in branches {
                    self.pred(p, &mut touch.reads);
                    self.stmt(s, touch);
                }
                other.iter().for_each(|s| self.stmt(s, touch));
            }
            StmtKind::Case(e, branches, other) => {
                self.expr(e, &mut touch.reads);
                for (labels, s) in branches {
                    labels.iter().for_each(|e| self.expr(e, &mut touch.reads));
                    self.stmt(s, touch);
                }
                other.iter().for_each(|s| self.stmt(s, touch));
            }
            StmtKind::Let(bindings, s) => {
                bindings.iter().for_each(|(_, e)| self.expr(e, &mut touch.reads));
                self.stmt(s, touch);
            }
            StmtKind::Var(_, s) => self.stmt(s, touch),
            StmtKind::While { cond, body, invariant, variant } => {
                self.pred(cond, &mut touch.reads);
                self.stmt(body, touch);
                self.pred(invariant, &mut touch.reads);
                self.expr(variant, &mut touch.reads);
            }
            StmtKind::Call { op, args, results } => {
                args.iter().for_each(|e| self.expr(e, &mut touch.reads));
                self.stmt(&self.machine.op(*op).body, touch);
                for t in results {
                    self.write_whole(t.var, None, touch);
                    self.path(t, touch);
                }
            }
            StmtKind::External(_, es) => es.iter().for_each(|e| self.expr(e, &mut touch.reads)),
        }
    }

    fn path(&self, t: &Target, touch: &mut Touch) {
        if !t.path.is_empty() && self.state.contains(&t.var) {
            touch.reads.insert(Cell::whole(t.var));
        }
        for step in &t.path {
            if let Step::Index(i) = step {
                self.expr(i, &mut touch.reads);
            }
        }
    }

    fn write_whole(&self, v: VarId, content: Option<Content>, touch: &mut Touch) {
        self.write(Cell::whole(v), content, touch);
    }

    fn write(&self, cell: Cell, content: Option<Content>, touch: &mut Touch) {
        if !self.state.contains(&cell.var) {
            return;
        }
        let content = content.map(|c| BTreeSet::from([c]));
        match touch.writes.get_mut(&cell) {
            None => {
                touch.writes.insert(cell, content);
            }
            Some(before) => {
                *before = match (before.take(), content) {
                    (Some(mut a), Some(b)) => {
                        a.extend(b);
                        Some(a)
                    }
                    _ => None,
                };
            }
        }
    }

    fn assign(&self, t: &Target, e: &Expr, touch: &mut Touch) {
        match &t.path[..] {
            [] => {
                let mut part = Touch::default();
                if self.state.contains(&t.var) && self.elementwise(t.var, e, &mut part) {
                    touch.reads.append(&mut part.reads);
                    for (cell, contents) in part.writes {
                        match contents {
                            None => self.write(cell, None, touch),
                            Some(all) => {
                                all.into_iter().for_each(|c| self.write(cell.clone(), Some(c), touch));
                            }
                        }
                    }
                } else {
                    let content = self.content(&Cell::whole(t.var), e, touch);
                    self.write_whole(t.var, content, touch);
                }
            }
            [Step::Index(x)] => match (self.fold)(x) {
                Some(x) => {
                    let cell = self.row(t.var, x);
                    let content = self.content(&cell, e, touch);
                    self.write(cell, content, touch);
                }
                None => {
                    self.expr(e, &mut touch.reads);
                    self.expr(x, &mut touch.reads);
                    self.write_whole(t.var, None, touch);
                }
            },
            _ => {
                self.expr(e, &mut touch.reads);
                self.path(t, touch);
                self.write_whole(t.var, None, touch);
            }
        }
    }

    /// What `cell := e` writes; what it reads is entered. A cell that is only added to is not read:
    /// whoever else adds to it does not mind the order, and all others are told by the write.
    fn content(&self, cell: &Cell, e: &Expr, touch: &mut Touch) -> Option<Content> {
        if let ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) = &e.kind
            && e.ty == Type::Integer
        {
            let number = |e: &Expr| match (self.fold)(e) {
                Some(Value::Int(Int::Small(n))) => Some(n),
                _ => None,
            };
            let itself = |e: &Expr| super::facts::content_of(e, self).as_ref() == Some(cell);
            let plus = match op {
                BinOp::Add if itself(a) => number(b),
                BinOp::Add if itself(b) => number(a),
                BinOp::Sub if itself(a) => number(b).and_then(i64::checked_neg),
                _ => None,
            };
            // A row that is not there has nothing to be added to: then the whole step fails, and
            // whoever puts it there must be told apart.
            if let Some(plus) = plus
                && cell.row.is_none()
            {
                return Some(Content::Plus(plus));
            }
            if plus.is_some() {
                touch.reads.insert(cell.clone());
                return plus.map(Content::Plus);
            }
        }
        self.expr(e, &mut touch.reads);
        (self.fold)(e).map(Content::Value)
    }

    /// Whether `v := e` changes some elements or rows of `v` alone; they are entered if so.
    fn elementwise(&self, v: VarId, e: &Expr, touch: &mut Touch) -> bool {
        match &e.kind {
            ExprKind::Var(w) => *w == v,
            ExprKind::Binary(op @ (BinOp::Union | BinOp::SetMinus), a, b) => {
                let ExprKind::SetExt(es) = &b.kind else { return false };
                for x in es {
                    match ((self.fold)(x), &x.kind) {
                        (Some(value), _) => {
                            let there = Value::Bool(*op == BinOp::Union);
                            self.write(self.element(v, value), Some(Content::Value(there)), touch);
                        }
                        (None, ExprKind::Pair(row, column)) => {
                            let Some(row) = (self.fold)(row) else { return false };
                            self.expr(column, &mut touch.reads);
                            self.write(self.row(v, row), None, touch);
                        }
                        _ => return false,
                    }
                }
                self.elementwise(v, a, touch)
            }
            ExprKind::Binary(BinOp::Override, a, b) => {
                let ExprKind::SetExt(es) = &b.kind else { return false };
                let mut rows: Vec<Value> = Vec::new();
                for x in es {
                    let ExprKind::Pair(row, value) = &x.kind else { return false };
                    let Some(row) = (self.fold)(row) else { return false };
                    let cell = self.row(v, row.clone());
                    let content = self.content(&cell, value, touch);
                    // Two values in one row leave no function there: neither is its content.
                    let content = content.filter(|_| !rows.contains(&row));
                    self.write(cell, content, touch);
                    rows.push(row);
                }
                self.elementwise(v, a, touch)
            }
            ExprKind::Binary(BinOp::DomSubtract, a, b) => {
                let Some(rows) = self.listed(a) else { return false };
                rows.into_iter().for_each(|row| self.write(self.row(v, row), None, touch));
                self.elementwise(v, b, touch)
            }
            _ => false,
        }
    }
}
