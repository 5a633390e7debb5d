//! Numbers of the encoder: exact integers that remember which linear forms they may be.
//!
//! In: leaves, known numbers, literals. Out: numbers, comparisons, and the *small-model bound* of all comparisons made
//! so far: if they have a solution over all integers, they have one whose limited leaves fit into so many bits.
//!
//! Every comparison is `Σ aᵢxᵢ ⋈ b` over limited leaves `xᵢ`, once each choice between forms is made and each bounded
//! leaf has its value; a satisfying assignment makes both. So the rows of all combinations of forms, each with the greatest
//! size of its right side, are what `bound` asks for.
//!
//! A product of two limited numbers has no linear form: then there is no bound. Never here: definedness.

use super::Encoder;
use crate::bound::{self, Comparison};
use crate::integer::Integer;
use crate::sat::Lit;
use bombus_base::Int;
use dashu_int::IBig;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Coefficients of limited leaves, sorted by leaf, none of them 0.
type Row = Vec<(u32, IBig)>;

/// What `weak` says of a product that became an unknown.
pub const PRODUCT: &str = "a product of two unlimited integers";
/// More forms of one number than this are given up.
const FORMS: usize = 48;
/// A factor with at most so many values is multiplied case by case.
const CASES: i64 = 64;
/// Pairs of bits that a product or a quotient may have: more gates are not made for one of them.
const LABORIOUS: usize = 1 << 16;

/// An integer with the linear forms it may have, each with the greatest size of its constant part.
#[derive(Clone, Debug)]
pub struct Num {
    int: Arc<Integer>,
    /// `None`: some product of limited numbers.
    forms: Option<Arc<BTreeMap<Row, IBig>>>,
}

impl PartialEq for Num {
    fn eq(&self, other: &Num) -> bool {
        Arc::ptr_eq(&self.int, &other.int) || self.int == other.int
    }
}

impl Eq for Num {}

impl Hash for Num {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.int.bits().hash(state);
    }
}

impl Num {
    /// Bounds of the value, if it depends on bounded leaves alone.
    pub fn range(&self) -> Option<(Int, Int)> {
        if self.int.is_limited() {
            return None;
        }
        let (low, high) = self.int.bounds();
        Some((Int::from_big(low.clone()), Int::from_big(high.clone())))
    }

    pub fn known(&self) -> Option<Int> {
        self.int.known().map(|n| Int::from_big(n.clone()))
    }

    pub fn is_limited(&self) -> bool {
        self.int.is_limited()
    }

    /// Whether a product or a quotient of the two would need more gates than it is worth.
    pub fn is_laborious_with(&self, other: &Num) -> bool {
        let known = self.int.known().is_some() && other.int.known().is_some();
        !known && self.int.bits().len() * other.int.bits().len() > LABORIOUS
    }

    pub fn integer(&self) -> &Integer {
        &self.int
    }

    /// A number without limited leaves.
    pub fn known_as(int: Integer) -> Num {
        let (low, high) = int.bounds();
        let size = size(low).max(size(high));
        Num { int: Arc::new(int), forms: Some(Arc::new(BTreeMap::from([(Row::new(), size)]))) }
    }

    /// The forms of a difference; the integer is that of the first number and must not be used. `None` if there are
    /// none.
    pub fn minus(&self, other: &Num) -> Option<Num> {
        let forms = combined(self, other, true)?;
        let int = if self.is_limited() { &self.int } else { &other.int };
        Some(Num { int: int.clone(), forms: Some(Arc::new(forms)) })
    }
}

/// The comparisons made so far, from which the width of a small model follows.
#[derive(Clone, Debug, Default)]
pub struct Atoms {
    leaves: u32,
    /// Rows up to a common sign, each with the greatest size of a right side.
    rows: BTreeMap<Row, IBig>,
    /// Some comparison has no linear form.
    nonlinear: bool,
}

impl Atoms {
    /// Whether every integer has known bounds, so that no width is in question.
    pub fn are_bounded(&self) -> bool {
        self.leaves == 0
    }

