//! Declarations: instances, their scopes, and what each sees of the others.

use super::{Bodies, Composer, Instance, InstanceId, Instantiated};
use crate::elaborate::Signature;
use crate::project::{MachineId, Reference, Relation};
use crate::scope::{Access, Entity, Entry, Scope, ScopeId};
use crate::trees::names_of;
use bombus_base::diagnostic::Diagnostic;
use bombus_base::{Name, Span};
use bombus_lang::typed::{
    FreeId, Freetype, OWN, OpId, SetDecl, SetId, SetKind, SizeOrigin, Type, VarId, VarKind,
};
use bombus_syntax::ast::{self, ClauseKind, DefBody, ExprKind, Ident};
use std::sync::Arc;

/// The actual parameters of an included machine, and where they are to be read.
pub(super) struct Actuals<'a> {
    args: &'a [ast::Expr],
    scope: ScopeId,
}

impl Composer<'_> {
    /// The instance of a machine under a prefix, made if it is not there yet.
    pub(super) fn declare(
        &mut self,
        machine: MachineId,
        prefix: String,
        actuals: Option<Actuals<'_>>,
        at: Span,
    ) -> InstanceId {
        if let Some(known) = self.by_key.get(&(machine, prefix.clone())) {
            return *known;
        }
        let project = self.project;
        let loaded = project.get(machine);
        let scope = ScopeId(self.elaborator.scopes.len() as u32);
        self.elaborator.scopes.push(Scope { definitions: loaded.definitions.clone(), ..Scope::default() });
        let mut instance = Instance {
            machine,
            prefix: prefix.clone(),
            scope,
            references: Vec::new(),
            refines: None,
            statics: Vec::new(),
            variables: Vec::new(),
            operations: Vec::new(),
            own: Vec::new(),
            own_operations: Vec::new(),
        };
        for clause in &loaded.tree.clauses {
            if let ClauseKind::Values(values) = &clause.kind {
                let values = values
                    .iter()
                    .filter(|(n, e)| !names_of(e).contains(&n.name))
                    .map(|(n, e)| (n.name.clone(), (Arc::new(e.clone()), scope)));
                self.valued.extend(values);
            }
        }
        // The refined machine first: its names are there when the refinement repeats them.
        if let Some(refined) = loaded.refines {
            let id = self.declare(refined, prefix.clone(), None, at);
            instance.refines = Some(id);
            self.inherit(&mut instance, id);
        }
        self.parameters(&mut instance, &loaded.tree, actuals, at);
        // Sets and constants before the references: actual parameters may name them.
        self.statics(&mut instance, &loaded.tree);
        for reference in &loaded.references {
            self.refer(&mut instance, reference);
        }
        self.variables(&mut instance, &loaded.tree);
        self.operations(&mut instance, &loaded.tree);
        let id = InstanceId(self.instances.len() as u32);
        self.instances.push(instance);
        self.bodies.push(Bodies::default());
        self.by_key.insert((machine, prefix), id);
        id
    }

    fn add(&mut self, scope: ScopeId, name: &Name, entry: Entry) {
        let span = entry.span;
        if let Err(first) = self.elaborator.scopes[scope.0 as usize].declare(name, entry) {
            self.elaborator.error(
                Diagnostic::error(span, format!("`{name}` is declared twice"))
                    .label(first, "declared here already"),
            );
        }
    }

    /// What a refinement takes over: sets, constants and concrete variables; the rest it may read.
    fn inherit(&mut self, instance: &mut Instance, from: InstanceId) {
        let refined = self.instance(from);
        let names: Vec<(Name, Entry)> = {
            let scope = &self.elaborator.scopes[refined.scope.0 as usize];
            let mut names: Vec<_> = scope.names.iter().map(|(n, e)| (n.clone(), e.clone())).collect();
            names.sort_by(|a, b| a.0.cmp(&b.0));
            names
        };
        instance.statics = refined.statics.clone();
        let concrete = concrete_variables(&self.project.get(refined.machine).tree);
        let inherited: Vec<(Name, VarId, Span)> = refined
            .variables
            .iter()
            .filter(|(name, var, _)| concrete.contains(name) && refined.own.contains(var))
            .cloned()
            .collect();
        for (name, mut entry) in names {
            if let Entity::Var(var) = entry.entity
                && self.elaborator.vars[var.0 as usize].kind == VarKind::Variable
            {
                entry.access = if inherited.iter().any(|(_, v, _)| *v == var) {
                    Access::Write
                } else {
                    Access::Read("a variable of the refined machine")
                };
            }
            self.add(instance.scope, &name, entry);
        }
        instance.own.extend(inherited.iter().map(|(_, v, _)| *v));
        instance.variables.extend(inherited);
    }

    fn parameters(
        &mut self,
        instance: &mut Instance,
        tree: &ast::Machine,
        actuals: Option<Actuals<'_>>,
        at: Span,
    ) {
        let given = actuals.as_ref().map_or(0, |a| a.args.len());
        if let Some(actuals) = &actuals
            && given != tree.params.len()
        {
            self.elaborator.error(
                Diagnostic::error(
                    at,
                    format!(
                        "the machine `{}` takes {} parameters, not {}",
                        tree.name.name,
                        tree.params.len(),
                        actuals.args.len()
                    ),
                )
                .label(tree.name.span, "declared here"),
            );
        }
        for (i, param) in tree.params.iter().enumerate() {
            if self.elaborator.scopes[instance.scope.0 as usize].names.contains_key(&param.name) {
                // A refinement repeats the parameters of what it refines.
                continue;
            }
            let actual = actuals.as_ref().and_then(|a| a.args.get(i).map(|e| (e, a.scope)));
            let entity = match actual {
                // As in ProB the formal parameter is a constant that equals the actual one.
                Some((e, scope)) => {
                    let var = self.formal(param, &instance.prefix, tree);
                    self.instantiated.push(Instantiated { formal: var, actual: e.clone(), scope });
                    Entity::Var(var)
                }
                None if is_set_parameter(&param.name, tree) => {
                    Entity::Set(self.new_set(param, SetKind::Parameter, Vec::new()))
                }
                None => Entity::Var(self.elaborator.new_var(param, VarKind::Constant)),
            };
            let entry =
                Entry { entity, access: Access::Read("a parameter of the machine"), span: param.span };
            self.add(instance.scope, &param.name, entry);
        }
    }

    /// The constant for a formal parameter. Instances may have parameters of one name: where values are shown or read
    /// back, the later ones bear the name of their instance.
    fn formal(&mut self, param: &Ident, prefix: &str, tree: &ast::Machine) -> VarId {
        let taken =
            self.instantiated.iter().any(|i| self.elaborator.vars[i.formal.0 as usize].name == param.name);
        let var = self.elaborator.new_var(param, VarKind::Constant);
        if taken {
            let of = if prefix.is_empty() { format!("{}.", tree.name.name) } else { prefix.to_owned() };
            self.elaborator.vars[var.0 as usize].name = Name::from(format!("{of}{}", param.name).as_str());
        }
        var
    }

    fn new_set(&mut self, name: &Ident, kind: SetKind, elems: Vec<Name>) -> SetId {
        let id = SetId(self.elaborator.sets.len() as u32);
        let origin = if kind == SetKind::Enumerated { SizeOrigin::Enumeration } else { SizeOrigin::Default };
        self.elaborator.sets.push(SetDecl { name: name.name.clone(), kind, elems, origin, span: name.span });
        id
    }

    /// Sets, elements, free types and constants; all instances of a machine share them.
    fn statics(&mut self, instance: &mut Instance, tree: &ast::Machine) {
        if let Some(known) = self.statics.get(&instance.machine).cloned() {
            for (name, entry) in &known {
                self.add(instance.scope, name, entry.clone());
            }
            instance.statics.extend(known);
            return;
        }
        let mut made: Vec<(Name, Entry)> = Vec::new();
        let mut entry = |name: &Ident, entity: Entity, what: &'static str| {
            made.push((name.name.clone(), Entry { entity, access: Access::Read(what), span: name.span }));
        };
        for clause in &tree.clauses {
            match &clause.kind {
                ClauseKind::Sets(sets) => {
                    for set in sets {
                        let (name, elems) = match set {
                            ast::SetDecl::Deferred(name) => (name, None),
                            ast::SetDecl::Enumerated(name, elems) => (name, Some(elems.clone())),
                            ast::SetDecl::ByDefinition(name, def) => (name, self.elements_of(instance, def)),
                        };
                        let repeated = instance
                            .statics
                            .iter()
                            .any(|(n, e)| *n == name.name && matches!(e.entity, Entity::Set(_)));
                        if instance.refines.is_some() && repeated {
                            continue;
                        }
                        if let (None, Some((value, scope))) = (&elems, self.valued.get(&name.name)) {
                            entry(name, Entity::Actual(value.clone(), *scope), "a set");
                            continue;
                        }
                        let kind = if elems.is_some() { SetKind::Enumerated } else { SetKind::Deferred };
                        let elems = elems.unwrap_or_default();
                        let id = self.new_set(name, kind, elems.iter().map(|e| e.name.clone()).collect());
                        entry(name, Entity::Set(id), "a set");
                        for (i, elem) in elems.iter().enumerate() {
                            entry(elem, Entity::Elem(id, i as u32), "an element of a set");
                        }
                    }
                }
                ClauseKind::Freetypes(types) => {
                    for t in types {
                        if t.params.iter().any(|p| !p.name.starts_with(OWN)) {
                            self.elaborator.error(Diagnostic::error(
                                t.name.span,
                                format!(
                                    "the free type `{}` has type parameters, which is not supported",
                                    t.name.name
                                ),
                            ));
                        }
                        let id = FreeId(self.elaborator.freetypes.len() as u32);
                        entry(&t.name, Entity::Free(id), "a free type");
                        let mut constructors = Vec::new();
                        for (i, (name, arg)) in t.constructors.iter().enumerate() {
                            entry(name, Entity::Constructor(id, i as u32), "a constructor");
                            constructors.push((
                                name.name.clone(),
                                arg.as_ref().map(|_| self.elaborator.unifier.fresh()),
                            ));
                        }
                        let domains = vec![None; constructors.len()];
                        self.elaborator.freetypes.push(Freetype {
                            name: t.name.name.clone(),
                            constructors,
                            domains,
                        });
                    }
                }
                ClauseKind::Constants(names) | ClauseKind::AbstractConstants(names) => {
                    for name in names {
                        // A concrete constant may take over an abstract one of the refined machine.
                        if instance.refines.is_some() && instance.statics.iter().any(|(n, _)| *n == name.name)
                        {
                            continue;
                        }
                        let var = self.elaborator.new_var(name, VarKind::Constant);
                        entry(name, Entity::Var(var), "a constant");
                    }
                }
                _ => {}
            }
        }
        for (name, entry) in &made {
            self.add(instance.scope, name, entry.clone());
        }
        self.statics.insert(instance.machine, made.clone());
        instance.statics.extend(made);
        self.constructor_domains(instance, tree);
    }

    fn constructor_domains(&mut self, instance: &Instance, tree: &ast::Machine) {
        for clause in &tree.clauses {
            let ClauseKind::Freetypes(types) = &clause.kind else { continue };
            for t in types {
                let names = &self.elaborator.scopes[instance.scope.0 as usize].names;
                let Some(Entity::Free(id)) = names.get(&t.name.name).map(|e| e.entity.clone()) else {
                    continue;
                };
                for (i, (_, arg)) in t.constructors.iter().enumerate() {
                    let Some(arg) = arg else { continue };
                    // A type parameter may be any type, a different one at each place of the text.
                    let domain = self.elaborator.within(instance.scope, |e| {
                        let params: Vec<VarId> =
                            t.params.iter().map(|p| e.new_var(p, VarKind::Local)).collect();
                        for p in &params {
                            let ty = e.vars[p.0 as usize].ty.clone();
                            e.unifier.unify(&ty, &Type::pow(Type::Any));
                        }
                        e.with_locals(&t.params, &params, Access::Read("a type"), |e| e.expr(arg))
                    });
                    let Some(ty) = self.elaborator.freetypes[id.0 as usize].constructors[i].1.clone() else {
                        continue;
                    };
                    if !self.elaborator.unifier.unify(&domain.ty, &Type::pow(ty)) {
                        let shown = self.elaborator.show(&domain.ty);
                        self.elaborator.error(
                            Diagnostic::error(arg.span, "the argument of a constructor is declared by a set")
                                .note(format!("this is of type {shown}")),
                        );
                    }
                    if t.params.is_empty() {
                        self.elaborator.freetypes[id.0 as usize].domains[i] = Some(domain);
                    }
                }
            }
        }
    }

    /// The elements of `S = D` where `D == {a,b}`.
    fn elements_of(&mut self, instance: &Instance, def: &Ident) -> Option<Vec<Ident>> {
        let definition = self.project.get(instance.machine).definitions.get(&def.name).cloned();
        let elements = match definition.as_deref().map(|d| &d.body) {
            Some(DefBody::Expr(ast::Expr { kind: ExprKind::SetExt(items), .. })) => items
                .iter()
                .map(|item| match &item.kind {
                    ExprKind::Ident(name) => Some(Ident { name: name.clone(), span: item.span }),
                    _ => None,
                })
                .collect(),
            _ => None,
        };
        if elements.is_none() {
            self.elaborator.error(Diagnostic::error(
                def.span,
                format!("`{}` is not a definition of the form `{{a,b,…}}`", def.name),
            ));
        }
        elements
    }

    /// Declares what a reference leads to, and makes its names visible.
    fn refer(&mut self, instance: &mut Instance, reference: &Reference) {
        let own = reference.text.prefix.as_ref().map(|p| format!("{}.", p.name)).unwrap_or_default();
        let at = reference.text.machine.span;
        let (shared, prefix) = match reference.relation {
            // A seen machine is the same wherever it is seen from.
            Relation::Sees | Relation::Uses => (true, own.clone()),
            _ => (false, format!("{}{own}", instance.prefix)),
        };
        if shared {
            self.seen.push((reference.to, prefix.clone(), at));
        } else {
            self.include_once(instance, reference, &prefix);
        }
        let actuals = (!shared).then_some(Actuals { args: &reference.text.args, scope: instance.scope });
        let id = self.declare(reference.to, prefix, actuals, at);
        instance.references.push((reference.relation, id));
        let (access, passed_on) = match reference.relation {
            Relation::Sees => ("a variable of a machine that is only seen", false),
            Relation::Uses => ("a variable of a machine that is only used", false),
            _ => ("a variable of an included machine; call an operation of that machine", true),
        };
        let other = self.instance(id);
        let (statics, variables, operations) =
            (other.statics.clone(), other.variables.clone(), other.operations.clone());
        for (name, entry) in statics {
            self.add(instance.scope, &name, entry.clone());
            if passed_on && !instance.statics.iter().any(|(n, _)| *n == name) {
                instance.statics.push((name, entry));
            }
        }
        for (name, var, span) in variables {
            let name: Name = format!("{own}{name}").into();
            self.identify(instance, &name, var);
            let entry = Entry { entity: Entity::Var(var), access: Access::Read(access), span };
            self.add(instance.scope, &name, entry);
            if passed_on {
                instance.variables.push((name, var, span));
            }
        }
        for (name, op) in operations {
            let name: Name = format!("{own}{name}").into();
            self.elaborator.scopes[instance.scope.0 as usize].operations.insert(name.clone(), op);
            if reference.relation == Relation::Extends {
                instance.operations.push((name, op));
            }
        }
    }

    /// One instance has one including machine; a refinement takes it over from what it refines.
    fn include_once(&mut self, instance: &Instance, reference: &Reference, prefix: &str) {
        let key = (reference.to, prefix.to_owned());
        let Some((first, at)) = self.includers.get(&key).copied() else {
            self.includers.insert(key, (instance.scope, reference.text.machine.span));
            return;
        };
        let mut refined = instance.refines;
        while let Some(id) = refined {
            if self.instance(id).scope == first {
                return;
            }
            refined = self.instance(id).refines;
        }
        let name = &reference.text.machine.name;
        self.elaborator.error(
            Diagnostic::error(reference.text.machine.span, format!("the machine `{name}` is included twice"))
                .label(at, "included here already")
                .help(format!("give each instance a name of its own: `a.{name}`, `b.{name}`")),
        );
    }

    /// A machine that is seen must be one instance: included under several prefixes, none of which is the one
    /// it is seen under, it is not known which.
    pub(super) fn seen_instances(&mut self) {
        let mut found = Vec::new();
        for (machine, prefix, at) in &self.seen {
            let mut places: Vec<(&String, Span)> = self
                .includers
                .iter()
                .filter(|((m, _), _)| m == machine)
                .map(|((_, p), (_, at))| (p, *at))
                .collect();
            if places.len() < 2 || places.iter().any(|(p, _)| *p == prefix) {
                continue;
            }
            places.sort();
            let name = &self.project.get(*machine).tree.name.name;
            let text = format!("the machine `{name}` is seen, but included more than once");
            let mut d = Diagnostic::error(*at, text);
            for (_, place) in places {
                d = d.label(place, "included here");
            }
            found.push(d.help("a machine that is seen may have one instance only, or is seen by its prefix"));
        }
        found.into_iter().for_each(|d| self.elaborator.error(d));
    }

    /// A variable that comes with an included machine stands for the refined variable of the same name.
    fn identify(&mut self, instance: &Instance, name: &Name, var: VarId) {
        if instance.refines.is_none() {
            return;
        }
        let names = &mut self.elaborator.scopes[instance.scope.0 as usize].names;
        if let Some(Entry {
            entity: Entity::Var(old),
            access: Access::Read("a variable of the refined machine"),
            ..
        }) = names.get(name)
            && *old != var
        {
            let old = *old;
            names.remove(name);
            self.glue(old, var);
        }
    }

    fn glue(&mut self, old: VarId, new: VarId) {
        self.identified.insert(old, new);
        let (a, b) =
            (self.elaborator.vars[old.0 as usize].clone(), self.elaborator.vars[new.0 as usize].clone());
        if !self.elaborator.unifier.unify(&a.ty, &b.ty) {
            let (left, right) = (self.elaborator.show(&a.ty), self.elaborator.show(&b.ty));
            self.elaborator.error(
                Diagnostic::error(
                    b.span,
                    format!("`{}` must be of the type it has in the refined machine", b.name),
                )
                .note(format!("this is of type {right}"))
                .label(a.span, format!("this is of type {left}")),
            );
        }
    }

    fn variables(&mut self, instance: &mut Instance, tree: &ast::Machine) {
        for clause in &tree.clauses {
            let (ClauseKind::Variables(names) | ClauseKind::ConcreteVariables(names)) = &clause.kind else {
                continue;
            };
            for name in names {
                let known = self.elaborator.scopes[instance.scope.0 as usize].names.get(&name.name).cloned();
                let var = match known {
                    // A refinement keeps a variable by declaring it again.
                    Some(Entry { entity: Entity::Var(var), span, .. })
                        if instance.refines.is_some()
                            && span != name.span
                            && self.elaborator.vars[var.0 as usize].kind == VarKind::Variable =>
                    {
                        var
                    }
                    _ => {
                        let shown = Ident {
                            name: format!("{}{}", instance.prefix, name.name).into(),
                            span: name.span,
                        };
                        self.elaborator.new_var(&shown, VarKind::Variable)
                    }
                };
                let entry = Entry { entity: Entity::Var(var), access: Access::Write, span: name.span };
                self.add(instance.scope, &name.name, entry);
                if !instance.own.contains(&var) {
                    instance.own.push(var);
                    instance.variables.push((name.name.clone(), var, name.span));
                }
            }
        }
    }

    fn operations(&mut self, instance: &mut Instance, tree: &ast::Machine) {
        let mut local: Vec<Name> = Vec::new();
        for clause in &tree.clauses {
            if let ClauseKind::LocalOperations(ops) = &clause.kind {
                local.extend(ops.iter().map(|o| o.name.name.clone()));
            }
        }
        // A setting of ProB that allows what B does not.
        let definitions = &self.project.get(instance.machine).definitions;
        let callable = matches!(
            definitions.get("SET_PREF_ALLOW_LOCAL_OPERATION_CALLS").map(|d| &d.body),
            Some(DefBody::Expr(ast::Expr { kind: ExprKind::Const(ast::Const::True), .. }))
        );
        let mut made: Vec<(Name, Span)> = Vec::new();
        for op in written_operations(tree) {
            if let Some((_, first)) = made.iter().find(|(n, _)| *n == op.name.name) {
                self.elaborator.error(
                    Diagnostic::error(
                        op.name.span,
                        format!("the operation `{}` is declared twice", op.name.name),
                    )
                    .label(*first, "declared here already"),
                );
            }
            made.push((op.name.name.clone(), op.name.span));
            let id = OpId(self.elaborator.signatures.len() as u32);
            let params = self.elaborator.new_vars(&op.params, VarKind::Parameter);
            let results = self.elaborator.new_vars(&op.results, VarKind::Result);
            let name: Name = format!("{}{}", instance.prefix, op.name.name).into();
            self.elaborator.signatures.push(Signature { name, params, results, span: op.name.span });
            self.operation_bodies.push(None);
            let scope = &mut self.elaborator.scopes[instance.scope.0 as usize];
            scope.operations.insert(op.name.name.clone(), id);
            if !local.contains(&op.name.name) && !callable {
                scope.own_operations.insert(op.name.name.clone());
            }
            instance.own_operations.push(id);
            if local.contains(&op.name.name) {
                self.local_operations.push(id);
            } else {
                instance.operations.push((op.name.name.clone(), id));
            }
            self.agree_with_refined(instance, op, id);
        }
        for clause in &tree.clauses {
            let ClauseKind::Promotes(names) = &clause.kind else { continue };
            for name in names {
                let known =
                    self.elaborator.scopes[instance.scope.0 as usize].operations.get(&name.name).copied();
                match known {
                    Some(op) => instance.operations.push((name.name.clone(), op)),
                    None => self.elaborator.error(
                        Diagnostic::error(
                            name.span,
                            format!("unknown operation `{}` is promoted", name.name),
                        )
                        .help("PROMOTES names operations of included machines"),
                    ),
                }
            }
        }
    }

    /// Parameters and results of a refining operation have the types of the refined one.
    fn agree_with_refined(&mut self, instance: &Instance, op: &ast::Operation, id: OpId) {
        let Some(refined) = instance.refines else { return };
        let wanted = op.refines.as_ref().unwrap_or(&op.name);
        let scope = self.instance(refined).scope;
        let Some(old) = self.elaborator.scopes[scope.0 as usize].operations.get(&wanted.name).copied() else {
            return;
        };
        let (a, b) = (
            self.elaborator.signatures[old.0 as usize].clone(),
            self.elaborator.signatures[id.0 as usize].clone(),
        );
        if op.refines.is_none() && (a.params.len() != b.params.len() || a.results.len() != b.results.len()) {
            self.elaborator.error(
                Diagnostic::error(
                    b.span,
                    format!("`{}` must have the parameters and results of the operation it refines", b.name),
                )
                .label(a.span, "refined operation"),
            );
            return;
        }
        for (x, y) in a.params.iter().chain(&a.results).zip(b.params.iter().chain(&b.results)) {
            let (x, y) = (
                self.elaborator.vars[x.0 as usize].ty.clone(),
                self.elaborator.vars[y.0 as usize].ty.clone(),
            );
            self.elaborator.unifier.unify(&x, &y);
        }
    }
}

