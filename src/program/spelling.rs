//! The stable bytes of a state, straight from its words.
//!
//! In: packed states. Out: the bytes that `Value::encode` writes for its values, one after the other, but
//! without making the values; a long value of the pool is told by its hash instead.
//! Every new state of a model with pooled values in tables is spelled once, for its fingerprint; for that of others hashes of the
//! values are enough (`StateLayout::stable_words`).

use super::carrier::Carrier;
use super::layout::Layout;
use super::pool::{Pool, ValueId};
use super::state::StateLayout;
use bombus_kernels::bits;
use bombus_lang::value::encode::Form;

impl StateLayout {
    /// Appends the bytes of all variables.
    pub fn spell(&self, state: &[u64], pool: &Pool, regs: &mut Vec<u64>, out: &mut Vec<u8>) {
        if self.is_escaped(state) {
            self.unpack(state, pool).iter().for_each(|v| v.encode(out));
            return;
        }
        for slot in &self.slots {
            regs.clear();
            regs.resize(slot.words as usize, 0);
            for f in &slot.fields {
                f.load(state, &mut regs[f.part as usize..]);
            }
            slot.layout.spell(regs, pool, out);
        }
    }
}

impl Layout {
    /// Appends the bytes of the value that `decode` would make of these words.
    fn spell(&self, words: &[u64], pool: &Pool, out: &mut Vec<u8>) {
        // Sets as elements have codes in another order than values have.
        let elements = match self {
            Layout::Bits(c) => Some(c),
            Layout::Table(t) => Some(&t.0),
            Layout::Array(a) => Some(&a.rows),
            _ => None,
        };
        if elements.is_some_and(Carrier::has_sets) {
            self.decode(words, pool).encode(out);
            return;
        }
        match self {
            Layout::Int => Form(out).int(words[0] as i64),
            Layout::Code(c) => c.spell(words[0] as usize, out),
            Layout::Bits(c) => {
                let words = &words[..c.words() as usize];
                Form(out).set(bits::count(words));
                bits::iter(words).for_each(|code| c.spell(code, out));
            }
            Layout::Table(t) => {
                let (present, w) = (t.0.words() as usize, t.1.words() as usize);
                Form(out).set(bits::count(&words[..present]));
                for row in bits::iter(&words[..present]) {
                    Form(out).pair();
                    t.0.spell(row, out);
                    t.1.spell(&words[present + row * w..], pool, out);
                }
            }
            Layout::Array(a) => {
                let cells = a.cells();
                let words = &words[..cells.words()];
                let mut maplets = a.rows.card();
                if !a.total {
                    maplets = 0;
                    cells.each(words, |_, _| maplets += 1);
                }
                Form(out).set(maplets);
                cells.each(words, |row, value| {
                    Form(out).pair();
                    a.rows.spell(row, out);
                    a.values.spell(value as usize, out);
                });
            }
            Layout::Pair(l) => {
                Form(out).pair();
                l.0.spell(words, pool, out);
                l.1.spell(&words[l.0.words() as usize..], pool, out);
            }
            Layout::Rec(ls) => {
                Form(out).rec(ls.len());
                let mut at = 0;
                for l in ls.iter() {
                    l.spell(&words[at..], pool, out);
                    at += l.words() as usize;
                }
            }
            Layout::Pool => out.extend_from_slice(pool.spelled(ValueId(words[0] as u32))),
        }
    }
}

