//! The state machine of a specification, by the rules of ProZ.
//!
//! In: elaborated schemas. Out: one typed machine. The schema `Init` names the state schema; a schema that has all
//! components of the state, plain and primed, and that no other schema refers to, is an operation; there is no frame:
//! what an operation does not say of the state afterwards is any value. Never here: sizes of given sets.

use super::copy::{Copy, Replacement};
use super::elaborate::Elaboration;
use super::functions::equations;
use super::recursion::Axioms;
use super::references::references;
use super::schema::{Schema, decorated};
use super::steps::{Alternative, alternatives, mentions, plain, test_members};
use super::types::Close;
use crate::formula::empty_machine;
use crate::settings::Settings;
use bombus_base::diagnostic::{Diagnostic, Sources};
use bombus_base::{Name, Span};
use bombus_lang::typed::{
    Clause, Expr, ExprKind, Machine, OpId, Operation, Pred, PredKind, RelOp, Stmt, StmtKind, Target, VarId,
    VarKind,
};
use bombus_lang::walk::{change_expr, change_pred};
use bombus_syntax::z::tree::{Connective, Decl, Ident, Logic, LogicKind, ParagraphKind, SchemaRef, Spec};
use std::collections::{BTreeMap, BTreeSet};

/// Names that ProZ gives a meaning of their own.
const INIT: &str = "Init";
const INVARIANT: &str = "Invariant";
const SCOPE: &str = "Scope";

/// Where the schemas of the machine are.
struct Roles<'s> {
    init: Name,
    state: Name,
    operations: Vec<(Name, &'s Ident)>,
    /// Schemas that are no operations although they have the components of one, and why.
    others: Vec<(Name, String)>,
}

pub(super) struct Lowered {
    pub machine: Machine,
    /// Why schemas over the state before and after are no operations.
    pub notes: Vec<String>,
}

pub(super) struct Lowering<'e, 's> {
    pub elaboration: &'e mut Elaboration<'s>,
    pub spec: &'s Spec,
    pub sources: &'e Sources,
    pub name: Name,
    /// Schemas that are operations even if others refer to them.
    pub wanted: &'e [String],
}

