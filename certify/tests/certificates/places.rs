//! Events that are looked at by single points of functions and sets have the steps that the oracle finds in each state.

use crate::answer;
use crate::producer::verified;

/// The certificate of a machine whose states and counts the oracle found is accepted, so the examiner found the same.
fn same(operations: &str) {
    let text = format!(
        "(machine M (sets ((set P (p q r)))) (constants ((k INTEGER)))
          (variables ((s (pow (given P))) (f (pow (prod (given P) INTEGER))) (n INTEGER)))
          (properties ((clause k (= k 2)))) (invariant ((clause n (: n (.. 0 2)))))
          (init (:= (((to s ()) ({{}} ())) ((to f ()) ({{}} ())) ((to n ()) 0))))
          (operations ({operations} (op rest TRUE () () skip) (op count TRUE () () (pre (< n k) (:= (((to n ()) (+ n 1)))))))))"
    );
    let report = answer(&verified(&text)).expect("a certificate");
    assert_eq!((report.status(), report.reached), (0, true), "{}", report.text());
}

const ADD: &str = "(op add TRUE ((x (given P))) () (pre (/: x s) (:= (((to s ()) (\\/ s ({} (x))))))))";
const PUT: &str = "(op put TRUE ((x (given P)) (y INTEGER)) () (pre (& ((: y (.. 0 k)) (/: x (dom f))))
    (:= (((to f ((index x))) (+ y n))))))";

#[test]
fn an_event_that_asks_for_an_element_and_empties_the_set_empties_it_whatever_else_is_in_it() {
    same(&format!("{ADD} (op clear TRUE ((x (given P))) () (pre (: x s) (:= (((to s ()) ({{}} ()))))))"));
}

#[test]
fn elements_come_and_go_beside_others() {
    same(&format!(
        "{ADD} (op drop TRUE ((x (given P)) (y (given P))) () (pre (: x s) (:= (((to s ()) (\\ s ({{}} (x y))))))))
         (op grow TRUE ((x (given P)) (y (given P))) () (select (((/: x s) (:= (((to s ()) (\\/ s ({{}} (x y)))))))) ()))"
    ));
}

#[test]
fn images_are_read_changed_and_removed_point_by_point() {
    same(&format!(
        "{PUT} (op more TRUE ((x (given P))) () (pre (& ((: x (dom f)) (< (@ f x) 3))) (:= (((to f ((index x))) (+ (@ f x) 1))))))
         (op cut TRUE ((x (given P))) () (pre (& ((: x (dom f)) (= (@ f x) n))) (:= (((to f ()) (<<| ({{}} (x)) f))))))
         (op set TRUE ((x (given P))) ((r INTEGER)) (pre (: x (dom f))
           (|| ((:= (((to f ()) (<+ f ({{}} ((|-> x 0))))))) (:= (((to r ()) (@ f x))))))))"
    ));
}

#[test]
fn what_an_event_reads_of_whole_sets_is_read_as_a_whole() {
    same(&format!(
        "{ADD} {PUT} (op few TRUE ((x (given P))) () (pre (& ((: x s) (= (card s) 2))) (:= (((to s ()) (\\ s ({{}} (x))))))))
         (op all TRUE ((x (given P))) () (pre (& ((: x (dom f)) (! ((y (given P))) (=> (: y (dom f)) (<= (@ f y) (@ f x))))))
           (:= (((to n ()) 0)))))
         (op any TRUE ((x (given P))) () (pre (: (@ f x) (ran f)) (:= (((to f ((index x))) 0)))))"
    ));
}

#[test]
fn a_guard_without_a_value_disables_and_a_fault_in_a_step_rejects() {
    same(&format!("{PUT} (op same TRUE ((x (given P))) () (pre (= (@ f x) n) skip))"));
    let text = format!(
        "(machine M (sets ((set P (p q)))) (constants ((k INTEGER)))
          (variables ((f (pow (prod (given P) INTEGER))) (n INTEGER))) (properties ((clause k (= k 0))))
          (init (:= (((to f ()) ({{}} ())) ((to n ()) 0))))
          (operations ({PUT} (op late TRUE ((x (given P))) () (pre (: x (dom f)) (:= (((to n ()) (/ 1 2)))))))))"
    );
    let mut draft = verified(&text);
    assert_eq!(answer(&draft).expect("a certificate").status(), 0);
    draft.core = draft.core.replace("(/ 1 2)", "(/ 1 (@ f x))");
    let rejected = answer(&draft).expect("a certificate").rejected;
    assert!(rejected.as_ref().is_some_and(|why| why.contains("late(p): well-definedness")), "{rejected:?}");
}