/// The operations of a text; where a local one is also implemented, the implementation counts.
pub(super) fn written_operations(tree: &ast::Machine) -> Vec<&ast::Operation> {
    let mut ops: Vec<&ast::Operation> = Vec::new();
    for clause in &tree.clauses {
        if let ClauseKind::Operations(list) = &clause.kind {
            ops.extend(list);
        }
    }
    for clause in &tree.clauses {
        if let ClauseKind::LocalOperations(list) = &clause.kind {
            let implemented: Vec<&Name> = ops.iter().map(|o| &o.name.name).collect();
            let rest: Vec<&ast::Operation> =
                list.iter().filter(|o| !implemented.contains(&&o.name.name)).collect();
            ops.extend(rest);
        }
    }
    ops
}

fn concrete_variables(tree: &ast::Machine) -> Vec<Name> {
    let mut names = Vec::new();
    for clause in &tree.clauses {
        if let ClauseKind::ConcreteVariables(list) = &clause.kind {
            names.extend(list.iter().map(|i| i.name.clone()));
        }
    }
    names
}

/// A name without lower-case letters is a set parameter, one without upper-case letters a scalar; of a mixed
/// name the constraints tell, which speak of scalars.
fn is_set_parameter(name: &str, tree: &ast::Machine) -> bool {
    if !name.chars().any(char::is_lowercase) {
        return true;
    }
    name.chars().any(char::is_uppercase)
        && !tree.clauses.iter().any(|c| match &c.kind {
            ClauseKind::Constraints(p) => names_of(p).contains(name),
            _ => false,
        })
}
