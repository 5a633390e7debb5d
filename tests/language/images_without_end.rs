//! Images, sizes and injections of relations that cannot be listed, against their elements in a window.
//!
//! Random relations between integers are told by comparisons or polynomials that the test evaluates by itself.

use crate::inference_rules::instances_of_each;
use crate::value_laws::evaluate;
use bombus::lang::value::Value;
use bombus_kernels::random::Random;
use std::collections::BTreeSet;

const WINDOW: std::ops::RangeInclusive<i64> = -30..=30;

fn holds(formula: &str) {
    assert_eq!(evaluate(formula).map_err(|e| format!("{formula}: {e}")), Ok(Value::Bool(true)), "{formula}");
}

fn listed(elements: &BTreeSet<i64>) -> String {
    let elements: Vec<String> = elements.iter().map(|n| format!("({n})")).collect();
    format!("{{{}}}", elements.join(","))
}

/// A comparison of `a*x+b` with `c*y`, as a relation from x to y.
struct Compared {
    a: i64,
    b: i64,
    c: i64,
    op: &'static str,
}

impl Compared {
    fn random(random: &mut Random) -> Compared {
        let op = random.pick(&["<", "<=", ">", ">=", "/="]);
        let c = random.pick(&[-3, -2, -1, 1, 2, 3]);
        Compared { a: random.between(-3, 3), b: random.between(-9, 9), c, op }
    }

    fn text(&self) -> String {
        let Compared { a, b, c, op } = self;
        format!("{{x,y|x:INTEGER & y:INTEGER & ({a})*x+({b}) {op} ({c})*y}}")
    }

    fn relates(&self, x: i64, y: i64) -> bool {
        let (left, right) = (self.a * x + self.b, self.c * y);
        match self.op {
            "<" => left < right,
            "<=" => left <= right,
            ">" => left > right,
            ">=" => left >= right,
            _ => left != right,
        }
    }
}

#[test]
fn an_image_that_cannot_be_listed_has_the_elements_that_its_relation_tells() {
    let mut random = Random(17);
    for _ in 0..instances_of_each().min(200) {
        let r = Compared::random(&mut random);
        let points: BTreeSet<i64> = (0..=random.below(2)).map(|_| random.between(-5, 5)).collect();
        let image: BTreeSet<i64> = WINDOW.filter(|y| points.iter().any(|x| r.relates(*x, *y))).collect();
        let (text, points) = (r.text(), listed(&points));
        holds(&format!("{text}[{points}] /\\ -30..30 = {}", listed(&image)));
        let y = random.between(-30, 30);
        let claim = format!("({y}) : {text}[{points}]");
        let truth = Value::Bool(image.contains(&y));
        assert_eq!(evaluate(&claim).map_err(|e| e.to_string()), Ok(truth), "{claim}");
    }
}

#[test]
fn images_under_unions_differences_and_restrictions_are_told_by_those_under_their_parts() {
    let (le, ge) = ("{x,y|x:INTEGER & y:INTEGER & x<=y}", "{x,y|x:INTEGER & y:INTEGER & y<=x}");
    for (relation, image) in [
        (format!("({le} \\/ {{3|->1}})"), "{1,3,4,5}"),
        (format!("({le} /\\ {ge})"), "{3}"),
        (format!("({le} - {{3|->4}})"), "{3,5}"),
        (format!("(NATURAL <| {le})"), "{3,4,5}"),
        (format!("({{3}} <<| {le})"), "{}"),
        (format!("({le} |> {{4,5,6}})"), "{4,5}"),
        (format!("({le} |>> {{4}})"), "{3,5}"),
        ("{w,x,y|w:INTEGER & x:INTEGER & y:INTEGER & w+x<y}[{(0,1)}]".to_string(), "{2,3,4,5}"),
    ] {
        let applied = if relation.ends_with(']') { relation } else { format!("{relation}[{{3}}]") };
        holds(&format!("{applied} /\\ 0..5 = {image}"));
    }
}

#[test]
fn what_a_domain_relates_is_told_by_the_components_that_it_leaves_out() {
    holds("dom({x,r,c|x:NATURAL & c=x*x & r=c+1})(3) = 10");
    holds("dom(dom({x,r,c,d|x:NATURAL & c=x*x & d=c & r=c+1}))[{2,3}] = {5,10}");
    holds("(-1) /: dom(dom({x,r,c|x:NATURAL & c=x*x & r=c+1}))");
}

#[test]
fn a_closure_that_is_too_large_to_list_leads_where_its_steps_do() {
    holds("closure1(%x.(x:1..99999|x+1))[{99990}] = 99991..100000");
    holds("1|->99999 : closure1(%x.(x:1..99999|x+1)) & 5|->5 /: closure1(%x.(x:1..99999|x+1))");
}

#[test]
fn sets_made_of_intervals_are_counted_without_being_listed() {
    holds("card((0..1000000)-{5,7}) = 999999");
    holds("card((1..10**9) \\/ (10**9-4..2*10**9)) = 2*10**9");
    holds("card((1..10**9) /\\ (10**9-4..2*10**9)) = 5");
}

#[test]
fn a_polynomial_that_rises_at_every_step_takes_no_value_twice() {
    let mut random = Random(23);
    let (mut told, mut asked) = (0, 0);
    for _ in 0..instances_of_each().min(200) {
        let [a, b, c] = [(); 3].map(|()| random.between(-3, 3));
        let low = random.between(-4, 4);
        let f = format!("%x.(x:INTEGER & x>={low}|({a})*x*x*x+({b})*x*x+({c})*x)");
        let values: Vec<i64> = (low..=low + 40).map(|x| a * x * x * x + b * x * x + c * x).collect();
        let different = values.iter().collect::<BTreeSet<_>>().len() == values.len();
        asked += 1;
        // Within forty steps such a polynomial has left all its turns behind, so the window tells.
        let Ok(found) = evaluate(&format!("{f} : INTEGER >+> INTEGER")) else { continue };
        assert_eq!(found, Value::Bool(different), "{f}");
        told += 1;
    }
    assert!(5 * told >= 4 * asked, "{told} of {asked} were answered");
    holds("%x.(x:NATURAL|x*x) : NATURAL >-> NATURAL");
}

#[test]
fn a_union_of_functions_on_integers_that_share_no_argument_is_a_function() {
    holds("(%x.(x:NATURAL & x<2|x) \\/ %x.(x:NATURAL & x>=2|x*x)) : NATURAL --> NATURAL");
}

#[test]
fn values_of_a_function_on_sequences_that_are_not_empty_lie_where_their_form_says() {
    let on = |body: &str, image: &str| format!("%s.(s:seq1(0..1)|{body}) : seq1(0..1) --> {image}");
    let on_two = |body: &str, image: &str| {
        format!("%(s,t).(s:seq1(0..1) & t:seq(0..1)|{body}) : seq1(0..1)*seq(0..1) --> {image}")
    };
    for claim in [
        on("size(s)", "NATURAL1"),
        on("card(s)-1", "NATURAL"),
        on("0..size(s)", "POW(NATURAL)"),
        on("s<-1", "seq1(0..1)"),
        on("rev(s)", "seq1(0..2)"),
        on_two("s^t", "seq1(0..1)"),
        on_two("t^s", "seq1(0..1)"),
        on_two("0->t", "seq1(0..1)"),
    ] {
        holds(&claim);
    }
    for claim in [on("tail(s)", "seq1(0..1)"), on_two("size(t)", "NATURAL1"), on_two("t^t", "seq1(0..1)")] {
        assert_ne!(evaluate(&claim).ok(), Some(Value::Bool(true)), "{claim}");
    }
}
