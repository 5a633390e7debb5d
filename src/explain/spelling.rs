//! Formulas as text: as the user wrote them where the text is at hand, else printed from the typed tree.
//!
//! In: typed formulas. Out: text in B notation. Typed trees know no definitions and no comments, and every name is
//! resolved, so a printed formula may look different from the one that the user wrote; it means the same.
//! Never here: values of formulas.

use super::Explainer;
use bombus_base::Span;
use bombus_base::text::one_line;
use bombus_lang::typed::{
    BigOp, BinOp, Expr, ExprKind, FunctionConst, Machine, Pred, PredKind, RelOp, Type, UnOp, VarId,
};

/// Formulas nested deeper are printed as `…`.
const DEPTH: usize = 60;

impl Explainer<'_> {
    /// The text of a predicate. `whole` is the span of the formula around it: a part that has the same span comes out
    /// of a definition, and is printed.
    pub(super) fn pred_text(&self, p: &Pred, whole: Span) -> String {
        // A predicate that no user wrote has the place of one of its sides, or of none.
        let covers = |e: &Expr| {
            e.span == Span::default()
                || e.span.file == p.span.file
                    && p.span.start <= e.span.start
                    && e.span.end <= p.span.end
                    && p.span != e.span
        };
        let made = matches!(&p.kind, PredKind::Rel(_, a, b) if !covers(a) || !covers(b));
        let written = if made { None } else { self.written(p.span, whole) };
        written.unwrap_or_else(|| Printer { machine: self.machine }.pred(p, 0, 0))
    }

    pub(super) fn expr_text(&self, e: &Expr, whole: Span) -> String {
        self.written(e.span, whole).unwrap_or_else(|| Printer { machine: self.machine }.expr(e, 0, 0))
    }

    fn written(&self, span: Span, whole: Span) -> Option<String> {
        if span == Span::default() || span == whole {
            return None;
        }
        let text = one_line(&without_comments(self.sources.slice(span)));
        let text = unwrapped(&text);
        (!text.is_empty()).then(|| text.to_string())
    }
}

/// The text without brackets around all of it.
pub fn unwrapped(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) else { return text };
    let mut depth = 0i64;
    for c in inner.chars() {
        depth += i64::from(c == '(') - i64::from(c == ')');
        if depth < 0 {
            return text;
        }
    }
    unwrapped(inner.trim())
}

/// The text without `/* … */` and `// …`, outside of strings.
pub fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut quoted = false;
    while let Some(c) = rest.chars().next() {
        if !quoted && rest.starts_with("/*") {
            rest = rest.find("*/").map_or("", |end| &rest[end + 2..]);
            out.push(' ');
            continue;
        }
        if !quoted && rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
            continue;
        }
        quoted ^= c == '"';
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// Levels of binding, larger binds tighter; the order is that of the language.
const IMPLIES: u8 = 1;
const CONNECTIVE: u8 = 2;
const IFF: u8 = 3;
const COMPARISON: u8 = 4;
const ARROW: u8 = 5;
const SETS: u8 = 6;
const INTERVAL: u8 = 7;
const SUM: u8 = 8;
const PRODUCT: u8 = 9;
const POWER: u8 = 10;
const POSTFIX: u8 = 11;

struct Printer<'m> {
    machine: &'m Machine,
}