impl Carrier {
    /// Appends the bytes of the element with this code.
    fn spell(&self, code: usize, out: &mut Vec<u8>) {
        match self {
            Carrier::Bool => Form(out).bool(code == 1),
            Carrier::Set(s, _) => Form(out).elem(*s, code as u32),
            Carrier::Ints { lo, .. } => Form(out).int(i64::from(*lo) + code as i64),
            Carrier::Pair(c) => {
                let columns = c.1.card();
                Form(out).pair();
                c.0.spell(code / columns, out);
                c.1.spell(code % columns, out);
            }
            // Records and sets as elements of carriers are rare: they take the way through the value.
            Carrier::Rec(_) | Carrier::Sets(_) => self.value(code).encode(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariant_ranges::Promise;
    use bombus_lang::typed::{SetId, VarId};
    use bombus_lang::value::Value;
    use std::sync::Arc;

    fn layouts() -> Vec<Layout> {
        let ints = Carrier::Ints { lo: -2, n: 5 };
        let elems = Carrier::Set(SetId(300), 4);
        let records = Carrier::Rec(Arc::from([Carrier::Bool, ints.clone()]));
        let sets = Carrier::sets(Carrier::Set(SetId(300), 3)).expect("few elements");
        let pooled = Layout::Rec(Arc::from([Layout::Pool, Layout::Int]));
        vec![
            Layout::Int,
            Layout::Code(Carrier::Bool),
            Layout::Code(elems.clone()),
            Layout::Bits(elems.clone()),
            Layout::Bits(records),
            Layout::Bits(Carrier::pair(ints.clone(), Carrier::pair(elems.clone(), Carrier::Bool))),
            Layout::array(ints.clone(), elems.clone(), true).expect("small"),
            Layout::array(elems.clone(), ints.clone(), false).expect("small"),
            Layout::table(elems, pooled),
            Layout::pair(Layout::Pool, Layout::Bits(ints.clone())),
            Layout::Code(sets.clone()),
            Layout::Bits(sets.clone()),
            Layout::array(sets.clone(), sets.clone(), false).expect("small"),
            Layout::table(Carrier::pair(Carrier::Bool, sets), Layout::Int),
        ]
    }

    /// Some value of a layout; `n` decides which.
    fn value(layout: &Layout, n: u64) -> Value {
        let pick = |k: u64, among: usize| (bombus_kernels::hash::mix(n * 64 + k) % among as u64) as usize;
        match layout {
            Layout::Int => Value::int(pick(0, 1000) as i64 * 7 - 3000),
            Layout::Code(c) => c.value(pick(0, c.card())),
            Layout::Bits(c) => {
                Value::set((0..c.card()).filter(|i| pick(*i as u64, 2) == 1).map(|i| c.value(i)).collect())
            }
            Layout::Array(a) => {
                let rows = (0..a.rows.card()).filter(|row| a.total || pick(*row as u64, 3) > 0);
                let maplet = |row| {
                    Value::pair(a.rows.value(row), a.values.value(pick(row as u64 + 20, a.values.card())))
                };
                Value::set(rows.map(maplet).collect())
            }
            Layout::Table(t) => {
                let rows = (0..t.0.card()).filter(|row| pick(*row as u64, 3) > 0);
                Value::set(rows.map(|r| Value::pair(t.0.value(r), value(&t.1, n + r as u64))).collect())
            }
            Layout::Pair(p) => Value::pair(value(&p.0, n), value(&p.1, n + 9)),
            Layout::Rec(ls) => Value::Rec(ls.iter().map(|l| value(l, n + 3)).collect()),
            Layout::Pool => Value::set((0..pick(0, 9) as i64).map(|i| Value::int(i * 1000)).collect()),
        }
    }

    #[test]
    fn words_are_spelled_as_the_values_they_stand_for() {
        let pool = Pool::default();
        let vars = layouts().into_iter().zip(0..).map(|(l, v)| (VarId(v), l, Promise::Nothing)).collect();
        let layout = StateLayout::new(vars, 1);
        let (mut state, mut regs) = (Vec::new(), Vec::new());
        for n in 0..500 {
            let mut values: Vec<Value> = layouts().iter().map(|l| value(l, n)).collect();
            if n % 50 == 0 {
                // An escaped state.
                values[0] = Value::int(1 << 40);
            }
            layout.pack(0, &values, &pool, &mut state);
            assert_eq!(layout.is_escaped(&state), n % 50 == 0);
            let (mut spelled, mut encoded) = (Vec::new(), Vec::new());
            layout.spell(&state, &pool, &mut regs, &mut spelled);
            values.iter().for_each(|v| v.encode(&mut encoded));
            assert_eq!(spelled, encoded);
        }
    }

    #[test]
    fn stable_words_do_not_depend_on_the_numbers_of_the_pool() {
        let all = || layouts().into_iter().filter(|l| !matches!(l, Layout::Table(t) if t.1.has_pool()));
        let vars = all().zip(0..).map(|(l, v)| (VarId(v), l, Promise::Nothing)).collect();
        let layout = StateLayout::new(vars, 1);
        let (early, late) = (Pool::default(), Pool::default());
        (0..99).for_each(|i| _ = late.intern(&Value::int(i)));
        let words = |pool: &Pool, values: &[Value]| {
            let (mut state, mut out) = (Vec::new(), Vec::new());
            layout.pack(0, values, pool, &mut state);
            assert!(layout.stable_words(&state, pool, &mut out));
            (out, state)
        };
        let mut seen = std::collections::BTreeMap::new();
        for n in 0..500 {
            let mut values: Vec<Value> = all().map(|l| value(&l, n % 300)).collect();
            if n % 50 == 0 {
                // An escaped state.
                values[0] = Value::int((1 << 40) + n as i64);
            }
            let (stable, state) = words(&early, &values);
            let (again, elsewhere) = words(&late, &values);
            assert_eq!(stable, again);
            assert_ne!(state, elsewhere, "the two pools have other numbers");
            assert_eq!(seen.entry(stable).or_insert_with(|| values.clone()), &values);
        }
        assert!(seen.len() > 250);
    }

    #[test]
    fn a_long_value_is_told_by_its_hash_in_every_pool() {
        let long = |from: i64| Value::set((from..from + 2000).map(Value::int).collect());
        let spell = |before: i64, value: &Value| {
            let pool = Pool::default();
            (0..before).for_each(|i| _ = pool.intern(&Value::int(i)));
            let id = pool.intern(value);
            let mut out = Vec::new();
            Layout::Pool.spell(&[u64::from(id.0)], &pool, &mut out);
            out
        };
        assert_eq!(spell(0, &long(5)), spell(9, &long(5)));
        assert_ne!(spell(0, &long(5)), spell(0, &long(6)));
        assert!(spell(0, &long(5)).len() < 20);
        // No value that is spelled in full begins like this.
        assert_eq!(spell(0, &long(5))[0], bombus_lang::value::encode::HASHED);
    }
}
