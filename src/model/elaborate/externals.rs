//! External functions: definitions that are declared with `EXTERNAL_FUNCTION_f` and its kin.
//!
//! The type comes from the declaration (`EXTERNAL_FUNCTION_f(T) == POW(T) --> T`), read as a set of
//! functions in which the parameters stand for types. Functions of `IMPLEMENTED` become external
//! calls; printing is without effect; for all others the body of the definition stands, with a warning.

use super::{Elaborator, pair_up};
use bombus_base::diagnostic::{Diagnostic, Severity};
use bombus_base::{Name, Span};
use bombus_lang::typed::{Expr, ExprKind, External, Pred, PredKind, RelOp, Stmt, StmtKind, Type, VarKind};
use bombus_syntax::ast::{self, DefBody, Definition};
use std::sync::Arc;

/// The functions and predicates that the engines evaluate themselves, sorted by name.
pub const IMPLEMENTED: &[&str] = &[
    "ABS",
    "ARGC",
    "ASSERT_EXPR",
    "ASSERT_TRUE",
    "AS_FUNCTION",
    "AS_NATURAL",
    "BAND",
    "BLSHIFT",
    "BNOT",
    "BOOL_TO_STRING",
    "BOR",
    "BRSHIFT",
    "BXOR",
    "CDIV",
    "CHOOSE",
    "CLOSURE1",
    "CODES_TO_STRING",
    "COPY",
    "COS",
    "COSx",
    "DEC_STRING_TO_INT",
    "DIRECTORIES",
    "DIRECTORY_EXISTS",
    "FACTORIAL",
    "FDIV",
    "FILES",
    "FILE_EXISTS",
    "FILE_PROPERTY_VALUE",
    "FORMAT_TO_STRING",
    "FULL_DIRECTORIES",
    "FULL_FILES",
    "GCD",
    "GET_PREF",
    "HASH",
    "IDENTITY",
    "INT_SQRT",
    "INT_TO_DEC_STRING",
    "INT_TO_HEX_STRING",
    "INT_TO_STRING",
    "IS_REGEX",
    "LEQ_SYM",
    "LESS",
    "LOGx",
    "MAXIMIZE",
    "MAXIMIZE_EXPR",
    "MAX_SAT",
    "MEMO",
    "MEMOIZE",
    "MSB",
    "MU",
    "MU_WITH_DEFAULT",
    "PROJECT_STATISTICS",
    "RABS",
    "RACOS",
    "RADD",
    "RANDOM",
    "RASIN",
    "RATAN",
    "RCEILING",
    "RCOS",
    "RCOSH",
    "RDIV",
    "READ_CSV",
    "READ_CSV_SEQUENCE",
    "READ_CSV_STRINGS",
    "READ_FILE",
    "READ_FILE_AS_STRING",
    "READ_FILE_AS_STRINGS",
    "READ_JSON",
    "READ_JSON_FROM_STRING",
    "READ_XML",
    "READ_XML_FROM_STRING",
    "REC",
    "REC_LET",
    "REGEX_IMATCH",
    "REGEX_IREPLACE",
    "REGEX_ISEARCH",
    "REGEX_ISEARCH_ALL",
    "REGEX_ISEARCH_STR",
    "REGEX_MATCH",
    "REGEX_REPLACE",
    "REGEX_SEARCH",
    "REGEX_SEARCH_ALL",
    "REGEX_SEARCH_STR",
    "REQ",
    "REXP",
    "RFLOOR",
    "RGEQ",
    "RGT",
    "RINTEGER",
    "RINV",
    "RLEQ",
    "RLOGe",
    "RLT",
    "RMAX",
    "RMAXIMUM",
    "RMIN",
    "RMINIMUM",
    "RMUL",
    "RNEQ",
    "RONE",
    "ROUND",
    "RPOW",
    "RPOWER",
    "RROUND",
    "RSIGN",
    "RSIN",
    "RSINH",
    "RSQRT",
    "RSUB",
    "RTAN",
    "RTANH",
    "RUMINUS",
    "RZERO",
    "SCCS",
    "SHA_HASH",
    "SHA_HASH_HEX",
    "SIGN",
    "SIN",
    "SINx",
    "SORT",
    "SQRT",
    "SQUASH",
    "STRINGIFY",
    "STRING_APPEND",
    "STRING_CHARS",
    "STRING_CODES",
    "STRING_CONC",
    "STRING_CONC2",
    "STRING_CONTAINS_STRING",
    "STRING_EQUAL_CASE_INSENSITIVE",
    "STRING_IS_ALPHANUMERIC",
    "STRING_IS_DECIMAL",
    "STRING_IS_INT",
    "STRING_IS_NUMBER",
    "STRING_JOIN",
    "STRING_LENGTH",
    "STRING_PADLEFT",
    "STRING_REPLACE",
    "STRING_REV",
    "STRING_SPLIT",
    "STRING_TO_ENUM",
    "STRING_TO_INT",
    "STRING_TO_LOWER",
    "STRING_TO_REAL",
    "STRING_TO_UPPER",
    "SUB_STRING",
    "SYMBOLIC",
    "TAN",
    "TANx",
    "TIMESTAMP",
    "TIMESTAMP_INFO",
    "TO_STRING",
    "TO_STRING_UNICODE",
    "UNSAT_CORE",
    "random_element",
    "random_subset",
];

