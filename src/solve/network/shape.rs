//! Unknown values as finite-domain variables, by the sets they are known to lie in.
//!
//! In: a set of possible values: an interval, a list, the parts of a set, functions between sets. Out: a
//! term made of new variables, which range over exactly those values.

use crate::enumerate::FunctionSpace;
use crate::env::Env;
use crate::solve::finite_domains::{Constraint, Fd, Lit};
use crate::solve::network::term::{ELEMENTS, Func, Lin, Row, Term, fold_pair};
use crate::solve::network::{Builder, Built, Halt};
use bombus_lang::typed::{BinOp, Type, UnOp};
use bombus_lang::value::{Symbolic, Value};
use std::rc::Rc;

/// More variables than this are not made.
const VARIABLES: usize = 1 << 16;
/// Wider intervals are not searched.
const WIDE: i64 = 1 << 31;
/// Rows of a partial injection that are compared pair by pair.
const PAIRWISE: usize = 1 << 8;

impl Builder<'_, '_> {
    fn base_variable(&mut self, values: &[i64]) -> Fd {
        let v = self.net.of_values(values);
        if values.len() > 1 && !self.net.domains.is_narrow(v) {
            self.net.add(Constraint::Table { vars: [v].into(), rows: values.into() });
        }
        self.base.push(v);
        v
    }

    pub(crate) fn base_literal(&mut self) -> Lit {
        let lit = self.net.boolean();
        self.base.push(lit.var);
        lit
    }

    fn listed(&mut self, env: &mut Env, set: &Value) -> Built<std::sync::Arc<[Value]>> {
        match self.interp.list(env, set)? {
            Some(list) if !list.is_empty() && list.len() <= ELEMENTS => Ok(list),
            _ => Err(Halt::Opaque),
        }
    }

    /// A term that ranges over the elements of a set.
    pub(crate) fn shape(&mut self, env: &mut Env, set: &Value, ty: &Type) -> Built<Term> {
        if self.base.len() > VARIABLES {
            return Err(Halt::Opaque);
        }
        let symbolic = match set {
            Value::Set(elems) => return self.shape_of_list(elems, ty),
            Value::Symbolic(s) => s.clone(),
            _ => return Err(Halt::Opaque),
        };
        match (&*symbolic, ty) {
            (Symbolic::Interval(a, b), _) => {
                let (Some(a), Some(b)) = (a.small(), b.small()) else { return Err(Halt::Opaque) };
                if a.abs() > WIDE || b.abs() > WIDE {
                    return Err(Halt::Opaque);
                }
                let v = self.net.variable(a, b);
                self.base.push(v);
                Ok(Term::Num(Lin::of(v)))
            }
            (Symbolic::Struct(sets), Type::Struct(fields)) => {
                let mut parts = Vec::new();
                for (set, (_, ty)) in sets.iter().zip(fields.iter()) {
                    parts.push(self.shape(env, set, ty)?);
                }
                Ok(Term::Rec(parts.into()))
            }
            (Symbolic::Unary(op @ (UnOp::Pow | UnOp::Pow1 | UnOp::Fin | UnOp::Fin1), a), _) => {
                let list = self.listed(env, a)?;
                let elems: Vec<(Term, Lit)> =
                    list.iter().map(|x| (Term::Known(x.clone()), self.base_literal())).collect();
                if matches!(op, UnOp::Pow1 | UnOp::Fin1) {
                    self.clause(elems.iter().map(|(_, l)| *l));
                }
                Ok(Term::Set(Rc::new(elems)))
            }
            (Symbolic::Unary(UnOp::Perm, a), Type::Pow(pair)) => {
                let Type::Prod(_, image) = &**pair else { return Err(Halt::Opaque) };
                let list = self.listed(env, a)?;
                let places: Vec<Value> = (1..=list.len()).map(|i| Value::int(i as i64)).collect();
                self.shape_of_arrow(env, BinOp::TotalBijection, &places, a, image)
            }
            (Symbolic::Binary(BinOp::Cartesian, a, b), Type::Prod(s, t)) => {
                let (x, y) = (self.shape(env, a, s)?, self.shape(env, b, t)?);
                Ok(fold_pair(Rc::new((x, y))))
            }
            (Symbolic::Binary(op, a, b), Type::Pow(pair)) => {
                let Type::Prod(_, image) = &**pair else { return Err(Halt::Opaque) };
                let points = self.listed(env, a)?;
                if FunctionSpace::of_arrow(*op, &[], None).is_some() {
                    return self.shape_of_arrow(env, *op, &points, b, image);
                }
                let images = self.listed(env, b)?;
                self.shape_of_relations(*op, &points, &images)
            }
            _ => {
                let list = self.listed(env, set)?;
                self.shape_of_list(&list, ty)
            }
        }
    }