impl<'s> Lowering<'_, 's> {
    /// The machine; none if the specification has no state machine, which has been reported.
    pub fn lower(mut self, properties: Vec<Pred>, settings: &Settings) -> Option<Lowered> {
        let roles = self.roles()?;
        self.close();
        let mut machine = empty_machine(settings.maxint.clone(), settings.minint.clone());
        machine.name = self.name.clone();
        machine.integers_in_scope = settings.integers_in_scope;
        machine.symbolic = settings.symbolic;
        let state = self.closed(&roles.state)?;
        let variables: BTreeMap<Name, VarId> = self.variables(&state);
        machine.variables = state.components.iter().filter_map(|c| variables.get(&c.name).copied()).collect();
        machine.constants = (0..self.elaboration.vars.len() as u32)
            .map(VarId)
            .filter(|v| self.elaboration.vars[v.0 as usize].kind == VarKind::Constant)
            .collect();
        let properties = properties.into_iter().map(|p| self.closed_pred(p)).collect();
        let (freetypes, sets) = (self.freetypes(), self.elaboration.sets.clone());
        let mut axioms = Axioms {
            constants: &machine.constants,
            vars: &mut self.elaboration.vars,
            freetypes: &freetypes,
            sets: &sets,
        };
        let properties = axioms.equations(equations(properties, &machine.constants));
        machine.properties = self.clauses(properties);
        let holds = self.over_state(&state, &variables);
        machine.invariant = self.clauses(holds.clone());
        if let Some(more) = self.property(INVARIANT, &variables) {
            let known: Vec<Pred> = holds.iter().map(plain).collect();
            let more = more.into_iter().filter(|p| !known.contains(&plain(p))).collect();
            machine.invariant.extend(self.clauses(more));
        }
        if let Some(all) = self.property(SCOPE, &variables) {
            let span = all.first().map(|p| p.span).unwrap_or_default();
            machine.scope = Some(super::elaborate::conjunction(all, span));
        }
        let init = self.closed(&roles.init)?;
        machine.initialisation = self.initialisation(&init, &state, &variables, &roles);
        for (name, ident) in &roles.operations {
            let schema = self.closed(name)?;
            machine.events.push(OpId(machine.operations.len() as u32));
            let operation = self.operation(name, ident.span, &schema, &state, &variables, &holds);
            machine.operations.push(operation);
        }
        machine.sets.clone_from(&self.elaboration.sets);
        machine.freetypes = self.freetypes();
        machine.vars.clone_from(&self.elaboration.vars);
        if self.elaboration.has_errors() {
            return None;
        }
        let notes =
            roles.others.into_iter().map(|(name, why)| format!("{name} is no operation: {why}")).collect();
        Some(Lowered { machine, notes })
    }

    // ----- roles -----

    fn schema_names(&self) -> Vec<(Name, &'s Ident, &'s Logic, bool)> {
        let mut all = Vec::new();
        for paragraph in &self.spec.paragraphs {
            if let ParagraphKind::Schema { name, formals, body } = &paragraph.kind {
                all.push((name.full(), name, body, formals.is_empty()));
            }
        }
        all
    }

    fn roles(&mut self) -> Option<Roles<'s>> {
        let schemas = self.schema_names();
        let init = schemas.iter().find(|(n, ..)| &**n == INIT);
        let init = init.or_else(|| schemas.iter().find(|(n, _, _, plain)| *plain && n.starts_with(INIT)));
        let Some((init, ident, body, _)) = init else {
            let text = "the specification has no initial state: there is no schema `Init`";
            let place = schemas.first().map(|(_, ident, ..)| ident.span);
            let place = place.or_else(|| self.spec.paragraphs.first().map(|p| p.span));
            let d = place.map_or_else(|| Diagnostic::plain(text), |span| Diagnostic::error(span, text));
            self.elaboration.error(
                d.help("define `Init \\defs [State' | …]`, or a schema whose name begins with `Init`"),
            );
            return None;
        };
        if self.elaboration.schemas.get(init).is_some_and(|d| !d.formals.is_empty()) {
            let d = Diagnostic::error(ident.span, format!("the initialisation `{init}` cannot be generic"));
            self.elaboration.error(d);
            return None;
        }
        if &**init != INIT {
            let text = format!("there is no schema `Init`; `{init}` is taken for the initialisation");
            self.elaboration.error(Diagnostic::warning(ident.span, text));
        }
        let state = self.state_of(init, ident, body)?;
        let mut roles = Roles { init: init.clone(), state, operations: Vec::new(), others: Vec::new() };
        let mut referred: BTreeMap<Name, Name> = BTreeMap::new();
        for (name, _, body, _) in &schemas {
            for other in references(body) {
                referred.entry(other).or_insert_with(|| name.clone());
            }
        }
        let state = self.elaboration.schemas.get(&roles.state).and_then(|d| d.value.clone())?;
        for (name, ident, _, plain) in &schemas {
            let reserved =
                *name == roles.init || *name == roles.state || [INVARIANT, SCOPE].contains(&&**name);
            if reserved || !plain {
                continue;
            }
            let Some(schema) = self.elaboration.schemas.get(name).and_then(|d| d.value.clone()) else {
                continue;
            };
            let has = |c: &Name| schema.get(c).is_some() && schema.get(&decorated(c, "'")).is_some();
            if !state.components.iter().all(|c| has(&c.name)) {
                continue;
            }
            match referred.get(name).filter(|_| !self.wanted.iter().any(|w| **w == **name)) {
                Some(by) => roles.others.push((name.clone(), format!("{by} refers to it"))),
                None => roles.operations.push((name.clone(), ident)),
            }
        }
        self.check_wanted(&roles);
        if roles.operations.is_empty() {
            let text = format!("no schema is an operation on the state `{}`", roles.state);
            let mut d = Diagnostic::warning(ident.span, text);
            for (name, why) in &roles.others {
                d = d.help(format!("`{name}` is none: {why}"));
            }
            self.elaboration.error(d.help("an operation has all components of the state, plain and primed"));
        }
        Some(roles)
    }

    fn check_wanted(&mut self, roles: &Roles) {
        for wanted in self.wanted {
            if !roles.operations.iter().any(|(n, _)| **n == **wanted) {
                let text =
                    format!("--operation {wanted}: there is no such schema over the state before and after");
                self.elaboration.error(Diagnostic::plain(text));
            }
        }
    }

    /// The state schema: the one schema that the initialisation includes.
    fn state_of(&mut self, init: &Name, ident: &Ident, body: &'s Logic) -> Option<Name> {
        let mut included: Vec<&SchemaRef> = Vec::new();
        inclusions(body, &mut included);
        // A schema of the initialisation under another name.
        if let (LogicKind::Reference(r), [_]) = (&body.kind, included.as_slice())
            && r.name.base.starts_with(INIT)
        {
            let other = self.schema_names().into_iter().find(|(n, ..)| *n == r.name.base);
            let (name, ident, body, _) = other?;
            return self.state_of(&name, ident, body);
        }
        match included.as_slice() {
            [r] if r.frame.is_none()
                && r.actuals.is_empty()
                && r.renaming.is_empty()
                && matches!(&*r.name.decor, "" | "'") =>
            {
                let generic =
                    self.elaboration.schemas.get(&r.name.base).is_none_or(|d| !d.formals.is_empty());
                if generic {
                    let text = format!("the state schema `{}` is generic", r.name.base);
                    self.elaboration.error(Diagnostic::error(r.span, text));
                    return None;
                }
                Some(r.name.base.clone())
            }
            [] => {
                let text = format!("`{init}` includes no schema, so it does not say what the state is");
                let help = "begin it with the state schema: `[State' | …]`";
                self.elaboration.error(Diagnostic::error(ident.span, text).help(help));
                None
            }
            [r] => {
                let text = format!("`{init}` must include the state schema plainly, as `State` or `State'`");
                self.elaboration.error(Diagnostic::error(r.span, text));
                None
            }
            several => {
                let text = format!("`{init}` must include exactly one schema, the state");
                let mut d =
                    Diagnostic::error(several[1].span, text).label(several[0].span, "one is included here");
                d = d.help("put the others into its predicate, or name the whole state by one schema");
                self.elaboration.error(d);
                None
            }
        }
    }

    // ----- closed trees -----

    /// Closes the types of all variables.
    fn close(&mut self) {
        let e = &mut *self.elaboration;
        let close = Close(&e.unifier);
        for var in &mut e.vars {
            var.ty = close.ty(&var.ty);
        }
    }

    fn closed_pred(&self, mut p: Pred) -> Pred {
        change_pred(&mut p, &mut Close(&self.elaboration.unifier));
        p
    }

    fn closed(&mut self, name: &Name) -> Option<Schema> {
        let mut schema = self.elaboration.schemas.get(name)?.value.clone()?;
        let close = Close(&self.elaboration.unifier);
        for c in &mut schema.components {
            c.ty = close.ty(&c.ty);
        }
        schema.preds = std::mem::take(&mut schema.preds).into_iter().map(|p| self.closed_pred(p)).collect();
        Some(schema)
    }

    fn freetypes(&self) -> Vec<bombus_lang::typed::Freetype> {
        let mut close = Close(&self.elaboration.unifier);
        let mut all = self.elaboration.freetypes.clone();
        for free in &mut all {
            for (_, argument) in &mut free.constructors {
                *argument = argument.as_ref().map(|t| close.ty(t));
            }
            for domain in free.domains.iter_mut().flatten() {
                change_expr(domain, &mut close);
            }
        }
        all
    }

    /// A variable of the machine for each component of the state.
    fn variables(&mut self, state: &Schema) -> BTreeMap<Name, VarId> {
        let mut all = BTreeMap::new();
        for c in &state.components {
            let var = self.elaboration.new_var(&c.name, c.ty.clone(), c.span);
            self.elaboration.vars[var.0 as usize].kind = VarKind::Variable;
            all.insert(c.name.clone(), var);
        }
        all
    }

    /// The conjuncts of a schema with values for its components.
    fn placed(&mut self, schema: &Schema, place: impl Fn(&Name) -> Option<VarId>) -> Vec<Pred> {
        let mut with = Replacement::new();
        for c in &schema.components {
            if let Some(var) = place(&c.name) {
                with.insert(c.var, self.elaboration.var(var, c.span));
            }
        }
        let mut copy = Copy::new(&mut self.elaboration.vars, with);
        copy.preds(&schema.preds)
    }

    /// What a schema says of the variables of the state.
    fn over_state(&mut self, schema: &Schema, variables: &BTreeMap<Name, VarId>) -> Vec<Pred> {
        let preds = self.placed(schema, |n| variables.get(n).copied());
        super::predicates::flat(preds)
    }

    /// The conjuncts of `Invariant` or `Scope`, which speak of the state alone.
    fn property(&mut self, name: &str, variables: &BTreeMap<Name, VarId>) -> Option<Vec<Pred>> {
        let def = self.elaboration.schemas.get(name)?;
        if !def.formals.is_empty() {
            let d = Diagnostic::error(def.name.span, format!("the schema `{name}` cannot be generic"));
            self.elaboration.error(d);
            return None;
        }
        let schema = self.closed(&name.into())?;
        for c in &schema.components {
            let ty = variables.get(&c.name).map(|v| self.elaboration.vars[v.0 as usize].ty.clone());
            let text = match ty {
                None => format!("`{}` of `{name}` is no component of the state", c.name),
                Some(ty) if ty != c.ty => format!("type clash: `{}` has another type in the state", c.name),
                Some(_) => continue,
            };
            self.elaboration.error(Diagnostic::error(c.span, text));
        }
        Some(self.over_state(&schema, variables))
    }

    fn clauses(&self, preds: Vec<Pred>) -> Vec<Clause> {
        let clause = |pred: Pred| Clause {
            label: None,
            origin: self.name.clone(),
            text: bombus_base::text::one_line(self.sources.slice(pred.span)),
            pred,
        };
        preds.into_iter().map(clause).collect()
    }

    // ----- steps -----

    fn initialisation(
        &mut self,
        init: &Schema,
        state: &Schema,
        variables: &BTreeMap<Name, VarId>,
        roles: &Roles,
    ) -> Stmt {
        let primed = variables.keys().all(|n| init.get(&decorated(n, "'")).is_some());
        let after = |n: &Name| if primed { decorated(n, "'") } else { n.clone() };
        let step = self.step(init, |_| None);
        let mut targets = Vec::new();
        let mut missing = Vec::new();
        for (name, var) in variables {
            match init.get(&after(name)).and_then(|c| step.places.get(&c.name)) {
                Some(place) => targets.push((*var, *place)),
                None => missing.push(name.clone()),
            }
        }
        let span = self.elaboration.schemas.get(&roles.init).map(|d| d.name.span).unwrap_or_default();
        if !missing.is_empty() {
            let text = format!("`{}` lacks components of the state: {}", roles.init, missing.join(", "));
            self.elaboration.error(Diagnostic::error(span, text));
        }
        self.body(step, targets, state, variables, &[], span)
    }

    fn operation(
        &mut self,
        name: &Name,
        span: Span,
        schema: &Schema,
        state: &Schema,
        variables: &BTreeMap<Name, VarId>,
        holds: &[Pred],
    ) -> Operation {
        for c in &state.components {
            for decor in ["", "'"] {
                let other = schema.get(&decorated(&c.name, decor));
                if let Some(other) = other.filter(|o| o.ty != c.ty) {
                    let text = format!(
                        "type clash: `{}` of `{name}` is of another type than in the state",
                        other.name
                    );
                    self.elaboration.error(Diagnostic::error(other.span, text).label(c.span, "the state"));
                }
            }
        }
        let step = self.step(schema, |n| variables.get(n).copied());
        let kind = |this: &mut Self, v: VarId, kind| this.elaboration.vars[v.0 as usize].kind = kind;
        let mut params = Vec::new();
        let mut results = Vec::new();
        let mut targets = Vec::new();
        for c in &schema.components {
            let Some(place) = step.places.get(&c.name).copied() else { continue };
            if c.name.ends_with('?') {
                kind(self, place, VarKind::Parameter);
                params.push(place);
            } else if c.name.ends_with('!') {
                let result = self.elaboration.new_var(&c.name, c.ty.clone(), c.span);
                kind(self, result, VarKind::Result);
                results.push(result);
                targets.push((result, place));
            }
        }
        for (name, var) in variables {
            if let Some(place) = step.places.get(&decorated(name, "'")) {
                targets.push((*var, *place));
            }
        }
        let mut step = step;
        step.chosen.retain(|v| !params.contains(v));
        let body = self.body(step, targets, state, variables, holds, span);
        Operation { name: name.clone(), params, results, body, span }
    }

    /// The conjuncts of a schema over variables to be chosen, except for those that are known.
    fn step(&mut self, schema: &Schema, known: impl Fn(&Name) -> Option<VarId>) -> Step {
        let mut places = BTreeMap::new();
        let mut chosen = Vec::new();
        for c in &schema.components {
            let var = match known(&c.name) {
                Some(var) => var,
                None => {
                    let var = self.elaboration.new_var(&c.name, c.ty.clone(), c.span);
                    chosen.push(var);
                    var
                }
            };
            places.insert(c.name.clone(), var);
        }
        let conjuncts = self.placed(schema, |n| places.get(n).copied());
        Step { places, chosen, conjuncts }
    }

    /// The substitution that chooses the state afterwards. `holds` is true in every state already.
    fn body(
        &mut self,
        step: Step,
        targets: Vec<(VarId, VarId)>,
        state: &Schema,
        variables: &BTreeMap<Name, VarId>,
        holds: &[Pred],
        span: Span,
    ) -> Stmt {
        let by_var: BTreeMap<VarId, VarId> = targets.iter().copied().collect();
        let after = |n: &Name| variables.get(n).and_then(|v| by_var.get(v)).copied();
        let mut conjuncts = step.conjuncts;
        // Whatever an operation says, what it leaves is a state.
        conjuncts.extend(self.placed(state, after));
        let known: Vec<Pred> = holds.iter().map(plain).collect();
        let all = alternatives(step.chosen, conjuncts, &mut self.elaboration.vars);
        let mut branches = Vec::new();
        for alternative in all {
            branches.push(self.branch(alternative, &targets, &known, !branches.is_empty(), span));
        }
        match branches.len() {
            0 => {
                let never = Pred { kind: PredKind::False, span };
                let skip = Stmt { kind: StmtKind::Skip, span };
                Stmt { kind: StmtKind::Select(vec![(never, skip)], None), span }
            }
            1 => branches.remove(0),
            _ => Stmt { kind: StmtKind::Choice(branches), span },
        }
    }

    fn branch(
        &mut self,
        alternative: Alternative,
        targets: &[(VarId, VarId)],
        known: &[Pred],
        again: bool,
        span: Span,
    ) -> Stmt {
        let Alternative { mut chosen, mut conjuncts } = alternative;
        let mut targets = targets.to_vec();
        self.frame(&mut chosen, &mut conjuncts, &mut targets);
        super::steps::remove_repeated(&mut conjuncts);
        let mut alternative = Alternative { chosen, conjuncts };
        test_members(&mut alternative, &mut self.elaboration.vars);
        let Alternative { mut chosen, mut conjuncts } = alternative;
        let chosen_set: BTreeSet<VarId> = chosen.iter().copied().collect();
        conjuncts.retain(|p| mentions(p, &chosen_set) || !known.contains(&plain(p)));
        if again {
            // Another branch binds the same variables: this one gets its own.
            let mut copy = Copy::new(&mut self.elaboration.vars, Replacement::new());
            chosen = chosen.iter().map(|v| copy.fresh(*v)).collect();
            conjuncts = copy.preds(&conjuncts);
            for (_, place) in &mut targets {
                if let Some(Expr { kind: ExprKind::Var(v), .. }) = copy.with.get(place) {
                    *place = *v;
                }
            }
        }
        let assignments: Vec<(Target, Expr)> = targets
            .iter()
            .map(|(var, place)| {
                (Target { var: *var, path: Vec::new(), span }, self.elaboration.var(*place, span))
            })
            .collect();
        let kind = if assignments.is_empty() { StmtKind::Skip } else { StmtKind::Assign(assignments) };
        let act = Stmt { kind, span };
        let guard = super::elaborate::conjunction(conjuncts, span);
        let kind = if chosen.is_empty() {
            StmtKind::Select(vec![(guard, act)], None)
        } else {
            StmtKind::Any(chosen, guard, Box::new(act))
        };
        Stmt { kind, span }
    }

    /// What `x' = x` leaves alone is not written at all: `x` stands in the place of `x'`.
    fn frame(
        &mut self,
        chosen: &mut Vec<VarId>,
        conjuncts: &mut Vec<Pred>,
        targets: &mut Vec<(VarId, VarId)>,
    ) {
        let mut with = Replacement::new();
        for (var, place) in targets.iter() {
            let same = conjuncts.iter().position(|p| match &p.kind {
                PredKind::Rel(RelOp::Equal, a, b) => {
                    let is = |e: &Expr, v: VarId| matches!(e.kind, ExprKind::Var(w) if w == v);
                    (is(a, *place) && is(b, *var)) || (is(a, *var) && is(b, *place))
                }
                _ => false,
            });
            let variable = self.elaboration.vars[var.0 as usize].kind == VarKind::Variable;
            if let Some(i) = same.filter(|_| variable && chosen.contains(place)) {
                conjuncts.remove(i);
                with.insert(*place, self.elaboration.var(*var, Span::default()));
            }
        }
        chosen.retain(|v| !with.contains_key(v));
        targets.retain(|(_, place)| !with.contains_key(place));
        *conjuncts = Copy::new(&mut self.elaboration.vars, with).preds(conjuncts);
    }
}

/// The variables of a step and what holds of them.
struct Step {
    places: BTreeMap<Name, VarId>,
    chosen: Vec<VarId>,
    conjuncts: Vec<Pred>,
}

/// The schemas that a schema includes by its declarations.
fn inclusions<'s>(body: &'s Logic, out: &mut Vec<&'s SchemaRef>) {
    match &body.kind {
        LogicKind::Text(text) => out.extend(text.decls.iter().filter_map(|d| match d {
            Decl::Include(r) => Some(r),
            Decl::Names(..) => None,
        })),
        LogicKind::Reference(r) => out.push(r),
        LogicKind::Binary(Connective::And, a, b) => {
            inclusions(a, out);
            inclusions(b, out);
        }
        _ => {}
    }
}
