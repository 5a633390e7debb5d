//! The text form of the core language: symbolic expressions, one table for both directions.
//!
//! In: text, or a tree. Out: a tree, or text; `write(read(t))` is `t` for a text that `write` made. An expression is
//! `(operator operand …)`, a list of anything `(a b …)`, a missing part `()`. Errors name the line and the column.

use crate::tree::*;
use crate::value::{Value, quoted};
use dashu_int::IBig;
use dashu_ratio::RBig;
use std::collections::BTreeSet;

/// Expressions may be nested so deeply.
pub const DEPTH: usize = 400;

type Read<T> = Result<T, Wrong>;

/// What is wrong, and the number of the character where.
pub type Wrong = (usize, String);

/// A piece of text and where it begins.
pub struct Node {
    shape: Shape,
    at: usize,
}

enum Shape {
    Word(Name),
    /// A name between back-quotes, or a string between quotes.
    Name(Name),
    Text(Name),
    List(Vec<Node>),
}

/// What has a text form.
pub trait Core: Sized {
    /// The text of this tree.
    fn write(&self) -> String;
    /// The tree of a piece of text.
    fn read(node: &Node) -> Read<Self>;
}

/// The tree that a text stands for, or `line:column: what is wrong`; lines and columns count from 1.
pub fn read<T: Core>(text: &str) -> Result<T, String> {
    let mut lexer = Lexer { chars: text.chars().collect(), at: 0, names: BTreeSet::new() };
    let tree = lexer.node(0).and_then(|node| match lexer.blanks() {
        None => T::read(&node),
        Some(_) => lexer.fail("the text should end here"),
    });
    tree.map_err(|(at, message)| {
        let before: Vec<&char> = lexer.chars[..at].iter().collect();
        let line = before.iter().filter(|c| ***c == '\n').count() + 1;
        let column = before.iter().rev().take_while(|c| ***c != '\n').count() + 1;
        format!("{line}:{column}: {message}")
    })
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    /// The words that were read; equal ones are one.
    names: BTreeSet<Name>,
}

impl Lexer {
    /// The next character that is no blank.
    fn blanks(&mut self) -> Option<char> {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
        self.chars.get(self.at).copied()
    }
    fn fail<T>(&self, message: &str) -> Read<T> {
        Err((self.at, message.into()))
    }
    fn node(&mut self, depth: usize) -> Read<Node> {
        let next = self.blanks();
        let at = self.at;
        let shape = match next {
            None => return self.fail("the text ends too early"),
            Some(')') => return self.fail("an expression is expected"),
            Some('(') if depth == DEPTH => return self.fail("the text is nested too deeply"),
            Some('(') => {
                self.at += 1;
                let mut items = Vec::new();
                while self.blanks() != Some(')') {
                    items.push(self.node(depth + 1)?);
                }
                self.at += 1;
                Shape::List(items)
            }
            Some('"') => Shape::Text(self.until('"')?),
            Some('`') => Shape::Name(self.until('`')?),
            Some(_) => {
                let ends = |c: &char| c.is_whitespace() || "()\"`".contains(*c);
                let word: String = self.chars[at..].iter().take_while(|c| !ends(c)).collect();
                self.at += word.chars().count();
                Shape::Word(self.name(word))
            }
        };
        Ok(Node { shape, at })
    }
    fn name(&mut self, word: String) -> Name {
        let name = self.names.get(&*word).cloned().unwrap_or_else(|| word.into());
        self.names.insert(name.clone());
        name
    }
    fn until(&mut self, end: char) -> Read<Name> {
        let mut out = String::new();
        loop {
            self.at += 1;
            match (self.chars.get(self.at), self.chars.get(self.at + 1)) {
                (None, _) | (Some('\\'), None) => return self.fail("a quotation has no end"),
                (Some('\\'), Some(c)) => {
                    self.at += 1;
                    out.push(if *c == 'n' { '\n' } else { *c });
                }
                (Some(c), _) if *c == end => break,
                (Some(c), _) => out.push(*c),
            }
        }
        self.at += 1;
        Ok(self.name(out))
    }
}

