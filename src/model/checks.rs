//! Static rules of substitutions: nothing is written twice at once, no recursion, results are assigned.
//!
//! In: typed operations. Out: messages.

use bombus_base::Span;
use bombus_base::diagnostic::Diagnostic;
use bombus_lang::typed::{OpId, Operation, Stmt, StmtKind, Target, VarDecl, VarId, VarKind};
use bombus_lang::walk::{Visit, calls_of, visit_stmt};
use std::collections::BTreeMap;

/// Operations that call themselves, directly or not; one of each circle.
pub fn recursion(operations: &[Operation]) -> Vec<(OpId, Span)> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    fn walk(op: OpId, operations: &[Operation], marks: &mut [Mark], found: &mut Vec<(OpId, Span)>) {
        marks[op.0 as usize] = Mark::Open;
        for callee in calls_of(&operations[op.0 as usize].body) {
            match marks[callee.0 as usize] {
                Mark::New => walk(callee, operations, marks, found),
                Mark::Open => found.push((callee, operations[op.0 as usize].span)),
                Mark::Done => {}
            }
        }
        marks[op.0 as usize] = Mark::Done;
    }
    let mut marks = vec![Mark::New; operations.len()];
    let mut found = Vec::new();
    for i in 0..operations.len() {
        if marks[i] == Mark::New {
            walk(OpId(i as u32), operations, &mut marks, &mut found);
        }
    }
    found
}

/// What the rules are measured against.
pub struct Checks<'a> {
    pub operations: &'a [Operation],
    pub vars: &'a [VarDecl],
    /// Branches of `||` may write the same variable.
    pub simultaneous: bool,
}

impl Checks<'_> {
    /// The rules of one operation.
    pub fn operation(&self, op: &Operation) -> Vec<Diagnostic> {
        let mut found = self.substitution(&op.body);
        let written = self.writes(&op.body);
        for result in &op.results {
            if !written.contains_key(result) {
                let decl = &self.vars[result.0 as usize];
                let text = format!("the operation `{}` never assigns its result `{}`", op.name, decl.name);
                found.push(Diagnostic::error(decl.span, text).label(op.span, "this operation"));
            }
        }
        found
    }

    /// What a substitution writes twice at once.
    pub fn substitution(&self, s: &Stmt) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        self.written_twice(s, &mut found);
        found
    }

    fn written_twice(&self, s: &Stmt, found: &mut Vec<Diagnostic>) {
        let mut clash = |var: VarId, first: Span, second: Span, how: &str| {
            let name = &self.vars[var.0 as usize].name;
            found.push(
                Diagnostic::error(second, format!("`{name}` is assigned twice {how}"))
                    .label(first, "assigned here already")
                    .help("join both values into one assignment, or use `;`"),
            );
        };
        match &s.kind {
            StmtKind::Assign(pairs) => {
                for (i, (target, _)) in pairs.iter().enumerate() {
                    if let Some((first, _)) = pairs[..i].iter().find(|(t, _)| t.var == target.var) {
                        clash(target.var, first.span, target.span, "in one assignment");
                    }
                }
            }
            StmtKind::BecomesIn(vars, _) | StmtKind::BecomesSuch(vars, _) => {
                for (i, var) in vars.iter().enumerate() {
                    if vars[..i].contains(var) {
                        clash(*var, s.span, s.span, "in one substitution");
                    }
                }
            }
            StmtKind::Par(parts) if !self.simultaneous => {
                let mut all: BTreeMap<VarId, Span> = BTreeMap::new();
                for part in parts {
                    for (var, at) in self.writes(part) {
                        match all.get(&var) {
                            Some(first) => clash(var, *first, at, "in parallel"),
                            None => {
                                all.insert(var, at);
                            }
                        }
                    }
                }
            }
            _ => {}
        }
        for part in parts_of(s) {
            self.written_twice(part, found);
        }
    }

    /// The variables a substitution may write, each with one place that does; calls included.
    fn writes(&self, s: &Stmt) -> BTreeMap<VarId, Span> {
        let mut writes = Writes { found: BTreeMap::new(), checks: self, at: s.span };
        visit_stmt(s, &mut writes);
        writes.found
    }
}

struct Writes<'a> {
    found: BTreeMap<VarId, Span>,
    checks: &'a Checks<'a>,
    at: Span,
}

impl Visit for Writes<'_> {
    fn target(&mut self, t: &Target) {
        self.found.entry(t.var).or_insert(t.span);
    }
    fn written(&mut self, vars: &Vec<VarId>) {
        for var in vars {
            self.found.entry(*var).or_insert(self.at);
        }
    }
    fn call(&mut self, op: &OpId) {
        let body = &self.checks.operations[op.0 as usize].body;
        for var in self.checks.writes(body).into_keys() {
            // What is local to the called operation does not concern its caller.
            if self.checks.vars[var.0 as usize].kind == VarKind::Variable {
                self.found.entry(var).or_insert(self.at);
            }
        }
    }
}

fn parts_of(s: &Stmt) -> Vec<&Stmt> {
    match &s.kind {
        StmtKind::Pre(_, b)
        | StmtKind::Assert(_, _, b)
        | StmtKind::Witness(_, b)
        | StmtKind::Any(_, _, b)
        | StmtKind::Let(_, b)
        | StmtKind::Var(_, b) => vec![b],
        StmtKind::While { body, .. } => vec![body],
        StmtKind::Choice(bs) | StmtKind::Seq(bs) | StmtKind::Par(bs) => bs.iter().collect(),
        StmtKind::If(bs, other) | StmtKind::Select(bs, other) => {
            bs.iter().map(|(_, b)| b).chain(other.as_deref()).collect()
        }
        StmtKind::Case(_, bs, other) => bs.iter().map(|(_, b)| b).chain(other.as_deref()).collect(),
        _ => Vec::new(),
    }
}
