//! The B parts of temporal formulas, typed before anything is explored.
//!
//! In: parsed formulas and the loaded model. Out: typed predicates and expressions by their place in
//! the text, or every fault with its span. Never here: states.
//!
//! The walk over a formula is that of the checker itself, on a graph of one state without transitions:
//! whatever the checker will ask for later is asked for here first.

use crate::base::Name;
use crate::base::diagnostic::{Diagnostic, Severity};
use crate::base::span::Span;
use crate::lang::typed::{Expr, Pred, Type, VarDecl, VarId, VarKind};
use crate::ltl::atoms::{Atoms, Bound, Extent, Faults, Special};
use crate::ltl::bits::Bits;
use crate::ltl::formula::{Change, Pattern, Text};
use crate::model::{Formula, FormulaScope, Model};
use crate::syntax;
use crate::syntax::ast::{self, BinOp, ExprKind};
use crate::system::EventId;
use std::cell::RefCell;
use std::collections::HashMap;

/// A piece of B with the variables of `#x.` and `!x.` that it may mention, outermost first.
pub struct Typed {
    pub part: Part,
    pub bound: Vec<VarId>,
}

pub enum Part {
    /// A predicate over a state alone: its number among `Pieces::observed`.
    Observed(usize),
    Pred(Pred),
    Expr(Expr),
    /// For each argument that is no `_`, that the parameter equals it.
    Arguments(Vec<Option<Pred>>),
}

#[derive(Default)]
pub struct Pieces {
    /// Typed pieces by their place; an operation pattern stands at the place of its operation.
    pub places: HashMap<Span, Typed>,
    /// Predicates over a state alone, each distinct one once; they are compiled with the model.
    pub observed: Vec<Pred>,
    /// The number of the goal among them, if a formula asks for it.
    pub goal: Option<usize>,
    /// Numbers in `observed` by text.
    numbers: HashMap<String, usize>,
    pub warnings: Vec<Diagnostic>,
}

impl Pieces {
    /// Adds a predicate over a state that was put together from others.
    pub fn observe(&mut self, pred: Pred) -> usize {
        self.observed.push(pred);
        self.observed.len() - 1
    }
}

pub struct Typing<'a> {
    model: RefCell<&'a mut Model>,
    events: Vec<String>,
    pieces: RefCell<Pieces>,
}

impl<'a> Typing<'a> {
    pub fn new(model: &'a mut Model) -> Self {
        let machine = &model.machine;
        let events = machine.events.iter().map(|op| machine.op(*op).name.to_string()).collect();
        Typing { model: RefCell::new(model), events, pieces: RefCell::default() }
    }

    pub fn finish(self) -> Pieces {
        self.pieces.into_inner()
    }

    fn enter(&self, at: Span, part: Part, bound: &[Bound]) {
        let bound = bound.iter().map(|b| VarId(b.value)).collect();
        self.pieces.borrow_mut().places.insert(at, Typed { part, bound });
    }

    fn typed(&self, scope: &FormulaScope, tree: &ast::Expr) -> Result<Formula, Faults> {
        scope.typed(&mut self.model.borrow_mut().machine, tree)
    }

    /// The scope of the model with the variables of the formula.
    fn scope(&self, bound: &[Bound]) -> FormulaScope {
        let mut scope = self.model.borrow().scope.clone();
        for b in bound {
            scope.declare(&Name::from(b.variable.as_str()), VarId(b.value));
        }
        scope
    }

    fn pred(&self, text: &Text, bound: &[Bound]) -> Result<Pred, Faults> {
        match self.typed(&self.scope(bound), &tree("", text, "")?)? {
            Formula::Pred(p) => Ok(p),
            Formula::Expr(e) => {
                Err(vec![Diagnostic::error(e.span, "a predicate is wanted here, this is an expression")])
            }
        }
    }

    fn expr(&self, text: &Text, bound: &[Bound]) -> Result<Expr, Faults> {
        match self.typed(&self.scope(bound), &tree("", text, "")?)? {
            Formula::Expr(e) => Ok(e),
            Formula::Pred(p) => {
                Err(vec![Diagnostic::error(p.span, "an expression is wanted here, this is a predicate")])
            }
        }
    }

    fn argument(&self, parameter: VarId, text: &Text, bound: &[Bound]) -> Result<Pred, Faults> {
        // A name that no text can contain, so that it hides nothing.
        let name = Name::from("the argument");
        let mut scope = self.scope(bound);
        scope.declare(&name, parameter);
        let given = tree("", text, "")?;
        let span = given.span;
        let name = ast::Expr { kind: ExprKind::Ident(name), span };
        let equation =
            ast::Expr { kind: ExprKind::Binary(BinOp::Equal, Box::new(name), Box::new(given)), span };
        match self.typed(&scope, &equation)? {
            Formula::Pred(p) => Ok(p),
            Formula::Expr(e) => Err(vec![Diagnostic::error(e.span, "an argument is an expression")]),
        }
    }
}

