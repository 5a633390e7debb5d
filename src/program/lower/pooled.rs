//! Sets in the value pool, taken element by element.
//!
//! In: the register of a pool number. Out: a loop over the elements of that set, which the host hands over one by
//! one, each in the layout of its type. A set that is not listed, or an element that does not fit, is a misfit.

use super::*;

impl Lower<'_> {
    /// Starts a loop over a set in the pool: the element, where the next round begins, where the loop ends.
    /// Of a constant set more is known than what it has in the pool (`given` and `listed`).
    pub(super) fn pooled_loop(&mut self, set: &Expr, s: &Operand, ty: &Type) -> Low<(Operand, Label, Label)> {
        if self.is_constant_expr(set) {
            return unsupported("a constant set in the pool");
        }
        if is_space(set) {
            return unsupported("a set that had better not be listed");
        }
        let count = self.alloc(1)?;
        let touch = GeneralTouch { reads: vec![(s.reg, 1)], write: Some((count, 1)) };
        self.general(General::Count { set: s.clone(), out: count }, touch)?;
        let (zero, most) = (self.integer(0)?, self.fresh(Layout::Int)?);
        self.emit(Op::AddImm { d: most.reg, a: count, i: -1 });
        let (at, head, exit) = self.integer_loop(&zero, &most)?;
        let x = self.fresh(self.plain(ty))?;
        let touch = GeneralTouch { reads: vec![(s.reg, 1), (at.reg, 1)], write: Some((x.reg, x.words())) };
        self.general(General::Element { set: s.clone(), at: at.reg, out: x.clone() }, touch)?;
        Ok((x, head, exit))
    }

    /// A layout for the values of a type, with a pool number where there are no words.
    fn plain(&self, ty: &Type) -> Layout {
        match ty {
            Type::Prod(a, b) => Layout::pair(self.plain(a), self.plain(b)),
            Type::Struct(fields) => Layout::Rec(fields.iter().map(|(_, t)| self.plain(t)).collect()),
            _ => self.of_type(ty).unwrap_or(Layout::Pool),
        }
    }

    /// Whether the code since `mark` goes through values one by one and has the interpreter look at each: it had better
    /// look at all of them at once, and remember the answer.
    pub(super) fn interprets_each(&self, mark: u32) -> bool {
        self.pieces_since(mark).any(|g| matches!(g, General::Element { .. })) && self.interprets(mark)
    }

    /// Whether the interpreter is asked in the code since `mark`.
    pub(super) fn interprets(&self, mark: u32) -> bool {
        self.pieces_since(mark).any(|g| matches!(g, General::Expr { .. } | General::Pred { .. }))
    }

    fn pieces_since(&self, mark: u32) -> impl Iterator<Item = &General> {
        self.code.ops.iter().skip(mark as usize).filter_map(|op| match op {
            Op::General { g, .. } => Some(&self.generals[*g as usize]),
            _ => None,
        })
    }
}

/// Whether a set is all functions, sets or tuples over others. The interpreter goes through such a set without making
/// it, guided by the other conjuncts; in the pool each of its elements would stay for ever.
fn is_space(set: &Expr) -> bool {
    match &set.kind {
        ExprKind::Binary(BinOp::Union | BinOp::Inter | BinOp::SetMinus, a, b) => is_space(a) || is_space(b),
        ExprKind::Binary(op, ..) => *op == BinOp::Cartesian || op.arrow().is_some(),
        ExprKind::Unary(op, _) => matches!(
            op,
            UnOp::Pow
                | UnOp::Pow1
                | UnOp::Fin
                | UnOp::Fin1
                | UnOp::Seq
                | UnOp::Seq1
                | UnOp::Iseq
                | UnOp::Iseq1
                | UnOp::Perm
        ),
        ExprKind::StructSet(_) => true,
        _ => false,
    }
}
