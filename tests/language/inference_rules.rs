//! Rules by which the search bounds variables of infinite types, each against plain enumeration.
//!
//! A rule is a set that has no finite type to run through, and the same set told point by point: the truth value of a predicate at every
//! point of a window that the solutions cannot leave. `%a %b %c` are numbers from -9 to 9, `%k` is one that is not zero, `%n`
//! one from 0 to 20, `%o` a comparison, `%A %B` sets of numbers from 0 to 3. The seed is fixed: failures can be
//! repeated. A rule that takes one value too many makes some of the sets differ.

use crate::value_laws::evaluate;
use bombus_kernels::random::Random;

/// Random instances of each rule.
const INSTANCES: usize = 1000;

/// The name of a rule, the set in which it is needed, and the set by enumeration.
const RULES: &[(&str, &str, &str)] = &[
    (
        "quotients bound their dividends",
        "{x | x/%k = %a}",
        "dom({p,t | p:-99..99 & t = bool(p/%k = %a)} |> {TRUE})",
    ),
    (
        "quotients are bounded on both sides",
        "{x | x/%k >= %a & x/%k <= %b}",
        "dom({p,t | p:-99..99 & t = bool(p/%k >= %a & p/%k <= %b)} |> {TRUE})",
    ),
    (
        "terms around an operator are moved to the other side",
        "{x | 2*(x/%k)-%a = %b}",
        "dom({p,t | p:-99..99 & t = bool(2*(p/%k)-%a = %b)} |> {TRUE})",
    ),
    (
        "powers bound their exponents",
        "{x | x >= 0 & 2**x <= %n & 3**x < 2*%n}",
        "dom({p,t | p:0..30 & t = bool(2**p <= %n & 3**p < 2*%n)} |> {TRUE})",
    ),
    (
        "a maximum is no less than its elements, and one of them",
        "{x | x >= -20 & max({x,%a}) = %b}",
        "dom({p,t | p:-20..20 & t = bool(max({p,%a}) = %b)} |> {TRUE})",
    ),
    (
        "a minimum is no more than its elements, and one of them",
        "{x | x <= 20 & min({%a,x+%c,%b}) %o %c & x >= %a-20}",
        "dom({p,t | p:-29..20 & t = bool(min({%a,p+%c,%b}) %o %c & p >= %a-20)} |> {TRUE})",
    ),
    (
        "the size of an interval bounds its end",
        "{x | x >= -30 & card(%a..x) = %n}",
        "dom({p,t | p:-30..30 & t = bool(card(%a..p) = %n)} |> {TRUE})",
    ),
    (
        "the size of an interval bounds its beginning",
        "{x | x <= 30 & card(x..%a) <= %n & card(x..%a) >= %b}",
        "dom({p,t | p:-60..30 & t = bool(card(p..%a) <= %n & card(p..%a) >= %b)} |> {TRUE})",
    ),
    (
        "an interval with elements lies in a set with both its ends",
        "{x,y | x..y <: %a..%b & x <= y}",
        "dom({p,t | p:(-9..9)*(-9..9) & t = bool(prj1(INTEGER,INTEGER)(p)..prj2(INTEGER,INTEGER)(p) <: %a..%b \
         & prj1(INTEGER,INTEGER)(p) <= prj2(INTEGER,INTEGER)(p))} |> {TRUE})",
    ),
    (
        "an interval without elements lies in every set",
        "{x | x >= -20 & %a..x <: %b..%c}",
        "dom({p,t | p:-20..20 & t = bool(%a..p <: %b..%c)} |> {TRUE})",
    ),
    (
        "a truth value that is known says what its predicate says",
        "{x | bool(x > %a) = FALSE & TRUE = bool(x >= %b)}",
        "dom({p,t | p:-20..20 & t = bool(not(p > %a) & p >= %b)} |> {TRUE})",
    ),
    (
        "a hypothesis inside a disjunction bounds what it is about",
        "{bool(!x.(x:INTEGER => ((x:%a..%b => x %o %c) or %a = %c)))}",
        "{bool(!x.(x:-20..20 => ((x:%a..%b => x %o %c) or %a = %c)))}",
    ),
    (
        "an implication that some integer satisfies has a witness",
        "{bool(#x.(x:INTEGER & (x:%a..%b => x = %c) & x %o %a))}",
        "{bool(#x.(x:-20..20 & (x:%a..%b => x = %c) & x %o %a))}",
    ),
    (
        "a witness or a counterexample decides a quantifier over two integers",
        "{bool(#(x,y).(x:INTEGER & y:INTEGER & x*x*y = %n*x*y & y >= %a)), \
         bool(!(x,y).(x:INTEGER & y:INTEGER & x*x*y = %n*x*y => y < %b))}",
        "{bool(#(x,y).(x:-9..9 & y:-9..9 & x*x*y = %n*x*y & y >= %a)), \
         bool(!(x,y).(x:-9..9 & y:-9..9 & x*x*y = %n*x*y => y < %b))}",
    ),
    (
        "a total function has all of an interval for its domain",
        "{x | {1|->%a, 2|->%b, 3|->%c} : 1..x --> INTEGER} \\/ {x | {1|->%a, 2|->%b} : 1..x+%c >-> INTEGER}",
        "dom({p,t | p:-30..30 & t = bool({1|->%a, 2|->%b, 3|->%c} : 1..p --> INTEGER)} |> {TRUE}) \\/ \
         dom({p,t | p:-30..30 & t = bool({1|->%a, 2|->%b} : 1..p+%c >-> INTEGER)} |> {TRUE})",
    ),
    (
        "a surjection has all of an interval for its range",
        "{x | {1|->1, 2|->2, 3|->2} : 1..3 -->> 1..x}",
        "dom({p,t | p:-9..9 & t = bool({1|->1, 2|->2, 3|->2} : 1..3 -->> 1..p)} |> {TRUE})",
    ),
    (
        "a weighted sum of images bounds each of them",
        "{f | f : 1..2 --> NATURAL & 2*f(1)+3*f(2) = %n}",
        "dom({f,t | f : 1..2 --> 0..10 & t = bool(2*f(1)+3*f(2) = %n)} |> {TRUE})",
    ),
    (
        "a sum over points bounds each image",
        "{f | f : {1,4} --> NATURAL & SIGMA(x).(x:{1,4}|f(x)*x) <= %n-9}",
        "dom({f,t | f : {1,4} --> 0..12 & t = bool(SIGMA(x).(x:{1,4}|f(x)*x) <= %n-9)} |> {TRUE})",
    ),
    (
        "a difference of images bounds one of them by the other",
        "{f | f : 1..2 --> NATURAL & f(1) <= 3 & f(2)-f(1) = %a}",
        "dom({f,t | f : 1..2 --> 0..13 & t = bool(f(1) <= 3 & f(2)-f(1) = %a)} |> {TRUE})",
    ),
    (
        "factors of a product divide it",
        "{f | f : 1..2 --> NATURAL & PI(i).(i:1..2|f(i)) = %n+1}",
        "dom({f,t | f : 1..2 --> 0..21 & t = bool(PI(i).(i:1..2|f(i)) = %n+1)} |> {TRUE})",
    ),
    (
        "a set whose elements all lie in another is part of it",
        "{t | t <: INTEGER & !p.(p:t => p:%A & p:0..2) & %B <: t}",
        "dom({p,t | p : POW(0..3) & t = bool(p <: %A & 3 /: p & %B <: p)} |> {TRUE})",
    ),
    (
        "a sequence over two sets is one over what they share",
        "{s | s : iseq(%A) & s : iseq1(INTEGER) & s : seq(%B)}",
        "dom({p,t | p : iseq(0..3) & t = bool(p /= [] & ran(p) <: %A & ran(p) <: %B)} |> {TRUE})",
    ),
    (
        "equations are put in place before anything is chosen",
        "{x | x:0..9 & #(y,z,w).(y = x+%a & z = y-%b & w = z*%k & w %o %k*x+%c)}",
        "dom({p,t | p:0..9 & t = bool((p+%a-%b)*%k %o %k*p+%c)} |> {TRUE})",
    ),
    (
        "pieces of a sequence have the lengths they are said to have",
        "{x,y | x:seq(INTEGER) & y:seq(INTEGER) & [%a,%b,%c,%a,7] = x^y^[7] & size(x) = %n-8}",
        "{x,y | %n:8..12 & x = ([%a,%b,%c,%a]/|\\(max({0,min({4,%n-8})}))) & y = ([%a,%b,%c,%a]\\|/(max({0,min({4,%n-8})})))}",
    ),
    (
        "an identity is its own inverse",
        "(id(NATURAL)~)[%A] \\/ {bool(id(NATURAL)~ = id(NATURAL))|->0}[{FALSE}]",
        "%A",
    ),
    (
        "a function is followed backwards from finitely many values",
        "((%x.(x:NATURAL|x+%n))~ ; {1|->5, %n|->6, -1|->7})",
        "{1+%n|->5, %n+%n|->6}",
    ),
    (
        "what two products share is the product of what their sides share",
        "{x,y | x|->y : ((NATURAL*%A) /\\ ((%B \\/ {-1})*INTEGER))}",
        "{x,y | x : 0..3 & y : 0..3 & x : %B & y : %A}",
    ),
    (
        "what is part of a part of a union is part of the union",
        "{bool(NATURAL <: (NATURAL \\/ (%A*{0})[{-1}]) \\/ {-%n}), bool(STRING \\/ {\"a\"} = STRING)}",
        "{TRUE}",
    ),
];

