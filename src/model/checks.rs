//! Static rules of substitutions: nothing is written twice at once, no recursion, results are assigned.
//!
//! In: typed operations. Out: messages.

use super::typed::{OpId, Operation, Stmt, StmtKind, VarDecl, VarId};
use super::walk::{Visit, calls_of, visit_stmt};
use crate::base::Span;
use crate::base::diagnostic::Diagnostic;
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

/// The rules of one operation.
pub fn operation(op: &Operation, operations: &[Operation], vars: &[VarDecl]) -> Vec<Diagnostic> {
    let mut found = substitution(&op.body, operations, vars);
    let written = writes(&op.body, operations);
    for result in &op.results {
        if !written.contains_key(result) {
            let decl = &vars[result.0 as usize];
            found.push(
                Diagnostic::error(decl.span, format!("the operation `{}` never assigns its result `{}`", op.name, decl.name))
                    .label(op.span, "this operation"),
            );
        }
    }
    found
}

/// What a substitution writes twice at once.
pub fn substitution(s: &Stmt, operations: &[Operation], vars: &[VarDecl]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    written_twice(s, operations, vars, &mut found);
    found
}

fn written_twice(s: &Stmt, operations: &[Operation], vars: &[VarDecl], found: &mut Vec<Diagnostic>) {
    let mut clash = |var: VarId, first: Span, second: Span, how: &str| {
        let name = &vars[var.0 as usize].name;
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
        StmtKind::Par(parts) => {
            let mut all: BTreeMap<VarId, Span> = BTreeMap::new();
            for part in parts {
                for (var, at) in writes(part, operations) {
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
        written_twice(part, operations, vars, found);
    }
}

fn parts_of(s: &Stmt) -> Vec<&Stmt> {
    match &s.kind {
        StmtKind::Pre(_, b)
        | StmtKind::Assert(_, b)
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

/// The variables a substitution may write, each with one place that does; calls included.
pub fn writes(s: &Stmt, operations: &[Operation]) -> BTreeMap<VarId, Span> {
    struct Writes<'a> {
        found: BTreeMap<VarId, Span>,
        operations: &'a [Operation],
        at: Span,
    }
    impl Visit for Writes<'_> {
        fn target(&mut self, t: &super::typed::Target) {
            self.found.entry(t.var).or_insert(t.span);
        }
        fn written(&mut self, vars: &Vec<VarId>) {
            for var in vars {
                self.found.entry(*var).or_insert(self.at);
            }
        }
        fn call(&mut self, op: &OpId) {
            let callee = &self.operations[op.0 as usize];
            for var in writes(&callee.body, self.operations).into_keys() {
                if !callee.results.contains(&var) {
                    self.found.entry(var).or_insert(self.at);
                }
            }
        }
    }
    let mut writes = Writes { found: BTreeMap::new(), operations, at: s.span };
    visit_stmt(s, &mut writes);
    writes.found
}