    /// The bits that limited leaves need for a small model, and the rule; `None` where no bound is known.
    pub fn width(&self) -> Option<(usize, &'static str)> {
        if self.are_bounded() {
            return Some((1, "no unlimited integer"));
        }
        if self.nonlinear {
            return None;
        }
        let comparisons: Vec<Comparison> = self
            .rows
            .iter()
            .map(|(row, c)| Comparison::new(row.iter().map(|(x, k)| (*x as usize, k.clone())), c.clone()))
            .collect();
        let differences = self.rows.keys().all(is_difference);
        let rule = if differences { "difference bound n*(c+1)" } else { "linear bound by subdeterminants" };
        Some((bound::width(&comparisons), rule))
    }

    /// Enters a comparison of two numbers.
    pub fn note(&mut self, a: &Num, b: &Num) {
        if !a.is_limited() && !b.is_limited() {
            return;
        }
        let (Some(left), Some(right)) = (&a.forms, &b.forms) else {
            self.nonlinear = true;
            return;
        };
        for (x, c) in left.iter() {
            for (y, d) in right.iter() {
                let mut row = added(x, y, true);
                if row.first().is_some_and(|(_, k)| *k < IBig::ZERO) {
                    row.iter_mut().for_each(|(_, k)| *k = -&*k);
                }
                if !row.is_empty() {
                    let entry = self.rows.entry(row).or_insert(IBig::ZERO);
                    *entry = std::mem::take(entry).max(c + d);
                }
            }
        }
    }
}

/// The greatest absolute value of a number whose bounds are known.
fn greatest(n: &Num) -> Option<Int> {
    let (low, high) = n.range()?;
    Some(low.neg().max(high))
}

/// Whether a row, with its first coefficient positive, is a leaf or the difference of two leaves.
fn is_difference(row: &Row) -> bool {
    match row.as_slice() {
        [(_, k)] => *k == IBig::ONE,
        [(_, k), (_, l)] => *k == IBig::ONE && *l == -IBig::ONE,
        _ => row.is_empty(),
    }
}