/// The tree of a text whose spans are those of the formula it stands in: what stands before it there
/// is replaced by blanks. `before` is shorter than that.
pub(in crate::driver) fn tree(before: &str, text: &Text, after: &str) -> Result<ast::Expr, Faults> {
    let blanks = (text.span.start as usize).saturating_sub(before.len());
    let padded = format!("{:blanks$}{before}{}{after}", "", text.text);
    let parsed = syntax::parse_formula(text.span.file, &padded);
    parsed.tree.ok_or_else(|| {
        parsed.diagnostics.into_iter().filter(|d| d.severity == Severity::Error).collect::<Vec<_>>()
    })
}

/// On a graph of one state and no transition.
impl Atoms for Typing<'_> {
    fn event_names(&self) -> &[String] {
        &self.events
    }

    fn predicate(&self, predicate: &Text, bound: &[Bound]) -> Result<Extent, Faults> {
        let pred = self.pred(predicate, bound)?;
        let part = if bound.is_empty() {
            let mut pieces = self.pieces.borrow_mut();
            let fresh = pieces.observed.len();
            let number = *pieces.numbers.entry(predicate.text.clone()).or_insert(fresh);
            if number == fresh {
                pieces.observed.push(pred);
            }
            Part::Observed(number)
        } else {
            Part::Pred(pred)
        };
        self.enter(predicate.span, part, bound);
        Ok(Extent::known(Bits::new(1)))
    }

    fn matching(&self, event: EventId, pattern: &Pattern, bound: &[Bound]) -> Result<Extent, Faults> {
        let params = {
            let machine = &self.model.borrow().machine;
            machine.op(machine.events[event.0 as usize]).params.clone()
        };
        let operation = &pattern.operation;
        if pattern.arguments.len() > params.len() {
            let message = format!(
                "`{}` has {} parameters, but {} arguments are given",
                operation.text,
                params.len(),
                pattern.arguments.len()
            );
            return Err(vec![Diagnostic::error(operation.span, message)]);
        }
        let arguments = pattern
            .arguments
            .iter()
            .zip(&params)
            .map(|(a, p)| a.as_ref().map(|a| self.argument(*p, a, bound)).transpose())
            .collect::<Result<_, _>>()?;
        self.enter(operation.span, Part::Arguments(arguments), bound);
        Ok(Extent::known(Bits::new(0)))
    }

    fn change(&self, change: Change, text: &Text, bound: &[Bound]) -> Result<Extent, Faults> {
        let part = match change {
            Change::BeforeAfter => Part::Pred(self.pred(text, bound)?),
            Change::Unchanged | Change::Changed => Part::Expr(self.expr(text, bound)?),
            Change::Increasing | Change::Decreasing => {
                let expr = self.expr(text, bound)?;
                if !matches!(expr.ty, Type::Integer | Type::Real) {
                    return Err(vec![Diagnostic::error(text.span, "only numbers increase and decrease")]);
                }
                Part::Expr(expr)
            }
        };
        self.enter(text.span, part, bound);
        Ok(Extent::known(Bits::new(0)))
    }

    fn special(&self, which: Special, at: Span) -> Result<Extent, Faults> {
        let mut pieces = self.pieces.borrow_mut();
        match which {
            Special::Goal => {
                let Some(goal) = self.model.borrow().machine.goal.clone() else {
                    let fault = Diagnostic::error(at, "the model has no goal");
                    return Err(vec![fault.help("define GOAL in the model or give --goal PRED")]);
                };
                if pieces.goal.is_none() {
                    pieces.goal = Some(pieces.observed.len());
                    pieces.observed.push(goal);
                }
            }
            Special::Current => pieces.warnings.push(
                Diagnostic::warning(at, "`current` is true in the initial states")
                    .help("it names the state of an animator; here paths start in the initial states"),
            ),
            Special::DetOutput | Special::StateError => {}
        }
        Ok(Extent::known(Bits::new(1)))
    }

    /// One variable of the type that the domain gives it stands for all values.
    fn solutions(&self, variable: &str, domain: &Text, bound: &[Bound]) -> Result<Vec<Bound>, Faults> {
        let set = tree(&format!("{{{variable}|"), domain, "}")?;
        let set = match self.typed(&self.scope(bound), &set)? {
            Formula::Expr(e) => e,
            Formula::Pred(p) => return Err(vec![Diagnostic::error(p.span, "a predicate is wanted here")]),
        };
        let Type::Pow(ty) = &set.ty else {
            return Err(vec![Diagnostic::error(domain.span, "a predicate is wanted here")]);
        };
        let declaration =
            VarDecl { name: variable.into(), ty: (**ty).clone(), kind: VarKind::Local, span: domain.span };
        let number = {
            let vars = &mut self.model.borrow_mut().machine.vars;
            vars.push(declaration);
            vars.len() as u32 - 1
        };
        self.enter(domain.span, Part::Expr(set), bound);
        // The number tells apart variables of one name in the table of atoms.
        Ok(vec![Bound { variable: variable.to_string(), value: number, shown: format!("#{number}") }])
    }
}
