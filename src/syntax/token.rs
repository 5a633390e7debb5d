//! The words and symbols of classical B.
//!
//! In: nothing. Out: the kinds of tokens with their ASCII spelling and the Unicode letters that stand for them.
//! Never here: reading of text (that is `lexer`), priorities (those are in `precedence`).

use std::sync::LazyLock;

/// One token: its kind and the bytes `start..end` of the text it was read from.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub tok: Tok,
    pub start: u32,
    pub end: u32,
}

macro_rules! tokens {
    (keywords { $($kw:ident $kw_text:literal $([$($kw_letter:literal)*])?,)* }
     others { $($name:ident $text:literal $([$($letter:literal)*])?,)* }) => {
        /// The kind of a token. Unicode alternatives are the same kind as their ASCII form.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Tok { $($kw,)* $($name,)* }

        impl Tok {
            /// How the token is written, or what it is called when it has no fixed text.
            pub fn spelling(self) -> &'static str {
                match self { $(Tok::$kw => $kw_text,)* $(Tok::$name => $text,)* }
            }
        }

        const KEYWORDS: &[Tok] = &[$(Tok::$kw,)*];
        const OTHERS: &[Tok] = &[$(Tok::$name,)*];

        /// The token that a letter of Unicode stands for.
        pub fn letter(c: char) -> Option<Tok> {
            match c {
                $($($($kw_letter => Some(Tok::$kw),)*)?)*
                $($($($letter => Some(Tok::$name),)*)?)*
                _ => None,
            }
        }
    };
}

tokens! {
    keywords {
        Machine "MACHINE", Model "MODEL", System "SYSTEM", Refinement "REFINEMENT",
        Implementation "IMPLEMENTATION", Refines "REFINES",
        Sets "SETS", Freetypes "FREETYPES", Constants "CONSTANTS", AbstractConstants "ABSTRACT_CONSTANTS",
        ConcreteConstants "CONCRETE_CONSTANTS", Properties "PROPERTIES", Constraints "CONSTRAINTS",
        Variables "VARIABLES", AbstractVariables "ABSTRACT_VARIABLES",
        ConcreteVariables "CONCRETE_VARIABLES", Invariant "INVARIANT", Assertions "ASSERTIONS",
        Initialisation "INITIALISATION", Initialization "INITIALIZATION", Operations "OPERATIONS",
        Events "EVENTS", LocalOperations "LOCAL_OPERATIONS", Definitions "DEFINITIONS",
        Expressions "EXPRESSIONS", Predicates "PREDICATES", Includes "INCLUDES", Extends "EXTENDS",
        Imports "IMPORTS", Sees "SEES", Uses "USES", Promotes "PROMOTES", Values "VALUES", CspController "CSP_CONTROLLER",
        End "END",
        Any "ANY", Assert "ASSERT", Be "BE", Begin "BEGIN", Case "CASE", Choice "CHOICE", Do "DO",
        Either "EITHER", Else "ELSE", Elsif "ELSIF", If "IF", In "IN", Let "LET", Of "OF", OrElse "OR",
        Pre "PRE", Select "SELECT", Then "THEN", Var "VAR", Variant "VARIANT", When "WHEN",
        Where "WHERE", While "WHILE", Witness "WITNESS", Skip "skip",
        BoolSet "BOOL", True "TRUE", False "FALSE", Bool "bool", IntSet "INT", Integer "INTEGER",
        Nat "NAT", Nat1 "NAT1", Natural "NATURAL", Natural1 "NATURAL1", Maxint "MAXINT", Minint "MININT",
        RealSet "REAL", Float "FLOAT", StringSet "STRING", Fin "FIN", Fin1 "FIN1", Pow "POW",
        Pow1 "POW1", BigUnion "UNION" ['⋃'], BigInter "INTER" ['⋂'], Sigma "SIGMA" ['∑'], Pi "PI" ['∏'], GenUnion "union",
        GenInter "inter", Card "card", Min "min", Max "max", Mod "mod",
        Closure "closure", Closure1 "closure1", Iterate "iterate",
        Conc "conc", Dom "dom", Ran "ran", Id "id", Prj1 "prj1", Prj2 "prj2", Rel "rel", Fnc "fnc",
        Rec "rec", Struct "struct", Seq "seq", Seq1 "seq1", Iseq "iseq", Iseq1 "iseq1", Perm "perm",
        Size "size", First "first", Last "last", Front "front", Tail "tail", Rev "rev", Succ "succ",
        Pred "pred", Not "not" ['¬'], Or "or" ['∨'], BTrue "btrue" ['⊤'], BFalse "bfalse" ['⊥'],
    }
    others {
        Eof "the end of the text",
        Ident "a name", Int "a number", Real "a real number", Str "a string",
        MultiStr "a multi-line string", Template "a template string",
        Label "a label pragma", Symbolic "/*@symbolic*/", File "a file pragma", Package "a package pragma",
        AtFinite "@finite" ['⨍'], AtPartition "@partition", AtPrj1 "@prj1", AtPrj2 "@prj2",
        ParOpen "(", ParClose ")", BraceOpen "{", BraceClose "}", BracketOpen "[", BracketClose "]",
        Comma ",", Semicolon ";", Dot ".", MiddleDot "·" ['·' '⋅' '•'], Bar "|" ['∣'], Parallel "||" ['∥' '‖'], Old "$0",
        Quote "'", Assign ":=" ['≔'], BecomesIn "::", Results "<--" ['←' '⟵'], Defines "==" ['≜'],
        Forall "!" ['∀'], Exists "#" ['∃'], Lambda "%" ['λ' '\u{1D706}'], EmptySet "∅" ['∅'], EmptySeq "<>",
        Implies "=>" ['⇒' '⟹'], And "&" ['∧'], Iff "<=>" ['⇔' '⟺'],
        Equal "=", NotEqual "/=" ['≠'], Colon ":" ['∈'], NotIn "/:" ['∉'], Subset "<:" ['⊆'], NotSubset "/<:" ['⊈'],
        StrictSubset "<<:" ['⊂' '⊊'], NotStrictSubset "/<<:" ['⊄'], Less "<", LessEqual "<=" ['≤'], Greater ">",
        GreaterEqual ">=" ['≥'], Contains "∋" ['∋'], NotContains "∌" ['∌'], Superset "⊇" ['⊇'], NotSuperset "⊉" ['⊉'],
        StrictSuperset "⊃" ['⊃'],
        // ProB reads U+228B as the negation, and so do we, surprising as it is.
        NotStrictSuperset "⊅" ['⊅' '⊋'],
        OfType "⦂" ['⦂'],
        Relation "<->" ['↔'], PartialFunction "+->" ['⇸'], TotalFunction "-->" ['→'], PartialInjection ">+>" ['⤔'],
        TotalInjection ">->" ['↣'], PartialSurjection "+->>" ['⤀'], TotalSurjection "-->>" ['↠'], PartialBijection ">+>>",
        TotalBijection ">->>" ['⤖'], TotalRelation "<<->" ['\u{E100}'], SurjectiveRelation "<->>" ['\u{E101}'],
        TotalSurjectiveRelation "<<->>" ['\u{E102}'],
        Maplet "|->" ['↦'], Override "<+" ['⋖' '\u{E103}'], DirectProduct "><" ['⊗'], ComposeBack "∘" ['∘'], Concat "^" ['⌒'],
        DomRestrict "<|" ['◁'], DomSubtract "<<|" ['⩤' '◀'], RanRestrict "|>" ['▷'], RanSubtract "|>>" ['⩥' '▶'],
        Prepend "->" ['⇾'], Append "<-" ['⇽'], Union "\\/" ['∪'], Inter "/\\" ['∩'], Take "/|\\" ['↑'], Drop "\\|/" ['↓'],
        Interval ".." ['‥'], Plus "+", Minus "-" ['−'], SetMinus "\\" ['∖'], Times "*" ['∗'], Cartesian "×" ['×' '⨯'], Div "/" ['÷'],
        Power "**" ['˄'], Inverse "~" ['∼'],
    }
}

