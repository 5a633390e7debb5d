//! Functions that are chosen pair by pair, so that a condition that a few pairs break ends the choice early.
//!
//! In: what a function must be, its domain, its targets. Out: one call for each function, in a fixed order.
//! While a function grows, its name stands for what is known of it: `f(x)` has a value where the pair that it
//! looks at is known, everything else waits. So a condition that is false already is false for every function that
//! begins like this.

use crate::eval::{Env, Oracle, Res, Slot, Stop};
use crate::pred::Conjunct;
use crate::sets::{Set, Visit};
use crate::tree::{Arrow, Name};
use crate::value::Value;
use std::sync::Arc;

/// The first images of a function whose other images are still to be chosen; nothing where it has none.
#[derive(Clone, Debug)]
pub struct Grown {
    domain: Arc<Vec<Value>>,
    images: Vec<Option<Value>>,
}

impl Grown {
    /// The image of a value, `None` if it has none; it waits if that was not chosen yet.
    pub(crate) fn image(&self, x: &Value) -> Res<Option<Value>> {
        match self.domain.binary_search(x) {
            Err(_) => Ok(None),
            Ok(at) => self.images.get(at).cloned().ok_or(Stop::Unbound),
        }
    }
}

/// Asked after each choice whether a function that begins like this may be one of those that are wanted.
type Keep<'a> = &'a mut dyn FnMut(&[Option<Value>]) -> bool;

/// The images that are chosen, in the order of the domain; nothing where there is none.
type Images = Vec<Option<Value>>;
/// What a function must be, from which set, into which set.
type Shape<'a> = (Arrow, &'a Set, &'a Set);
/// The functions that are wanted: what they must be, their domain, their targets.
pub(crate) type Wanted<'a> = (Arrow, &'a [Value], &'a [Value]);

impl Oracle<'_> {
    /// Visits the functions whose first images are chosen already, except those of which `keep` refuses the beginning.
    pub(crate) fn each_function(&self, f: Wanted, images: &mut Images, keep: Keep, visit: Visit) -> Res<()> {
        self.tick()?;
        let (arrow, a, b) = f;
        if images.len() == a.len() {
            if arrow.onto && b.iter().any(|y| !images.contains(&Some(y.clone()))) {
                return Ok(());
            }
            let pairs = a.iter().zip(&*images).filter_map(|(x, y)| Some(Value::pair(x.clone(), y.clone()?)));
            return visit(Value::Set(Arc::new(pairs.collect())));
        }
        let none = (!arrow.total).then_some(None);
        for image in none.into_iter().chain(b.iter().cloned().map(Some)) {
            if arrow.injective && image.is_some() && images.contains(&image) {
                continue;
            }
            images.push(image);
            if keep(images) {
                self.each_function(f, images, keep, visit)?;
            }
            images.pop();
        }
        Ok(())
    }

    /// Visits the functions that a variable may be, as far as no conjunct is false for their beginnings.
    pub(crate) fn grow(&self, env: &Env, name: &Name, f: Shape, open: &[Conjunct], visit: Visit) -> Res<()> {
        let (arrow, a, b) = f;
        let (domain, targets, mut env) = (self.list(a)?, self.list(b)?, env.clone());
        let mut keep = |images: &[Option<Value>]| {
            let grown = Grown { domain: domain.clone(), images: images.to_vec() };
            env.fill(name, Slot::Grown(Arc::new(grown)));
            !open.iter().any(|(_, p)| matches!(self.holds(&env, p), Ok(false)))
        };
        self.each_function((arrow, &domain, &targets), &mut Vec::new(), &mut keep, visit)
    }
}