impl Printer<'_> {
    fn name(&self, v: VarId) -> String {
        self.machine.vars.get(v.0 as usize).map_or_else(|| "?".into(), |d| d.name.to_string())
    }

    fn names(&self, vars: &[VarId]) -> String {
        vars.iter().map(|v| self.name(*v)).collect::<Vec<_>>().join(",")
    }

    fn list(&self, items: &[Expr], depth: usize) -> String {
        items.iter().map(|e| self.expr(e, 0, depth)).collect::<Vec<_>>().join(",")
    }

    fn infix(&self, level: u8, outer: u8, left: String, op: &str, right: String) -> String {
        brackets(level < outer, format!("{left} {op} {right}"))
    }

    /// The text of a predicate where `outer` is how tightly the operator around it binds.
    fn pred(&self, p: &Pred, outer: u8, depth: usize) -> String {
        if depth > DEPTH {
            return "…".into();
        }
        let depth = depth + 1;
        let pred = |p: &Pred, outer: u8| self.pred(p, outer, depth);
        match &p.kind {
            PredKind::True => "TRUE = TRUE".into(),
            PredKind::False => "TRUE = FALSE".into(),
            PredKind::And(ps) | PredKind::Or(ps) => {
                let word = if matches!(p.kind, PredKind::And(_)) { " & " } else { " or " };
                let parts: Vec<String> = ps.iter().map(|q| pred(q, CONNECTIVE + 1)).collect();
                brackets(CONNECTIVE < outer, parts.join(word))
            }
            PredKind::Not(q) => format!("not({})", pred(q, 0)),
            PredKind::Implies(a, b) => {
                self.infix(IMPLIES, outer, pred(a, IMPLIES + 1), "=>", pred(b, IMPLIES + 1))
            }
            PredKind::Iff(a, b) => self.infix(IFF, outer, pred(a, IFF + 1), "<=>", pred(b, IFF + 1)),
            PredKind::Rel(op, a, b) => {
                let (a, b) = (self.expr(a, COMPARISON, depth), self.expr(b, COMPARISON, depth));
                self.infix(COMPARISON, outer, a, relation_text(*op), b)
            }
            PredKind::Forall(vars, q) => format!("!({}).({})", self.names(vars), pred(q, 0)),
            PredKind::Exists(vars, q) => format!("#({}).({})", self.names(vars), pred(q, 0)),
            PredKind::If(c, a, b) => {
                format!("IF {} THEN {} ELSE {} END", pred(c, 0), pred(a, 0), pred(b, 0))
            }
            PredKind::Let(bindings, q) => {
                format!("LET {} IN {} END", self.bound(bindings, depth), pred(q, 0))
            }
            PredKind::Finite(e) => format!("finite({})", self.expr(e, 0, depth)),
            PredKind::Partition(e, parts) => {
                format!("partition({},{})", self.expr(e, 0, depth), self.list(parts, depth))
            }
            PredKind::External(f, args) => format!("{}({})", f.name, self.list(args, depth)),
            PredKind::Label(_, q) => pred(q, outer),
        }
    }

    fn bound(&self, bindings: &[(VarId, Expr)], depth: usize) -> String {
        let one = |(v, e): &(VarId, Expr)| format!("{} = {}", self.name(*v), self.expr(e, 0, depth));
        bindings.iter().map(one).collect::<Vec<_>>().join(" & ")
    }

    fn expr(&self, e: &Expr, outer: u8, depth: usize) -> String {
        if depth > DEPTH {
            return "…".into();
        }
        let depth = depth + 1;
        let expr = |e: &Expr, outer: u8| self.expr(e, outer, depth);
        match &e.kind {
            ExprKind::Int(n) => n.to_string(),
            ExprKind::Real(text) => text.to_string(),
            ExprKind::Str(text) => format!("{:?}", &**text),
            ExprKind::Bool(b) => if *b { "TRUE" } else { "FALSE" }.into(),
            ExprKind::Elem(set, n) => {
                let set = self.machine.set(*set);
                set.elems.get(*n as usize).map_or_else(|| "?".into(), |name| name.to_string())
            }
            ExprKind::Var(v) => self.name(*v),
            ExprKind::Old(v) => format!("{}$0", self.name(*v)),
            ExprKind::TypeSet(t) => self.type_set(t),
            ExprKind::Natural => "NATURAL".into(),
            ExprKind::Natural1 => "NATURAL1".into(),
            ExprKind::Function(f) => match f {
                FunctionConst::Succ => "succ",
                FunctionConst::Pred => "pred",
                FunctionConst::Id => "id",
                FunctionConst::Prj1 => "prj1",
                FunctionConst::Prj2 => "prj2",
            }
            .into(),
            ExprKind::SetExt(es) => format!("{{{}}}", self.list(es, depth)),
            ExprKind::SeqExt(es) => format!("[{}]", self.list(es, depth)),
            ExprKind::Pair(a, b) => {
                self.infix(SETS, outer, expr(a, SETS), "|->", expr(b, SETS + 1)).replace(" |-> ", "|->")
            }
            ExprKind::Rec(es) => format!("rec({})", self.fields(&e.ty, es, depth)),
            ExprKind::StructSet(es) => {
                let ty = if let Type::Pow(t) = &e.ty { t } else { &e.ty };
                format!("struct({})", self.fields(ty, es, depth))
            }
            ExprKind::Field(r, i) => {
                let name = match &r.ty {
                    Type::Struct(fields) => fields.get(*i).map_or("?", |(name, _)| &**name),
                    _ => "?",
                };
                format!("{}'{name}", expr(r, POSTFIX))
            }
            ExprKind::Unary(UnOp::Neg, a) => brackets(SUM < outer, format!("-{}", expr(a, POWER))),
            ExprKind::Unary(UnOp::Inverse, a) => format!("{}~", expr(a, POSTFIX)),
            ExprKind::Unary(op, a) => format!("{}({})", unary_text(*op), expr(a, 0)),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, outer, depth),
            ExprKind::Apply(f, x) => format!("{}({})", expr(f, POSTFIX), self.arguments(x, depth)),
            ExprKind::BoolOf(p) => format!("bool({})", self.pred(p, 0, depth)),
            ExprKind::Compr(vars, p) => format!("{{{}|{}}}", self.names(vars), self.pred(p, 0, depth)),
            ExprKind::Big(op, vars, p, x) => {
                let word = match op {
                    BigOp::Lambda => "%",
                    BigOp::Union => "UNION",
                    BigOp::Inter => "INTER",
                    BigOp::Sigma => "SIGMA",
                    BigOp::Pi => "PI",
                    BigOp::SetOf => {
                        let (names, p) = (self.names(vars), self.pred(p, 0, depth));
                        return format!("{{{names}.{p}|{}}}", expr(x, 0));
                    }
                };
                format!("{word}({}).({}|{})", self.names(vars), self.pred(p, 0, depth), expr(x, 0))
            }
            ExprKind::If(c, a, b) => {
                format!("IF {} THEN {} ELSE {} END", self.pred(c, 0, depth), expr(a, 0), expr(b, 0))
            }
            ExprKind::Let(bindings, x) => {
                format!("LET {} IN {} END", self.bound(bindings, depth), expr(x, 0))
            }
            ExprKind::Construct(id, c, arg) => {
                let name = self.constructor(id.0, *c);
                arg.as_ref().map_or(name.clone(), |x| format!("{name}({})", expr(x, 0)))
            }
            ExprKind::Constructor(id, c) | ExprKind::Destructor(id, c) => self.constructor(id.0, *c),
            ExprKind::External(f, args) if args.is_empty() => f.name.to_string(),
            ExprKind::External(f, args) => format!("{}({})", f.name, self.list(args, depth)),
            ExprKind::Symbolic(x) => expr(x, outer),
        }
    }

    fn constructor(&self, free: u32, number: u32) -> String {
        let of = self.machine.freetypes.get(free as usize);
        let named = of.and_then(|f| f.constructors.get(number as usize));
        named.map_or_else(|| "?".into(), |(name, _)| name.to_string())
    }

    fn fields(&self, ty: &Type, values: &[Expr], depth: usize) -> String {
        let name = |i: usize| match ty {
            Type::Struct(fields) => fields.get(i).map_or("?", |(name, _)| &**name),
            _ => "?",
        };
        let one = |(i, e): (usize, &Expr)| format!("{}:{}", name(i), self.expr(e, 0, depth));
        values.iter().enumerate().map(one).collect::<Vec<_>>().join(",")
    }

    /// Arguments of a function: a pair is written with a comma.
    fn arguments(&self, x: &Expr, depth: usize) -> String {
        match &x.kind {
            ExprKind::Pair(a, b) if depth < DEPTH => {
                format!("{},{}", self.arguments(a, depth + 1), self.expr(b, 0, depth))
            }
            _ => self.expr(x, 0, depth),
        }
    }

    fn binary(&self, op: BinOp, a: &Expr, b: &Expr, outer: u8, depth: usize) -> String {
        use BinOp::*;
        let Some(sign) = op.written() else {
            if op == Image {
                return format!("{}[{}]", self.expr(a, POSTFIX, depth), self.expr(b, 0, depth));
            }
            let word = format!("{op:?}").to_lowercase();
            return format!("{word}({},{})", self.expr(a, 0, depth), self.expr(b, 0, depth));
        };
        let level = match op {
            Add | Sub | SetMinus => SUM,
            Mul | Cartesian | Div | Mod => PRODUCT,
            Power => POWER,
            Interval => INTERVAL,
            op if op.arrow().is_some() => ARROW,
            _ => SETS,
        };
        let text = sign.spelling();
        let text = self.infix(level, outer, self.expr(a, level, depth), text, self.expr(b, level + 1, depth));
        if op == Interval { text.replacen(" .. ", "..", 1) } else { text }
    }

    fn type_set(&self, t: &Type) -> String {
        bombus_model::types::show(t, &self.machine.sets, &self.machine.freetypes)
    }
}

