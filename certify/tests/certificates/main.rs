//! Certificates that are right are accepted, and those with any fault are not; whatever the bytes are, nothing breaks.

mod hostile;
mod mutations;
mod parts;
mod places;
mod producer;
mod refinements;

use bombus_certify::certificate::Unread;
use bombus_certify::report::Report;
use bombus_certify::run::{Options, check};
use producer::Draft;

/// Processes of a given set ask for a lock, hold it and give it back; nobody names a process.
pub const LOCK: &str = "(machine Lock (sets ((set P (p q r)))) (variables ((wants (pow (given P))) (holds (pow (given P)))))
  (invariant ((clause one (<= (card holds) 1)) (clause sub (<: holds wants))))
  (init (:= (((to wants ()) ({} ())) ((to holds ()) ({} ())))))
  (operations ((op ask TRUE ((x (given P))) () (pre (/: x wants) (:= (((to wants ()) (\\/ wants ({} (x))))))))
   (op enter TRUE ((x (given P))) () (pre (& ((: x wants) (= holds ({} ())))) (:= (((to holds ()) ({} (x)))))))
   (op leave TRUE ((x (given P))) () (pre (: x holds) (:= (((to holds ()) ({} ())) ((to wants ()) (\\ wants holds)))))))))";

/// A counter between constants.
pub const COUNTER: &str = "(machine Counter (constants ((low INTEGER) (high INTEGER))) (variables ((x INTEGER) (up BOOL)))
  (properties ((clause l (: low (.. 0 1))) (clause h (: high (.. 70 72)))))
  (invariant ((clause in (: x (.. low high)))))
  (init (:= (((to x ()) low) ((to up ()) TRUE))))
  (operations ((op step TRUE () () (select (((& ((= up TRUE) (< x high))) (:= (((to x ()) (+ x 1))))) ((= up FALSE) (:= (((to x ()) low) ((to up ()) TRUE))))) ()))
   (op turn TRUE () () (pre (= x high) (:= (((to up ()) FALSE))))) (op rest TRUE () () skip))))";

/// The answer about a certificate, checked by one thread.
pub fn answer(draft: &Draft) -> Result<Report, Unread> {
    with(draft, &Options { jobs: 1, ..Options::default() })
}

/// The answer about a certificate.
pub fn with(draft: &Draft, options: &Options) -> Result<Report, Unread> {
    let dir = tempfile::tempdir().expect("a directory");
    draft.write(dir.path());
    check(dir.path(), options)
}

/// Why a certificate is not accepted; nothing if it is.
pub fn refusal(draft: &Draft) -> Option<String> {
    match answer(draft) {
        Ok(report) => report.rejected,
        Err(Unread::Damaged(why) | Unread::Missing(why)) => Some(why),
    }
}
