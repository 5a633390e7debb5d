//! Choices that nothing bounds: an operation's parameter, a constant, ANY, `x:(P)` over all integers.
//!
//! In: variables for which no binder was found. Out: whether the range MININT..MAXINT may be tried.
//! Trying some values of a choice shows real behaviour, so faults found that way are genuine; but the
//! others were not tried, and every such search says so and is incomplete, unless those that were stand for them
//! (`model::opaque`). A quantifier or a
//! comprehension is never cut: some values less would change its truth. What `--integers-in-scope` makes of all that
//! stands in `scope`.

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Error, ErrorKind, Flow, Res};
use crate::eval::interval;
use crate::memo::SETUP;
use crate::solve::order::{Item, Sink};
use bombus_analyse::data_independence::{Opaque, STAND_FOR_ALL};
use bombus_analyse::effect_free_choice;
use bombus_base::hash::HashSet;
use bombus_base::{Int, Span};
use bombus_lang::typed::{Machine, Stmt, StmtKind, Type, VarId, VarKind};
use bombus_lang::value::Value;

/// The place of a conjunct that speaks of a variable, if there is one: a user may look there for what is missing.
fn place_of(open: &[Item], var: VarId) -> Span {
    let about = open.iter().find(|i| i.conjunct.free.contains(&var) && !i.conjunct.derived);
    about.or(open.first()).map(|i| i.conjunct.pred.span).unwrap_or_default()
}

/// The variables of all ANY substitutions of a machine.
pub(crate) fn of_substitutions(machine: &Machine) -> HashSet<VarId> {
    let mut found = HashSet::new();
    let mut open: Vec<&Stmt> = machine.operations.iter().map(|op| &op.body).collect();
    open.push(&machine.initialisation);
    while let Some(s) = open.pop() {
        match &s.kind {
            StmtKind::Any(vars, _, body) => {
                found.extend(vars.iter().copied());
                open.push(body);
            }
            StmtKind::Pre(_, s)
            | StmtKind::Assert(_, _, s)
            | StmtKind::Witness(_, s)
            | StmtKind::Let(_, s)
            | StmtKind::Var(_, s)
            | StmtKind::While { body: s, .. } => open.push(s),
            StmtKind::Choice(list) | StmtKind::Seq(list) | StmtKind::Par(list) => open.extend(list),
            StmtKind::If(branches, last) | StmtKind::Select(branches, last) => {
                open.extend(branches.iter().map(|(_, s)| s));
                open.extend(last.as_deref());
            }
            StmtKind::Case(_, branches, last) => {
                open.extend(branches.iter().map(|(_, s)| s));
                open.extend(last.as_deref());
            }
            StmtKind::Skip
            | StmtKind::Assign(_)
            | StmtKind::BecomesIn(..)
            | StmtKind::BecomesSuch(..)
            | StmtKind::Call { .. }
            | StmtKind::External(..) => {}
        }
    }
    found
}

/// Whether the model chooses `v`: it is no variable of a quantifier or comprehension.
pub(crate) fn is_choice(machine: &Machine, of_substitutions: &HashSet<VarId>, v: VarId) -> bool {
    machine.vars.get(v.0 as usize).is_some_and(|decl| match decl.kind {
        VarKind::Constant | VarKind::Variable | VarKind::Parameter => true,
        VarKind::Local => of_substitutions.contains(&v),
        VarKind::Result => false,
    })
}