    fn shape_of_list(&mut self, elems: &[Value], ty: &Type) -> Built<Term> {
        match elems {
            [] => return Err(Halt::Opaque),
            [one] => return Ok(Term::Known(one.clone())),
            _ if elems.len() > ELEMENTS => return Err(Halt::Opaque),
            _ => {}
        }
        // Pairs of numbers and elements are two variables and a table.
        if let Type::Prod(s, t) = ty
            && is_plain(s)
            && is_plain(t)
        {
            let (mut rows, mut left, mut right) = (Vec::new(), Vec::new(), Vec::new());
            for (x, y) in elems.iter().filter_map(Value::as_pair) {
                let (x, y) = (self.encode(x)?, self.encode(y)?);
                rows.extend([x, y]);
                left.push(x);
                right.push(y);
            }
            for side in [&mut left, &mut right] {
                side.sort_unstable();
                side.dedup();
            }
            let (x, y) = (self.base_variable(&left), self.base_variable(&right));
            self.net.add(Constraint::Table { vars: [x, y].into(), rows: rows.into() });
            let (x, y) = (self.scalar_term(x, s), self.scalar_term(y, t));
            return Ok(Term::Pair(Rc::new((x, y))));
        }
        let mut codes = Vec::with_capacity(elems.len());
        for e in elems {
            codes.push(self.encode(e)?);
        }
        codes.sort_unstable();
        if codes[codes.len() - 1] - codes[0] > WIDE {
            return Err(Halt::Opaque);
        }
        let v = self.base_variable(&codes);
        Ok(self.scalar_term(v, ty))
    }

    fn shape_of_arrow(
        &mut self,
        env: &mut Env,
        op: BinOp,
        points: &[Value],
        images: &Value,
        ty: &Type,
    ) -> Built<Term> {
        let Some(space) = FunctionSpace::of_arrow(op, &[], None) else { return Err(Halt::Opaque) };
        let mut rows = Vec::with_capacity(points.len());
        for point in points {
            let lit = if space.total { Lit::TRUE } else { self.base_literal() };
            let image = self.shape_of_row(env, lit, images, ty)?;
            rows.push(Row { point: point.clone(), image, lit });
        }
        if space.injective {
            self.different(env, &rows)?;
        }
        let onto = matches!(
            op,
            BinOp::PartialSurjection
                | BinOp::TotalSurjection
                | BinOp::PartialBijection
                | BinOp::TotalBijection
        );
        if onto {
            for y in self.listed(env, images)?.iter() {
                let mut lits = Vec::new();
                for r in &rows {
                    let same = self.equal(env, &r.image, &Term::Known(y.clone()))?;
                    lits.push(self.and([r.lit, same]));
                }
                self.clause(lits);
            }
        }
        Ok(Term::Func(Rc::new(Func { rows, injective: space.injective })))
    }

    /// The image of a row that is there if the literal is true.
    pub(crate) fn shape_of_row(&mut self, env: &mut Env, lit: Lit, images: &Value, ty: &Type) -> Built<Term> {
        let (first, constraints) = (self.base.len(), self.net.size());
        let image = self.shape(env, images, ty)?;
        if lit == Lit::TRUE {
            return Ok(image);
        }
        // Constraints on an image would hold for rows that are not there, too.
        if self.net.size() > constraints {
            return Err(Halt::Opaque);
        }
        // One form for a row that is not there.
        for i in first..self.base.len() {
            let v = self.base[i];
            let least = self.net.domains.low(v);
            let pinned = self.is_zero(&Lin::of(v).plus(&Lin::number(-least))?)?;
            self.clause([lit, pinned]);
        }
        Ok(image)
    }

