//! Functions by their images: for each known argument the literal of its being in the domain and the term of its image.
//!
//! In: terms of functions whose images are too many to be listed: numbers without bounds, or functions themselves. Out: their
//! equality, application, change at a point, and what membership in `A +-> B` and its kin asks of them. Where the literal
//! of an argument is false the image is some value that nobody reads. A relation that may be no function is never
//! of this shape. Never here: relations whose pairs are listed (`relation`).

use super::expr::Built;
use super::term::{Rows, Term};
use super::{Encoder, Env};
use crate::sat::Lit;
use bombus_lang::typed::{Arrow, BinOp, Expr, ExprKind, Type, UnOp};
use bombus_lang::value::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Arguments, each with the literal of its being in the domain and with its image.
pub type Images = BTreeMap<Value, Image>;

/// The literal of an argument being in the domain, and its image.
pub type Image = (Lit, Term);

/// Functions with more arguments than this are not kept by their images.
pub(super) const ARGUMENTS: usize = 1 << 10;

impl Term {
    pub(super) fn images(mut images: Images) -> Term {
        images.retain(|_, (l, _)| *l != Lit::FALSE);
        Term::Images(Arc::new(images))
    }
}

impl Encoder<'_> {
    /// A function by its images; `None` if the term may be no function.
    pub(crate) fn images_of(&mut self, term: &Term) -> Option<Images> {
        match term {
            Term::Images(images) => Some((**images).clone()),
            Term::Set(rows) => {
                let mut out = Images::new();
                for (v, l) in rows.iter() {
                    let (from, to) = v.as_pair()?;
                    let to = self.known(to);
                    if to.is_opaque() || out.insert(from.clone(), (*l, to)).is_some() {
                        return None;
                    }
                }
                Some(out)
            }
            _ => None,
        }
    }

    /// A function as a set of pairs, where the images can be listed; any other term as it is.
    pub(super) fn spread(&mut self, term: Term) -> Option<Term> {
        let Term::Images(images) = &term else { return Some(term) };
        let mut rows = Rows::new();
        for (from, (l, to)) in images.iter() {
            for (v, is) in self.values_of(to)? {
                rows.insert(Value::pair(from.clone(), v), self.g.and(*l, is));
            }
            if rows.len() > super::term::ROWS {
                return None;
            }
        }
        Some(Term::set(rows))
    }

    pub(super) fn equal_images(&mut self, a: &Term, b: &Term) -> Option<Lit> {
        let (xs, ys) = (self.images_of(a)?, self.images_of(b)?);
        let mut all = Vec::new();
        for (v, (l, x)) in &xs {
            match ys.get(v) {
                None => all.push(!*l),
                Some((r, y)) => {
                    all.push(self.g.iff(*l, *r));
                    let same = self.equal(x, y)?;
                    all.push(self.g.implies(*l, same));
                }
            }
        }
        all.extend(ys.iter().filter(|(v, _)| !xs.contains_key(v)).map(|(_, (l, _))| !*l));
        Some(self.g.and_all(&all))
    }

    pub(super) fn is_value_by_images(&mut self, images: &Images, elems: &[Value]) -> Option<Lit> {
        let mut wanted: BTreeMap<&Value, &Value> = BTreeMap::new();
        for elem in elems {
            let (from, to) = elem.as_pair()?;
            if !images.contains_key(from) || wanted.insert(from, to).is_some() {
                return Some(Lit::FALSE);
            }
        }
        let mut all = Vec::new();
        for (v, (l, term)) in images {
            all.push(l.signed(wanted.contains_key(v)));
            if let Some(to) = wanted.get(v) {
                all.push(self.is_value(term, to)?);
            }
        }
        Some(self.g.and_all(&all))
    }

    /// The first function where the condition holds, else the second.
    pub(super) fn choose_images(&mut self, condition: Lit, yes: &Term, no: &Term) -> Option<Term> {
        let (xs, ys) = (self.images_of(yes)?, self.images_of(no)?);
        self.merged_images(xs, ys, &mut |this, x, y| {
            let l = this.g.ite(condition, x.0, y.0);
            Some((l, this.choose(condition, &x.1, &y.1)))
        })
    }

    /// Puts two functions together, argument by argument; where one has no image, that of the other stands for it.
    fn merged_images(
        &mut self,
        xs: Images,
        mut ys: Images,
        both: &mut dyn FnMut(&mut Self, Image, Image) -> Option<Image>,
    ) -> Option<Term> {
        let mut out = Images::new();
        for (v, x) in xs {
            let y = ys.remove(&v).unwrap_or_else(|| (Lit::FALSE, x.1.clone()));
            let image = both(self, x, y)?;
            out.insert(v, image);
        }
        for (v, y) in ys {
            let x = (Lit::FALSE, y.1.clone());
            let image = both(self, x, y)?;
            out.insert(v, image);
        }
        if out.len() > ARGUMENTS || out.values().any(|(_, t)| t.is_opaque()) {
            return None;
        }
        Some(Term::images(out))
    }

    /// The image of an argument, and the literal of the argument being in the domain.
    pub(super) fn image_at(&mut self, images: &Images, at: &Term, ty: &Type) -> Built {
        let mut hits = Vec::new();
        let mut image: Option<Term> = None;
        for (v, (l, term)) in images {
            let here = self.is_value(at, v)?;
            let hit = self.g.and(*l, here);
            if hit == Lit::FALSE {
                continue;
            }
            hits.push(hit);
            image = Some(match image {
                None => term.clone(),
                Some(before) => self.choose(hit, term, &before),
            });
        }
        let image = match image {
            Some(image) => image,
            None => self.leaf_of(ty),
        };
        Some((image, self.g.or_all(&hits)))
    }

    /// `f <+ {x |-> e}`.
    pub(super) fn changed_at(&mut self, function: &Term, at: &Term, to: &Term) -> Option<Term> {
        let before = self.images_of(function)?;
        let points: Images = self.values_of(at)?.into_iter().map(|(v, l)| (v, (l, to.clone()))).collect();
        self.overriding(before, points)
    }

    fn overriding(&mut self, before: Images, over: Images) -> Option<Term> {
        self.merged_images(before, over, &mut |this, x, y| {
            Some((this.g.or(x.0, y.0), this.choose(y.0, &y.1, &x.1)))
        })
    }

    /// Pairs with an image that cannot be listed, as a function, if no two of them can have the same argument.
    pub(super) fn pairs_as_images(&mut self, pairs: &[(Term, Term, Lit)]) -> Option<Term> {
        let mut out = Images::new();
        for (from, to, there) in pairs {
            if to.is_opaque() {
                return None;
            }
            for (v, l) in self.values_of(from)? {
                let here = self.g.and(l, *there);
                if here != Lit::FALSE && out.insert(v, (here, to.clone())).is_some() {
                    return None;
                }
            }
        }
        (out.len() <= ARGUMENTS).then(|| Term::images(out))
    }

    /// `S * {e}` for a value that cannot be listed.
    pub(super) fn constant_function(&mut self, env: &mut Env, set: &Expr, e: &Expr) -> Built {
        let (to, d) = self.expr(env, e);
        if to.is_opaque() || self.values_of(&to).is_some() {
            return None;
        }
        let (from, f) = self.expr(env, set);
        let rows = from.as_set()?;
        let images: Images = rows.iter().map(|(v, l)| (v.clone(), (*l, to.clone()))).collect();
        let both = self.g.and(d, f);
        (images.len() <= ARGUMENTS).then(|| (Term::images(images), both))
    }

    /// Operators that need not list images; `None` for all others.
    pub(super) fn unary_images(&mut self, op: UnOp, images: &Images, d: Lit) -> Built {
        match op {
            UnOp::Dom => {
                let rows = images.iter().map(|(v, (l, _))| (v.clone(), *l)).collect();
                Some((Term::set(rows), d))
            }
            UnOp::Card => {
                let lits: Vec<Lit> = images.values().map(|(l, _)| *l).collect();
                Some((Term::Int(self.num_count(&lits)), d))
            }
            _ => None,
        }
    }

    /// Operators on a function that need not list images; `None` for all others.
    pub(super) fn binary_images(&mut self, op: BinOp, x: &Term, y: &Term, d: Lit) -> Built {
        match op {
            BinOp::Override => {
                let (before, over) = (self.images_of(x)?, self.images_of(y)?);
                Some((self.overriding(before, over)?, d))
            }
            BinOp::DomRestrict | BinOp::DomSubtract => {
                let within = x.as_set()?.clone();
                let mut out = self.images_of(y)?;
                for (v, (l, _)) in &mut out {
                    let here = within.get(v).copied().unwrap_or(Lit::FALSE);
                    *l = self.g.and(*l, here.signed(op == BinOp::DomRestrict));
                }
                Some((Term::images(out), d))
            }
            BinOp::Union => {
                let (xs, ys) = (self.images_of(x)?, self.images_of(y)?);
                // One argument with two images would be no function.
                let union = self.merged_images(xs, ys, &mut |this, x, y| {
                    let twice = this.g.and(x.0, y.0);
                    (twice == Lit::FALSE).then(|| (this.g.or(x.0, y.0), this.choose(y.0, &y.1, &x.1)))
                })?;
                Some((union, d))
            }
            _ => None,
        }
    }

    /// `f : A --> B` and its kin.
    pub(super) fn is_arrow_by_images(
        &mut self,
        env: &mut Env,
        images: &Images,
        arrow: Arrow,
        a: &Expr,
        b: &Expr,
    ) -> Option<Lit> {
        let mut all = Vec::new();
        for (v, (l, term)) in images {
            let from = self.known(v);
            let inside = self.member(env, &from, a)?;
            all.push(self.g.implies(*l, inside));
            let inside = self.member(env, term, b)?;
            all.push(self.g.implies(*l, inside));
        }
        if arrow.total {
            let (whole, _) = self.expr(env, a);
            for (v, l) in whole.as_set()? {
                let here = images.get(v).map_or(Lit::FALSE, |(l, _)| *l);
                all.push(self.g.implies(*l, here));
            }
        }
        if arrow.injective {
            let list: Vec<&(Lit, Term)> = images.values().collect();
            for (i, (l, x)) in list.iter().enumerate() {
                for (r, y) in &list[..i] {
                    let same = self.equal(x, y)?;
                    let both = self.g.and(*l, *r);
                    all.push(!self.g.and(both, same));
                }
            }
        }
        if arrow.onto {
            let (whole, _) = self.expr(env, b);
            for (v, l) in whole.as_set()? {
                let mut hits = Vec::new();
                for (here, term) in images.values() {
                    let is = self.is_value(term, v)?;
                    hits.push(self.g.and(*here, is));
                }
                let hit = self.g.or_all(&hits);
                all.push(self.g.implies(*l, hit));
            }
        }
        Some(self.g.and_all(&all))
    }

    /// All images, or all pairs, are elements of a set.
    pub(super) fn images_within(
        &mut self,
        env: &mut Env,
        images: &Images,
        pairs: bool,
        set: &Expr,
    ) -> Option<Lit> {
        let mut all = Vec::new();
        for (v, (l, term)) in images {
            let elem = if pairs { Term::pair(self.known(v), term.clone()) } else { term.clone() };
            let inside = self.member(env, &elem, set)?;
            all.push(self.g.implies(*l, inside));
        }
        Some(self.g.and_all(&all))
    }

    /// A term is an image, or a pair of the function.
    pub(super) fn among_images(&mut self, x: &Term, images: &Images, pairs: bool) -> Option<Lit> {
        let mut any = Vec::new();
        for (v, (l, term)) in images {
            let is = match (pairs, x) {
                (false, x) => self.equal(x, term)?,
                (true, Term::Pair(p)) => {
                    let (from, to) = (self.is_value(&p.0, v)?, self.equal(&p.1, term)?);
                    self.g.and(from, to)
                }
                _ => return None,
            };
            any.push(self.g.and(*l, is));
        }
        Some(self.g.or_all(&any))
    }

    /// The function of which an expression is the range, if it has that shape.
    pub(super) fn range_of(&mut self, env: &mut Env, set: &Expr) -> Option<Arc<Images>> {
        let ExprKind::Unary(UnOp::Ran, f) = &set.kind else { return None };
        match self.expr(env, f).0 {
            Term::Images(images) => Some(images),
            _ => None,
        }
    }
}
