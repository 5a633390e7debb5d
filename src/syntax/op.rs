//! The one table of the operators that stand between two operands.
//!
//! Out: for every operator its token in classical B and how tightly it binds there, its symbol, ASCII spelling and
//! level in the mathematical language of Event-B, and its functor in Prolog packages. A new operator is a new row.
//! Never here: types and meaning (those are in `model/elaborate/operators.rs` and `evaluate`).

use super::precedence::Level;
use super::token::Tok;

/// How tightly a formula of Event-B binds; a formula stands without parentheses where at least this is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RodinLevel {
    /// `∀ ∃`, `λ ⋃ ⋂`: reach to the right as far as they can.
    Quantified,
    Implication,
    Junction,
    Negation,
    Relational,
    Maplet,
    OfType,
    Arrow,
    Set,
    Interval,
    Additive,
    Multiplicative,
    Power,
    Application,
    Converse,
    Atom,
}

/// An operator as Event-B writes it.
#[derive(Clone, Copy, Debug)]
pub struct Rodin {
    /// As printed.
    pub symbol: &'static str,
    /// As also read.
    pub ascii: &'static str,
    pub level: RodinLevel,
    /// As a functor of Prolog packages.
    pub functor: &'static str,
}

macro_rules! operators {
    (@rodin) => { None };
    (@rodin $symbol:literal $ascii:literal $level:ident $functor:literal) => {
        Some(Rodin { symbol: $symbol, ascii: $ascii, level: RodinLevel::$level, functor: $functor })
    };
    ($($(#[$doc:meta])* $op:ident $tok:ident $level:literal [$($rodin:tt)*],)*) => {
        /// An operator between two operands; `-`, `*`, `+`, `/` are overloaded and settled by types.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum BinOp { $($(#[$doc])* $op,)* }

        impl BinOp {
            pub const ALL: &[BinOp] = &[$(BinOp::$op,)*];

            /// The token the operator is written with in classical B.
            pub fn token(self) -> Tok {
                match self { $(BinOp::$op => Tok::$tok,)* }
            }

            pub fn of_token(tok: Tok) -> Option<BinOp> {
                match tok { $(Tok::$tok => Some(BinOp::$op),)* _ => None }
            }

            /// How tightly the operator binds in classical B.
            pub fn level(self) -> Level {
                match self { $(BinOp::$op => Level($level),)* }
            }

            /// How Event-B writes the operator, if it has it.
            pub fn rodin(self) -> Option<Rodin> {
                match self { $(BinOp::$op => operators!(@rodin $($rodin)*),)* }
            }
        }
    };
}

operators! {
    // Predicates over predicates.
    Implies Implies 30 ["⇒" "=>" Implication "implication"],
    Iff Iff 60 ["⇔" "<=>" Implication "equivalence"],
    // Predicates over expressions.
    Equal Equal 110 ["=" "=" Relational "equal"],
    NotEqual NotEqual 110 ["≠" "/=" Relational "not_equal"],
    In Colon 110 ["∈" ":" Relational "member"],
    NotIn NotIn 110 ["∉" "/:" Relational "not_member"],
    Subset Subset 110 ["⊆" "<:" Relational "subset"],
    NotSubset NotSubset 110 ["⊈" "/<:" Relational "not_subset"],
    StrictSubset StrictSubset 110 ["⊂" "<<:" Relational "subset_strict"],
    NotStrictSubset NotStrictSubset 110 ["⊄" "/<<:" Relational "not_subset_strict"],
    Less Less 110 ["<" "<" Relational "less"],
    LessEqual LessEqual 110 ["≤" "<=" Relational "less_equal"],
    Greater Greater 110 [">" ">" Relational "greater"],
    GreaterEqual GreaterEqual 110 ["≥" ">=" Relational "greater_equal"],
    // Arithmetic.
    Add Plus 180 ["+" "+" Additive "add"],
    Sub Minus 180 ["−" "-" Additive "minus"],
    Mul Times 190 ["∗" "*" Multiplicative "multiplication"],
    Div Div 190 ["÷" "/" Multiplicative "div"],
    Mod Mod 190 ["mod" "mod" Multiplicative "modulo"],
    Power Power 200 ["^" "^" Power "power_of"],
    Interval Interval 170 ["‥" ".." Interval "interval"],
    // Pairs and sets.
    /// `a|->b`, and `(a,b)`.
    Maplet Maplet 160 ["↦" "|->" Maplet "couple"],
    /// `\`, sets only.
    SetMinus SetMinus 180 ["∖" "\\" Set "set_subtraction"],
    /// `×`, sets only.
    Cartesian Cartesian 190 ["×" "**" Set "cartesian_product"],
    Union Union 160 ["∪" "\\/" Set "union"],
    Inter Inter 160 ["∩" "/\\" Set "intersection"],
    // Sets of relations and functions.
    Relation Relation 125 ["↔" "<->" Arrow "relations"],
    TotalRelation TotalRelation 125 ["\u{e100}" "<<->" Arrow "total_relation"],
    SurjectiveRelation SurjectiveRelation 125 ["\u{e101}" "<->>" Arrow "surjection_relation"],
    TotalSurjectiveRelation TotalSurjectiveRelation 125 ["\u{e102}" "<<->>" Arrow "total_surjection_relation"],
    PartialFunction PartialFunction 125 ["⇸" "+->" Arrow "partial_function"],
    TotalFunction TotalFunction 125 ["→" "-->" Arrow "total_function"],
    PartialInjection PartialInjection 125 ["⤔" ">+>" Arrow "partial_injection"],
    TotalInjection TotalInjection 125 ["↣" ">->" Arrow "total_injection"],
    PartialSurjection PartialSurjection 125 ["⤀" "+>>" Arrow "partial_surjection"],
    TotalSurjection TotalSurjection 125 ["↠" "->>" Arrow "total_surjection"],
    PartialBijection PartialBijection 125 ["⤗" ">+>>" Arrow "partial_bijection"],
    TotalBijection TotalBijection 125 ["⤖" ">->>" Arrow "total_bijection"],
    // Relations.
    /// `r;s`
    Compose Semicolon 20 [";" ";" Set "composition"],
    /// `r∘s`
    ComposeBack ComposeBack 160 ["∘" "circ" Set "ring"],
    /// `r||s`
    ParallelProduct Parallel 20 ["∥" "||" Set "parallel_product"],
    /// `r><s`
    DirectProduct DirectProduct 160 ["⊗" "><" Set "direct_product"],
    Override Override 160 ["\u{e103}" "<+" Set "overwrite"],
    DomRestrict DomRestrict 160 ["◁" "<|" Set "domain_restriction"],
    DomSubtract DomSubtract 160 ["⩤" "<<|" Set "domain_subtraction"],
    RanRestrict RanRestrict 160 ["▷" "|>" Set "range_restriction"],
    RanSubtract RanSubtract 160 ["⩥" "|>>" Set "range_subtraction"],
    // Sequences, which Event-B does not have.
    Concat Concat 160 [],
    Prepend Prepend 160 [],
    Append Append 160 [],
    Take Take 160 [],
    Drop Drop 160 [],
    /// `E ⦂ T`
    OfType OfType 120 ["⦂" "oftype" OfType "typeof"],
}

impl BinOp {
    /// How the operator is written in classical B.
    pub fn spelling(self) -> &'static str {
        self.token().spelling()
    }

    /// The operator that a functor of a Prolog package stands for.
    pub fn of_functor(functor: &str) -> Option<BinOp> {
        BinOp::ALL.iter().find(|op| op.rodin().is_some_and(|r| r.functor == functor)).copied()
    }

    /// Whether the operands are predicates.
    pub fn joins_predicates(self) -> bool {
        matches!(self, BinOp::Implies | BinOp::Iff)
    }

    /// Whether the result is a predicate.
    pub fn is_predicate(self) -> bool {
        self.joins_predicates() || self.level() == Level::COMPARISON
    }
}
