//! The types of the built-in names.
//!
//! In: a name of the table. Out: its type. Never here: inference.

use super::builtin::Builtin;
use super::unification::{Type, seq, set};
use std::rc::Rc;

/// The type of a built-in name, over two variables that nothing else uses.
pub(super) fn builtin_type(builtin: Builtin, a: Type, b: Type) -> Type {
    let fun = |args: &[Type], result: Type| Type::Fun(args.into(), Rc::new(result));
    let sets = set(a.clone());
    let list = seq(a.clone());
    let map = Type::Map(Rc::new((a.clone(), b.clone())));
    let pair = |x: &Type, y: &Type| Type::Tuple([x.clone(), y.clone()].into());
    let pairs = set(pair(&a, &b));
    if builtin.is_compression() {
        return fun(&[Type::Proc], Type::Proc);
    }
    match builtin.word() {
        "union" | "inter" | "diff" => fun(&[sets.clone(), sets.clone()], sets),
        "Union" | "Inter" => fun(&[set(sets.clone())], sets),
        "member" => fun(&[a, sets], Type::Bool),
        "card" => fun(&[sets], Type::Int),
        "empty" => fun(&[sets], Type::Bool),
        "set" => fun(&[list], sets),
        "seq" => fun(&[sets], list),
        "Set" => fun(std::slice::from_ref(&sets), set(sets.clone())),
        "Seq" => fun(&[sets], set(list)),
        "null" => fun(&[list], Type::Bool),
        "head" => fun(&[list], a),
        "tail" => fun(std::slice::from_ref(&list), list.clone()),
        "concat" => fun(&[seq(list.clone())], list),
        "elem" => fun(&[a, list], Type::Bool),
        "length" => fun(&[list], Type::Int),
        "extensions" | "productions" => fun(&[Type::Any], set(Type::Any)),
        "error" => fun(&[seq(Type::Char)], a),
        "show" => fun(&[a], seq(Type::Char)),
        "CHAOS" | "RUN" => fun(&[set(Type::Any)], Type::Proc),
        "loop" => fun(&[Type::Proc], Type::Proc),
        "lazy_compile" => fun(&[Type::Proc, set(Type::Any)], Type::Proc),
        "STOP" | "SKIP" | "DIV" => Type::Proc,
        "Events" => set(Type::Any),
        "Int" => set(Type::Int),
        "Bool" => set(Type::Bool),
        "Char" => set(Type::Char),
        "Proc" => set(Type::Proc),
        "emptyMap" => map,
        "mapFromList" => fun(&[seq(pair(&a, &b))], map),
        "mapToList" => fun(&[map], seq(pair(&a, &b))),
        "mapLookup" => fun(&[map, a], b),
        "mapMember" => fun(&[map, a], Type::Bool),
        "mapUpdate" => fun(&[map.clone(), a, b], map),
        "mapUpdateMultiple" => fun(&[map.clone(), seq(pair(&a, &b))], map),
        "mapDelete" => fun(&[map.clone(), a], map),
        "Map" => fun(&[set(a.clone()), set(b.clone())], set(map)),
        "BUFFER" => fun(&[Type::Int, set(pair(&Type::Any, &Type::Any))], Type::Proc),
        "timed urgent" => fun(&[Type::Proc, set(Type::Any)], Type::Proc),
        "mtransclose" => {
            let pairs = set(pair(&a, &a));
            fun(&[pairs.clone(), sets], pairs)
        }
        "transpose" => fun(&[pairs], set(pair(&b, &a))),
        "relational_image" => fun(&[pairs], fun(&[a], set(b))),
        "relational_inverse_image" => fun(&[pairs], fun(&[b], set(a))),
        _ => Type::Any,
    }
}
