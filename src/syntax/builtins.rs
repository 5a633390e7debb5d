//! Keyword functions and keyword values: their words and how many arguments they take.
//!
//! In: tokens and names. Out: the built-in meant, and back. Never here: what they compute.

use super::ast::{Builtin, Const};
use super::token::Tok;

macro_rules! functions {
    (keywords { $($kw:ident $kw_fn:ident $kw_arity:expr,)* } names { $($text:literal $name_fn:ident $name_arity:expr,)* }) => {
        /// The keyword function a token stands for.
        pub fn keyword_function(tok: Tok) -> Option<Builtin> {
            match tok { $(Tok::$kw => Some(Builtin::$kw_fn),)* _ => None }
        }

        /// The function of trees or reals of this name. These are no reserved words: they count
        /// only before `(`, and only in texts that do not use the name for something of their own.
        pub fn contextual_function(name: &str) -> Option<Builtin> {
            match name { $($text => Some(Builtin::$name_fn),)* _ => None }
        }

        pub fn spelling(function: Builtin) -> &'static str {
            match function {
                $(Builtin::$kw_fn => Tok::$kw.spelling(),)*
                $(Builtin::$name_fn => $text,)*
            }
        }

        /// The words of all functions.
        pub fn words() -> Vec<&'static str> {
            vec![$(Tok::$kw.spelling(),)* $($text,)*]
        }

        /// The smallest and the largest number of arguments.
        pub fn arity(function: Builtin) -> (usize, usize) {
            match function {
                $(Builtin::$kw_fn => $kw_arity,)*
                $(Builtin::$name_fn => $name_arity,)*
            }
        }
    };
}

functions! {
    keywords {
        Bool Bool (1, 1), Pow Pow (1, 1), Pow1 Pow1 (1, 1), Fin Fin (1, 1), Fin1 Fin1 (1, 1),
        Card Card (1, 1), Min Min (1, 1), Max Max (1, 1), GenUnion Union (1, 1), GenInter Inter (1, 1),
        Dom Dom (1, 1), Ran Ran (1, 1), Id Id (1, 1), Closure Closure (1, 1), Closure1 Closure1 (1, 1),
        Iterate Iterate (2, 2), Rel Rel (1, 1), Fnc Fnc (1, 1), Prj1 Prj1 (1, 2), Prj2 Prj2 (1, 2),
        Seq Seq (1, 1), Seq1 Seq1 (1, 1), Iseq Iseq (1, 1), Iseq1 Iseq1 (1, 1), Perm Perm (1, 1),
        Size Size (1, 1), First First (1, 1), Last Last (1, 1), Front Front (1, 1), Tail Tail (1, 1),
        Rev Rev (1, 1), Conc Conc (1, 1), AtFinite Finite (1, 1), AtPartition Partition (1, usize::MAX),
    }
    names {
        "floor" Floor (1, 1), "ceiling" Ceiling (1, 1), "real" ToReal (1, 1),
        "tree" Tree (1, 1), "btree" Btree (1, 1), "const" TreeConst (2, 2), "top" Top (1, 1),
        "sons" Sons (1, 1), "prefix" Prefix (1, 1), "postfix" Postfix (1, 1), "sizet" Sizet (1, 1),
        "mirror" Mirror (1, 1), "rank" Rank (2, 2), "father" Father (2, 2), "son" Son (3, 3),
        "subtree" Subtree (2, 2), "arity" Arity (2, 2), "bin" Bin (1, 3), "left" Left (1, 1),
        "right" Right (1, 1), "infix" Infix (1, 1),
    }
}

/// Whether a built-in takes this many arguments.
pub fn takes(function: Builtin, arguments: usize) -> bool {
    let (least, most) = arity(function);
    (least..=most).contains(&arguments) && !(function == Builtin::Bin && arguments == 2)
}

pub fn yields_predicate(function: Builtin) -> bool {
    matches!(function, Builtin::Finite | Builtin::Partition)
}

macro_rules! values {
    ($($tok:ident $value:ident,)*) => {
        /// The value a keyword stands for by itself.
        pub fn keyword_value(tok: Tok) -> Option<Const> {
            match tok { $(Tok::$tok => Some(Const::$value),)* _ => None }
        }

        pub fn value_spelling(value: Const) -> &'static str {
            match value {
                Const::EmptySet => "{}",
                Const::EmptySeq => "[]",
                // Only Event-B has the identity unapplied.
                Const::Id => "id",
                $(Const::$value => Tok::$tok.spelling(),)*
            }
        }
    };
}

values! {
    True True, False False, BTrue BTrue, BFalse BFalse, Maxint Maxint, Minint Minint,
    Integer Integer, Natural Natural, Natural1 Natural1, IntSet Int, Nat Nat, Nat1 Nat1,
    BoolSet Bool, StringSet String, RealSet Real, Float Float, Succ Succ, Pred Pred,
    AtPrj1 Prj1, AtPrj2 Prj2,
}