    /// Rows that are there have different images.
    pub(crate) fn different(&mut self, env: &mut Env, rows: &[Row]) -> Built<()> {
        let mut terms = Vec::new();
        for r in rows {
            if let Term::Num(_) | Term::Code(..) = r.image
                && r.lit == Lit::TRUE
            {
                let x = self.scalar(&r.image)?;
                if let ([(1, v)], k) = (&x.sum[..], x.k) {
                    terms.push((*v, k));
                }
            }
        }
        if terms.len() == rows.len() {
            self.net.add(Constraint::AllDifferent(terms.into()));
            return Ok(());
        }
        if rows.len() > PAIRWISE {
            return Err(Halt::Opaque);
        }
        for (i, r) in rows.iter().enumerate() {
            for s in &rows[..i] {
                let same = self.equal(env, &r.image, &s.image)?;
                self.clause([!r.lit, !s.lit, !same]);
            }
        }
        Ok(())
    }

    fn shape_of_relations(&mut self, op: BinOp, points: &[Value], images: &[Value]) -> Built<Term> {
        let total = matches!(op, BinOp::TotalRelation | BinOp::TotalSurjectiveRelation);
        let onto = matches!(op, BinOp::SurjectiveRelation | BinOp::TotalSurjectiveRelation);
        if !total && !onto && op != BinOp::Relation || points.len() * images.len() > ELEMENTS {
            return Err(Halt::Opaque);
        }
        let mut elems = Vec::with_capacity(points.len() * images.len());
        for x in points {
            for y in images {
                elems.push((Term::Known(Value::pair(x.clone(), y.clone())), self.base_literal()));
            }
        }
        if total {
            for row in elems.chunks(images.len()) {
                self.clause(row.iter().map(|(_, l)| *l));
            }
        }
        if onto {
            for j in 0..images.len() {
                self.clause(elems.iter().skip(j).step_by(images.len()).map(|(_, l)| *l));
            }
        }
        Ok(Term::Set(Rc::new(elems)))
    }

    /// The value of a term when all its variables are fixed.
    pub(crate) fn value(&self, t: &Term) -> Option<Value> {
        let d = &self.net.domains;
        Some(match t {
            Term::Known(v) => v.clone(),
            Term::Num(l) => {
                let mut n = l.k;
                for (c, v) in &l.sum {
                    n += c * d.value(*v)?;
                }
                Value::int(n)
            }
            Term::Code(v, ty) => self.decode(ty, d.value(*v)?),
            Term::Pair(p) => Value::pair(self.value(&p.0)?, self.value(&p.1)?),
            Term::Rec(parts) => {
                Value::Rec(parts.iter().map(|p| self.value(p)).collect::<Option<Vec<_>>>()?.into())
            }
            Term::Set(elems) => {
                let mut list = Vec::new();
                for (e, lit) in elems.iter() {
                    if d.literal(*lit)? {
                        list.push(self.value(e)?);
                    }
                }
                Value::set(list)
            }
            Term::Func(f) => {
                let mut list = Vec::new();
                for r in &f.rows {
                    if d.literal(r.lit)? {
                        list.push(Value::pair(r.point.clone(), self.value(&r.image)?));
                    }
                }
                Value::set(list)
            }
        })
    }

    /// The variables a term is made of.
    pub(crate) fn variables(&self, t: &Term, out: &mut Vec<Fd>) {
        match t {
            Term::Known(_) => {}
            Term::Num(l) => out.extend(l.sum.iter().map(|(_, v)| *v)),
            Term::Code(v, _) => out.push(*v),
            Term::Pair(p) => {
                self.variables(&p.0, out);
                self.variables(&p.1, out);
            }
            Term::Rec(parts) => parts.iter().for_each(|p| self.variables(p, out)),
            Term::Set(elems) => elems.iter().for_each(|(e, lit)| {
                self.variables(e, out);
                out.push(lit.var);
            }),
            Term::Func(f) => f.rows.iter().for_each(|r| {
                self.variables(&r.image, out);
                out.push(r.lit.var);
            }),
        }
    }
}

fn is_plain(ty: &Type) -> bool {
    matches!(ty, Type::Integer | Type::Bool | Type::Set(_))
}