impl Node {
    fn fail<T>(&self, message: impl Into<String>) -> Read<T> {
        Err((self.at, message.into()))
    }
    fn list(&self) -> Read<&[Node]> {
        if let Shape::List(items) = &self.shape { Ok(items) } else { self.fail("a list is expected") }
    }
    fn word(&self) -> Option<&str> {
        if let Shape::Word(w) = &self.shape { Some(w) } else { None }
    }
    /// The operator of a form; empty if there is none.
    fn head(&self) -> &str {
        self.list().ok().and_then(|items| items.first()?.word()).unwrap_or("")
    }
    /// Part `i` of a form of `n` parts besides its operator.
    fn part<T: Core>(&self, i: usize, n: usize) -> Read<T> {
        let items = self.list()?;
        if items.len() != n + 1 {
            return self.fail(format!("{} has {n} parts", self.head()));
        }
        T::read(&items[i + 1])
    }
}

/// Whether one of some names occurs in a text, bound or free. A text with strings or unusual names may hold it anywhere.
pub(crate) fn mentions<'n>(text: &str, mut names: impl Iterator<Item = &'n str>) -> bool {
    let odd = text.contains(['"', '\\']);
    let words: BTreeSet<&str> = text.split(|c: char| c.is_whitespace() || "()`".contains(c)).collect();
    names.any(|n| if odd || n.contains([' ', '`']) { text.contains(n) } else { words.contains(n) })
}

fn form(word: &str, parts: Vec<String>) -> String {
    let gap = if word.is_empty() || parts.is_empty() { "" } else { " " };
    format!("({word}{gap}{})", parts.join(" "))
}

impl Core for Name {
    fn write(&self) -> String {
        let plain = |c: char| c.is_alphanumeric() || "_.$'".contains(c);
        let reserved = ["", "TRUE", "FALSE", "NATURAL", "NATURAL1"].contains(&&**self);
        if !reserved && self.chars().all(plain) && !self.starts_with(|c: char| c.is_ascii_digit()) {
            return self.to_string();
        }
        format!("`{}`", self.replace('\\', "\\\\").replace('`', "\\`").replace('\n', "\\n"))
    }
    fn read(node: &Node) -> Read<Name> {
        match &node.shape {
            Shape::Word(w) | Shape::Name(w) => Ok(w.clone()),
            _ => node.fail("a name is expected"),
        }
    }
}

impl<T: Core> Core for Vec<T> {
    fn write(&self) -> String {
        form("", self.iter().map(T::write).collect())
    }
    fn read(node: &Node) -> Read<Vec<T>> {
        node.list()?.iter().map(T::read).collect()
    }
}

impl<T: Core> Core for Option<T> {
    fn write(&self) -> String {
        form("", self.iter().map(T::write).collect())
    }
    fn read(node: &Node) -> Read<Option<T>> {
        let mut parts = Vec::read(node)?;
        if parts.len() > 1 { node.fail("at most one part is expected") } else { Ok(parts.pop()) }
    }
}

impl<A: Core, B: Core> Core for (A, B) {
    fn write(&self) -> String {
        form("", vec![self.0.write(), self.1.write()])
    }
    fn read(node: &Node) -> Read<(A, B)> {
        match node.list()? {
            [a, b] => Ok((A::read(a)?, B::read(b)?)),
            _ => node.fail("two parts are expected"),
        }
    }
}

impl<T: Core> Core for Box<T> {
    fn write(&self) -> String {
        (**self).write()
    }
    fn read(node: &Node) -> Read<Box<T>> {
        T::read(node).map(Box::new)
    }
}

/// Both directions of an enumeration: variants without parts as words, others as forms; `or` what is neither.
macro_rules! forms {
    ($t:ident [$($w:literal $u:ident),*] {$($head:literal $v:ident($($f:ident)+)),* $(,)?} $write:expr, $read:expr) => {
        impl Core for $t {
            fn write(&self) -> String {
                match self {
                    $($t::$u => $w.into(),)*
                    $($t::$v($($f),+) => form($head, vec![$($f.write()),+]),)*
                    #[allow(unreachable_patterns)]
                    other => $write(other),
                }
            }
            fn read(node: &Node) -> Read<$t> {
                match (node.word(), node.head()) {
                    $((Some($w), _) => Ok($t::$u),)*
                    $((None, $head) => {
                        let mut at = 0..;
                        let n = [$(stringify!($f)),+].len();
                        $(let $f = node.part(at.next().unwrap_or(n), n)?;)+
                        Ok($t::$v($($f),+))
                    })*
                    _ => $read(node),
                }
            }
        }
    };
}

