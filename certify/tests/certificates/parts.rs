//! Certificates that are checked in parts: samples, shards, logs, several threads.

use crate::producer::verified;
use crate::{COUNTER, with};
use bombus_certify::report::Part;
use bombus_certify::run::{Options, check};

#[test]
fn shards_with_logs_come_to_the_same_answer_as_the_whole() {
    let dir = tempfile::tempdir().expect("a directory");
    let draft = verified(COUNTER);
    draft.write(dir.path());
    let log = |n: u64| dir.path().join(format!("{n}.log"));
    let one = Options { jobs: 1, ..Options::default() };
    for n in 1..=3 {
        let options = Options { shard: Some((n, 3)), logs: vec![log(n)], ..one.clone() };
        let report = check(dir.path(), &options).expect("a certificate");
        assert_eq!((report.status(), report.rejected), (3, None));
        assert!(matches!(report.part, Part::Shard(..)));
    }
    let options = Options { logs: vec![log(1), log(2), log(3)], ..one.clone() };
    let joined = check(dir.path(), &options).expect("a certificate");
    let whole = check(dir.path(), &Options { jobs: 3, ..one.clone() }).expect("a certificate");
    assert_eq!((joined.status(), whole.status()), (0, 0));
    assert_eq!(joined.counted, whole.counted);
    // A log of another certificate counts for nothing.
    let mut other = draft.clone();
    other.states.pop();
    other.write(dir.path());
    assert_eq!(check(dir.path(), &options).expect("a certificate").status(), 1);
}

#[test]
fn a_sample_is_never_the_whole_and_finds_what_is_wrong_everywhere() {
    let options = Options { jobs: 1, sample: Some(40), ..Options::default() };
    let draft = verified(COUNTER);
    let report = with(&draft, &options).expect("a certificate");
    assert_eq!((report.status(), report.rejected), (3, None));
    let mut wrong = draft;
    wrong.core = wrong.core.replace("(to x ()) (+ x 1)", "(to x ()) (+ x 100)");
    assert_eq!(with(&wrong, &options).expect("a certificate").status(), 1);
}

#[test]
fn obligations_beyond_the_budget_are_listed_and_nothing_is_accepted_silently() {
    let options = Options { jobs: 1, steps: 8, ..Options::default() };
    let report = with(&verified(COUNTER), &options).expect("a certificate");
    assert_eq!(report.status(), 3, "{}", report.text());
    assert!(report.open.total() > 0);
}
