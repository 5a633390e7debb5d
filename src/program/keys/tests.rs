//! Keys against the bytes that they stand for, of values of all layouts.

use super::*;
use crate::carrier::Carrier;
use crate::invariant_ranges::Promise;
use crate::layout::Layout;
use crate::pool::Pool;
use bombus_base::Int;
use bombus_lang::typed::{SetId, VarId};
use std::sync::Arc;

/// A spelling that keeps the rules: integers in eight bytes that are ordered as they are.
fn spell(v: &Value, ty: &Type, out: &mut Vec<u8>) -> bool {
    match (v, ty) {
        (Value::Int(Int::Small(n)), _) => out.extend((*n as u64 ^ 1 << 63).to_be_bytes()),
        (Value::Bool(b), _) => out.push((*b).into()),
        (Value::Elem(_, n), _) => out.push(*n as u8),
        (Value::Pair(p), Type::Prod(a, b)) => return spell(&p.0, a, out) && spell(&p.1, b, out),
        (Value::Rec(parts), Type::Struct(fields)) => {
            return parts.iter().zip(fields.iter()).all(|(v, (_, ty))| spell(v, ty, out));
        }
        (Value::Set(elements), Type::Pow(of)) => {
            let mut all: Vec<Vec<u8>> = elements.iter().map(|e| spelled(e, of)).collect();
            all.sort();
            spell(&Value::int(all.len() as i64), &Type::Integer, out);
            out.extend(all.concat());
        }
        _ => return false,
    }
    true
}

fn spelled(v: &Value, ty: &Type) -> Vec<u8> {
    let mut out = Vec::new();
    assert!(spell(v, ty, &mut out), "{v:?} {ty:?}");
    out
}

fn element(carrier: &Carrier) -> Type {
    match carrier {
        Carrier::Bool => Type::Bool,
        Carrier::Set(s, _) => Type::Set(*s),
        Carrier::Ints { .. } => Type::Integer,
        Carrier::Pair(p) => Type::prod(element(&p.0), element(&p.1)),
        Carrier::Rec(fields) => Type::Struct(fields.iter().map(|f| ("f".into(), element(f))).collect()),
        Carrier::Sets(of) => Type::pow(element(of)),
    }
}

fn type_of(layout: &Layout) -> Type {
    match layout {
        Layout::Int | Layout::Pool => Type::Integer,
        Layout::Code(c) => element(c),
        Layout::Bits(c) => Type::pow(element(c)),
        Layout::Table(t) => Type::rel(element(&t.0), type_of(&t.1)),
        Layout::Array(a) => Type::rel(element(&a.rows), element(&a.values)),
        Layout::Pair(p) => Type::prod(type_of(&p.0), type_of(&p.1)),
        Layout::Rec(fields) => Type::Struct(fields.iter().map(|f| ("f".into(), type_of(f))).collect()),
    }
}

/// Some value of a layout; `n` decides which.
fn value(layout: &Layout, n: u64) -> Value {
    let pick = |k: u64, among: usize| (bombus_kernels::hash::mix(n * 64 + k) % among as u64) as usize;
    match layout {
        Layout::Int => Value::int(pick(0, 300) as i64 - 99),
        Layout::Code(c) => c.value(pick(0, c.card())),
        Layout::Bits(c) => {
            Value::set((0..c.card()).filter(|i| pick(*i as u64, 2) == 1).map(|i| c.value(i)).collect())
        }
        Layout::Array(a) => {
            let rows = (0..a.rows.card()).filter(|row| a.total || pick(*row as u64, 3) > 0);
            let maplet =
                |row| Value::pair(a.rows.value(row), a.values.value(pick(row as u64 + 20, a.values.card())));
            Value::set(rows.map(maplet).collect())
        }
        Layout::Table(t) => {
            let rows = (0..t.0.card()).filter(|row| pick(*row as u64, 3) > 0);
            Value::set(rows.map(|r| Value::pair(t.0.value(r), value(&t.1, n + r as u64))).collect())
        }
        Layout::Pair(p) => Value::pair(value(&p.0, n), value(&p.1, n + 9)),
        Layout::Rec(ls) => Value::Rec(ls.iter().zip(n + 3..).map(|(l, n)| value(l, n)).collect()),
        Layout::Pool => Value::int(0),
    }
}

fn layouts() -> Vec<Layout> {
    let ints = Carrier::Ints { lo: -3, n: 6 };
    let elems = Carrier::Set(SetId(7), 5);
    let sets = Carrier::sets(Carrier::Set(SetId(7), 3)).expect("few elements");
    let records = Carrier::Rec(Arc::from([Carrier::Bool, ints.clone()]));
    vec![
        Layout::Int,
        Layout::Code(Carrier::Bool),
        Layout::Code(sets.clone()),
        Layout::Code(Carrier::Set(SetId(7), 1)),
        Layout::Bits(elems.clone()),
        Layout::Bits(Carrier::pair(ints.clone(), Carrier::pair(elems.clone(), Carrier::Bool))),
        Layout::Bits(records.clone()),
        Layout::Bits(sets.clone()),
        Layout::array(ints.clone(), elems.clone(), true).expect("small"),
        Layout::array(elems.clone(), ints.clone(), false).expect("small"),
        Layout::array(sets.clone(), sets.clone(), false).expect("small"),
        Layout::array(Carrier::Ints { lo: 0, n: 28 }, elems.clone(), true).expect("small"),
        Layout::array(Carrier::Bool, Carrier::Ints { lo: -500, n: 1000 }, false).expect("small"),
        Layout::table(Carrier::Bool, Layout::Int),
        Layout::table(sets, Layout::pair(Layout::Code(Carrier::Bool), Layout::Bits(Carrier::Bool))),
        Layout::table(Carrier::Bool, Layout::table(Carrier::Bool, Layout::Code(elems.clone()))),
        Layout::pair(Layout::Bits(ints), Layout::Int),
        Layout::Rec(Arc::from([Layout::Code(elems), Layout::Bits(records)])),
    ]
}