impl Encoder<'_> {
    pub fn number(&mut self, value: &Int) -> Num {
        self.num_of(Integer::constant(value.to_big()))
    }

    /// A number without limited leaves.
    fn num_of(&self, int: Integer) -> Num {
        Num::known_as(int)
    }

    /// An unknown between known bounds, which is asserted.
    pub fn num_between(&mut self, low: &Int, high: &Int) -> Num {
        let int = self.g.int_between(&low.to_big(), &high.to_big());
        self.num_of(int)
    }

    /// An unknown over all integers.
    pub fn num_limited(&mut self) -> Num {
        let int = self.g.int_limited(self.width);
        let leaf = self.atoms.leaves;
        self.atoms.leaves += 1;
        self.keep_small(&int);
        let form = BTreeMap::from([(vec![(leaf, IBig::ONE)], IBig::ZERO)]);
        Num { int: Arc::new(int), forms: Some(Arc::new(form)) }
    }

    /// Under the assumption `small` a leaf has few bits: models with small numbers are looked for first.
    fn keep_small(&mut self, int: &Integer) {
        let small = self.small;
        let bits = int.bits();
        if bits.len() > super::SMALL {
            let sign = bits[super::SMALL - 1];
            for bit in &bits[super::SMALL..] {
                self.g.add_clause(&[!small, !*bit, sign]);
                self.g.add_clause(&[!small, *bit, !sign]);
            }
        }
    }

    pub fn num_add(&mut self, a: &Num, b: &Num) -> Num {
        let int = self.g.int_add(&a.int, &b.int);
        self.with_forms(int, combined(a, b, false))
    }

    pub fn num_sub(&mut self, a: &Num, b: &Num) -> Num {
        let int = self.g.int_sub(&a.int, &b.int);
        self.with_forms(int, combined(a, b, true))
    }

    pub fn num_neg(&mut self, a: &Num) -> Num {
        let zero = self.number(&Int::ZERO);
        self.num_sub(&zero, a)
    }

    /// A number without limited leaves has bounds of its own, which are better than those of a form.
    fn with_forms(&self, int: Integer, forms: Option<BTreeMap<Row, IBig>>) -> Num {
        if int.is_limited() {
            Num { int: Arc::new(int), forms: forms.map(Arc::new) }
        } else {
            self.num_of(int)
        }
    }

    pub fn num_mul(&mut self, a: &Num, b: &Num) -> Num {
        let (a, b) = if a.is_limited() { (a, b) } else { (b, a) };
        if a.is_limited() && b.is_limited() {
            return self.product(a, b);
        }
        let int = self.g.int_mul(&a.int, &b.int);
        if !a.is_limited() {
            return self.num_of(int);
        }
        let forms = match b.range().and_then(|(lo, hi)| Some((lo.small()?, hi.small()?))) {
            Some((lo, hi)) if hi - lo < CASES => (lo..=hi).try_fold(BTreeMap::new(), |mut all, k| {
                merge(&mut all, scaled(a, &IBig::from(k))?)?;
                Some(all)
            }),
            _ => match b.int.known() {
                Some(k) => scaled(a, &k.clone()),
                None => None,
            },
        };
        self.with_forms(int, forms)
    }

    /// The product of two unlimited numbers: exact, or some number where only proofs count.
    fn product(&mut self, a: &Num, b: &Num) -> Num {
        if self.options.free_products {
            self.weak(PRODUCT.into());
            let unknown = self.num_limited();
            self.signed_like(a, b, &unknown);
            return unknown;
        }
        let int = self.g.int_mul(&a.int, &b.int);
        Num { int: Arc::new(int), forms: None }
    }

    /// An unknown that is no larger than this, whatever its sign.
    fn num_within(&mut self, most: Option<Int>) -> Num {
        match most {
            Some(most) => self.num_between(&most.neg(), &most),
            None => self.num_limited(),
        }
    }

    /// All that is said of an unknown product or quotient: its sign.
    fn signed_like(&mut self, a: &Num, b: &Num, unknown: &Num) {
        let zero = self.number(&Int::ZERO);
        let signs = |this: &mut Self, n: &Num| [this.num_le(&zero, n), this.num_le(n, &zero)];
        let (x, y, z) = (signs(self, a), signs(self, b), signs(self, unknown));
        for (i, left) in x.iter().enumerate() {
            for (j, right) in y.iter().enumerate() {
                self.g.add_clause(&[!*left, !*right, z[usize::from(i != j)]]);
            }
        }
    }

    /// Quotient towards zero and remainder with the sign of the dividend; some numbers for a divisor 0.
    pub fn num_divide(&mut self, a: &Num, b: &Num) -> (Num, Num) {
        if !a.is_limited() && !b.is_limited() {
            let (q, r) = self.g.int_divide(&a.int, &b.int);
            return (self.num_of(q), self.num_of(r));
        }
        let Some(divisor) = b.known().filter(|n| !n.is_zero()) else {
            if self.options.free_products {
                self.weak("a division of unlimited integers".into());
                // Neither is larger than the dividend, and the remainder is smaller than the divisor.
                let most = greatest(a);
                let less = greatest(b).map(|n| n.sub(&Int::ONE).max(Int::ZERO)).or_else(|| most.clone());
                let (q, r) = (self.num_within(most), self.num_within(less));
                let one = self.number(&Int::ONE);
                self.signed_like(a, b, &q);
                self.signed_like(a, &one, &r);
                return (q, r);
            }
            let (q, r) = self.g.int_divide(&a.int, &b.int);
            return (Num { int: Arc::new(q), forms: None }, Num { int: Arc::new(r), forms: None });
        };
        // a = q·b + r with |r| < |b|, and r has the sign of a: there is exactly one such pair.
        let most = Int::from_big(size(&divisor.to_big()) - IBig::ONE);
        let q = self.num_limited();
        let r = self.num_between(&most.neg(), &most);
        let scaled = self.num_mul(&q, b);
        let sum = self.num_add(&scaled, &r);
        let equal = self.num_equal(a, &sum);
        let zero = self.number(&Int::ZERO);
        let (up, r_up) = (self.num_le(&zero, a), self.num_le(&zero, &r));
        let (down, r_down) = (self.num_le(a, &zero), self.num_le(&r, &zero));
        self.g.require(equal);
        self.g.add_clause(&[!up, r_up]);
        self.g.add_clause(&[!down, r_down]);
        (q, r)
    }

    pub fn num_choose(&mut self, condition: Lit, yes: &Num, no: &Num) -> Num {
        let int = self.g.int_ite(condition, &yes.int, &no.int);
        let forms = match (&yes.forms, &no.forms) {
            (Some(a), Some(b)) => {
                let mut all = (**a).clone();
                merge(&mut all, (**b).clone()).map(|()| all)
            }
            _ => None,
        };
        self.with_forms(int, forms)
    }

    /// One of several known numbers; exactly one literal holds wherever the number is used.
    pub fn num_one_of(&mut self, cases: &[(Int, Lit)]) -> Num {
        let cases: Vec<(Lit, Integer)> =
            cases.iter().map(|(n, l)| (*l, Integer::constant(n.to_big()))).collect();
        let int = self.g.int_pick(&cases);
        self.num_of(int)
    }

    pub fn num_count(&mut self, lits: &[Lit]) -> Num {
        let int = self.g.int_count(lits);
        self.num_of(int)
    }

    pub fn num_le(&mut self, a: &Num, b: &Num) -> Lit {
        self.atoms.note(a, b);
        self.g.int_le(&a.int, &b.int)
    }

    pub fn num_lt(&mut self, a: &Num, b: &Num) -> Lit {
        !self.num_le(b, a)
    }

    pub fn num_equal(&mut self, a: &Num, b: &Num) -> Lit {
        self.atoms.note(a, b);
        self.g.int_eq(&a.int, &b.int)
    }

    pub fn num_is(&mut self, a: &Num, value: &Int) -> Lit {
        let constant = self.number(value);
        self.num_equal(a, &constant)
    }

    pub fn num_value(&self, a: &Num) -> Int {
        Int::from_big(self.g.int_value(&a.int))
    }
}

