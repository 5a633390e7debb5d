//! The page of `bombus serve` in a real browser. Without a browser the test says so and tests nothing.

use super::serve::LOCK;
use crate::support::binary::Folder;
use crate::support::chromium::Chromium;
use crate::support::http::Served;

/// What the page says about where it is: done and known steps.
fn at(page: &mut Chromium, words: &str) {
    page.wait_for(&format!("document.getElementById('history-count').textContent === '{words}'"));
}

/// Whether a text stands in an element.
fn shows(page: &mut Chromium, id: &str, text: &str) {
    page.wait_for(&format!("document.getElementById('{id}').innerText.includes({text:?})"));
}

#[test]
fn the_page_is_used_with_the_keyboard_alone() {
    let Some(mut page) = Chromium::start() else {
        eprintln!("SKIPPED: there is no chromium on this machine, so the page was not tested in a browser");
        return;
    };
    let folder = Folder::with_machine(LOCK);
    let served = Served::start(&folder, &["M.mch"]);
    page.resize(1200, 800, false);
    page.open(&served.address());
    page.wait_for("document.getElementById('machine')?.textContent === 'Lock'");

    // Steps by number, by Enter, back and forth.
    shows(&mut page, "operation-list", "SETUP_CONSTANTS");
    page.press("1");
    at(&mut page, "1 of 1");
    page.press("Enter");
    at(&mut page, "2 of 2");
    page.press("j");
    page.press("Enter");
    at(&mut page, "3 of 3");
    shows(&mut page, "state-table", "(q|->TRUE)");
    page.press("u");
    at(&mut page, "2 of 3");
    page.press("r");
    at(&mut page, "3 of 3");

    // A formula with its parts.
    page.press("e");
    page.wait_for("document.activeElement.id === 'formula'");
    page.write("card(inside) = 0 & flag(p) = TRUE");
    page.press("Enter");
    shows(&mut page, "answer", "FALSE");
    shows(&mut page, "answer", "flag(p) = TRUE");
    page.press("Escape");

    // A check opens its counterexample.
    page.press("c");
    at(&mut page, "6 of 6");
    shows(&mut page, "messages", "card(inside) <= 1");
    shows(&mut page, "verdict", "1 of 3 conjuncts false here");

    // The views to the right: invariant, then formulas, then the state space.
    page.script("document.getElementById('tab-state').click()");
    page.press("]");
    shows(&mut page, "view-invariant", "card(inside) <= 1");
    page.press("]");
    page.press("]");
    page.wait_for("document.querySelectorAll('#space .node').length === 9");
    page.wait_for("document.querySelectorAll('#space .node.here.broken').length === 1");
    // No label of an edge covers a node or another label.
    page.wait_for("document.querySelectorAll('#space text.label').length > 4");
    let covered = page.script(
        "(() => { const box = (e) => e.getBoundingClientRect();
          const nodes = [...document.querySelectorAll('#space .node rect')].map(box);
          const labels = [...document.querySelectorAll('#space text.label')].map(box);
          const meet = (a, b) => a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
          return labels.filter((a, i) => nodes.some((b) => meet(a, b)) || labels.some((b, j) => i < j && meet(a, b))).length; })()",
    );
    assert_eq!(covered, 0, "labels of edges cover something");
    page.press("?");
    page.wait_for("document.getElementById('keys').open");
    page.press("Escape");
    page.wait_for("!document.getElementById('keys').open");

    // Nothing overflows on a narrow screen, in either theme, in any view.
    for dark in [false, true] {
        page.resize(400, 800, dark);
        for tab in ["state", "invariant", "evaluate", "space", "source"] {
            page.script(&format!("document.getElementById('tab-{tab}').click()"));
            page.wait_for("document.documentElement.scrollWidth <= 400");
        }
        let ground = page.script("getComputedStyle(document.body).backgroundColor");
        assert_eq!(ground == "rgb(20, 23, 27)", dark, "{ground}");
    }
    let elsewhere = page.script(
        "performance.getEntriesByType('resource').filter(e => !e.name.startsWith(location.origin) && !e.name.startsWith('data:')).length",
    );
    assert_eq!(elsewhere, 0, "something was loaded from elsewhere");
    assert!(page.complaints.is_empty(), "{:?}", page.complaints);
}
