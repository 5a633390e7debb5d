//! One specification in Z and in B: both have the same verdict, states, transitions, valuations and initial states, and
//! each operation has the same number of transitions.
//!
//! The B texts are written by hand from the Z texts: what Z leaves open is an ANY over the values of the declared set.

use crate::check;
use serde_json::Value;

struct Pair {
    name: &'static str,
    z: &'static str,
    b: &'static str,
    options: &'static [&'static str],
}

const PAIRS: &[Pair] = &[
    Pair {
        name: "a counter that wraps round, with a step as input and the old value as output",
        z: r"\begin{zed} Counter \defs [n : 0 \upto 9] \\ Init \defs [Counter' | n' = 0]
            \\ Step \defs [\Delta Counter; by? : 1 \upto 3; old! : \num | n' = (n + by?) \mod 10 \land old! = n] \end{zed}",
        b: "MACHINE M VARIABLES n INVARIANT n : 0..9 INITIALISATION n := 0 OPERATIONS
            old <-- Step(by) = PRE by : 1..3 THEN n := (n + by) mod 10 || old := n END END",
        options: &[],
    },
    Pair {
        name: "no frame: what is not said is any value of the declared set",
        z: r"\begin{zed} S \defs [x : 0 \upto 2; y : 0 \upto 2 | x + y \leq 3] \\ Init \defs [S' | x' = 0]
            \\ Shift \defs [\Delta S | x' > x] \\ Drop \defs [\Delta S | x' = 0 \land y' < y] \end{zed}",
        b: "MACHINE M VARIABLES x, y INVARIANT x : 0..2 & y : 0..2 & x + y <= 3
            INITIALISATION x, y : (x = 0 & y : 0..2 & x + y <= 3) OPERATIONS
            Shift = ANY u, v WHERE u : 0..2 & v : 0..2 & u + v <= 3 & u > x THEN x := u || y := v END;
            Drop = ANY v WHERE v : 0..2 & v < y THEN x := 0 || y := v END END",
        options: &[],
    },
    Pair {
        name: "a directory of telephone numbers over given sets",
        z: r"\begin{zed} [NAME, PHONE] \end{zed} \begin{schema}{Book} book : NAME \pfun PHONE \end{schema}
            \begin{zed} Init \defs [Book' | book' = \emptyset] \\
            Enter \defs [\Delta Book; n? : NAME; p? : PHONE | n? \notin \dom book \land book' = book \cup \{n? \mapsto p?\}] \\
            Find \defs [\Xi Book; n? : NAME; p! : PHONE | n? \in \dom book \land p! = book~n?] \\
            Forget \defs [\Delta Book; n? : NAME | n? \in \dom book \land book' = \{n?\} \ndres book] \end{zed}",
        b: "MACHINE M SETS NAME; PHONE VARIABLES book INVARIANT book : NAME +-> PHONE INITIALISATION book := {}
            OPERATIONS Enter(n, p) = PRE n : NAME & p : PHONE & n /: dom(book) THEN book := book \\/ {n |-> p} END;
            p <-- Find(n) = PRE n : dom(book) THEN p := book(n) END;
            Forget(n) = PRE n : dom(book) THEN book := {n} <<| book END END",
        options: &["--set", "NAME=3", "--set", "PHONE=3"],
    },
    Pair {
        name: "good and bad cases of one operation, with a report",
        z: r"\begin{zed} [ITEM] \\ REPORT ::= ok | full | present \\ S \defs [s : \power ITEM | \# s \leq 2] \\
            Init \defs [S' | s' = \emptyset] \\
            Fine \defs [\Delta S; i? : ITEM; r! : REPORT | i? \notin s \land s' = s \cup \{i?\} \land r! = ok] \\
            Full \defs [\Xi S; i? : ITEM; r! : REPORT | \# s = 2 \land r! = full] \\
            Present \defs [\Xi S; i? : ITEM; r! : REPORT | i? \in s \land r! = present] \\
            Insert \defs Fine \lor Full \lor Present \end{zed}",
        b: "MACHINE M SETS ITEM; REPORT = {ok, full, present} VARIABLES s INVARIANT s <: ITEM & card(s) <= 2
            INITIALISATION s := {} OPERATIONS
            r <-- Insert(i) = PRE i : ITEM THEN SELECT i /: s & card(s) < 2 THEN s := s \\/ {i} || r := ok
              WHEN card(s) = 2 THEN r := full WHEN i : s THEN r := present END END END",
        options: &["--set", "ITEM=4"],
    },
    Pair {
        name: "a bounded queue",
        z: r"\begin{zed} Q \defs [q : \seq (0 \upto 2) | \# q \leq 3] \\ Init \defs [Q' | q' = \langle \rangle] \\
            Put \defs [\Delta Q; x? : 0 \upto 2 | q' = q \cat \langle x? \rangle] \\
            Get \defs [\Delta Q; x! : \num | q \neq \langle \rangle \land x! = head~q \land q' = tail~q] \end{zed}",
        b: "MACHINE M VARIABLES q INVARIANT q : seq(0..2) & size(q) <= 3 INITIALISATION q := [] OPERATIONS
            Put(x) = PRE x : 0..2 & size(q) < 3 THEN q := q <- x END;
            x <-- Get = PRE q /= [] THEN x := first(q) || q := tail(q) END END",
        options: &[],
    },
    Pair {
        name: "constants chosen once, and a global constraint between them",
        z: r"\begin{axdef} low, high : 0 \upto 3 \where low < high \end{axdef} \begin{zed} high - low \leq 2 \\
            S \defs [n : 0 \upto 3 | low \leq n \leq high] \\ Init \defs [S' | n' = low] \\
            Up \defs [\Delta S | n' = n + 1] \\ Down \defs [\Delta S | n' = n - 1] \end{zed}",
        b: "MACHINE M CONSTANTS low, high PROPERTIES low : 0..3 & high : 0..3 & low < high & high - low <= 2
            VARIABLES n INVARIANT n : low..high INITIALISATION n := low OPERATIONS
            Up = PRE n < high THEN n := n + 1 END; Down = PRE n > low THEN n := n - 1 END END",
        options: &[],
    },
    Pair {
        name: "the invariant is broken in one state",
        z: r"\begin{zed} S \defs [a, b : 0 \upto 2] \\ Init \defs [S' | a' = 0 \land b' = 0] \\
            A \defs [\Delta S | a' = a + 1 \land b' = b] \\ B \defs [\Delta S | b' = b + 1 \land a' = a] \\
            Invariant \defs [S | a + b < 4] \end{zed}",
        b: "MACHINE M VARIABLES a, b INVARIANT a : 0..2 & b : 0..2 & a + b < 4 INITIALISATION a := 0 || b := 0
            OPERATIONS A = PRE a < 2 THEN a := a + 1 END; B = PRE b < 2 THEN b := b + 1 END END",
        options: &[],
    },
    Pair {
        name: "promotion: an operation on one account among many",
        z: r"\begin{zed} [ID] \\ Account \defs [balance : 0 \upto 2; open : 0 \upto 1 | open = 0 \implies balance = 0] \\
            Bank \defs [accounts : ID \pfun Account] \\ Init \defs [Bank' | accounts' = \emptyset] \\
            Promote \defs [\Delta Bank; \Delta Account; i? : ID | i? \in \dom accounts \land \theta Account = accounts~i?
              \land accounts' = accounts \oplus \{i? \mapsto \theta Account'\}] \\
            Pay \defs [\Delta Account | open = open' = 1 \land balance' = balance + 1] \\
            Close \defs [\Delta Account | open = 1 \land open' = 0] \\
            PayIn \defs \exists \Delta Account @ Promote \land Pay \\
            CloseOne \defs \exists \Delta Account @ Promote \land Close \\
            Open \defs [\Delta Bank; i? : ID | i? \notin \dom accounts \land (\exists Account' | balance' = 0 \land open' = 1
              @ accounts' = accounts \cup \{i? \mapsto \theta Account'\})] \end{zed}",
        b: "MACHINE M SETS ID VARIABLES accounts INVARIANT accounts : ID +-> struct(balance : 0..2, open : 0..1)
            INITIALISATION accounts := {} OPERATIONS
            PayIn(i) = PRE i : dom(accounts) & accounts(i)'open = 1 & accounts(i)'balance < 2 THEN
              accounts(i) := rec(balance : accounts(i)'balance + 1, open : 1) END;
            CloseOne(i) = PRE i : dom(accounts) & accounts(i)'open = 1 THEN accounts(i) := rec(balance : 0, open : 0) END;
            Open(i) = PRE i : ID & i /: dom(accounts) THEN accounts(i) := rec(balance : 0, open : 1) END END",
        options: &["--set", "ID=3"],
    },
    Pair {
        name: "states outside of the scope are not expanded",
        z: r"\begin{zed} S \defs [n : \nat] \\ Init \defs [S' | n' = 0] \\ Double \defs [\Delta S | n' = 2 * n + 1] \\
            Inc \defs [\Delta S | n' = n + 1] \\ Scope \defs [S | n < 20] \end{zed}",
        b: "MACHINE M DEFINITIONS SCOPE == n < 20 VARIABLES n INVARIANT n : NATURAL INITIALISATION n := 0
            OPERATIONS Double = n := 2 * n + 1; Inc = n := n + 1 END",
        options: &[],
    },
    Pair {
        name: "relations: image, closure, restriction",
        z: r"\begin{zed} [NODE] \\ G \defs [edges : NODE \rel NODE | \forall n : NODE @ (n \mapsto n) \notin edges\plus] \\
            Init \defs [G' | edges' = \{\}] \\
            Link \defs [\Delta G; a?, b? : NODE | b? \notin edges \limg \{a?\} \rimg \land edges' = edges \cup \{(a?, b?)\}] \\
            Cut \defs [\Delta G; a? : NODE | a? \in \dom edges \land edges' = \{a?\} \ndres edges] \end{zed}",
        b: "MACHINE M SETS NODE VARIABLES edges INVARIANT edges : NODE <-> NODE & !n.(n : NODE => n |-> n /: closure1(edges))
            INITIALISATION edges := {} OPERATIONS
            Link(a, b) = PRE a : NODE & b : NODE & b /: edges[{a}] & !n.(n : NODE => n |-> n /: closure1(edges \\/ {a |-> b}))
              THEN edges := edges \\/ {a |-> b} END;
            Cut(a) = PRE a : dom(edges) THEN edges := {a} <<| edges END END",
        options: &["--set", "NODE=3"],
    },
];

/// What both languages must agree on.
fn figures(result: &Value) -> Value {
    let per_event = |field: &str| -> Value {
        let events = result["events"].as_object().expect("events");
        events.iter().map(|(name, e)| (name.clone(), e[field].clone())).collect()
    };
    serde_json::json!({
        "states": result["states"],
        "transitions": result["transitions"],
        "constants": result["constants"],
        "initial": result["initial"],
        "depth": result["depth"],
        "prob": result["prob"],
        "incomplete": result["incomplete_because"],
        "deadlocks": result["found"]["deadlock"],
        "invariant": result["found"]["invariant"],
        "events": per_event("transitions"),
    })
}

#[test]
fn the_same_specification_in_z_and_in_b_has_the_same_figures() {
    for pair in PAIRS {
        let z = figures(&check("pair.tex", pair.z, pair.options));
        let b = figures(&check("M.mch", pair.b, pair.options));
        assert_eq!(z, b, "{}", pair.name);
    }
}

#[test]
fn symmetry_merges_the_same_states_in_z_and_in_b() {
    for pair in PAIRS.iter().filter(|p| !p.options.is_empty()) {
        let mut options = pair.options.to_vec();
        options.extend(["--symmetry", "exact"]);
        let (z, b) = (check("pair.tex", pair.z, &options), check("M.mch", pair.b, &options));
        assert_eq!(z["states"], b["states"], "{}", pair.name);
        assert_eq!(z["verdict"], b["verdict"], "{}", pair.name);
    }
}