fn size(n: &IBig) -> IBig {
    if *n < IBig::ZERO { -n } else { n.clone() }
}

/// `x + y` or `x - y`, leaf by leaf.
fn added(x: &Row, y: &Row, subtract: bool) -> Row {
    let mut all: BTreeMap<u32, IBig> = x.iter().cloned().collect();
    for (leaf, k) in y {
        let entry = all.entry(*leaf).or_insert(IBig::ZERO);
        *entry = if subtract { &*entry - k } else { &*entry + k };
    }
    all.into_iter().filter(|(_, k)| *k != IBig::ZERO).collect()
}

fn combined(a: &Num, b: &Num, subtract: bool) -> Option<BTreeMap<Row, IBig>> {
    let (left, right) = (a.forms.as_ref()?, b.forms.as_ref()?);
    let mut all = BTreeMap::new();
    for (x, c) in left.iter() {
        for (y, d) in right.iter() {
            merge(&mut all, BTreeMap::from([(added(x, y, subtract), c + d)]))?;
        }
    }
    Some(all)
}

fn scaled(a: &Num, factor: &IBig) -> Option<BTreeMap<Row, IBig>> {
    let mut all = BTreeMap::new();
    for (row, c) in a.forms.as_ref()?.iter() {
        let row = if *factor == IBig::ZERO {
            Row::new()
        } else {
            row.iter().map(|(leaf, k)| (*leaf, k * factor)).collect()
        };
        merge(&mut all, BTreeMap::from([(row, c * size(factor))]))?;
    }
    Some(all)
}

/// Adds forms; equal rows keep the greater constant. `None` if there are too many.
fn merge(all: &mut BTreeMap<Row, IBig>, more: BTreeMap<Row, IBig>) -> Option<()> {
    for (row, c) in more {
        let entry = all.entry(row).or_insert(IBig::ZERO);
        if *entry < c {
            *entry = c;
        }
    }
    (all.len() <= FORMS).then_some(())
}