/// Both directions of a structure: a list of its fields.
macro_rules! fields {
    ($t:ident $word:literal {$($f:ident),+}) => {
        impl Core for $t {
            fn write(&self) -> String {
                form($word, vec![$(self.$f.write()),+])
            }
            fn read(node: &Node) -> Read<$t> {
                let mut at = 0..;
                let n = [$(stringify!($f)),+].len();
                if node.head() != $word { return unknown(node) }
                Ok($t { $($f: node.part(at.next().unwrap_or(n), n)?),+ })
            }
        }
    };
}

fn unknown<T>(node: &Node) -> Read<T> {
    node.fail(format!("`{}` is not known here", node.word().unwrap_or(node.head())))
}

fn never<T>(_: &T) -> String {
    unreachable!("all variants stand in the table")
}

forms! { Type ["INTEGER" Integer, "BOOL" Bool, "STRING" Str, "REAL" Real] {
    "given" Given(n), "free" Free(n), "pow" Pow(t), "prod" Prod(a b), "record" Record(f),
} never, unknown }

forms! { Expr ["NATURAL" Natural, "NATURAL1" Natural1] {
    "old" Old(n), "all" All(t), "{}" Set(es), "[]" Seq(es),
    "|->" Pair(a b), "rec" Record(fs), "struct" Struct(fs), "'" Field(e n), "closure" Closure(t e),
    "iterate" Iterate(t r n), "@" Apply(f x), "@e" ApplyWhole(f x), "bool" Truth(p), "{|}" Compr(vs p),
    "if" If(p a b), "let" Let(bs e), "make" Construct(n arg), "unmake" Destruct(n e),
} expr_text, expr_of }

fn expr_text(e: &Expr) -> String {
    match e {
        Expr::Var(n) => n.write(),
        Expr::Const(v) => value_text(v),
        Expr::Unary(op, a) => form(op.word(), vec![a.write()]),
        Expr::Binary(op, a, b) => form(op.word(), vec![a.write(), b.write()]),
        Expr::Big(op, vs, p, e) => form(op.word(), vec![vs.write(), p.write(), e.write()]),
        other => never(other),
    }
}

/// The expression that stands for a value; an element is written with its number.
pub fn value_text(v: &Value) -> String {
    match v {
        Value::Int(n) => n.to_string(),
        Value::Bool(b) => b.write(),
        Value::Real(r) => format!("{}/{}", r.numerator(), r.denominator()),
        Value::Str(s) => quoted(s),
        Value::Elem(i, names) => form("elem", vec![names.0.write(), i.to_string(), names.1.write()]),
        Value::Pair(p) => form("|->", vec![value_text(&p.0), value_text(&p.1)]),
        Value::Set(es) => form("{}", vec![form("", es.iter().map(value_text).collect())]),
        Value::Record(fs) => {
            let fields = fs.iter().map(|(n, v)| form("", vec![n.write(), value_text(v)]));
            form("rec", vec![form("", fields.collect())])
        }
        Value::Free(_, names, arg) => {
            let arg = arg.iter().map(|a| value_text(a)).collect();
            form("make", vec![names.1.write(), form("", arg)])
        }
    }
}

fn expr_of(node: &Node) -> Read<Expr> {
    let head = node.head();
    match &node.shape {
        Shape::Text(t) => Ok(Expr::Const(Value::Str(t.clone()))),
        Shape::Name(n) => Ok(Expr::Var(n.clone())),
        Shape::Word(w) => Ok(match (&**w, w.parse::<IBig>(), real_of(w)) {
            ("TRUE" | "FALSE", ..) => Expr::Const(Value::Bool(&**w == "TRUE")),
            (_, Ok(n), _) => Expr::Const(Value::Int(n)),
            (_, _, Some(r)) => Expr::Const(Value::Real(r)),
            _ => Expr::Var(w.clone()),
        }),
        Shape::List(items) if head == "elem" => {
            match items[1..].iter().map(Name::read).collect::<Read<Vec<_>>>()?.as_slice() {
                [set, i, name] if let Ok(i) = i.parse() => {
                    Ok(Expr::Const(Value::element(i, set.clone(), name.clone())))
                }
                _ => node.fail("an element is (elem SET NUMBER NAME)"),
            }
        }
        Shape::List(_) => Ok(match (UnOp::named(head), BinOp::named(head), BigOp::named(head)) {
            (Some(op), ..) => Expr::Unary(op, node.part(0, 1)?),
            (_, Some(op), _) => Expr::Binary(op, node.part(0, 2)?, node.part(1, 2)?),
            (_, _, Some(op)) => Expr::Big(op, node.part(0, 3)?, node.part(1, 3)?, node.part(2, 3)?),
            _ => return unknown(node),
        }),
    }
}

