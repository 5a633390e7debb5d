//! Values that a user or a trace file wrote, in the scope of a model.
//!
//! In: the name of a constant, variable, parameter or result, and a text. Out: the value, or nothing if
//! the text is none (a set that is not listed is shown in a form that does not parse).
//! Never here: what is done with it.

use crate::base::Span;
use crate::base::budget::Budget;
use crate::base::diagnostic::Sources;
use crate::evaluate::{Interpreter, State};
use crate::lang::typed::{Expr, ExprKind, Machine, Pred, PredKind, Type, VarId};
use crate::lang::value::Value;
use crate::model::{Formula, FormulaScope, Model};
use std::collections::BTreeMap;

/// Texts and the values they stand for. A text is typed by the name it is a value of, so that `{}` has
/// a type.
#[derive(Default)]
pub struct Texts(BTreeMap<(VarId, String), Option<Value>>);

impl Texts {
    /// Reads all texts at once: typing changes the machine, evaluation needs it unchanged.
    pub fn read<'a>(
        model: &mut Model,
        sources: &mut Sources,
        texts: impl IntoIterator<Item = (VarId, &'a str)>,
        budget: &Budget,
    ) -> Texts {
        let mut typed: BTreeMap<(VarId, String), Option<Expr>> = BTreeMap::new();
        for (var, text) in texts {
            typed.entry((var, text.to_string())).or_insert_with(|| {
                let scope = model.scope.clone();
                expression(scope, &mut model.machine, sources, var, text)
            });
        }
        let interpreter = Interpreter::new(&model.machine, budget);
        let value = |e: Expr| interpreter.eval_expr(&e, None).ok();
        Texts(typed.into_iter().map(|(key, e)| (key, e.and_then(value))).collect())
    }

    /// The value of a text that was read.
    pub fn get(&self, var: VarId, text: &str) -> Option<&Value> {
        self.0.get(&(var, text.to_string()))?.as_ref()
    }
}

/// The value of a text that stands for a value of a variable.
pub fn value_of(
    model: &Model,
    sources: &Sources,
    var: VarId,
    text: &str,
    budget: &Budget,
) -> Result<Value, String> {
    let (mut machine, mut sources) = (model.machine.clone(), sources.clone());
    let name = machine.var(var).name.clone();
    let e = expression(model.scope.clone(), &mut machine, &mut sources, var, text)
        .ok_or_else(|| format!("{text} is no value of {name}"))?;
    Interpreter::new(&machine, budget).eval_expr(&e, None).map_err(|e| format!("{text}: {}", e.told()))
}

fn expression(
    mut scope: FormulaScope,
    machine: &mut Machine,
    sources: &mut Sources,
    var: VarId,
    text: &str,
) -> Option<Expr> {
    const NAME: &str = "value_of_trace";
    scope.declare(&NAME.into(), var);
    let equation = format!("{NAME} = ({text})");
    match scope.parse(machine, sources, "<value>", &equation).ok()? {
        Formula::Pred(p) => match p.kind {
            PredKind::Rel(_, _, right) => Some(right),
            _ => None,
        },
        Formula::Expr(_) => None,
    }
}

/// A formula with all that is needed to ask for its value in one state after the other: the machine holds the
/// variables that the formula binds.
pub struct Typed {
    pub machine: Machine,
    pub sources: Sources,
    pub formula: Formula,
}

impl Typed {
    /// Reads a formula in the scope of a model; messages if it is none.
    pub fn read(model: &Model, sources: &Sources, text: &str) -> Result<Typed, String> {
        let mut sources = sources.clone();
        let mut machine = model.machine.clone();
        match model.scope.parse(&mut machine, &mut sources, "<formula>", text) {
            Ok(formula) => Ok(Typed { machine, sources, formula }),
            Err(diagnostics) => {
                Err(diagnostics.iter().map(|d| sources.render(d)).collect::<Vec<_>>().join("\n"))
            }
        }
    }

    /// The same, where a predicate is wanted.
    pub fn predicate(&self) -> Result<&Pred, String> {
        match &self.formula {
            Formula::Pred(p) => Ok(p),
            Formula::Expr(_) => Err("a predicate is wanted here, this is an expression".into()),
        }
    }

    /// The value in a state; a truth value is a value of BOOL.
    pub fn value(&self, interpreter: &Interpreter, state: Option<&State>) -> Result<Value, String> {
        let result = match &self.formula {
            Formula::Expr(e) => interpreter.eval_expr(e, state),
            Formula::Pred(p) => interpreter.eval_pred(p, state).map(Value::Bool),
        };
        result.map_err(|e| e.told())
    }

    pub fn ty(&self) -> Type {
        match &self.formula {
            Formula::Expr(e) => e.ty.clone(),
            Formula::Pred(_) => Type::Bool,
        }
    }
}

/// The value of a formula in a state, as text.
pub fn evaluate(
    model: &Model,
    sources: &Sources,
    text: &str,
    state: Option<&State>,
    budget: &Budget,
) -> Result<String, String> {
    let typed = Typed::read(model, sources, text)?;
    let value = typed.value(&Interpreter::new(&typed.machine, budget), state)?;
    Ok(value.show(&typed.machine, &typed.ty()))
}

/// A value as an expression.
pub(in crate::driver) fn written(value: &Value, ty: &Type) -> Option<Expr> {
    let kind = match (value, ty) {
        (Value::Bool(b), _) => ExprKind::Bool(*b),
        (Value::Int(n), _) => ExprKind::Int(n.clone()),
        (Value::Str(s), _) => ExprKind::Str(s.clone()),
        (Value::Elem(set, n), _) => ExprKind::Elem(*set, *n),
        (Value::Pair(p), Type::Prod(a, b)) => {
            ExprKind::Pair(Box::new(written(&p.0, a)?), Box::new(written(&p.1, b)?))
        }
        (Value::Rec(parts), Type::Struct(fields)) => ExprKind::Rec(
            parts.iter().zip(fields.iter()).map(|(x, (_, t))| written(x, t)).collect::<Option<_>>()?,
        ),
        (Value::Set(elems), Type::Pow(t)) => {
            ExprKind::SetExt(elems.iter().map(|x| written(x, t)).collect::<Option<_>>()?)
        }
        (Value::Free(id, constructor, None), _) => ExprKind::Construct(*id, *constructor, None),
        _ => return None,
    };
    Some(Expr { kind, ty: ty.clone(), span: Span::default() })
}