/// Tokens with their spelling, sorted for binary search.
fn sorted(tokens: &[Tok]) -> Vec<(&'static str, Tok)> {
    let mut words: Vec<_> = tokens.iter().map(|&tok| (tok.spelling(), tok)).collect();
    words.sort_unstable_by_key(|(word, _)| *word);
    words
}

static RESERVED: LazyLock<Vec<(&'static str, Tok)>> = LazyLock::new(|| sorted(KEYWORDS));
static SYMBOLS: LazyLock<Vec<(&'static str, Tok)>> = LazyLock::new(|| sorted(OTHERS));

/// The symbol with this text.
pub fn symbol(text: &str) -> Option<Tok> {
    let at = SYMBOLS.binary_search_by_key(&text, |(symbol, _)| symbol).ok()?;
    Some(SYMBOLS[at].1)
}

/// The reserved word with this text, Unicode letters that stand for one included.
pub fn keyword(word: &str) -> Option<Tok> {
    if !word.is_ascii() {
        return match word {
            "ℤ" => Some(Tok::Integer),
            "ℕ" => Some(Tok::Natural),
            "ℕ1" | "ℕ₁" => Some(Tok::Natural1),
            "ℙ" => Some(Tok::Pow),
            "ℙ1" | "ℙ₁" => Some(Tok::Pow1),
            "ℝ" => Some(Tok::RealSet),
            "𝔹" => Some(Tok::BoolSet),
            _ => None,
        };
    }
    let at = RESERVED.binary_search_by_key(&word, |(text, _)| text).ok()?;
    Some(RESERVED[at].1)
}

/// Whether a character may open a name. λ is an operator there, though it may follow later.
pub fn opens_name(c: char) -> bool {
    c.is_ascii_alphabetic() || (!c.is_ascii() && c.is_alphabetic() && c != 'λ' && c != '\u{1D706}')
}

/// Whether a character may stand inside a name, before subscripts and primes.
pub fn continues_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || (!c.is_ascii() && c.is_alphabetic() && c != '\u{1D706}')
}

/// Subscript digits may end a name.
pub fn is_subscript(c: char) -> bool {
    ('₀'..='₉').contains(&c)
}

/// Typographic primes may end a name; the ASCII apostrophe is record access.
pub fn is_prime(c: char) -> bool {
    matches!(c, '′' | '‘' | '’')
}

/// The length in bytes of the name (or reserved word) that opens the text, 0 if none does.
pub fn name_length(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    match chars.next() {
        Some((_, c)) if opens_name(c) => {}
        _ => return 0,
    }
    for accepts in [continues_name, is_subscript, is_prime] {
        while chars.next_if(|&(_, c)| accepts(c)).is_some() {}
    }
    chars.peek().map_or(text.len(), |&(at, _)| at)
}

/// Whether a text can stand as one component of a name without back-quotes.
pub fn is_plain_name(text: &str) -> bool {
    !text.is_empty() && name_length(text) == text.len() && keyword(text).is_none()
}