fn real_of(word: &str) -> Option<RBig> {
    let (a, b) = word.split_once('/')?;
    let b: dashu_int::UBig = b.parse().ok()?;
    (b != dashu_int::UBig::ZERO).then_some(RBig::from_parts(a.parse().ok()?, b))
}

forms! { Pred ["TRUE" True, "FALSE" False] {
    "&" And(ps), "or" Or(ps), "not" Not(p), "=>" Implies(p q), "<=>" Iff(p q), "!" Forall(vs p), "#" Exists(vs p),
    "if" If(c p q), "let" Let(bs p), "finite" Finite(e), "partition" Partition(e es), "made" Made(n e),
    "at" At(l p),
} pred_text, pred_of }

fn pred_text(p: &Pred) -> String {
    match p {
        Pred::Rel(op, a, b) => form(op.word(), vec![a.write(), b.write()]),
        other => never(other),
    }
}

fn pred_of(node: &Node) -> Read<Pred> {
    match RelOp::named(node.head()) {
        Some(op) => Ok(Pred::Rel(op, node.part(0, 2)?, node.part(1, 2)?)),
        None => unknown(node),
    }
}

forms! { Step [] { "index" Index(e), "field" Field(n) } never, unknown }
fields! { Target "to" { var, path } }
fields! { Clause "clause" { label, pred } }
fields! { Loop "loop" { condition, body, invariant, variant } }
fields! { GivenSet "set" { name, elements } }
fields! { FreeType "type" { name, constructors } }
fields! { Operation "op" { name, event, params, results, body } }

forms! { Subst ["skip" Skip] {
    ":=" Assign(parts), "::" In(xs e), ":|" Such(vs p), "pre" Pre(p s), "assert" Assert(d p s), "witness" Witness(p s),
    "choice" Choice(ss), "if" If(bs e), "select" Select(bs e), "case" Case(e bs other), "any" Any(vs p s),
    "let" Let(bs s), "var" Var(xs s), "while" While(l), "call" Call(n args to), ";" Seq(ss), "||" Par(ss),
} never, unknown }

forms! { Duty ["assertion" Assertion, "refinement" Refinement, "variant" Variant] {} never, unknown }

impl Core for bool {
    fn write(&self) -> String {
        (if *self { "TRUE" } else { "FALSE" }).into()
    }
    fn read(node: &Node) -> Read<bool> {
        let word = node.word().filter(|w| ["TRUE", "FALSE"].contains(w));
        word.map_or_else(|| unknown(node), |w| Ok(w == "TRUE"))
    }
}

/// A machine: its name, then its clauses; an empty clause is left out.
macro_rules! machine {
    ($($f:ident $word:literal),+) => {
        impl Core for Machine {
            fn write(&self) -> String {
                let mut out = format!("(machine {}", self.name.write());
                let empty = Machine::default();
                $(if self.$f != empty.$f {
                    out.push_str(&format!("\n  ({} {})", $word, self.$f.write()));
                })+
                out + ")"
            }
            fn read(node: &Node) -> Read<Machine> {
                let items = node.list()?;
                let ("machine", [_, name, clauses @ ..]) = (node.head(), items) else { return unknown(node) };
                let mut machine = Machine { name: Name::read(name)?, ..Machine::default() };
                for clause in clauses {
                    match clause.head() {
                        $($word => machine.$f = clause.part(0, 1)?,)+
                        _ => return unknown(clause),
                    }
                }
                Ok(machine)
            }
        }
    };
}

machine! { sets "sets", freetypes "freetypes", constants "constants", variables "variables", properties "properties",
invariant "invariant", assertions "assertions", initialisation "init", operations "operations", goal "goal",
scope "scope", refines "refines" }