/// Predicates and functions that only print or hint: true, or their last argument.
const SILENT: &[&str] = &[
    "CHECK_DET",
    "DO_NOT_ENUMERATE",
    "ENUMERATE",
    "FORCE",
    "IS_EVALUATED",
    "KODKOD",
    "KODKOD_SOLVE",
    "LEQ_SYM_BREAK",
    "SAME_TYPE",
    "SET_PREF",
    "TRACE",
    "dprintf",
    "fprintf",
    "fvprintf",
    "observe",
    "observe_fun",
    "observe_indent",
    "observe_silent",
    "printf",
    "printf1",
    "printf_no_backtrack",
    "printf_nonvar",
    "printf_opt_trace",
    "printf_two",
    "tobserve",
    "tprintf",
    "vprintf",
];

impl Elaborator {
    /// The declaration `EXTERNAL_<kind>_<name>`, if the machine has one.
    pub(super) fn external_declaration(&self, kind: &str, name: &str) -> Option<Arc<Definition>> {
        self.scope().definitions.get(&format!("EXTERNAL_{kind}_{name}")).cloned()
    }

    fn is_provided(&self, name: &str) -> bool {
        IMPLEMENTED.binary_search(&name).is_ok()
    }

    pub(super) fn external_function(
        &mut self,
        def: &Arc<Definition>,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<Expr> {
        let name = &def.name.name;
        let Some(declaration) = self.external_declaration("FUNCTION", name) else {
            // A predicate where a value is wanted gives its truth value.
            self.external_declaration("PREDICATE", name)?;
            let p = self.call_pred(def, args, span);
            return Some(Expr { kind: ExprKind::BoolOf(Box::new(p)), ty: Type::Bool, span });
        };
        let set = self.declared_type(&declaration)?;
        let (from, to) = if args.is_empty() {
            (None, set)
        } else {
            let (from, to) = (self.unifier.fresh(), self.unifier.fresh());
            if !self.unifier.unify(&set, &Type::rel(from.clone(), to.clone())) {
                self.error(Diagnostic::error(
                    declaration.name.span,
                    "an external function is declared as `A --> B`",
                ));
                return Some(self.poison(span));
            }
            (Some(from), to)
        };
        if !self.is_provided(name)
            && let Some(body) = self.fallback(def, args, (from.as_ref(), &to), span)
        {
            return Some(body);
        }
        let args = self.external_args(name, from, args, &declaration);
        Some(Expr { kind: ExprKind::External(External { name: name.clone() }, args), ty: to, span })
    }

    /// The body of the definition in place of a function that is not provided, if it has the declared type.
    ///
    /// Bodies are often dummies of another type; then the call stays, and evaluation says what is missing.
    fn fallback(
        &mut self,
        def: &Arc<Definition>,
        args: &[ast::Expr],
        (from, to): (Option<&Type>, &Type),
        span: Span,
    ) -> Option<Expr> {
        let body = self.attempt(|this| {
            let body = this.expand_call(def, args, span)?;
            this.unifier.unify(&body.ty, to).then_some(body)
        })?;
        // A body that does not mention its parameters says nothing of their types; the declaration does.
        if let Some(from) = from {
            self.attempt(|this| {
                let typed: Vec<Expr> = args.iter().map(|a| this.expr(a)).collect();
                let all = pair_up(typed)?;
                this.unifier.unify(&all.ty, from).then_some(())
            });
        }
        self.falls_back(&def.name.name, span);
        Some(body)
    }

    fn fallback_predicate(&mut self, def: &Arc<Definition>, args: &[ast::Expr], span: Span) -> Option<Pred> {
        let body = self.attempt(|this| this.expand_predicate(def, args, span))?;
        self.falls_back(&def.name.name, span);
        Some(body)
    }

    /// Does the work, or leaves no trace of it if it fails or reports an error.
    fn attempt<T>(&mut self, work: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let (unifier, pending) = (self.unifier.clone(), self.pending.clone());
        let (vars, messages) = (self.vars.len(), self.diagnostics.len());
        let result = work(self);
        if result.is_some() && self.diagnostics[messages..].iter().all(|d| d.severity != Severity::Error) {
            return result;
        }
        self.unifier = unifier;
        self.pending = pending;
        self.vars.truncate(vars);
        self.diagnostics.truncate(messages);
        None
    }

    pub(super) fn external_predicate(
        &mut self,
        def: &Arc<Definition>,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<Pred> {
        let name = &def.name.name;
        let Some(declaration) = self.external_declaration("PREDICATE", name) else {
            // A function to BOOL where a predicate is wanted.
            self.external_declaration("FUNCTION", name)?;
            let value = self.external_function(def, args, span)?;
            self.expect(&value, &Type::Bool, "a predicate", None);
            let truth = Expr { kind: ExprKind::Bool(true), ty: Type::Bool, span };
            return Some(Pred { kind: PredKind::Rel(RelOp::Equal, value, truth), span });
        };
        let silent = SILENT.contains(&&**name);
        if !silent
            && !self.is_provided(name)
            && let Some(body) = self.fallback_predicate(def, args, span)
        {
            return Some(body);
        }
        let from = self.declared_type(&declaration)?;
        let args = self.external_args(name, Some(from), args, &declaration);
        let kind =
            if silent { PredKind::True } else { PredKind::External(External { name: name.clone() }, args) };
        Some(Pred { kind, span })
    }

    pub(super) fn external_substitution(
        &mut self,
        name: &Name,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<Stmt> {
        let declaration = self.external_declaration("SUBSTITUTION", name)?;
        let from = self.declared_type(&declaration)?;
        let args = self.external_args(name, Some(from), args, &declaration);
        Some(Stmt { kind: StmtKind::External(External { name: name.clone() }, args), span })
    }

    /// The type whose set the declaration names, with a fresh type for each of its parameters.
    fn declared_type(&mut self, declaration: &Definition) -> Option<Type> {
        let DefBody::Expr(body) = &declaration.body else { return None };
        let first = self.vars.len();
        let (_, set) =
            self.bind(&declaration.params, VarKind::Local, super::expressions::BOUND, |this, vars| {
                for var in vars {
                    let ty = this.vars[var.0 as usize].ty.clone();
                    let element = this.unifier.fresh();
                    this.unifier.unify(&ty, &Type::pow(element));
                }
                this.expr(body)
            });
        // Nothing of the declaration stays but its type.
        self.vars.truncate(first);
        let element = self.unifier.fresh();
        self.expect(&set, &Type::pow(element.clone()), "the declared type of an external function", None)
            .then_some(element)
    }

    fn external_args(
        &mut self,
        name: &Name,
        from: Option<Type>,
        args: &[ast::Expr],
        declaration: &Definition,
    ) -> Vec<Expr> {
        let typed: Vec<Expr> = args.iter().map(|a| self.expr(a)).collect();
        if let (Some(from), Some(all)) = (from, pair_up(typed.clone())) {
            self.expect(
                &all,
                &from,
                &format!("the argument of `{name}`"),
                Some((declaration.name.span, "declared here".into())),
            );
        }
        typed
    }

    fn falls_back(&mut self, name: &Name, span: Span) {
        // Printing functions return their last argument, which is what their bodies say.
        if SILENT.contains(&&**name) || !self.warned.insert((Span::default(), name.clone())) {
            return;
        }
        let words = format!(
            "the external function `{name}` is not provided; the body of its definition is used, and what is found \
             may rest on that"
        );
        self.diagnostics.push(Diagnostic::warning(span, words).approximating());
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn provided_functions_are_sorted_for_the_search() {
        assert!(super::IMPLEMENTED.is_sorted());
    }
}