/// States with two such variables and another one, in some of these valuations.
fn compare(two: [&Layout; 2], promise: &Promise, ranks: &[usize]) {
    let pool = Pool::default();
    let last = Layout::Code(Carrier::Bool);
    let vars: Vec<Layout> = vec![two[0].clone(), last, two[1].clone()];
    let types: Vec<Type> = vars.iter().map(type_of).collect();
    let slots = vars.iter().zip(0..).map(|(l, v)| (VarId(v), l.clone(), promise.clone())).collect();
    let layout = StateLayout::new(slots, ranks.len());
    let keys = Keys::new(&layout, &types.iter().collect::<Vec<_>>(), ranks, &spell);
    let keys = keys.unwrap_or_else(|| panic!("no keys for {two:?}"));
    let mut all = Vec::new();
    let mut state = Vec::new();
    for n in 0..300 {
        let valuation = n as usize % ranks.len();
        let values: Vec<Value> =
            vars.iter().zip(0..).map(|(l, k)| value(l, n / 3 + k * 1000 * (n % 3))).collect();
        layout.pack(valuation, &values, &pool, &mut state);
        let mut bytes = spelled(&Value::int(ranks[valuation] as i64), &Type::Integer);
        values.iter().zip(&types).for_each(|(v, ty)| bytes.extend(spelled(v, ty)));
        all.push((keys.key(&state).expect("a key"), bytes));
    }
    all.sort();
    all.dedup();
    let mut speller = keys.speller();
    let mut before: Vec<u8> = Vec::new();
    for (i, (key, bytes)) in all.iter().enumerate() {
        assert!(keys.bits() == 128 || key >> keys.bits() == 0, "{two:?}");
        let (same, rest) = speller.next(*key);
        before.truncate(same);
        before.extend_from_slice(rest);
        assert_eq!(before, *bytes, "{two:?}");
        assert!(i == 0 || all[i - 1].0 < *key && all[i - 1].1 < *bytes, "{two:?}");
    }
}

#[test]
fn keys_are_ordered_as_the_bytes_of_states_and_tell_them() {
    let layouts = layouts();
    for (i, layout) in layouts.iter().enumerate() {
        for promise in [Promise::Range(Some(-100), Some(250)), Promise::Nothing] {
            compare([layout, &layouts[(i + 4) % 5]], &promise, &[0]);
        }
        compare([layout, &Layout::Int], &Promise::Range(Some(-99), None), &[2, 0, 1]);
    }
}

#[test]
fn integers_of_a_whole_word_are_ordered_as_numbers() {
    let pool = Pool::default();
    let promise = Promise::Range(Some(i64::MIN), Some(i64::MAX));
    let two = vec![(VarId(0), Layout::Int, promise.clone()), (VarId(1), Layout::Int, promise)];
    let layout = StateLayout::new(two, 1);
    let keys = Keys::new(&layout, &[&Type::Integer, &Type::Integer], &[0], &spell).expect("keys");
    assert_eq!(keys.bits(), 128);
    let mut state = Vec::new();
    let mut key = |n: i64| {
        layout.pack(0, &[Value::int(n), Value::int(-n.max(-9))], &pool, &mut state);
        keys.key(&state).expect("a key")
    };
    let numbers = [i64::MIN, i64::MIN + 1, -300, -1, 0, 1, 255, 256, i64::MAX];
    assert!(numbers.windows(2).all(|two| key(two[0]) < key(two[1])));
    let mut speller = keys.speller();
    for n in numbers {
        let mut bytes = spelled(&Value::int(0), &Type::Integer);
        bytes.extend(spelled(&Value::int(n), &Type::Integer));
        bytes.extend(spelled(&Value::int(-n.max(-9)), &Type::Integer));
        let key = key(n);
        let mut alone = keys.speller();
        assert_eq!(alone.next(key).1, bytes);
        let (same, rest) = speller.next(key);
        assert_eq!(*rest, bytes[same..]);
    }
}

#[test]
fn states_that_stand_in_the_pool_have_no_keys() {
    let pool = Pool::default();
    let layout = StateLayout::new(vec![(VarId(0), Layout::Int, Promise::Range(Some(0), Some(3)))], 1);
    let keys = Keys::new(&layout, &[&Type::Integer], &[0], &spell).expect("keys");
    let mut state = Vec::new();
    layout.pack(0, &[Value::int(4)], &pool, &mut state);
    assert_eq!(keys.key(&state), None);
    let pooled = StateLayout::new(vec![(VarId(0), Layout::Pool, Promise::Nothing)], 1);
    assert!(Keys::new(&pooled, &[&Type::Integer], &[0], &spell).is_none());
}
