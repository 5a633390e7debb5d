//! Random trees that a parser can yield, and their parts for shrinking.
//!
//! Only such trees are made: calls in the place of definitions are formulas, sequences stand inside
//! blocks, and so on. Each generator takes the height it may still use.

use super::rng::Rng;
use bombus::base::{Int, Name, Span};
use bombus::syntax::ast::*;
use bombus::syntax::builtins;

pub struct Trees<'r> {
    pub rng: &'r mut Rng,
    /// Inside a template neither another template nor its fence can be written.
    in_template: bool,
}

const PLAIN: &[&str] = &["x", "yy", "aa_1", "Zed", "n₀", "été", "x′", "aλ"];
const ODD: &[&str] =
    &["MACHINE", "card", "left", "floor", "my id", "1st", "a`b", "tab\tnl\n", "λ", "ℕ", "_", "a\"b{", "ref"];
const TEXTS: &[&str] =
    &["", "abc", "a\"b\\c", "line\nnext\r\t", "héllo ∀", "\\n", "{}}", "${x}", "$", "'''", "x*/y"];

fn constants() -> Vec<Const> {
    use Const::*;
    vec![
        True, False, Maxint, Minint, Integer, Natural, Natural1, Int, Nat, Nat1, Bool, String, Real, Float,
        EmptySet, EmptySeq, Succ, Pred, Prj1, Prj2,
    ]
}

fn functions() -> Vec<Builtin> {
    use Builtin::*;
    vec![
        Pow, Pow1, Fin, Fin1, Card, Min, Max, Union, Inter, Dom, Ran, Id, Closure, Closure1, Iterate, Rel,
        Fnc, Prj1, Prj2, Seq, Seq1, Iseq, Iseq1, Perm, Size, First, Last, Front, Tail, Rev, Conc, Floor,
        Ceiling, ToReal, Tree, Btree, TreeConst, Top, Sons, Prefix, Postfix, Sizet, Mirror, Rank, Father,
        Son, Subtree, Arity, Bin, Left, Right, Infix,
    ]
}

const OPERATORS: &[BinOp] = {
    use BinOp::*;
    &[
        Add,
        Sub,
        Mul,
        Div,
        Mod,
        Power,
        Interval,
        Maplet,
        SetMinus,
        Cartesian,
        Union,
        Inter,
        Relation,
        TotalRelation,
        SurjectiveRelation,
        TotalSurjectiveRelation,
        PartialFunction,
        TotalFunction,
        PartialInjection,
        TotalInjection,
        PartialSurjection,
        TotalSurjection,
        PartialBijection,
        TotalBijection,
        Compose,
        ComposeBack,
        ParallelProduct,
        DirectProduct,
        Override,
        DomRestrict,
        DomSubtract,
        RanRestrict,
        RanSubtract,
        Concat,
        Prepend,
        Append,
        Take,
        Drop,
        OfType,
    ]
};

const COMPARISONS: &[BinOp] = {
    use BinOp::*;
    &[
        Equal,
        NotEqual,
        In,
        NotIn,
        Subset,
        NotSubset,
        StrictSubset,
        NotStrictSubset,
        Less,
        LessEqual,
        Greater,
        GreaterEqual,
    ]
};

fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}

fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, span: Span::default() }
}

impl<'r> Trees<'r> {
    pub fn new(rng: &'r mut Rng) -> Self {
        Trees { rng, in_template: false }
    }