struct Instances(Random);

impl Instances {
    fn number(&mut self, low: i64, high: i64) -> i64 {
        low + self.0.below((high - low + 1) as u64) as i64
    }

    /// The texts of one instance, with the same values in both.
    fn of(&mut self, texts: [&str; 2]) -> [String; 2] {
        let set = |this: &mut Self| {
            let list: Vec<String> =
                (0..4).filter(|_| this.0.below(2) == 0).map(|n: i64| n.to_string()).collect();
            if list.is_empty() { "({9}-{9})".to_string() } else { format!("{{{}}}", list.join(",")) }
        };
        let comparisons = ["=", "<", "<=", ">", ">=", "/="];
        let k = self.number(1, 5) * if self.0.below(2) == 0 { 1 } else { -1 };
        let values = [
            ("%a", format!("({})", self.number(-9, 9))),
            ("%b", format!("({})", self.number(-9, 9))),
            ("%c", format!("({})", self.number(-9, 9))),
            ("%k", format!("({k})")),
            ("%n", self.number(0, 20).to_string()),
            ("%o", comparisons[self.number(0, 5) as usize].to_string()),
            ("%A", set(self)),
            ("%B", set(self)),
        ];
        texts
            .map(|text| values.iter().fold(text.to_string(), |text, (name, value)| text.replace(name, value)))
    }
}

#[test]
fn what_a_rule_leaves_is_what_enumeration_finds() {
    for (at, (name, by_rule, by_points)) in RULES.iter().enumerate() {
        let mut instances = Instances(Random(at as u64 + 1));
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..INSTANCES {
            let [rule, points] = instances.of([by_rule, by_points]);
            // Few numbers make few instances of some rules.
            if !seen.insert(rule.clone()) {
                continue;
            }
            let found = evaluate(&rule).unwrap_or_else(|e| panic!("{name}: {rule}: {e}"));
            let expected = evaluate(&points).unwrap_or_else(|e| panic!("{name}: {points}: {e}"));
            assert_eq!(found, expected, "{name}: {rule}");
        }
    }
}