impl Interpreter<'_> {
    /// Nothing binds the unknown variables: false if some conjunct is false whatever they are.
    pub(crate) fn give_up(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        pending: Option<Error>,
        sink: Sink,
    ) -> Res<Flow> {
        for item in open {
            if self.refuted(env, &item.conjunct.pred, false)? {
                return Ok(Flow::Go);
            }
        }
        if self.careful.get() {
            let span = open.first().map(|i| i.conjunct.pred.span).unwrap_or_default();
            let words = "nothing bounds a variable, and its other values may leave a formula undefined";
            return self.try_samples(env, unknown, open, pending, &Error::unbounded(span, words), sink);
        }
        if let Some(flow) = self.by_row(env, unknown, open, &pending, sink)? {
            return Ok(flow);
        }
        let undefined = pending.as_ref().is_some_and(Error::is_finding);
        if self.machine.integers_in_scope {
            if !undefined && let Some(flow) = self.try_window(env, unknown, open, &pending, sink)? {
                return Ok(flow);
            }
        } else if !undefined
            && let Some(var) = unknown
                .iter()
                .find(|v| self.type_of(**v) == Type::Integer && is_choice(self.machine, &self.any, **v))
        {
            return self.try_scope(env, unknown, open, pending, *var, sink);
        }
        let var = unknown[0];
        let span = place_of(open, var);
        let name = self.machine.vars.get(var.0 as usize).map_or("a variable", |d| &*d.name);
        // What could not be computed at all, such as a file that is not there, is why nothing bounds the variable.
        let told = |e: &Error| e.is_finding() || e.kind() == ErrorKind::Unsupported;
        let error = pending.filter(told).unwrap_or_else(|| {
            Error::unbounded(span, format!("nothing bounds {name}, which ranges over an infinite type"))
        });
        sink(env, Some(&error))
    }

    /// That a choice which nothing bounds was tried with the integers of the scope alone, and what to do about it.
    pub(crate) fn only_scope(&self, name: &str) -> String {
        let Machine { minint, maxint, .. } = self.machine;
        self.only_window(name, minint, maxint)
    }

    fn only_window(&self, name: &str, low: &Int, high: &Int) -> String {
        format!(
            "nothing bounds {name}: only {low}..{high} was tried (--maxint tries more, --integers-in-scope takes \
             that for all)"
        )
    }

    /// That such a choice was tried with values that stand for all others.
    pub(crate) fn represented(&self, name: &str) -> String {
        let Machine { minint, maxint, .. } = self.machine;
        format!("nothing bounds {name}: only {minint}..{maxint} was tried; {STAND_FOR_ALL}")
    }

    /// Whether the integers of the scope stand for all values of a choice.
    pub(crate) fn is_represented(&self, v: VarId) -> bool {
        self.opaque.get_or_init(|| Opaque::of(self.machine)).contains(v)
    }

    /// Tries the integers of the scope for a choice that nothing bounds, and says that the others
    /// were not tried.
    fn try_scope(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        pending: Option<Error>,
        var: VarId,
        sink: Sink,
    ) -> Res<Flow> {
        let span = place_of(open, var);
        let Machine { minint, maxint, .. } = self.machine;
        let name = &self.machine.var(var).name;
        // A bound of a constant that is known moves the window. A bound of a parameter may move with the state, and the
        // search would have no end.
        let mut set = interval(minint, maxint);
        let mut words = self.only_scope(name);
        if env.valuation == Some(SETUP) && !self.is_represented(var) {
            let window = self.window(env, unknown, open, var)?;
            if let Some((low, high)) = self.spans(env, &window)?.and_then(|s| s.hull())
                && let (Some(low), Some(high)) = (low, high)
                && (low != *minint || high != *maxint)
            {
                words = self.only_window(name, &low, &high);
                set = window;
            }
        }
        let kind = if self.is_represented(var) {
            words = self.represented(name);
            ErrorKind::Represented
        } else if self.stands_alone(env, unknown, open, var, &set)? {
            ErrorKind::Sampled(var)
        } else {
            ErrorKind::Unbounded
        };
        if sink(env, Some(&Error::new(kind, span, words)))? == Flow::Stop {
            return Ok(Flow::Stop);
        }
        self.for_each(env, &set, &mut |env, x| self.bound(env, unknown, open, pending.clone(), var, x, sink))
    }

    /// Whether what is asked of `var` depends on no other unknown variable, is defined for all integers, and holds
    /// for some value of `set`.
    fn stands_alone(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        var: VarId,
        set: &Value,
    ) -> Res<bool> {
        let about: Vec<&Item> = open.iter().filter(|i| i.conjunct.free.contains(&var)).collect();
        for item in &about {
            let c = &item.conjunct;
            if c.free.iter().any(|v| *v != var && unknown.contains(v))
                || !effect_free_choice::is_total(&c.pred, &[var])
            {
                return Ok(false);
            }
        }
        let flow = self.for_each(env, set, &mut |env, x| {
            env.bind(var, x);
            let truth = about.iter().try_fold(true, |all, i| Ok(all && self.holds(env, &i.conjunct.pred)?));
            env.unbind(var);
            match truth {
                Ok(true) => Ok(Flow::Stop),
                Ok(false) => Ok(Flow::Go),
                Err(e) if Error::is_stop(&e) => Err(e),
                Err(_) => Ok(Flow::Go),
            }
        })?;
        Ok(flow == Flow::Stop)
    }
}
