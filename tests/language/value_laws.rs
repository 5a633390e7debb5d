//! Laws of sets, relations, functions and sequences, on random values in many notations.
//!
//! Each law is a formula over placeholders: `%A %B %C` sets of small integers, `%R %S` relations over
//! them, `%F` a function, `%P %Q` sequences, `%n` a number. A value is written in one of several ways
//! (listed, as a comprehension, as an interval with corrections, as a lambda), so that the laws also
//! say that equal sets are equal however they came about. The seed is fixed: failures can be repeated.

use bombus::base::Int;
use bombus::base::budget::Budget;
use bombus::base::diagnostic::Sources;
use bombus::evaluate::Interpreter;
use bombus::lang::value::Value;
use bombus::model::{Formula, FormulaScope, empty_machine};
use bombus_kernels::random::Random;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Instances of each law.
const INSTANCES: usize = 40;

struct Instances(Random);

impl Instances {
    fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    fn subset(&mut self, n: i64) -> BTreeSet<i64> {
        (0..n).filter(|_| self.below(2) == 0).collect()
    }

    fn set(&mut self) -> String {
        let elems = self.subset(5);
        let list: Vec<String> = elems.iter().map(i64::to_string).collect();
        let listed = format!("{{{}}}", list.join(","));
        match (self.below(4), elems.is_empty()) {
            (_, true) => ["({1} - {1})", "(3..2)", "{w|w:1..3 & w>7}"][self.below(3) as usize].to_string(),
            (0, _) => listed,
            (1, _) => {
                let tests: Vec<String> = list.iter().map(|e| format!("w={e}")).collect();
                format!("{{w|w:-9..9 & ({})}}", tests.join(" or "))
            }
            (2, _) => {
                let out: Vec<String> = (0..5).filter(|e| !elems.contains(e)).map(|e| e.to_string()).collect();
                if out.is_empty() {
                    "(0..4)".to_string()
                } else {
                    format!("((0..4) - {{{}}})", out.join(","))
                }
            }
            _ => format!("dom(%w.(w:{listed}|w*w))"),
        }
    }

    fn relation(&mut self) -> String {
        let pairs: Vec<(i64, i64)> =
            (0..4).flat_map(|x| (0..4).map(move |y| (x, y))).filter(|_| self.below(4) == 0).collect();
        let list: Vec<String> = pairs.iter().map(|(x, y)| format!("{x}|->{y}")).collect();
        match (self.below(2), pairs.is_empty()) {
            (_, true) => "({1|->1} - {1|->1})".to_string(),
            (0, _) => format!("{{{}}}", list.join(",")),
            _ => {
                let tests: Vec<String> = pairs.iter().map(|(x, y)| format!("(v={x} & w={y})")).collect();
                format!("{{v,w|v:0..3 & w:0..3 & ({})}}", tests.join(" or "))
            }
        }
    }

    fn function(&mut self) -> String {
        let rows: Vec<String> = (0..4).map(|x| format!("{x}|->{}", self.below(4))).collect();
        match self.below(2) {
            0 => format!("{{{}}}", rows.join(",")),
            _ => format!("%w.(w:0..3|{{{}}}(w))", rows.join(",")),
        }
    }

    fn sequence(&mut self) -> String {
        let n = self.below(4);
        let items: Vec<String> = (0..n).map(|_| self.below(4).to_string()).collect();
        match (n, self.below(2)) {
            (0, _) => "({1|->1} - {1|->1})".to_string(),
            (_, 0) => format!("[{}]", items.join(",")),
            _ => format!("%w.(w:1..{n}|[{}](w))", items.join(",")),
        }
    }

    fn instance(&mut self, law: &str) -> String {
        let mut text = law.to_string();
        for name in ["%A", "%B", "%C"] {
            text = text.replace(name, &self.set());
        }
        for name in ["%R", "%S"] {
            text = text.replace(name, &self.relation());
        }
        text = text.replace("%F", &self.function());
        for name in ["%P", "%Q"] {
            text = text.replace(name, &self.sequence());
        }
        text.replace("%n", &self.below(4).to_string())
    }
}

