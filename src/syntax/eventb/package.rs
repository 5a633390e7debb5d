//! ProB's `.eventb` packages: one Prolog fact that holds a refinement chain and all its contexts.
//!
//! In: the text of a package. Out: a `Project`; the formulas get texts of their own, in the notation
//! of Rodin, because nobody wrote the Prolog by hand. All errors are collected.
//!
//! The shape changed over the years; what is read: `load_event_b_project` with or without the list of
//! proofs and theories, `event` with seven, eight or nine arguments, `rodinpos` with two or three.

use super::printer::{place_expr, place_name, place_stmt};
use super::proofs;
use super::raw::{self, atom, identifiers, list, node};
use super::term::{self, Term};
use super::{
    Action, Constructor, Context, Convergence, Datatype, Event, Formula, Machine, Operator,
    OperatorDefinition, Project, Proof, ProofStatus, Theory,
};
use crate::ast::Ident;
use bombus_base::diagnostic::{Diagnostic, Sources};
use bombus_base::{FileId, Name, Span};

/// Reads the package `file` of `sources`.
pub fn read(sources: &mut Sources, file: FileId) -> Result<Project, Vec<Diagnostic>> {
    let text = sources.get(file).text.clone();
    let facts = term::read(file, &text).map_err(|d| vec![d])?;
    let package = facts.iter().find_map(|fact| match fact.functor() {
        Some(("package", [load])) => Some(load),
        _ => None,
    });
    let Some(package) = package else {
        return Err(vec![
            Diagnostic::error(Span::new(file, 0, 0), "this file holds no Event-B package")
                .help("a package begins with package(load_event_b_project("),
        ]);
    };
    let mut reader =
        Reader { sources, errors: Vec::new(), project: Project { exported: true, ..Project::default() } };
    reader.package(package);
    if reader.errors.is_empty() { Ok(reader.project) } else { Err(reader.errors) }
}

struct Reader<'a> {
    sources: &'a mut Sources,
    errors: Vec<Diagnostic>,
    project: Project,
}

