//! Applications: rows of functions.
//!
//! In: a function and its argument, either of them unknown. Out: a term for the image, and the literals that
//! must be true for the function to have one there.

use crate::env::Env;
use crate::solve::finite_domains::{Constraint, Fd, Lit};
use crate::solve::network::guards::Guards;
use crate::solve::network::table::ROWS;
use crate::solve::network::term::{Func, Lin, Term};
use crate::solve::network::{Builder, Built, Halt};
use bombus_base::hash::HashMap;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Type, UnOp};
use bombus_lang::value::Value;

impl Builder<'_, '_> {
    pub(crate) fn application(
        &mut self,
        env: &mut Env,
        f: &Expr,
        x: &Expr,
        guards: &mut Guards,
    ) -> Built<Term> {
        if let ExprKind::Binary(op @ (BinOp::Prj1 | BinOp::Prj2), s, t) = &f.kind {
            let Term::Pair(p) = self.term(env, x, guards)? else { return Err(Halt::Opaque) };
            guards.push(self.inside(env, &p.0, s)?);
            guards.push(self.inside(env, &p.1, t)?);
            return Ok(if *op == BinOp::Prj1 { p.0.clone() } else { p.1.clone() });
        }
        let arg = self.term(env, x, guards)?;
        // The inverse of an injection: the point whose row has this image.
        if let ExprKind::Unary(UnOp::Inverse, g) = &f.kind
            && !self.is_ground(g)
            && let Term::Func(g) = self.term(env, g, guards)?
        {
            if !g.injective {
                return Err(Halt::Opaque);
            }
            let mut options = Vec::with_capacity(g.rows.len());
            for r in &g.rows {
                let same = self.equal(env, &r.image, &arg)?;
                let lit = self.and([r.lit, same]);
                options.push((Lin::number(self.encode(&r.point)?), lit));
            }
            let inside = self.or(options.iter().map(|(_, l)| *l).collect::<Vec<_>>());
            guards.push(inside);
            let y = self.one_of(&options)?;
            let v = self.materialise(&y)?;
            return Ok(match &f.ty {
                Type::Pow(pair) => match &**pair {
                    Type::Prod(_, ty) => self.scalar_term(v, ty),
                    _ => return Err(Halt::Opaque),
                },
                _ => return Err(Halt::Opaque),
            });
        }
        if self.is_ground(f) {
            // A known function at an unknown point: by table.
            return Err(Halt::Opaque);
        }
        let chosen = matches!(f.kind, ExprKind::Var(v) if self.interp.is_chosen(v));
        let Term::Func(f) = self.term(env, f, guards)? else { return Err(Halt::Opaque) };
        let (inside, image) = match &arg {
            Term::Known(point) => match f.rows.binary_search_by(|r| r.point.cmp(point)) {
                Ok(i) => (f.rows[i].lit, f.rows[i].image.clone()),
                Err(_) if chosen && guards.are_all_chosen() => return Err(Halt::Misapplied),
                Err(_) => return Err(Halt::Undefined),
            },
            _ => self.unknown_row(&f, &arg)?,
        };
        if chosen {
            guards.push_chosen(inside);
        } else {
            guards.push(inside);
        }
        Ok(image)
    }

    /// Whether a point that is not known lies in the domain, and its image, by a constraint over all rows.
    fn unknown_row(&mut self, f: &Func, arg: &Term) -> Built<(Lit, Term)> {
        let mut ty = None;
        let mut images = Vec::with_capacity(f.rows.len());
        for r in &f.rows {
            match &r.image {
                Term::Num(_) | Term::Known(Value::Int(_)) => {
                    ty.get_or_insert(Type::Integer);
                }
                Term::Code(_, t) => {
                    ty.get_or_insert(t.clone());
                }
                _ => {}
            }
            let image = self.scalar(&r.image)?;
            images.push(self.materialise(&image)?);
        }
        let Some(ty) = ty else { return Err(Halt::Opaque) };
        let (index, codes, inside) = match arg {
            Term::Pair(_) => self.index_of_pair(f, arg)?,
            _ => self.index_of_scalar(f, arg)?,
        };
        let mut defined = vec![inside];
        for (code, r) in codes.iter().zip(&f.rows) {
            if r.lit != Lit::TRUE {
                let here = self.is_zero(&Lin::of(index).plus(&Lin::number(-code))?)?;
                defined.push(self.or([!here, r.lit]));
            }
        }
        let low = images.iter().map(|v| self.net.domains.low(*v)).min().unwrap_or(0);
        let high = images.iter().map(|v| self.net.domains.high(*v)).max().unwrap_or(0);
        let value = self.net.variable(low, high);
        let rows = codes.into_iter().zip(images).collect();
        self.net.add(Constraint::Element { index, rows, value });
        Ok((self.and(defined), self.scalar_term(value, &ty)))
    }