/// The value of a closed formula, with MININT..MAXINT as -1..3.
pub fn evaluate(text: &str) -> Result<Value, String> {
    let (maxint, minint) = (Int::from(3i64), Int::from(-1i64));
    let mut machine = empty_machine(maxint.clone(), minint.clone());
    let scope = FormulaScope::empty(maxint, minint);
    let formula =
        scope.parse(&mut machine, &mut Sources::default(), "<law>", text).map_err(|e| format!("{e:?}"))?;
    let interpreter = Interpreter::new(&machine, &Budget::unlimited());
    match formula {
        Formula::Expr(e) => interpreter.eval_expr(&e, None),
        Formula::Pred(p) => interpreter.eval_pred(&p, None).map(Value::Bool),
    }
    .map_err(|e| e.to_string())
}

const LAWS: &[&str] = &[
    "%A \\/ %B = %B \\/ %A",
    "%A /\\ %B = %B /\\ %A",
    "(%A \\/ %B) \\/ %C = %A \\/ (%B \\/ %C)",
    "%A /\\ (%B \\/ %C) = (%A /\\ %B) \\/ (%A /\\ %C)",
    "%A \\/ (%B /\\ %C) = (%A \\/ %B) /\\ (%A \\/ %C)",
    "(%A \\/ %B) - %C = (%A - %C) \\/ (%B - %C)",
    "%A - (%B \\/ %C) = (%A - %B) /\\ (%A - %C)",
    "%A - (%A - %B) = %A /\\ %B",
    "card(%A \\/ %B) + card(%A /\\ %B) = card(%A) + card(%B)",
    "card(%A * %B) = card(%A) * card(%B)",
    "card(POW(%A)) = 2**card(%A)",
    "POW(%A /\\ %B) = POW(%A) /\\ POW(%B)",
    "%A <: %B <=> %A \\/ %B = %B",
    "%A <: %B <=> %A /\\ %B = %A",
    "%A <: %B <=> %A : POW(%B)",
    "%A <<: %B <=> (%A <: %B & %A /= %B)",
    "%A = %B <=> (%A <: %B & %B <: %A)",
    "%A = %B <=> !e.(e:0..4 => (e:%A <=> e:%B))",
    "%A <: %B <=> !e.(e:%A => e:%B)",
    "%A /\\ %B /= {} <=> #e.(e:%A & e:%B)",
    "union({%A,%B,%C}) = %A \\/ %B \\/ %C",
    "inter({%A,%B,%C}) = %A /\\ %B /\\ %C",
    "UNION(e).(e:%A|{e}) = %A",
    "SIGMA(e).(e:%A|1) = card(%A)",
    "{e|e:%A & e:%B} = %A /\\ %B",
    "{e|e:%A & e/:%B} = %A - %B",
    "%n : %A <=> {%n} <: %A",
    "(%A = {} or max(%A) : %A) & (%A = {} or !e.(e:%A => e >= min(%A)))",
    "(%R~)~ = %R",
    "dom(%R~) = ran(%R)",
    "dom(%R \\/ %S) = dom(%R) \\/ dom(%S)",
    "ran(%R /\\ %S) <: ran(%R) /\\ ran(%S)",
    "(%R;%S)~ = (%S~;%R~)",
    "(%R;(%S;%R)) = ((%R;%S);%R)",
    "dom((%R;%S)) = %R~[dom(%S)]",
    "(%R;%S)[%A] = %S[%R[%A]]",
    "%R[%A \\/ %B] = %R[%A] \\/ %R[%B]",
    "%R[%A] = ran(%A <| %R)",
    "(%A <| %R) \\/ (%A <<| %R) = %R",
    "(%R |> %A) \\/ (%R |>> %A) = %R",
    "%A <| (%B <| %R) = (%A /\\ %B) <| %R",
    "%A <<| %R = (dom(%R) - %A) <| %R",
    "(%R <+ %S) = (dom(%S) <<| %R) \\/ %S",
    "dom(%R <+ %S) = dom(%R) \\/ dom(%S)",
    "(id(%A);%R) = %A <| %R",
    "(%R >< %S) = {x,yz|x:0..3 & yz:(0..3)*(0..3) & #(y,z).(yz=y|->z & x|->y:%R & x|->z:%S)}",
    "(%R || %S)~ = (%R~ || %S~)",
    "closure1(%R) = closure1(%R) \\/ (%R;closure1(%R))",
    "%R <: closure1(%R) & (closure1(%R);closure1(%R)) <: closure1(%R)",
    "iterate(%R,2) = (%R;%R) & iterate(%R,1) = %R",
    "rel(fnc(%R)) = %R",
    "fnc(%R) : 0..3 +-> POW(0..3)",
    "(%n|->%n) : closure(%R)",
    "%R : 0..3 <-> 0..3",
    "%R : 0..3 +-> 0..3 <=> (%R~;%R) <: id(0..3)",
    "%R : 0..3 --> 0..3 <=> (%R : 0..3 +-> 0..3 & dom(%R) = 0..3)",
    "%R : 0..3 >+> 0..3 <=> (%R : 0..3 +-> 0..3 & %R~ : 0..3 +-> 0..3)",
    "%R : dom(%R) <<-> 0..3 & %R : 0..3 <->> ran(%R)",
    "%F : 0..3 --> 0..3",
    "%F = %w.(w:0..3|%F(w))",
    "%F(%n) = max(%F[{%n}])",
    "(%F;%F)(%n) = %F(%F(%n))",
    "(%F <+ {%n|->9})(%n) = 9",
    "%F : 0..3 >-> 0..3 <=> card(ran(%F)) = 4",
    "%F : 0..3 -->> ran(%F)",
    "%F : 0..3 >->> 0..3 <=> %F~ : 0..3 >->> 0..3",
    "card(%A --> {1,2}) = 2**card(%A)",
    "card(%A +-> {1,2}) = 3**card(%A)",
    "size(%P ^ %Q) = size(%P) + size(%Q)",
    "rev(%P ^ %Q) = rev(%Q) ^ rev(%P)",
    "rev(rev(%P)) = %P",
    "ran(%P ^ %Q) = ran(%P) \\/ ran(%Q)",
    "last(%P <- %n) = %n & front(%P <- %n) = %P",
    "first(%n -> %P) = %n & tail(%n -> %P) = %P",
    "(%P ^ %Q) /|\\ size(%P) = %P & (%P ^ %Q) \\|/ size(%P) = %Q",
    "conc([%P,%Q,%P]) = %P ^ %Q ^ %P",
    "%P : seq(0..3) & (%P : iseq(0..3) <=> card(ran(%P)) = size(%P))",
    "dom(%P) = 1..size(%P)",
    "%P = [] <=> size(%P) = 0",
    "prj1(%A,%B) = %A * %B <| prj1(0..4,0..4)",
    "%n + %n = 2 * %n & (%n + 1) * (%n + 1) = %n**2 + 2*%n + 1",
    "bool(%n : %A) = TRUE <=> %n : %A",
    "rec(a:%A,b:%n) = rec(b:%n,a:%A) & rec(a:%A,b:%n)'b = %n",
];