    fn component(&mut self) -> &'static str {
        let words = if self.rng.one_in(8) { ODD } else { PLAIN };
        words[self.rng.below(words.len())]
    }

    fn ident(&mut self) -> Ident {
        Ident { name: self.component().into(), span: Span::default() }
    }

    fn idents(&mut self) -> Vec<Ident> {
        self.several(3, Self::ident)
    }

    fn dotted(&mut self) -> Name {
        let mut name = self.component().to_string();
        while self.rng.one_in(10) {
            name.push('.');
            name.push_str(self.component());
        }
        name.into()
    }

    fn several<T>(&mut self, most: usize, mut item: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..1 + self.rng.below(most)).map(|_| item(self)).collect()
    }

    fn boxed(&mut self, height: usize) -> Box<Expr> {
        Box::new(self.expression(height))
    }

    pub fn formula(&mut self, height: usize) -> Expr {
        if self.rng.one_in(2) { self.expression(height) } else { self.predicate(height) }
    }

    fn leaf(&mut self) -> Expr {
        expr(match self.rng.below(9) {
            0 => ExprKind::Int(Int::from(self.rng.below(1000))),
            1 => ExprKind::Int(Int::parse("123456789012345678901234567890", 10).expect("a number")),
            2 => ExprKind::Real((*self.rng.pick(&["1.5", "0.25e10", "3.0E-7"])).into()),
            3 => ExprKind::Str((*self.rng.pick(TEXTS)).into()),
            4 => ExprKind::Const(*self.rng.pick(&constants())),
            5 => ExprKind::Old(self.dotted()),
            _ => ExprKind::Ident(self.dotted()),
        })
    }

    pub fn expression(&mut self, height: usize) -> Expr {
        if height == 0 || self.rng.one_in(6) {
            return self.leaf();
        }
        let h = height - 1;
        expr(match self.rng.below(22) {
            0..=6 => {
                let op = *self.rng.pick(OPERATORS);
                ExprKind::Binary(op, self.boxed(h), self.boxed(h))
            }
            7 => ExprKind::Neg(self.boxed(h)),
            8 => ExprKind::Inverse(self.boxed(h)),
            9 => ExprKind::Image(self.boxed(h), self.boxed(h)),
            10 => ExprKind::Field(self.boxed(h), self.ident()),
            11 => self.application(h),
            12 => {
                let function = *self.rng.pick(&functions());
                let count = if function == Builtin::Bin { 3 } else { builtins::arity(function).1 };
                ExprKind::Builtin(function, (0..count).map(|_| self.expression(h)).collect())
            }
            13 => ExprKind::Builtin(Builtin::Bool, vec![self.predicate(h)]),
            14 => ExprKind::SetExt(self.several(4, |t| t.expression(h))),
            15 => ExprKind::SeqExt(self.several(4, |t| t.expression(h))),
            16 => {
                let entries = self.several(3, |t| (t.ident(), t.expression(h)));
                if self.rng.one_in(2) { ExprKind::Rec(entries) } else { ExprKind::Struct(entries) }
            }
            17 => self.comprehension(h),
            18 => ExprKind::Symbolic(Box::new(expr(self.comprehension(h)))),
            19 => {
                let branches = self.several(2, |t| (t.predicate(h), t.expression(h)));
                ExprKind::If(branches, self.boxed(h))
            }
            20 => ExprKind::Let(self.idents(), Box::new(self.predicate(h)), self.boxed(h)),
            _ => return self.template(h),
        })
    }

    fn application(&mut self, h: usize) -> ExprKind {
        ExprKind::Apply(self.boxed(h), self.several(3, |t| t.expression(h)))
    }

    fn comprehension(&mut self, h: usize) -> ExprKind {
        use BigOp::*;
        let names = self.idents();
        let predicate = Box::new(self.predicate(h));
        if self.rng.one_in(3) {
            return ExprKind::Compr(names, predicate);
        }
        let op = *self.rng.pick(&[Lambda, Sigma, Pi, Union, Inter, SetOf]);
        ExprKind::Big(op, names, predicate, self.boxed(h))
    }

    fn template(&mut self, h: usize) -> Expr {
        if self.in_template {
            return self.leaf();
        }
        self.in_template = true;
        let mut parts = Vec::new();
        for _ in 0..self.rng.below(4) {
            let after_text = matches!(parts.last(), Some(TemplatePart::Text(_)));
            let text = *self.rng.pick(TEXTS);
            if after_text || text.is_empty() || self.rng.one_in(2) {
                parts.push(TemplatePart::Expr(self.expression(h)));
            } else {
                parts.push(TemplatePart::Text(text.into()));
            }
        }
        self.in_template = false;
        expr(ExprKind::Template(parts))
    }

    pub fn predicate(&mut self, height: usize) -> Expr {
        if height == 0 || self.rng.one_in(8) {
            return expr(match self.rng.below(4) {
                0 => ExprKind::Const(Const::BTrue),
                1 => ExprKind::Const(Const::BFalse),
                _ => ExprKind::Ident(self.dotted()),
            });
        }
        let h = height - 1;
        expr(match self.rng.below(20) {
            0..=5 => {
                let op = *self.rng.pick(COMPARISONS);
                ExprKind::Binary(op, self.boxed(h), self.boxed(h))
            }
            6 | 7 => {
                let op = *self.rng.pick(&[BinOp::Implies, BinOp::Iff]);
                ExprKind::Binary(op, Box::new(self.predicate(h)), Box::new(self.predicate(h)))
            }
            8..=11 => {
                let parts = (0..2 + self.rng.below(3)).map(|_| self.predicate(h)).collect();
                if self.rng.one_in(2) { ExprKind::And(parts) } else { ExprKind::Or(parts) }
            }
            12 => ExprKind::Not(Box::new(self.predicate(h))),
            13 => {
                let quant = *self.rng.pick(&[Quant::Forall, Quant::Exists]);
                ExprKind::Quant(quant, self.idents(), Box::new(self.predicate(h)))
            }
            14 => {
                let branches = self.several(2, |t| (t.predicate(h), t.predicate(h)));
                ExprKind::If(branches, Box::new(self.predicate(h)))
            }
            15 => ExprKind::Let(self.idents(), Box::new(self.predicate(h)), Box::new(self.predicate(h))),
            16 => {
                let targets = self.several(2, |t| t.target(h));
                let values = targets.iter().map(|_| self.expression(h)).collect();
                ExprKind::After(targets, values, Box::new(self.predicate(h)))
            }
            17 => {
                let label = *self.rng.pick(&["inv1", "two words", "q\"uote", "é-1"]);
                ExprKind::Label(label.into(), Box::new(self.predicate(h)))
            }
            18 => ExprKind::Builtin(Builtin::Partition, self.several(3, |t| t.expression(h))),
            _ => {
                let callee = Box::new(expr(ExprKind::Ident(self.dotted())));
                ExprKind::Apply(callee, self.several(2, |t| t.expression(h)))
            }
        })
    }

    /// `x`, `f(a)(b)`, `r'f`, `f(a)'f`.
    fn target(&mut self, h: usize) -> Expr {
        let mut target = expr(ExprKind::Ident(self.dotted()));
        for _ in 0..self.rng.below(3) {
            target = expr(ExprKind::Apply(Box::new(target), self.several(2, |t| t.expression(h))));
        }
        for _ in 0..self.rng.below(2) {
            target = expr(ExprKind::Field(Box::new(target), self.ident()));
        }
        target
    }

    /// Any substitution that may stand inside a block.
    pub fn sequence(&mut self, height: usize) -> Stmt {
        if height > 0 && self.rng.one_in(4) {
            let parts = (0..2 + self.rng.below(2)).map(|_| self.parallel(height - 1)).collect();
            return stmt(StmtKind::Seq(parts));
        }
        self.parallel(height)
    }

    /// Any substitution that may be the body of an operation.
    pub fn parallel(&mut self, height: usize) -> Stmt {
        if height > 0 && self.rng.one_in(4) {
            let parts = (0..2 + self.rng.below(2)).map(|_| self.statement(height - 1)).collect();
            return stmt(StmtKind::Par(parts));
        }
        self.statement(height)
    }

    fn inner(&mut self, height: usize) -> Box<Stmt> {
        Box::new(self.sequence(height))
    }

    fn otherwise(&mut self, height: usize) -> Option<Box<Stmt>> {
        if self.rng.one_in(2) { Some(self.inner(height)) } else { None }
    }

    fn statement(&mut self, height: usize) -> Stmt {
        let names = |t: &mut Self| -> Vec<Ident> {
            t.several(2, |t| Ident { name: t.dotted(), span: Span::default() })
        };
        if height == 0 || self.rng.one_in(3) {
            let h = height.min(2);
            return stmt(match self.rng.below(4) {
                0 => StmtKind::BecomesSuch(names(self), self.predicate(h)),
                1 => {
                    let results =
                        if self.rng.one_in(2) { self.several(2, |t| t.target(h)) } else { Vec::new() };
                    let args =
                        if self.rng.one_in(2) { self.several(2, |t| t.expression(h)) } else { Vec::new() };
                    StmtKind::Call { results, op: Ident { name: self.dotted(), span: Span::default() }, args }
                }
                _ => return self.definable(0),
            });
        }
        let h = height - 1;
        stmt(match self.rng.below(3) {
            0 => StmtKind::If(self.several(3, |t| (t.predicate(h), t.sequence(h))), self.otherwise(h)),
            1 => StmtKind::Let(self.idents(), self.predicate(h), self.inner(h)),
            _ => return self.definable(height),
        })
    }

    /// A substitution that no formula looks like, so that it may be the body of a definition.
    fn definable(&mut self, height: usize) -> Stmt {
        let h = height.saturating_sub(1);
        let kinds = if height == 0 { 3 } else { 12 };
        stmt(match self.rng.below(kinds) {
            0 => StmtKind::Skip,
            1 => {
                let targets = self.several(2, |t| t.target(h.min(2)));
                let values = targets.iter().map(|_| self.expression(h.min(2))).collect();
                StmtKind::Assign(targets, values)
            }
            2 => StmtKind::BecomesIn(self.idents(), self.expression(h)),
            3 => StmtKind::Block(self.inner(h)),
            4 => StmtKind::Pre(self.predicate(h), self.inner(h)),
            5 => StmtKind::Assert(Obligation::Assertion, self.predicate(h), self.inner(h)),
            6 => StmtKind::Witness(self.predicate(h), self.inner(h)),
            7 => StmtKind::Choice(self.several(3, |t| t.sequence(h))),
            8 => StmtKind::Select(self.several(3, |t| (t.predicate(h), t.sequence(h))), self.otherwise(h)),
            9 => {
                let branches = self.several(2, |t| (t.several(2, |t| t.expression(h)), t.sequence(h)));
                StmtKind::Case(self.expression(h), branches, self.otherwise(h))
            }
            10 => match self.rng.below(2) {
                0 => StmtKind::Any(self.idents(), self.predicate(h), self.inner(h)),
                _ => StmtKind::Var(self.idents(), self.inner(h)),
            },
            _ => StmtKind::While {
                cond: self.predicate(h),
                body: self.inner(h),
                invariant: self.predicate(h),
                variant: self.expression(h),
            },
        })
    }

    fn definition(&mut self, h: usize) -> DefItem {
        if self.rng.one_in(8) {
            return DefItem::File(Ident { name: "lib/Common.def".into(), span: Span::default() });
        }
        let body = if self.rng.one_in(3) {
            DefBody::Stmt(self.definable(h))
        } else {
            DefBody::Expr(self.formula(h))
        };
        let params = if self.rng.one_in(2) { self.idents() } else { Vec::new() };
        DefItem::Def(Definition { name: self.ident(), params, body })
    }

    fn reference(&mut self, h: usize) -> MachineRef {
        MachineRef {
            prefix: if self.rng.one_in(2) { Some(self.ident()) } else { None },
            machine: self.ident(),
            args: if self.rng.one_in(2) { self.several(2, |t| t.expression(h)) } else { Vec::new() },
            file: if self.rng.one_in(3) { Some("dir with blank/M.mch".into()) } else { None },
        }
    }

    fn set(&mut self) -> SetDecl {
        match self.rng.below(3) {
            0 => SetDecl::Deferred(self.ident()),
            1 => SetDecl::Enumerated(self.ident(), self.idents()),
            _ => SetDecl::ByDefinition(self.ident(), self.ident()),
        }
    }

    fn freetype(&mut self, h: usize) -> Freetype {
        Freetype {
            name: self.ident(),
            params: if self.rng.one_in(2) { self.idents() } else { Vec::new() },
            constructors: self.several(3, |t| {
                let argument = if t.rng.one_in(2) { Some(t.expression(h)) } else { None };
                (t.ident(), argument)
            }),
        }
    }

    fn operation(&mut self, h: usize) -> Operation {
        Operation {
            name: Ident { name: self.dotted(), span: Span::default() },
            results: if self.rng.one_in(3) { self.idents() } else { Vec::new() },
            params: if self.rng.one_in(2) { self.idents() } else { Vec::new() },
            refines: if self.rng.one_in(4) { Some(self.ident()) } else { None },
            body: self.parallel(h),
        }
    }

    /// A machine with all clauses its kind allows, each present or not by chance.
    pub fn unit(&mut self, h: usize) -> Unit {
        if self.rng.one_in(10) {
            return Unit::Definitions((0..self.rng.below(4)).map(|_| self.definition(h)).collect());
        }
        use MachineKind::*;
        let kind = *self.rng.pick(&[Machine, Machine, Refinement, Implementation]);
        let mut kinds = vec![
            ClauseKind::Properties(self.predicate(h)),
            ClauseKind::Invariant(self.predicate(h)),
            ClauseKind::Initialisation(self.sequence(h)),
        ];
        let implementation = kind == Implementation;
        let mut optional = vec![
            ClauseKind::Sees(self.several(2, |t| t.reference(0))),
            ClauseKind::Extends(self.several(2, |t| t.reference(1))),
            ClauseKind::Promotes(self.idents()),
            ClauseKind::Sets(self.several(3, Self::set)),
            ClauseKind::Freetypes(self.several(2, |t| t.freetype(1))),
            ClauseKind::Constants(self.idents()),
            ClauseKind::ConcreteVariables(self.idents()),
            ClauseKind::Assertions(self.several(3, |t| t.predicate(h))),
            ClauseKind::Operations(self.several(3, |t| t.operation(h))),
            ClauseKind::Definitions((0..self.rng.below(4)).map(|_| self.definition(h)).collect()),
        ];
        if implementation {
            optional.push(ClauseKind::Imports(self.several(2, |t| t.reference(1))));
            optional.push(ClauseKind::Values(self.several(2, |t| (t.ident(), t.expression(h)))));
            optional.push(ClauseKind::LocalOperations(self.several(2, |t| t.operation(h))));
        } else {
            optional.push(ClauseKind::AbstractConstants(self.idents()));
            optional.push(ClauseKind::Variables(self.idents()));
            optional.push(ClauseKind::Includes(self.several(2, |t| t.reference(1))));
        }
        let mut params = Vec::new();
        if kind == Machine {
            optional.push(ClauseKind::Uses(self.several(2, |t| t.reference(0))));
            if self.rng.one_in(2) {
                params = self.idents();
                kinds.push(ClauseKind::Constraints(self.predicate(h)));
            }
        }
        for clause in optional {
            if self.rng.one_in(2) {
                let at = self.rng.below(kinds.len() + 1);
                kinds.insert(at, clause);
            }
        }
        Unit::Machine(bombus::syntax::ast::Machine {
            kind,
            name: self.ident(),
            params,
            refines: if kind == Machine { None } else { Some(self.ident()) },
            clauses: kinds.into_iter().map(|kind| Clause { kind, span: Span::default() }).collect(),
            packages: if self.rng.one_in(5) { vec!["a.b".into(), "c".into()] } else { Vec::new() },
            span: Span::default(),
        })
    }
}