impl Reader<'_> {
    /// Keeps a part that was read, or the reason why it was not.
    fn keep<T>(&mut self, part: Result<T, Diagnostic>, place: &str) -> Option<T> {
        match part {
            Ok(part) => Some(part),
            Err(mut d) => {
                if !place.is_empty() {
                    d.message = format!("{place}: {}", d.message);
                }
                self.errors.push(d);
                None
            }
        }
    }

    fn package(&mut self, load: &Term) {
        let (machines, contexts, extra) = match load.functor() {
            Some(("load_event_b_project", [m, c, _])) => (m, c, None),
            Some(("load_event_b_project", [m, c, x, _])) => (m, c, Some(x)),
            _ => {
                self.errors.push(Diagnostic::error(
                    load.span,
                    format!("a package holds load_event_b_project, not {}", load.describe()),
                ));
                return;
            }
        };
        for machine in self.keep(list(machines, "machines"), "").unwrap_or(&[]) {
            let read = self.machine(machine);
            if let Some(machine) = self.keep(read, "") {
                self.project.machines.push(machine);
            }
        }
        for context in self.keep(list(contexts, "contexts"), "").unwrap_or(&[]) {
            let read = self.context(context);
            if let Some(context) = self.keep(read, "") {
                self.project.contexts.push(context);
            }
        }
        let extra = extra.and_then(|x| self.keep(list(x, "proofs and theories"), ""));
        for fact in extra.unwrap_or(&[]) {
            let read = self.extra(fact);
            self.keep(read, "");
        }
    }

    fn names(&mut self, term: &Term, what: &str) -> Result<Vec<Ident>, Diagnostic> {
        // Old exporters wrote '' for "refines nothing".
        if term.atom().is_some_and(|name| name.is_empty()) {
            return Ok(Vec::new());
        }
        list(term, what)?
            .iter()
            .map(|t| Ok(Ident { name: atom(t, "the name of a component")?, span: t.span }))
            .collect()
    }

    fn formulas(
        &mut self,
        term: &Term,
        component: &Name,
        event: Option<&Name>,
        theorem: bool,
    ) -> Vec<Formula> {
        let mut all = Vec::new();
        for item in self.keep(list(term, "predicates"), component).unwrap_or(&[]) {
            all.extend(self.formula(item, component, event, theorem));
        }
        all
    }

    fn formula(
        &mut self,
        term: &Term,
        component: &Name,
        event: Option<&Name>,
        theorem: bool,
    ) -> Option<Formula> {
        let (origin, label) = position(term, component);
        let place = place_name(component, event, &label);
        let mut expr = self.keep(raw::formula(term), &place)?;
        place_expr(self.sources, &place, &mut expr);
        Some(Formula { label, origin, expr, theorem })
    }

    fn context(&mut self, term: &Term) -> Result<Context, Diagnostic> {
        let ("event_b_context", _, [name, clauses]) = node(term, "a context")? else {
            return Err(Diagnostic::error(term.span, format!("{} is no context", term.describe())));
        };
        let name = atom(name, "the name of a context")?;
        let mut context = Context {
            name: name.clone(),
            extends: Vec::new(),
            sets: Vec::new(),
            constants: Vec::new(),
            axioms: Vec::new(),
            span: term.span,
        };
        for clause in list(clauses, "clauses")? {
            match node(clause, "a clause")? {
                ("extends", _, [names]) => context.extends = self.names(names, "contexts")?,
                ("constants" | "abstract_constants", _, [names]) => {
                    context.constants.extend(identifiers(names)?);
                }
                ("axioms", _, [preds]) => context.axioms.extend(self.formulas(preds, &name, None, false)),
                ("theorems", _, [preds]) => context.axioms.extend(self.formulas(preds, &name, None, true)),
                ("sets", _, [sets]) => {
                    for set in list(sets, "sets")? {
                        match set.functor() {
                            Some(("deferred_set", [_, s])) => {
                                let s = Ident { name: atom(s, "a set")?, span: s.span };
                                context.sets.push(s);
                            }
                            _ => self.errors.push(not_a(set, "a carrier set", &name)),
                        }
                    }
                }
                ("pragmas", _, _) => {}
                _ => self.errors.push(not_a(clause, "a clause of a context", &name)),
            }
        }
        Ok(context)
    }

    fn machine(&mut self, term: &Term) -> Result<Machine, Diagnostic> {
        let ("event_b_model", _, [name, clauses]) = node(term, "a machine")? else {
            return Err(Diagnostic::error(term.span, format!("{} is no machine", term.describe())));
        };
        let name = atom(name, "the name of a machine")?;
        let mut machine = Machine {
            name: name.clone(),
            refines: None,
            sees: Vec::new(),
            variables: Vec::new(),
            invariants: Vec::new(),
            variants: Vec::new(),
            events: Vec::new(),
            span: term.span,
        };
        for clause in list(clauses, "clauses")? {
            match node(clause, "a clause")? {
                ("sees", _, [names]) => machine.sees = self.names(names, "contexts")?,
                ("refines", _, [of]) => {
                    machine.refines = Some(Ident { name: atom(of, "a machine")?, span: of.span });
                }
                ("variables", _, [names]) => machine.variables = identifiers(names)?,
                ("invariant", _, [preds]) => {
                    machine.invariants.extend(self.formulas(preds, &name, None, false));
                }
                ("theorems", _, [preds]) => {
                    machine.invariants.extend(self.formulas(preds, &name, None, true));
                }
                ("variant", _, [expr]) => {
                    let variant = self.formula(expr, &name, None, false);
                    // Exporters give variants no label; Rodin's name for it is `vrn`.
                    machine.variants.extend(variant.map(|v| match v.label.as_ref() {
                        "?" => Formula { label: "vrn".into(), ..v },
                        _ => v,
                    }));
                }
                ("events", _, [events]) => {
                    for event in list(events, "events")? {
                        let read = self.event(event, &name);
                        machine.events.extend(self.keep(read, &name));
                    }
                }
                ("pragmas", _, _) => {}
                _ => self.errors.push(not_a(clause, "a clause of a machine", &name)),
            }
        }
        Ok(machine)
    }

    fn event(&mut self, term: &Term, machine: &Name) -> Result<Event, Diagnostic> {
        let ("event", _, args) = node(term, "an event")? else {
            return Err(not_a(term, "an event", machine));
        };
        let (name, status, refines, params, guards, theorems, actions, witnesses) = match args {
            [n, r, p, g, a, w] => (n, None, r, p, g, None, a, w),
            [n, s, r, p, g, a, w] => (n, Some(s), r, p, g, None, a, w),
            [n, s, r, p, g, t, a, w] => (n, Some(s), r, p, g, Some(t), a, w),
            _ => return Err(not_a(term, "an event", machine)),
        };
        let name = atom(name, "the name of an event")?;
        let convergence = match status.and_then(Term::functor).map(|(name, _)| name) {
            None | Some("ordinary") => Convergence::Ordinary,
            Some("convergent") => Convergence::Convergent,
            Some("anticipated") => Convergence::Anticipated,
            Some(other) => {
                return Err(Diagnostic::error(term.span, format!("{name}: '{other}' is no convergence")));
            }
        };
        let mut event = Event {
            name: name.clone(),
            convergence,
            extended: false,
            refines: self.names(refines, "events")?,
            params: identifiers(params)?,
            guards: self.formulas(guards, machine, Some(&name), false),
            witnesses: Vec::new(),
            actions: Vec::new(),
            span: term.span,
        };
        if let Some(theorems) = theorems {
            event.guards.extend(self.formulas(theorems, machine, Some(&name), true));
        }
        for item in list(actions, "actions")? {
            let (origin, label) = position(item, machine);
            let place = place_name(machine, Some(&name), &label);
            if let Some(mut stmt) = self.keep(raw::action(item), &place) {
                place_stmt(self.sources, &place, &mut stmt);
                event.actions.push(Action { label, origin, stmt });
            }
        }
        for item in list(witnesses, "witnesses")? {
            let Some(("witness", [_, of, pred])) = item.functor() else {
                return Err(not_a(item, "a witness", machine));
            };
            let label = raw::identifier(of)?.name;
            if let Some(mut witness) = self.formula(pred, machine, Some(&name), false) {
                witness.label = label;
                event.witnesses.push(witness);
            }
        }
        Ok(event)
    }

    fn extra(&mut self, term: &Term) -> Result<(), Diagnostic> {
        let (name, args) = term.functor().unwrap_or(("", &[]));
        match (name, args) {
            ("po", [component, kind, about, status]) => {
                let mut parts = Vec::new();
                for part in list(about, "parts")? {
                    if let Some((kind, [label])) = part.functor() {
                        parts.push((kind.into(), atom(label, "a label")?));
                    }
                }
                let status = match status.atom().map(AsRef::as_ref) {
                    Some("true") => ProofStatus::Discharged,
                    Some("reviewed") => ProofStatus::Reviewed,
                    _ => ProofStatus::Open,
                };
                self.project.proofs.push(Proof {
                    component: atom(component, "a component")?,
                    kind: proofs::kind(&atom(kind, "the kind of an obligation")?),
                    about: parts,
                    status,
                });
            }
            // Older exporters list only discharged invariant proofs.
            ("discharged", [component, rest @ ..]) if !rest.is_empty() => {
                let kinds: &[&str] = if rest.len() == 2 { &["event", "invariant"] } else { &["theorem"] };
                let mut about = Vec::new();
                for (kind, label) in kinds.iter().zip(rest) {
                    about.push(((*kind).into(), atom(label, "a label")?));
                }
                let kind = if rest.len() == 2 { "INV" } else { "THM" };
                self.project.proofs.push(Proof {
                    component: atom(component, "a component")?,
                    kind: kind.into(),
                    about,
                    status: ProofStatus::Discharged,
                });
            }
            ("theory", _) => {
                let theory = self.theory(term, args)?;
                self.project.theories.push(theory);
            }
            // Versions, flow information that ProB computes itself, units: nothing to check with.
            _ => {}
        }
        Ok(())
    }

    fn theory(&mut self, term: &Term, args: &[Term]) -> Result<Theory, Diagnostic> {
        let empty: &[Term] = &[];
        let (name, params, datatypes, operators, blocks, mappings) = match args {
            [params, datatypes, operators] => {
                let list_of = |t| list(t, "parts of a theory");
                ("theory".into(), list_of(params)?, list_of(datatypes)?, list_of(operators)?, empty, empty)
            }
            [name, _imports, params, datatypes, operators, blocks, mappings] => {
                let name = match name.functor() {
                    Some(("theory_name", [_, name])) => atom(name, "a theory")?,
                    _ => atom(name, "a theory")?,
                };
                let list_of = |t| list(t, "parts of a theory");
                (
                    name,
                    list_of(params)?,
                    list_of(datatypes)?,
                    list_of(operators)?,
                    list_of(blocks)?,
                    list_of(mappings)?,
                )
            }
            _ => return Err(not_a(term, "a theory", &"theories".into())),
        };
        let mut theory = Theory {
            type_params: params.iter().map(|p| atom(p, "a type parameter")).collect::<Result<_, _>>()?,
            name,
            datatypes: Vec::new(),
            operators: Vec::new(),
            axiomatic: Vec::new(),
            axiomatic_types: Vec::new(),
            axioms: Vec::new(),
            mappings: Vec::new(),
        };
        for datatype in datatypes {
            theory.datatypes.push(self.datatype(datatype)?);
        }
        for operator in operators {
            let read = self.operator(operator, &theory.name)?;
            theory.operators.push(read);
        }
        for block in blocks {
            let Some(("axiomatic_def_block", [_, types, operators, axioms])) = block.functor() else {
                return Err(not_a(block, "an axiomatic block", &theory.name));
            };
            for name in list(types, "types")? {
                theory.axiomatic_types.push(atom(name, "a type")?);
            }
            for operator in list(operators, "operators")? {
                let Some(("opdef", [name, args, _])) = operator.functor() else {
                    return Err(not_a(operator, "an operator", &theory.name));
                };
                theory.axiomatic.push(Operator {
                    name: atom(name, "an operator")?,
                    args: self.typed_names(args, "argument")?,
                    definition: OperatorDefinition::Axiomatic,
                });
            }
            for axiom in list(axioms, "axioms")? {
                theory.axioms.push(raw::formula(axiom)?);
            }
        }
        for mapping in mappings {
            if let Some(("tag", [operator, tag])) = mapping.functor() {
                theory.mappings.push((atom(operator, "an operator")?, atom(tag, "a tag")?));
            }
        }
        Ok(theory)
    }

    fn datatype(&mut self, term: &Term) -> Result<Datatype, Diagnostic> {
        let Some(("datatype", [name, params, constructors])) = term.functor() else {
            return Err(not_a(term, "a datatype", &"theory".into()));
        };
        let mut read = Vec::new();
        for constructor in list(constructors, "constructors")? {
            let Some(("constructor", [name, args])) = constructor.functor() else {
                return Err(not_a(constructor, "a constructor", &"theory".into()));
            };
            let args = self.typed_names(args, "destructor")?;
            read.push(Constructor { name: atom(name, "a constructor")?, args });
        }
        Ok(Datatype {
            name: atom(name, "a datatype")?,
            params: identifiers(params)?.into_iter().map(|p| p.name).collect(),
            constructors: read,
        })
    }

    /// `argument(x,T)` or `destructor(x,T)`.
    fn typed_names(&mut self, term: &Term, functor: &str) -> Result<Vec<(Name, super::Expr)>, Diagnostic> {
        let mut read = Vec::new();
        for item in list(term, "arguments")? {
            match item.functor() {
                Some((name, [x, t])) if name == functor => {
                    read.push((atom(x, "an argument")?, raw::formula(t)?));
                }
                _ => return Err(not_a(item, "an argument", &"theory".into())),
            }
        }
        Ok(read)
    }

    fn operator(&mut self, term: &Term, theory: &Name) -> Result<Operator, Diagnostic> {
        let Some(("operator", [name, args, _wd, direct, cases])) = term.functor() else {
            return Err(not_a(term, "an operator", theory));
        };
        let name = atom(name, "an operator")?;
        let place = place_name(theory, None, &name);
        let definition = match (list(direct, "definitions")?, list(cases, "cases")?) {
            ([definition], []) => {
                let mut body = raw::formula(definition)?;
                place_expr(self.sources, &place, &mut body);
                OperatorDefinition::Direct(body)
            }
            ([], []) => OperatorDefinition::Axiomatic,
            (_, cases) => {
                let mut on = None;
                let mut read = Vec::new();
                for case in cases {
                    let Some(("case", [of, _, pattern, body])) = case.functor() else {
                        return Err(not_a(case, "a case", theory));
                    };
                    on.get_or_insert(atom(of, "an argument")?);
                    let mut body = raw::formula(body)?;
                    place_expr(self.sources, &place, &mut body);
                    read.push((raw::formula(pattern)?, body));
                }
                let on = on.ok_or_else(|| not_a(term, "an operator", theory))?;
                OperatorDefinition::Recursive { on, cases: read }
            }
        };
        Ok(Operator { name, args: self.typed_names(args, "argument")?, definition })
    }
}

fn not_a(term: &Term, what: &str, place: &Name) -> Diagnostic {
    Diagnostic::error(term.span, format!("{place}: {} is not known as {what}", term.describe()))
}

/// Component and label of a formula or action, from its `rodinpos`.
fn position(term: &Term, component: &Name) -> (Name, Name) {
    let text = |t: &Term| t.atom().cloned();
    let args = term.functor().map_or(&[] as &[Term], |(_, args)| args);
    match args.first().and_then(Term::functor) {
        Some(("rodinpos", [origin, label, _])) => {
            (text(origin).unwrap_or_else(|| component.clone()), text(label).unwrap_or_else(|| "?".into()))
        }
        Some(("rodinpos", [label, _])) => (component.clone(), text(label).unwrap_or_else(|| "?".into())),
        _ => (component.clone(), "?".into()),
    }
}