#[test]
fn laws_hold_for_values_in_every_notation() {
    let mut random = Instances(Random(20));
    let mut wrong = Vec::new();
    for law in LAWS {
        for _ in 0..INSTANCES {
            let text = random.instance(law);
            match evaluate(&text) {
                Ok(Value::Bool(true)) => {}
                other => {
                    wrong.push(format!("{law}\n  {text}\n  {other:?}"));
                    break;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} laws fail:\n{}", wrong.len(), wrong.join("\n"));
}

fn hash(v: &Value) -> u64 {
    let mut h = DefaultHasher::new();
    v.hash(&mut h);
    h.finish()
}

#[test]
fn order_equality_hash_and_bytes_agree() {
    let mut random = Instances(Random(7));
    let mut values = Vec::new();
    for shape in ["%A", "%R", "{%A,%B}", "%n|->%A", "rec(a:%A,b:%n)", "{%R,%S}", "%P", "{%P,%Q}"] {
        for _ in 0..12 {
            let text = random.instance(shape);
            values.push(evaluate(&text).unwrap_or_else(|e| panic!("{text}: {e}")));
        }
    }
    let bytes = |v: &Value| {
        let mut out = Vec::new();
        v.encode(&mut out);
        out
    };
    for a in &values {
        for b in &values {
            assert_eq!(a == b, a.cmp(b).is_eq());
            assert_eq!(a == b, bytes(a) == bytes(b), "{a:?} {b:?}");
            assert_eq!(a.cmp(b), b.cmp(a).reverse());
            if a == b {
                assert_eq!(hash(a), hash(b));
            }
            for c in &values {
                if a <= b && b <= c {
                    assert!(a <= c);
                }
            }
        }
    }
}