    /// A variable for the row that a number or element names, with the codes of the rows, and whether there
    /// is such a row. Where there is none the first row stands in, so that there is always a value.
    fn index_of_scalar(&mut self, f: &Func, arg: &Term) -> Built<(Fd, Vec<i64>, Lit)> {
        let index = self.scalar(arg)?;
        let mut codes = Vec::with_capacity(f.rows.len());
        for r in &f.rows {
            codes.push(self.encode(&r.point)?);
        }
        let mut sorted = codes.clone();
        sorted.sort_unstable();
        let inside = self.among(&index, &sorted)?;
        if inside == Lit::TRUE {
            return Ok((self.materialise(&index)?, codes, inside));
        }
        let i = self.net.of_values(&sorted);
        let same = self.is_zero(&index.minus(&Lin::of(i))?)?;
        let first = self.is_zero(&Lin::of(i).plus(&Lin::number(-sorted[0]))?)?;
        self.clause([!inside, same]);
        self.clause([inside, first]);
        Ok((i, codes, inside))
    }

    /// The same for a tuple of numbers and elements, of which the rows are numbered: by a table over all
    /// values that the parts of the tuple may have.
    fn index_of_pair(&mut self, f: &Func, arg: &Term) -> Built<(Fd, Vec<i64>, Lit)> {
        let mut parts = Vec::new();
        self.scalars(arg, &mut parts)?;
        let mut vars: Vec<Fd> = parts.clone();
        vars.sort_unstable();
        vars.dedup();
        let places: Vec<usize> = parts.iter().filter_map(|v| vars.binary_search(v).ok()).collect();
        let mut combinations = 1u64;
        for v in &vars {
            combinations = combinations.saturating_mul(self.net.domains.size(*v));
            if !self.net.domains.is_narrow(*v) || combinations > ROWS {
                return Err(Halt::Opaque);
            }
        }
        let mut numbers: HashMap<Vec<i64>, i64> = HashMap::with_capacity(f.rows.len());
        for (i, r) in f.rows.iter().enumerate() {
            let mut codes = Vec::with_capacity(parts.len());
            self.codes_like(arg, &r.point, &mut codes)?;
            numbers.insert(codes, i as i64);
        }
        let values: Vec<Vec<i64>> = vars.iter().map(|v| self.net.domains.values(*v)).collect();
        let mut rows = Vec::new();
        let (mut found, mut missing) = (Vec::new(), false);
        for n in 0..combinations {
            let mut rest = n as usize;
            let mut codes = Vec::with_capacity(vars.len());
            for list in &values {
                codes.push(list[rest % list.len()]);
                rest /= list.len();
            }
            let tuple: Vec<i64> = places.iter().map(|i| codes[*i]).collect();
            let row = numbers.get(&tuple);
            match row {
                Some(i) => found.push(*i),
                None => missing = true,
            }
            rows.extend(codes);
            rows.extend([row.copied().unwrap_or(0), i64::from(row.is_some())]);
        }
        if found.is_empty() {
            return Err(Halt::Undefined);
        }
        if missing {
            found.push(0);
        }
        found.sort_unstable();
        found.dedup();
        let index = self.net.of_values(&found);
        let inside = if missing { self.net.boolean() } else { Lit::TRUE };
        vars.extend([index, inside.var]);
        self.net.add(Constraint::Table { vars: vars.into(), rows: rows.into() });
        Ok((index, (0..f.rows.len() as i64).collect(), inside))
    }

    /// The variables of the numbers and elements of a tuple, from left to right.
    fn scalars(&mut self, t: &Term, out: &mut Vec<Fd>) -> Built<()> {
        if let Term::Pair(p) = t {
            self.scalars(&p.0, out)?;
            return self.scalars(&p.1, out);
        }
        let x = self.scalar(t)?;
        out.push(self.materialise(&x)?);
        Ok(())
    }

    /// The codes of a value taken apart like a tuple.
    fn codes_like(&mut self, t: &Term, value: &Value, out: &mut Vec<i64>) -> Built<()> {
        if let (Term::Pair(p), Some((x, y))) = (t, value.as_pair()) {
            self.codes_like(&p.0, x, out)?;
            return self.codes_like(&p.1, y, out);
        }
        out.push(self.encode(value)?);
        Ok(())
    }
}