fn brackets(needed: bool, text: String) -> String {
    if needed { format!("({text})") } else { text }
}

pub(super) fn relation_text(op: RelOp) -> &'static str {
    match op {
        RelOp::Equal => "=",
        RelOp::NotEqual => "/=",
        RelOp::In => ":",
        RelOp::NotIn => "/:",
        RelOp::Subset => "<:",
        RelOp::NotSubset => "/<:",
        RelOp::StrictSubset => "<<:",
        RelOp::NotStrictSubset => "/<<:",
        RelOp::Less => "<",
        RelOp::LessEqual => "<=",
        RelOp::Greater => ">",
        RelOp::GreaterEqual => ">=",
    }
}

/// The word of an operator that is written as a function.
fn unary_text(op: UnOp) -> String {
    match op {
        UnOp::Pow | UnOp::Pow1 | UnOp::Fin | UnOp::Fin1 => format!("{op:?}").to_uppercase(),
        UnOp::ToReal => "real".into(),
        UnOp::First2 => "prj1".into(),
        UnOp::Second2 => "prj2".into(),
        UnOp::Bin1 => "bin".into(),
        _ => format!("{op:?}").to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn comments_are_no_part_of_a_formula_and_strings_are() {
        assert_eq!(without_comments("x < /* four */4 // end\n"), "x <  4 \n");
        assert_eq!(without_comments("s = \"/* no */\""), "s = \"/* no */\"");
        assert_eq!(without_comments("x /* open"), "x  ");
    }
}