/// The formulas directly below a formula, for shrinking.
pub fn parts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Neg(a) | ExprKind::Inverse(a) | ExprKind::Not(a) | ExprKind::Field(a, _) => vec![a],
        ExprKind::Label(_, a) | ExprKind::Symbolic(a) | ExprKind::Compr(_, a) | ExprKind::Quant(_, _, a) => {
            vec![a]
        }
        ExprKind::Binary(_, a, b)
        | ExprKind::Image(a, b)
        | ExprKind::Big(_, _, a, b)
        | ExprKind::Let(_, a, b) => {
            vec![a, b]
        }
        ExprKind::And(all) | ExprKind::Or(all) | ExprKind::SetExt(all) | ExprKind::SeqExt(all) => {
            all.iter().collect()
        }
        ExprKind::Builtin(_, all) => all.iter().collect(),
        ExprKind::Apply(a, all) => std::iter::once(&**a).chain(all).collect(),
        ExprKind::Rec(entries) | ExprKind::Struct(entries) => entries.iter().map(|(_, e)| e).collect(),
        ExprKind::If(branches, e) => branches.iter().flat_map(|(p, e)| [p, e]).chain([&**e]).collect(),
        ExprKind::After(a, b, p) => a.iter().chain(b).chain([&**p]).collect(),
        ExprKind::Template(parts) => parts
            .iter()
            .filter_map(|part| match part {
                TemplatePart::Expr(e) => Some(e),
                TemplatePart::Text(_) => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}
