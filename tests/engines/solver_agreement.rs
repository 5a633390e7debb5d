//! The solver against plain enumeration: a comprehension has exactly the elements that satisfy its
//! predicate one by one.
//!
//! Random predicates over two integers, a set and a function. On the one side the predicate binds
//! the variables; on the other they run through their whole ranges and the predicate is only evaluated.
//! The seed is fixed: failures can be repeated.

use bombus::base::Int;
use bombus::base::budget::Budget;
use bombus::base::diagnostic::Sources;
use bombus::evaluate::Interpreter;
use bombus::model::{Formula, FormulaScope, empty_machine};
use bombus_kernels::random::Random;

const PREDICATES: usize = 400;

struct Predicates(Random);

impl Predicates {
    fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    fn pick<'a>(&mut self, options: &[&'a str]) -> &'a str {
        self.0.pick(options)
    }

    fn number(&mut self, depth: u32) -> String {
        match if depth == 0 { self.below(4) } else { self.below(11) } {
            0 => "x".to_string(),
            1 => "y".to_string(),
            2 | 3 => format!("({})", self.below(7) as i64 - 2),
            4 => format!("({}+{})", self.number(depth - 1), self.number(depth - 1)),
            5 => format!("({}-{})", self.number(depth - 1), self.number(depth - 1)),
            6 => format!("({}*{})", self.number(depth - 1), self.number(0)),
            7 => "card(s)".to_string(),
            8 => "f(1)".to_string(),
            9 => "f(2)".to_string(),
            _ => format!("(-{})", self.number(depth - 1)),
        }
    }

    fn set(&mut self) -> String {
        match self.below(7) {
            0 => "s".to_string(),
            1 => "{x,y}".to_string(),
            2 => "ran(f)".to_string(),
            3 => format!("({}..{})", self.number(1), self.number(1)),
            4 => "(s - {x})".to_string(),
            5 => "{w|w:0..2 & w<=x}".to_string(),
            _ => "{0,2,3}".to_string(),
        }
    }

    fn pred(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self.atom();
        }
        match self.below(9) {
            0 | 1 => format!("({} & {})", self.pred(depth - 1), self.pred(depth - 1)),
            2 => format!("({} or {})", self.pred(depth - 1), self.pred(depth - 1)),
            3 => format!("({} => {})", self.pred(depth - 1), self.pred(depth - 1)),
            4 => format!("({} <=> {})", self.pred(depth - 1), self.pred(depth - 1)),
            5 => format!("not({})", self.pred(depth - 1)),
            6 => format!("#u.(u:0..2 & ({}) & u<=x+2)", self.pred(depth - 1)),
            7 => format!("!u.(u:s => ({} or u>y))", self.pred(depth - 1)),
            _ => self.atom(),
        }
    }

    fn atom(&mut self) -> String {
        match self.below(10) {
            0..4 => {
                let op = self.pick(&["=", "/=", "<", "<=", ">", ">="]);
                format!("{} {op} {}", self.number(2), self.number(2))
            }
            4 => format!("{} {} {}", self.number(1), self.pick(&[":", "/:"]), self.set()),
            5 => format!("{} {} {}", self.set(), self.pick(&["<:", "/<:", "<<:", "=", "/="]), self.set()),
            6 => format!("(x|->{}) : {{0|->1,1|->2,2|->0,3|->3}}", self.number(1)),
            7 => format!("{{1|->0,2|->1,0|->2}}[{}] <: s", self.set()),
            8 => format!("#v.(v:s & v+1={})", self.number(1)),
            _ => "x|->y : f".to_string(),
        }
    }
}

#[test]
fn solving_and_testing_agree() {
    let mut random = Predicates(Random(11));
    let mut wrong = Vec::new();
    for _ in 0..PREDICATES {
        let p = random.pred(3);
        let typing = ["x:-1..3", "y:-1..3", "s<:0..2", "f:1..2-->0..1"];
        let all = typing.join(" & ");
        let solved = match random.below(3) {
            0 => format!("({p}) & {all}"),
            1 => format!("{all} & ({p})"),
            _ => format!("{} & ({p}) & {}", typing[..2].join(" & "), typing[2..].join(" & ")),
        };
        let text = format!("{{x,y,s,f|{solved}}} = dom((%(x,y,s,f).({all}|bool({p}))) |> {{TRUE}})");
        let (maxint, minint) = (Int::from(3i64), Int::from(-1i64));
        let mut machine = empty_machine(maxint.clone(), minint.clone());
        let scope = FormulaScope::empty(maxint, minint);
        let formula = scope.parse(&mut machine, &mut Sources::default(), "<law>", &text);
        let Ok(Formula::Pred(law)) = formula else { panic!("{text}") };
        match Interpreter::new(&machine, &Budget::unlimited()).eval_pred(&law, None) {
            Ok(true) => {}
            other => wrong.push(format!("{p}: {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {PREDICATES} differ:\n{}", wrong.len(), wrong.join("\n"));
}
